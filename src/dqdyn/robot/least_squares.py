"""Levenberg–Marquardt within joint limits, on many rows at once, each with its own goal and start."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dqdyn.arrays import Array

if TYPE_CHECKING:
    from dqdyn.robot.robot import Robot

Flags = npt.NDArray[np.bool_]

_LONGEST = 2.0
"""Norm of the longest step."""
_GIVE_UP = 1e8
"""Damping at which no step helps."""
_PATIENCE, _PROGRESS = 15, 0.99
"""So many steps in a row that leave more than this of the error, and the search ends: a better start is worth more."""


class LeastSquares(ABC):
    """An error of a robot's configuration that is to vanish. All arrays have one row per search.

    ``goals`` has what an error depends on beside q, in a form that the error knows.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.lower, self.upper = robot.limits.lower, robot.limits.upper
        self._integrate = robot.function("integrate")
        self.one_to_one = [j for j in robot.joints if not j.is_mimic and j.motion.nq == j.motion.nv]

    @abstractmethod
    def error(self, q: Array, goals: Array) -> Array:
        """(n, m) for q (n, nq)."""

    @abstractmethod
    def matrix(self, q: Array, goals: Array) -> Array:
        """(n, m, nv) that takes v to the rate of the error."""

    @abstractmethod
    def met(self, error: Array, tolerance: float) -> Flags:
        """Which rows are within the tolerance."""

    # --- limits -------------------------------------------------------------------------------------------------------

    def clip(self, q: Array) -> Array:
        return np.asarray(np.clip(q, self.lower, self.upper))

    def moved(self, q: Array, v: Array) -> Array:
        """q after v in unit time, within the limits."""
        return self.clip(self._integrate(q, v, 1.0, check=False))

    def at_limits(self, q: Array) -> Flags:
        """Whether each coordinate is at a limit."""
        return np.asarray((q <= self.lower) | (q >= self.upper))

    def blocked(self, q: Array, v: Array | None = None) -> Flags:
        """Velocities (n, nv) of coordinates at a limit, of those only that v would push through it where v is given."""
        below, above = q <= self.lower, q >= self.upper
        result = np.zeros((len(q), self.robot.nv), dtype=bool)
        for joint in self.one_to_one:
            down, up = below[:, joint.q], above[:, joint.q]
            if v is not None:
                down, up = down & (v[:, joint.v] < 0.0), up & (v[:, joint.v] > 0.0)
            result[:, joint.v] = down | up
        return result

    # --- the search ---------------------------------------------------------------------------------------------------

    def descend(self, q: Array, goals: Array, tolerance: float, iterations: int) -> tuple[Array, Array, Any]:
        """Where the search from each row of q ends: q, error, and the steps that it took."""
        q, error = q.copy(), self.error(q, goals)
        damping, steps, slow = np.full(len(q), 1e-3), np.zeros(len(q), dtype=int), np.zeros(len(q), dtype=int)
        going = ~self.met(error, tolerance) & (self.robot.nv > 0)
        for _ in range(iterations):
            rows = np.flatnonzero(going)
            if not rows.size:
                break
            steps[rows] += 1
            trial, trial_error = self._step(q[rows], goals[rows], error[rows], damping[rows])
            size, trial_size = np.linalg.norm(error[rows], axis=1), np.linalg.norm(trial_error, axis=1)
            better = trial_size < size
            slow[rows] = np.where(trial_size < _PROGRESS * size, 0, slow[rows] + 1)
            gained, lost = rows[better], rows[~better]
            q[gained], error[gained] = trial[better], trial_error[better]
            damping[gained] = np.maximum(damping[gained] * 0.2, 1e-12)
            damping[lost] *= 10.0
            hopeful = (damping[rows] <= _GIVE_UP) & (slow[rows] < _PATIENCE)
            going[rows] = ~self.met(error[rows], tolerance) & hopeful
        return q, error, steps

    def _step(self, q: Array, goals: Array, error: Array, damping: Array) -> tuple[Array, Array]:
        """One step of each row, within the limits.

        Joints that the step would push through a limit stop there, or stay and leave the work to the others, whichever
        is better.
        """
        matrix = self.matrix(q, goals)
        trial, trial_error = self._trial(q, goals, matrix, error, damping)
        held = self.blocked(trial)
        rows = np.flatnonzero(held.any(axis=1))
        if rows.size:
            rest = matrix[rows] * ~held[rows][:, None, :]
            other, other_error = self._trial(q[rows], goals[rows], rest, error[rows], damping[rows])
            better = np.linalg.norm(other_error, axis=1) < np.linalg.norm(trial_error[rows], axis=1)
            trial[rows[better]], trial_error[rows[better]] = other[better], other_error[better]
        return trial, trial_error

    def _trial(self, q: Array, goals: Array, matrix: Array, error: Array, damping: Array) -> tuple[Array, Array]:
        square = matrix @ np.swapaxes(matrix, 1, 2) + damping[:, None, None] * np.eye(matrix.shape[1])
        v = -(np.swapaxes(matrix, 1, 2) @ np.linalg.solve(square, error[:, :, None]))[:, :, 0]
        length = np.linalg.norm(v, axis=1, keepdims=True)
        v *= np.minimum(1.0, _LONGEST / np.maximum(length, 1e-300))
        trial = self.moved(q, v)
        return trial, self.error(trial, goals)
