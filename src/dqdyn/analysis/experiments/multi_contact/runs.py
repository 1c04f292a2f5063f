"""Attempts: runs of the strategy's machine, each with its states, and maps of where attempts succeed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dqdyn import control as ct
from dqdyn.analysis.experiments.figure_kinds import GridMap, Span
from dqdyn.analysis.experiments.multi_contact.setting import REACH, Setting
from dqdyn.analysis.experiments.multi_contact.strategy import (
    ATTEMPTS,
    CONTACT,
    LIMIT,
    MAXIMISE,
    ON_HAND,
    Strategy,
)
from dqdyn.arrays import Array
from dqdyn.contacts.support_polygon import SupportPolygon
from dqdyn.progress import Progress
from dqdyn.simulate import Trajectory, simulate

_SLACK = 2.0  # s


@dataclass(frozen=True, eq=False)
class Attempt:
    """A run of a machine until it ended, and what is measured of it."""

    setting: Setting
    run: Trajectory
    log: tuple[ct.Event, ...]

    @cached_property
    def states(self) -> list[str]:
        """The state at each sample: the one whose command brought the robot there."""
        times, names = [event.t for event in self.log], [event.to for event in self.log]
        places = np.maximum(np.searchsorted(times, self.run.time - 1e-9, side="left") - 1, 0)
        return [names[i] for i in places]

    @cached_property
    def is_touching(self) -> Array:
        """(n,): whether the hand is part of the support; in a final state as in the one before."""
        touching, now = [], False
        for name in self.states:
            now = name in ON_HAND or (now and name[0] in "56")
            touching.append(now)
        return np.array(touching)

    @cached_property
    def polygons(self) -> list[SupportPolygon]:
        return self.setting.polygons(self.run, self.is_touching)

    @cached_property
    def area(self) -> Array:
        """Of the support polygon (n,) in m²."""
        return np.array([polygon.area for polygon in self.polygons])

    @cached_property
    def to_ball(self) -> Array:
        return self.setting.to_ball(self.run)

    @cached_property
    def to_planes(self) -> Array:
        return self.setting.to_planes(self.run, self.polygons)

    @property
    def reached(self) -> bool:
        """Whether the palm came within reach of the ball, as measured."""
        return bool(self.to_ball.min() <= REACH)

    @property
    def path(self) -> tuple[str, ...]:
        """The states that it went through."""
        return tuple(event.to for event in self.log)

    @property
    def spans(self) -> tuple[Span, ...]:
        """Its states along time."""
        ends = [*(event.t for event in self.log[1:]), float(self.run.time[-1])]
        return tuple(Span(e.t, max(e.t, end), e.to) for e, end in zip(self.log, ends, strict=True))

    @property
    def words(self) -> str:
        """How it ended."""
        end = "reached" if self.reached else "not reached"
        return f"{end}: {100.0 * self.to_ball[-1]:.1f} cm after {self.run.time[-1]:.1f} s"


def attempt(
    setting: Setting, machine: ct.StateMachine, dt: float, q0: Array | None = None, *, every: int = 1
) -> Attempt:
    """A run from rest until the machine ends, on the robot's kinematics."""
    start = setting.q0 if q0 is None else q0
    final(start, machine, dt)  # to know when it ends, which rounding may change by some steps
    longest = LIMIT * sum(not state.ends for state in machine.states.values())
    for duration in (machine.log[-1].t + _SLACK, longest):
        run = simulate(setting.robot, machine, duration, dt, q0=start, every=every, progress=False)
        if machine.ended:
            break
    last = int(np.searchsorted(run.time, machine.log[-1].t + 0.5 * dt)) + 1
    return Attempt(setting, run.part(slice(0, last)), machine.log)


def final(robot_q0: Array, machine: ct.StateMachine, dt: float) -> Array:
    """q (nq,) where the machine ends, without a record."""
    robot, q, k = machine.robot, np.array(robot_q0), 0
    machine.reset()
    while not machine.ended:
        q = robot.integrate(q, machine(k * dt, q), dt)
        k += 1
    return q


def grid(setting: Setting, x: Array, y: Array, dt: float) -> Array:
    """Whether each of the four attempts reaches balls at x (nx) and y (ny) and the setting's height: (ny, nx, 4)."""
    strategy = Strategy(setting)
    touched = final(setting.q0, strategy.machine((CONTACT,)), dt)
    largest = final(touched, strategy.machine((MAXIMISE,)), dt)
    starts = dict(zip(ATTEMPTS, (setting.q0, touched, largest, largest), strict=True))
    machines = {name: strategy.machine((route[-1],)) for name, route in ATTEMPTS.items()}
    found = np.zeros((len(y), len(x), len(ATTEMPTS)), dtype=bool)
    with Progress(found.size, "where attempts succeed") as bar:
        for done, (i, j, k, name) in enumerate(_cells(len(y), len(x))):
            strategy.ball.update([x[j], y[i], setting.ball[2]])
            final(starts[name], machines[name], dt)
            found[i, j, k] = machines[name].ended == "done"
            bar.at(done + 1)
    return found


def _cells(rows: int, columns: int) -> Iterator[tuple[int, int, int, str]]:
    for i in range(rows):
        for j in range(columns):
            for k, name in enumerate(ATTEMPTS):
                yield i, j, k, name


def maps(setting: Setting, x: Array, y: Array, found: Array) -> tuple[GridMap, GridMap]:
    """Which attempts succeed for which ball, and which of them is the first to do so."""
    axes = ("x of the ball (m)", "y of the ball (m)")
    marks = {"ball of the runs": np.asarray(setting.ball[:2])[None]}
    sets = [tuple(name for name, yes in zip(ATTEMPTS, cell, strict=True) if yes) for cell in found.reshape(-1, 4)]
    kinds: Sequence[tuple[str, ...]] = sorted(set(sets), key=lambda s: (len(s), s))
    values = np.array([kinds.index(s) for s in sets]).reshape(found.shape[:2])
    at = f"balls at {setting.ball[2]:g} m"
    which = GridMap(
        f"Attempts that succeed, {at}", axes, x, y, values, tuple(", ".join(s) or "none" for s in kinds), marks=marks
    )
    first = np.where(found.any(axis=2), found.argmax(axis=2), len(ATTEMPTS))
    return which, GridMap(f"The first attempt that succeeds, {at}", axes, x, y, first, (*ATTEMPTS, "none"), marks=marks)
