"""One time step with unilateral contacts: velocities and impulses, whatever opens, closes, sticks or slips in it.

In the scheme of Stewart and Trinkle (Int. J. Numer. Methods Eng. 39, 1996) and of Anitescu and Potra (Nonlinear Dyn.
14, 1997), impulses take the place of forces, so that an impact is a step like any other:

    M (v⁺ − v) = h (τ − n(q, v)) + Aᵀ λ + Jᵀ p,   A v⁺ = b,   q⁺ = q exp(h v⁺).

Contacts keep gap/h + u_n⁺ ≥ 0, so that none sinks in by the end of the step: an impact is inelastic. The constraints of
the robot are eliminated: contacts see the inverse of the mass matrix on the motions that the constraints leave.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array
from dqdyn.robot import Robot
from dqdyn.simulate.unilateral.coulomb import Whole
from dqdyn.simulate.unilateral.elimination import Mobility
from dqdyn.simulate.unilateral.impacts import Key, UnilateralRows, impact
from dqdyn.simulate.unilateral.joint_stops import JointStops, Stops
from dqdyn.simulate.unilateral.resting_axes import RestingAxes
from dqdyn.simulate.unilateral.touching import Corners, Pairs, tangent_axes

_RETURN = 0.2
"""Part of a penetration that one step takes back."""
_FASTEST_RETURN = 0.5
"""m/s (or rad/s) at which a penetration is taken back at most."""


@dataclass(frozen=True)
class Step:
    """v⁺ (nv), in the axes at the beginning of the step, and what acted in it.

    Per pair: ``impulses`` (n, 3) in N s in world axes, ``spins`` (n,) in N m s about the normal, ``modes`` (n,).
    ``forces`` (nv): generalized forces of contacts and end stops. ``error`` in m/s: how far Coulomb's law is missed;
    ``converged``: whether that is rounding.
    """

    v: Array
    pairs: Pairs
    impulses: Array
    spins: Array
    modes: Whole
    forces: Array
    error: float
    converged: bool


class Stepper:
    """Steps of h s of a robot with contacts; what it remembers is where the next solution is sought first."""

    def __init__(self, robot: Robot, corners: Corners, stops: JointStops, h: float) -> None:
        self.robot, self.corners, self.stops, self.h = robot, corners, stops, h
        self.constrained = bool(robot.constraints)
        self.tree = robot.without_constraints() if self.constrained else robot
        self.axes = RestingAxes(robot)
        self._mass = self.tree.function("mass_matrix")
        self._last: dict[Key, Array] = {}
        if self.constrained:
            self._to_position = robot.function("step_to_position")
            self._projected = robot.function("projected_velocity")
        self._holonomic = any(constraint.holonomic for constraint in robot.constraints)

    def solve(self, t: float, q: Array, v: Array, acceleration: Array) -> Step:
        """The step from (q, v) at the time t, given the acceleration of the tree without contacts and constraints."""
        pairs, stops = self.corners.at(q, t, self.h), self.stops.at(q)
        mobility = Mobility(self.robot, self._mass(q), q, t)
        free = mobility.velocity(v + self.h * (acceleration + self.axes.turning(v)))
        axes = tangent_axes(pairs.normal)
        rows = self._rows(pairs, stops, axes)
        found, count = impact(rows, mobility, free, self._last), len(pairs.gap)
        self._last = found.pressing(rows.keys)
        return Step(
            found.v,
            pairs,
            np.einsum("kab,ka->kb", axes, found.p[:count]),
            found.spin[:count],
            found.modes[:count],
            found.generalized / self.h,
            found.error,
            found.converged,
        )

    def _rows(self, pairs: Pairs, stops: Stops, axes: Array) -> UnilateralRows:
        """Contacts, then end stops as contacts that have a normal only."""
        n, m, nv = len(pairs.gap), len(stops.gap), self.robot.nv
        rows, offset = np.zeros((n + m, 3, nv)), np.zeros((n + m, 3))
        rows[:n], rows[n:, 2] = axes @ pairs.rows, stops.rows
        offset[:n] = (axes @ pairs.drift[:, :, None])[:, :, 0]
        offset[:, 2] += _allowed(np.concatenate([pairs.gap, stops.gap]), self.h)
        none, no_rows = np.zeros(m), np.zeros((m, nv))
        keys = [*zip(pairs.corner.tolist(), pairs.surface.tolist(), strict=True), *((-1, k) for k in range(m))]
        return UnilateralRows(
            keys,
            rows,
            offset,
            np.concatenate([pairs.friction, none]),
            np.concatenate([pairs.torsion, none]),
            np.concatenate([pairs.spin, no_rows]),
            np.concatenate([pairs.spin_drift, none]),
        )

    def moved(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """The configuration after the step, and the velocity there, on the constraints where there are any."""
        q, v = self.axes.moved(q, v, self.h)
        if not self.constrained:
            return q, v
        at = t + self.h
        if self._holonomic:
            q = self.robot.integrate(q, self._to_position(q, at), 1.0)
        return q, np.asarray(self._projected(q, v, at))


def _allowed(gap: Array, h: float) -> Array:
    """Speed (n,) at which gaps may close; of those that sank in, minus that at which they must open."""
    return np.where(gap >= 0.0, gap / h, np.maximum(_RETURN * gap / h, -_FASTEST_RETURN))
