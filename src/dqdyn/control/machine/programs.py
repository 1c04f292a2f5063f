"""The compiled controllers of a machine's states, and where the errors of their tasks are."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control.controllers.motion import acceleration_controller, velocity_controller
from dqdyn.control.controllers.torque import torque_controller
from dqdyn.control.controllers.whole_body import whole_body_controller
from dqdyn.control.core.composition import Composition
from dqdyn.control.core.controller import Controller
from dqdyn.control.core.errors import ControlError
from dqdyn.control.core.optimum import StrictLevels
from dqdyn.control.machine.state import State
from dqdyn.control.whole_body.contact_sets import ContactSet
from dqdyn.control.whole_body.controller import WholeBodyController
from dqdyn.errors import unknown_name
from dqdyn.progress import Progress
from dqdyn.robot import Robot

WHOLE_BODY = "whole-body"
BUILDERS: dict[str, Callable[..., Controller]] = {
    "velocity": velocity_controller,
    "acceleration": acceleration_controller,
    "torque": torque_controller,
}
LEVELS = (*BUILDERS, WHOLE_BODY)
_THREADS = 2  # one traces while another compiles
_USED_UP = 1e-6  # in the unit of a bound, up to which it counts as used up
_TOLD = 8  # names of such bounds at most
_PER_STATE = ("damping",)  # options that states of whole-body control may have of their own


class Program:
    """What commands in a state: its controller, or its set of contacts of the one whole-body controller."""

    def __init__(self, controller: Controller, contact_set: ContactSet | None = None) -> None:
        self.controller, self.contact_set = controller, contact_set
        self.composition: Composition = controller.composition if contact_set is None else contact_set.composition
        self.parts: dict[str, slice] = {}
        start = 0
        for task in self.composition.design.all_tasks:
            stop = start + self.composition.task_sizes[id(task)]
            self.parts[task.name], start = slice(start, stop), stop
        self.of_forces = {task.name for task in getattr(self.composition, "force_tasks", ())}
        self._errors, self._time = self.composition.views["error"], self.composition.evaluated_at

    @property
    def is_active(self) -> bool:
        """Whether the last command was this program's: contacts of another one may still have to be let go."""
        return self.contact_set is None or getattr(self.controller, "_set", None) is self.contact_set

    def is_known(self, t: float) -> bool:
        """Whether errors are those at time t."""
        return self._time.item() == t and (self.contact_set is None or self.is_active)

    def error(self, task: str, t: float) -> Array:
        """The error of a task at time t; NaN where it was not evaluated then."""
        part = self.parts.get(task)
        if part is None:
            raise unknown_name("task of this state", task, self.parts)
        if not self.is_known(t):
            return np.full(part.stop - part.start, math.nan)
        return self.controller.errors[task] if task in self.of_forces else self._errors[part]

    def at_bounds(self, t: float) -> tuple[str, ...]:
        """Names of the constraints whose bounds the last command uses up, none where it is not known."""
        controller = self.controller
        if not self.is_known(t) or controller.report.status not in ("solved", "relaxed"):
            return ()
        if isinstance(controller, WholeBodyController):
            return tuple(dict.fromkeys(each.name for each in controller.active))[:_TOLD]
        rows = self.composition.rows()
        a, b, _ = rows.scaled()
        equal = {*self.parts, *self.composition._equality_names}
        used = np.flatnonzero(b - a @ controller._last < _USED_UP)
        return tuple(dict.fromkeys(rows.names[i] for i in used if rows.names[i] not in equal))[:_TOLD]

    def stall(self, t: float) -> str:
        """Which tasks the last command does not meet and what holds them back, "" where that is not known."""
        return self.controller.stall if self.is_known(t) else ""

    def norms(self, t: float) -> dict[str, float]:
        """‖e‖ of all tasks."""
        return {name: math.hypot(*self.error(name, t).tolist()) for name in self.parts}


class Columns:
    """Errors and distances of all programs under names that are the same at every step."""

    def __init__(self, programs: Iterable[Program]) -> None:
        self._empty: dict[str, Array] = {}
        for program in programs:
            for name, part in program.parts.items():
                size = part.stop - part.start
                self._empty[self._label(name, size)] = np.full(size, math.nan)
            self._empty |= {f"h: {name}": np.array(math.nan) for name in program.composition.guards}

    def _label(self, task: str, size: int) -> str:
        """Tasks of one name whose errors have other sizes in other states get the size as a number."""
        known = self._empty.get(f"error: {task}")
        return f"error: {task}" if known is None or len(known) == size else f"error: {task} ({size})"

    def now(self, program: Program | None, t: float) -> dict[str, Array]:
        """All of them, NaN where the program of the present state has none."""
        if program is None or not program.is_known(t):
            return dict(self._empty)
        h = zip(program.composition.guards, program.composition.views["h"].tolist(), strict=True)
        found = {self._label(name, len(e)): e.copy() for name in program.parts for e in [program.error(name, t)]}
        return {**self._empty, **found, **{f"h: {name}": np.array(value) for name, value in h}}


def compiled(
    robot: Robot, states: Sequence[State], start: str, level: str, options: Mapping[str, Any], show: bool | None
) -> dict[str, Program]:
    """A program for every state with tasks, by name; states of the same parts share one. Nothing is left to compile."""
    ordered = sorted((state for state in states if state.tasks), key=lambda state: state.name != start)
    shared: dict[Any, list[State]] = {}
    for state in ordered:
        shared.setdefault(_parts_of(state), []).append(state)
    make = _whole_body if level == WHOLE_BODY else _ordinary
    programs = make(robot, [same[0] for same in shared.values()], level, options, show)
    return {state.name: program for same, program in zip(shared.values(), programs, strict=True) for state in same}


def check_options(states: Iterable[State], level: str, options: Mapping[str, Any]) -> None:
    """An error for options that controllers of the level do not have, or not per state."""
    builder = whole_body_controller if level == WHOLE_BODY else BUILDERS[level]
    parameters = inspect.signature(builder).parameters.values()
    known = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY and each.name != "contacts"]
    for name in options:
        if name not in known:
            raise unknown_name(f"option of controllers by {level}", name, known)
    for state in states:
        for name in state.options or {}:
            if name not in known:
                raise unknown_name(f"option of the state {state.name!r}", name, known)
            if level == WHOLE_BODY and name not in _PER_STATE:
                what = f"the option {name!r} of the state {state.name!r} is one of the whole machine"
                raise ControlError(f"{what}: give it to StateMachine.", state=state.name, option=name)


def _parts_of(state: State) -> Any:
    """What makes the programs of two states the same."""
    tasks: Any = state.tasks
    levels = tuple(tuple(id(task) for task in each) if isinstance(each, (list, tuple)) else id(each) for each in tasks)
    constraints: Any = state.constraints
    options = tuple(sorted((name, repr(value)) for name, value in (state.options or {}).items()))
    return levels, tuple(id(c) for c in constraints), frozenset(state.contacts), options  # type: ignore[arg-type]


def _ordinary(
    robot: Robot, states: Sequence[State], level: str, options: Mapping[str, Any], show: bool | None
) -> list[Program]:
    def one(state: State) -> Program:
        made = BUILDERS[level](robot, state.tasks, state.constraints, **{**options, **(state.options or {})})
        _warm_up(robot, made)
        return Program(made)

    with (
        Progress(len(states), f"compiling {len(states)} states", show) as bar,
        ThreadPoolExecutor(_THREADS) as pool,
    ):
        done = []
        for k, future in enumerate([pool.submit(one, state) for state in states], 1):
            done.append(future.result())
            bar.at(k)
    return done


def _warm_up(robot: Robot, controller: Controller) -> None:
    """Evaluate once, so that no step of a loop has to compile or to load anything."""
    composition, q, v = controller.composition, robot.neutral(), np.zeros(robot.nv)
    composition.function(np.zeros(1), q, v, *composition._arrays, out=composition.out, check=False)
    composition.out[:] = 0.0
    if isinstance(controller.optimum, StrictLevels):
        controller.optimum.prepare(composition.views)
    if controller._command_map is not None:
        controller._command_map(q, v, np.zeros(robot.nv))
        controller._command_map.later(q, v, 0.0)


def _whole_body(
    robot: Robot, states: Sequence[State], level: str, options: Mapping[str, Any], show: bool | None
) -> list[Program]:
    first, *others = states
    made: WholeBodyController = whole_body_controller(
        robot, first.tasks, first.constraints, contacts=first.contacts, **{**options, **(first.options or {})}
    )
    made.name_first_set(first.name)
    damping = options.get("damping", 1e-3)
    if others:
        made.prepare(
            {state.name: state.contacts for state in others},
            {state.name: state.tasks for state in others},
            {state.name: state.constraints for state in others},
            damping={state.name: (state.options or {}).get("damping", damping) for state in others},
            progress=show,
        )
    return [Program(made, made.sets[state.name]) for state in states]
