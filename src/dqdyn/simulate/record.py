"""What a run records, and how it ends: a run that is cut short keeps its trajectory."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.simulate.controllers import Actuation
from dqdyn.simulate.faults import Interrupted, LimitWarning, SimulationError, SimulationWarning
from dqdyn.simulate.integrators.integrator import Integrator
from dqdyn.simulate.problem import Problem, without_coulomb_friction
from dqdyn.simulate.system import System
from dqdyn.simulate.trajectory import Trajectory


@dataclass
class Record:
    """Samples so far: ``states`` (n, B, nq + nv + records) and ``tau`` (n, B, nv) by parts; ``stopped`` says why early.

    ``times`` (n,) are those of the samples unless the problem's, ``measured`` (n, B, nv) the accelerations unless the
    model's. ``about`` are the settings that the trajectory keeps.
    """

    problem: Problem
    actuation: Actuation
    system: System
    about: dict[str, Any]
    states: list[Array] = field(default_factory=list)
    tau: list[Array] = field(default_factory=list)
    stopped: str = ""
    times: Array | None = None
    method: Integrator | None = None
    measured: Array | None = None

    @classmethod
    def begin(cls, problem: Problem, controller: Any, **about: Any) -> Record:
        """A record without a sample."""
        actuation = Actuation.of(controller, problem)
        robot = without_coulomb_friction(problem.robot) if problem.stiction else problem.robot
        system = System(robot, problem.frames, problem.expressed, actuation.law)
        return cls(problem, actuation, system, {**about, "dt": problem.dt, "every": problem.every})

    def stop(self, reason: str) -> None:
        """The run ended early."""
        self.stopped = reason

    def state_array(self) -> Array:
        """All states, copied part by part, so that a signal need not wait for long."""
        result = np.empty((sum(map(len, self.states)), *self.states[0].shape[1:]))
        row = 0
        for some in self.states:
            result[row : row + len(some)] = some
            row += len(some)
        return result


def completed(
    steps: Callable[[], None], stop: Callable[[str], None], trajectory: Callable[[], Trajectory]
) -> Trajectory:
    """The trajectory after all ``steps``; an error or Ctrl-C, reported to ``stop``, carries the trajectory so far.

    Where the numbers cannot be trusted, a warning points at the line that called ``dq.simulate``.
    """
    try:
        steps()
    except KeyboardInterrupt:
        stop("interrupted")
        raise Interrupted(trajectory()) from None
    except SimulationError as error:
        stop(f"stopped: {error}")
        error.data["trajectory"] = trajectory()
        raise
    result = trajectory()
    if result.status != "finished" and not result.status.startswith("event"):
        kind = LimitWarning if result.finished else SimulationWarning
        warnings.warn(result.status, kind, stacklevel=4)
    return result
