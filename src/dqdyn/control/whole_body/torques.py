"""From the unknowns of a whole-body problem to torques of motors."""

from __future__ import annotations

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control.whole_body.composition import WholeBodyComposition


class Torques:
    """τ (nv,) of the unknowns of a whole-body problem."""

    def __init__(self, composition: WholeBodyComposition) -> None:
        self.composition = composition
        self._motors = np.array(composition.motors, dtype=int)
        self._z = np.zeros(composition.unknowns)
        self._command, self._of_motors = np.zeros(composition.model.nv), np.zeros(len(self._motors))

    def __call__(self, q: Array, v: Array, u: Array) -> Array:
        views = self.composition.views
        self._z = u
        np.dot(views["torque"], u, out=self._of_motors)
        self._of_motors += views["bias"]
        self._command[self._motors] = self._of_motors
        return self._command

    @property
    def unknowns(self) -> Array:
        """z of the last command."""
        return self._z

    def later(self, q: Array, v: Array, dt: float) -> Array:
        """q after dt (s) at v."""
        return np.asarray(self.composition.robot.integrate(q, v, dt, check=False))

    def force_errors(self) -> Array:
        """G φ + r of all tasks on forces at the last command."""
        views = self.composition.views
        return np.asarray(views["force_task"] @ self._z + views["force_task_bias"])

    def solution(self) -> Array:
        """[v̇, φ] of the last command."""
        views = self.composition.views
        return np.asarray(views["solution"] @ self._z + views["offset"])
