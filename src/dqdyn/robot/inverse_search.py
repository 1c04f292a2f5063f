"""The problem of inverse kinematics: how far a frame is from its goal, and how near it can come to a posture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array
from dqdyn.model.model import Frame
from dqdyn.robot.least_squares import Flags, LeastSquares

if TYPE_CHECKING:
    from dqdyn.robot.robot import Robot


GoalAxes = Literal["body", "aligned"]
"""The goal's own axes, or those of the world."""
GOAL_AXES = ("body", "aligned")


class PoseProblem(LeastSquares):
    """A frame of a robot, the components of its error that count, and what limits and constraints ask.

    Goals are rows of vec8. The error of a row is what counts of [φ, p], followed by the residual of the holonomic
    constraints, so that loops stay closed.
    """

    def __init__(self, robot: Robot, frame: Frame, mask: Flags, axes: str) -> None:
        super().__init__(robot)
        self.frame = frame
        self.rows = np.flatnonzero(mask)
        self._error = robot.function("pose_error", frame=frame)
        self._matrix = robot.function("pose_error_matrix", frame=frame)
        self._aligned = axes == "aligned"
        model = robot.model
        kinds = [c.holonomic for c in model.constraints for _ in range(c.rows(model))]
        self.holonomic = np.flatnonzero(kinds)
        self.constraint_names = [c.name for c in model.constraints if c.holonomic for _ in range(c.rows(model))]

    @property
    def size(self) -> int:
        """m: components of the error of a row."""
        return len(self.rows) + len(self.holonomic)

    # --- error and its matrix -----------------------------------------------------------------------------------------

    def error(self, q: Array, goals: Array) -> Array:
        """(n, m) for q (n, nq)."""
        error = self._in_axes(self._error(q, goals, check=False)[:, :, None], goals)[:, self.rows, 0]
        if not self.holonomic.size:
            return error
        return np.concatenate([error, self.robot.constraint_residual(q, check=False)], axis=1)

    def matrix(self, q: Array, goals: Array) -> Array:
        """(n, m, nv) that takes v to the rate of the error."""
        matrix = self._in_axes(self._matrix(q, goals, check=False), goals)[:, self.rows]
        if not self.holonomic.size:
            return matrix
        closing = self.robot.constraint_matrix(q, check=False)[:, self.holonomic]
        return np.concatenate([matrix, closing], axis=1)

    def _in_axes(self, rows: Array, goals: Array) -> Array:
        """Six rows (n, 6, k) in the axes of the goal, in those of the world where the mask is in them."""
        if not self._aligned:
            return rows
        turns = Pose.of_array(goals).rotation_matrix
        return np.concatenate([turns @ rows[:, :3], turns @ rows[:, 3:]], axis=1)

    def sizes(self, error: Array) -> tuple[Array, Array, Array]:
        """Rotation in rad, translation in m, and the largest residual of the constraints, each (n,)."""
        turns = np.count_nonzero(self.rows < 3)
        count = len(self.rows)
        rotation = np.linalg.norm(error[:, :turns], axis=1)
        translation = np.linalg.norm(error[:, turns:count], axis=1)
        return rotation, translation, np.abs(error[:, count:]).max(axis=1, initial=0.0)

    def met(self, error: Array, tolerance: float) -> Flags:
        """Which rows are within the tolerance."""
        return np.asarray(np.all([size <= tolerance for size in self.sizes(error)], axis=0))

    # --- towards the posture, at the goal -----------------------------------------------------------------------------

    def relax(self, q: Array, goals: Array, posture: Array, tolerance: float, iterations: int) -> Array:
        """Each row of q, which is at its goal, moved towards the posture (n, nq) as far as the goal allows.

        Steps are in the null space of the matrix; each is brought back to the goal, and halved until it gains.
        """
        q = q.copy()
        distance = self.distance(q, posture)
        going = distance > tolerance
        length = np.ones(len(q))
        for _ in range(iterations):
            rows = np.flatnonzero(going)
            if not rows.size:
                break
            step = self._free_step(q[rows], goals[rows], posture[rows])
            small = np.linalg.norm(step, axis=1) <= max(tolerance, 1e-9)
            going[rows[small]] = False
            rows, step = rows[~small], step[~small]
            if not rows.size:
                break
            trial = self.moved(q[rows], length[rows, None] * step)
            trial, error, _ = self.descend(trial, goals[rows], tolerance, 20)
            trial_distance = self.distance(trial, posture[rows])
            better = self.met(error, tolerance) & (trial_distance < distance[rows] * (1.0 - 1e-12))
            gained, lost = rows[better], rows[~better]
            q[gained], distance[gained] = trial[better], trial_distance[better]
            length[gained] = np.minimum(1.0, 2.0 * length[gained])
            length[lost] *= 0.5
            going[lost] = length[lost] > 1e-6
        return q

    def _free_step(self, q: Array, goals: Array, posture: Array) -> Array:
        """The part of the way to the posture that leaves the error as it is and no joint pushes through its limit."""
        way = self.robot.difference(q, posture, check=False)
        matrix = self.matrix(q, goals)
        held = self.blocked(q, way)
        for _ in range(self.robot.nv + 1):
            free = matrix * ~held[:, None, :]
            step = np.where(held, 0.0, way)
            step = step - (np.linalg.pinv(free, rcond=1e-9) @ (free @ step[:, :, None]))[:, :, 0]
            more = self.blocked(q, step) & ~held & (np.abs(step) > 1e-12)
            if not more.any():
                break
            held |= more
        return np.asarray(step)

    def distance(self, q: Array, posture: Array) -> Array:
        """‖difference‖ of rows, in rad and m."""
        return np.asarray(np.linalg.norm(self.robot.difference(q, posture, check=False), axis=1))
