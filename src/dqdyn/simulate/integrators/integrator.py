"""What an integrator with a fixed step must answer. A new one is one file with one class; add it to ``INTEGRATORS``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from dqdyn.compile.codegen.rollout import Rollout
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import trace
from dqdyn.simulate.system import System

_PROJECTIONS = 2
"""Newton steps back onto the constraints: from the drift of one step the second reaches rounding."""

Stage = Callable[[System, "Step"], list[Any]]


class Step:
    """The arguments of a stage, by name: scalars of any kind."""

    def __init__(self, system: System, state: Sequence[Any], u: Sequence[Any], c: Sequence[Any], time: Sequence[Any]):
        nq, nv = system.nq, system.nv
        self.q, self.v, self.memory = list(state[:nq]), list(state[nq : nq + nv]), list(state[nq + nv :])
        self.u, self.c, self.t, self.dt = list(u), list(c), time[0], time[1]


class Integrator(ABC):
    """One step as stages that are called one after the other, each a function of (q, v, memory).

    ``schedule`` lists (stage, parameters); a stage gives the new q, v and memory, one after the other. The last stage
    leaves the state of the next step in q and v.
    """

    name: ClassVar[str]
    order: ClassVar[int]
    damps: ClassVar[bool] = False
    """Whether it takes energy from motions that the step does not resolve, as it should."""

    def doubt(self, records: np.ndarray, v: np.ndarray) -> str:
        """What the records (n, B, …) say against the run; empty where nothing."""
        return ""

    @abstractmethod
    def stages(self) -> Sequence[Stage]:
        """The functions that make a step."""

    def schedule(self) -> Sequence[tuple[int, Sequence[float]]]:
        """(index of the stage, its parameters) in the order of the calls."""
        return [(0, ())]

    def memory(self, system: System) -> int:
        """How many numbers a stage leaves for the next one."""
        return 0

    def records(self, system: System) -> int:
        """How many of the first numbers of the memory are recorded with the state."""
        return 0

    def __eq__(self, other: object) -> bool:
        """Two of a kind differ by their attributes."""
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).items()))

    def rollout(self, system: System) -> Rollout:
        """The compiled step in a native loop; the last ones are kept, so that the next run starts at once."""
        return _rollout(self, system)

    def made(self, system: System) -> Rollout:
        """A new :meth:`rollout`."""
        schedule, stages = list(self.schedule()), list(self.stages())
        if system.projects:
            stages.append(_onto_constraints)
            schedule += [(len(stages) - 1, schedule[0][1])] * _PROJECTIONS
        programs = [self.program(system, stage, len(schedule[0][1])) for stage in stages]
        return Rollout(programs, schedule, system.nq + system.nv + self.records(system))

    def program(self, system: System, stage: Stage, parameters: int) -> Program:
        """A stage as a straight-line program."""
        size = system.nq + system.nv + self.memory(system)
        inputs = [("state", size), ("input", system.inputs), ("parameters", parameters), ("time", 2)]

        def algorithm(*arguments: Any) -> tuple[list[Any], tuple[int, ...]]:
            return stage(system, Step(system, *arguments)), (size,)

        return trace(f"{self.name} step", inputs, algorithm)


@lru_cache(maxsize=32)
def _rollout(integrator: Integrator, system: System) -> Rollout:
    return integrator.made(system)


def _onto_constraints(system: System, s: Step) -> list[Any]:
    """After a step, at its end."""
    q, v = system.onto_constraints(s.t + s.dt, s.q, s.v)
    return [*q, *v, *s.memory]


def plus(x: Sequence[Any], y: Sequence[Any], c: Any = 1.0) -> list[Any]:
    """x + c y."""
    return [a + b * c for a, b in zip(x, y, strict=True)]


def times(x: Sequence[Any], c: Any) -> list[Any]:
    """c x."""
    return [a * c for a in x]
