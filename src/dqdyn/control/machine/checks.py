"""Faults of a machine that are found when it is built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dqdyn.contacts.contact import Contact
from dqdyn.control.core.errors import ControlError, refused
from dqdyn.control.machine.state import State
from dqdyn.errors import unknown_name
from dqdyn.model.description import WORLD
from dqdyn.model.model import WORLD_BODY
from dqdyn.robot import Robot

_FLAT = 1e-9  # of the largest extent, up to which corners count as collinear
_SAMPLES = 5


def by_name(states: Any) -> dict[str, State]:
    """States by name; an error where two share one, or something else is given."""
    wanted = "states of a machine are a list of ct.State"
    if isinstance(states, State):
        states = [states]
    try:
        given = list(states)
    except TypeError:
        raise refused(wanted, states) from None
    found: dict[str, State] = {}
    for state in given:
        if not isinstance(state, State):
            raise refused(wanted, state)
        if state.name in found:
            raise ControlError(f"two states are named {state.name!r}: give one another name.", state=state.name)
        found[state.name] = state
    if not found:
        raise ControlError("a machine needs states: give at least one, and one that ends.")
    return found


def time_limit_targets(states: Mapping[str, State]) -> dict[str, str]:
    """Where each state that is not final goes when its time is up; an error where that is not clear."""
    failing = [state.name for state in states.values() if state.ends == "failed"]
    targets = {}
    for name, state in states.items():
        if state.ends:
            continue
        if state.on_time_limit:
            if state.on_time_limit not in states:
                raise unknown_name(f"state on the time limit of {name!r}", state.on_time_limit, states)
            targets[name] = state.on_time_limit
        elif len(failing) == 1:
            targets[name] = failing[0]
        else:
            why = f"{len(failing)} failing states" if failing else "no failing state"
            remedy = "give on_time_limit=…" + ("" if failing else ", or add ct.State('failed', ends='failed')")
            what = f"where the state {name!r} goes on its time limit is not clear, the machine has {why}"
            raise ControlError(f"{what}: {remedy}.", state=name)
    return targets


def check_graph(states: Mapping[str, State], start: Any, targets: Mapping[str, str]) -> None:
    """Errors for unknown names, no start, states that cannot be reached, and states that lead to no end."""
    if start is None:
        raise ControlError(f"a machine needs a start: give start=…, one of {', '.join(map(repr, states))}.")
    if not isinstance(start, str) or start not in states:
        raise unknown_name("state to start in", start, states)
    if states[start].ends:
        raise ControlError(f"the state {start!r} is final: a machine cannot start in it.", state=start)
    ways = {name: _ways(state, states, targets.get(name)) for name, state in states.items()}
    reached = _reachable(start, ways)
    for name in states:
        if name not in reached:
            remedy = "add a transition to it, or leave it out"
            raise ControlError(f"the state {name!r} cannot be reached from {start!r}: {remedy}.", state=name)
    for name in states:
        if not any(states[other].ends for other in _reachable(name, ways)):
            remedy = "let a transition lead to one with ends='done' or 'failed'"
            raise ControlError(f"no final state can be reached from {name!r}: {remedy}.", state=name)


def _ways(state: State, states: Mapping[str, State], on_time_limit: str | None) -> list[str]:
    found = []
    for transition in state.transitions:  # type: ignore[union-attr]
        if transition.to not in states:
            raise unknown_name(f"state in the transitions of {state.name!r}", transition.to, states)
        found.append(transition.to)
    return found if on_time_limit is None else [*found, on_time_limit]


def _reachable(start: str, ways: Mapping[str, Sequence[str]]) -> set[str]:
    found, left = {start}, [start]
    while left:
        for to in ways[left.pop()]:
            if to not in found:
                found.add(to)
                left.append(to)
    return found


def check_contacts(robot: Robot, state: State, is_whole_body: bool) -> None:
    """An error where contacts cannot carry a robot on a free base: by whole-body control it needs some."""
    contacts: Sequence[Contact] = state.contacts  # type: ignore[assignment]
    for contact in contacts:
        contact.check(robot.model)
    if not state.tasks:
        if contacts:
            what = f"the state {state.name!r} has contacts but no tasks"
            raise ControlError(f"{what}: give tasks, or leave both out to go on as before.", state=state.name)
        return
    free = any(joint.kind == "free" and joint.parent == WORLD_BODY for joint in robot.model.joints)
    if not free or robot.model.constraints or not (contacts or is_whole_body):
        return
    touching = [contact for contact in contacts if contact.mode != "off" and contact.partner == WORLD]
    count = sum(len(contact.corners) for contact in touching)
    where = f"in the state {state.name!r} the robot {robot.name!r} on its free base touches the world"
    if count < 3:
        corners = "1 corner" if count == 1 else f"{count} corners"
        text = f"{where} with {corners}: it needs three or more that are not in a line."
        raise ControlError(text, state=state.name, corners=count)
    if _are_collinear(robot, touching):
        text = f"{where} with {count} corners in a line: give contacts that span an area."
        raise ControlError(text, state=state.name, corners=count)


def _are_collinear(robot: Robot, contacts: Sequence[Contact]) -> bool:
    """Whether all corners are in a line, whatever the configuration: at a few random ones."""
    draw = np.random.default_rng(0)
    for _ in range(_SAMPLES):
        q = robot.random_configuration(draw)
        points = np.array([c.vector for contact in contacts for c in contact.corner_positions(robot.model, q.tolist())])
        sizes = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
        if sizes[1] > _FLAT * max(float(sizes[0]), 1e-300):
            return False
    return True
