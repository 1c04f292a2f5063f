"""Some runs of a sweep at once: one native batch where robot and controller are the same, else one by one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import LibraryWarning
from dqdyn.robot import Robot
from dqdyn.robot.control_law import ControlLaw
from dqdyn.scale.axes import Batched, Case, EachRun, States, built, drawn_state, draws, generator, takes_batches
from dqdyn.scale.measures import Measure, evaluated
from dqdyn.simulate import Trajectory, simulate
from dqdyn.simulate.trajectory import UNTRUSTED

KEPT = ("q", "v", "tau")
"""What is kept of whole trajectories."""


@dataclass
class Some:
    """What came of some runs: measures (B, k), trajectories (B, samples, n), and why runs failed, by place."""

    measures: dict[str, Array]
    trajectories: dict[str, Array]
    failures: dict[int, str]
    count: int


@dataclass(frozen=True)
class Plan:
    """Everything that determines the runs of a sweep; it pickles, by cloudpickle where it holds functions."""

    robot: Robot
    cases: Mapping[str, Case]
    controllers: Mapping[str, Any]
    states: States
    seeds: int
    seed: int
    options: Mapping[str, Any]
    measures: Mapping[str, Measure]
    sizes: Mapping[str, int] = field(default_factory=dict)
    samples: int = 0
    """Samples of whole trajectories; 0 where they are not kept."""

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """How many parameters, controllers, states and seeds there are."""
        return len(self.cases), len(self.controllers), len(self.states), self.seeds

    @cached_property
    def fixed(self) -> dict[str, Robot]:
        """Robots of the cases that are the same for all seeds."""
        return {name: built(name, case, self.robot) for name, case in self.cases.items() if not draws(case)}

    def some(self, case: int, controller: int, runs: Sequence[int]) -> Some:
        """Runs of one case and one controller; run r has the state r // seeds and the seed r % seeds."""
        name = list(self.cases)[case]
        control = list(self.controllers.values())[controller]
        if name in self.fixed and takes_batches(control):
            return self._together(name, control, runs)
        return joined([self._alone(name, control, run) for run in runs])

    def _together(self, name: str, control: Any, runs: Sequence[int]) -> Some:
        """Runs as one batch; where that fails, one of them is at fault, and halves of them find out which."""
        if len(runs) == 1:
            return self._alone(name, control, runs[0])
        robot, half = self.fixed[name], len(runs) // 2
        try:
            return self._kept(self._simulated(robot, of_batches(control), *self._starts(robot, runs)))
        except Exception:
            return joined([self._together(name, control, some) for some in (runs[:half], runs[half:])])

    def one(self, case: int, controller: int, run: int) -> Trajectory:
        """One run again, as it was in its batch; an error where it has one."""
        name, control = list(self.cases)[case], list(self.controllers.values())[controller]
        return self._trajectory(name, control, run).member(0)

    def _trajectory(self, name: str, control: Any, run: int) -> Trajectory:
        """A run as a batch of one: the code that computes it is that of batches, and so is every bit of the result."""
        seed = run % self.seeds
        robot = self.fixed.get(name)
        if robot is None:
            robot = built(name, self.cases[name], self.robot, generator(self.seed, seed, "parameters"))
        q0, v0 = self._starts(robot, [run])
        if isinstance(control, EachRun):
            control = control.make(robot, q0[0], v0[0], generator(self.seed, seed, "controllers"))
        return self._simulated(robot, of_batches(control), q0, v0)

    def _alone(self, name: str, control: Any, run: int) -> Some:
        try:
            return self._kept(self._trajectory(name, control, run))
        except Exception as error:  # kept, counted and named, whatever it is: the other runs go on
            some = Some({}, {}, {0: f"{type(error).__name__}: {error}"}, 1)
            some.measures = {measure: np.full((1, size), np.nan) for measure, size in self.sizes.items()}
            widths = {"q": self.robot.nq, "v": self.robot.nv, "tau": self.robot.nv}
            kept = KEPT if self.samples else ()
            some.trajectories = {key: np.full((1, self.samples, widths[key]), np.nan) for key in kept}
            return some

    def _starts(self, robot: Robot, runs: Sequence[int]) -> tuple[Array, Array]:
        """Initial states of some runs."""
        draw = self.states.draw
        if draw is None:
            states = np.asarray(runs) // self.seeds
            return self.states.q[states], self.states.v[states]
        drawn = [drawn_state(robot, draw, generator(self.seed, run % self.seeds, "states")) for run in runs]
        return np.array([q for q, _ in drawn]), np.array([v for _, v in drawn])

    def _simulated(self, robot: Robot, control: Any, q0: Array, v0: Array) -> Trajectory:
        with warnings.catch_warnings():  # what they say is in the statuses
            warnings.simplefilter("ignore", LibraryWarning)
            return simulate(robot, control, q0=q0, v0=v0, progress=False, **self.options)

    def _kept(self, trajectory: Trajectory) -> Some:
        failures = {row["run"]: row["status"] for row in trajectory.about.get(UNTRUSTED, ())}
        if not trajectory.finished and not failures:
            failures = dict.fromkeys(range(*trajectory.batch), trajectory.status)
        values = {name: evaluated(name, measure, trajectory) for name, measure in self.measures.items()}
        for run in failures:
            for value in values.values():
                value[run] = np.nan
        kept = {key: self._whole(getattr(trajectory, key)) for key in KEPT} if self.samples else {}
        return Some(values, kept, failures, *trajectory.batch)

    def _whole(self, array: Array) -> Array:
        """(n, B, k) as (B, samples, k); samples after a divergence are NaN."""
        missing = np.full((self.samples - len(array), *array.shape[1:]), np.nan)
        return np.ascontiguousarray(np.moveaxis(np.concatenate([array, missing]), 0, 1))


def joined(parts: Sequence[Some]) -> Some:
    """Runs one after the other."""
    failures: dict[int, str] = {}
    start = 0
    for part in parts:
        failures |= {start + k: text for k, text in part.failures.items()}
        start += part.count
    return Some(
        {name: np.concatenate([part.measures[name] for part in parts]) for name in parts[0].measures},
        {name: np.concatenate([part.trajectories[name] for part in parts]) for name in parts[0].trajectories},
        failures,
        start,
    )


def of_batches(control: Any) -> Any:
    """A controller as ``simulate`` takes it for a batch; one that takes single runs serves a batch of one."""
    if isinstance(control, Batched):
        return control.controller
    if not takes_batches(control):
        return OfBatch(control)
    if control is None or isinstance(control, ControlLaw):
        return control
    tau = np.asarray(control)
    return tau[:, None, :] if tau.ndim == 2 else tau  # one row per step, the same for all runs


class OfBatch:
    """A controller of one run, as that of a batch of one."""

    def __init__(self, controller: Any) -> None:
        step = getattr(controller, "step", None)
        self._ask = step if callable(step) else controller
        self._of = controller

    def step(self, t: float, q: Array, v: Array) -> Array:
        """Its command for the one run."""
        return np.asarray(self._ask(t, q[0], v[0]), dtype=float)[None]

    def __getattr__(self, name: str) -> Any:
        if name in ("reset", "record", "observe", "level"):
            return getattr(self._of, name)
        raise AttributeError(name)
