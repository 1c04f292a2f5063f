"""The constraints of a robot in a step with contacts, eliminated: what is left for the contacts."""

from __future__ import annotations

import numpy as np

from dqdyn.arrays import Array
from dqdyn.robot import Robot

_DEPENDENT = 1e-10
"""Part of the largest eigenvalue of A M⁻¹ Aᵀ below which rows depend on others."""


class Mobility:
    """M⁻¹ at one configuration, on the motions that the constraints A v = b leave."""

    def __init__(self, robot: Robot, mass: Array, q: Array, t: float) -> None:
        self.robot, self.mass, self.q, self.t = robot, mass, q, t
        self.constrained = bool(robot.constraints)
        if self.constrained:
            self.matrix = robot.constraint_matrix(q, None, t, check=False)
            self.to_constraints = np.linalg.solve(mass, self.matrix.T)
            self.inverse = np.linalg.pinv(self.matrix @ self.to_constraints, rcond=_DEPENDENT, hermitian=True)

    def velocity(self, v: Array) -> Array:
        """The velocity that obeys the constraints, nearest to v by kinetic energy."""
        if not self.constrained:
            return v
        missed = self.robot.constraint_velocity(self.q, v, self.t, check=False)
        return np.asarray(v - self.to_constraints @ (self.inverse @ missed))

    def response(self, jacobian: Array) -> Array:
        """Velocities (nv, m) per impulse along the rows of a Jacobian (m, nv)."""
        response = np.asarray(np.linalg.solve(self.mass, jacobian.T))
        if not self.constrained:
            return response
        return np.asarray(response - self.to_constraints @ (self.inverse @ (self.matrix @ response)))
