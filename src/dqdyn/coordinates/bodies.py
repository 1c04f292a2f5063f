"""Jacobians of points and rotations of bodies with respect to any coordinates [Bouyarmane, section II].

Those of the tree with respect to v come from its kinematics. The chain rule v = E(q) q̇ turns them into the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.quaternion import ZERO, Quaternion, cross3
from dqdyn.algebra.scalar import Scalars
from dqdyn.coordinates.tree import Sparse, TreeCoordinates
from dqdyn.dynamics.formulations.mass_centers import Center, centers

Columns = list[Quaternion]
"""A 3×n matrix by columns."""


@dataclass(frozen=True)
class BodyJacobians:
    """Of one body k: J_t at its center of mass in world axes, J_r in its own axes, and their rates."""

    center: Center
    t: Columns
    r: Columns
    t_rate: Columns
    r_rate: Columns

    def translation(self, point: Quaternion) -> Columns:
        """J_t(p) (3×n) of a point p of the body, in world axes [Bouyarmane, eq. (14)].

        With the free joint at the root its blocks are 1 for the position, −(x_k + R_k p − x₀)× R₀ J_ω for θ (which is
        ∂(R₀ p⁰)/∂θ [Bouyarmane, eq. (15)]) and R₀ Ĵ_t for the other joints. The step from the center to p is
        [Bouyarmane, eq. (19)].
        """
        lever = point - self.center.inertia.center
        return [t - self.seen.rotate(cross3(lever, r)) for t, r in zip(self.t, self.r, strict=True)]

    @property
    def global_rotation(self) -> Columns:
        """J_r (3×n) in world axes, R_k J_r [Bouyarmane, eq. (17)]: angular velocities add up [Bouyarmane, eq. (18)]."""
        return [self.seen.rotate(r) for r in self.r]

    @property
    def seen(self) -> Adjoint:
        """Ad of the pose of the center of mass: R_k and x_k + R_k c_k."""
        return self.center.seen


def body_jacobians(at: TreeCoordinates, q: Scalars, rate: Scalars) -> list[BodyJacobians]:
    """Jacobians of all bodies; J_r in the axes of the body is [Bouyarmane, eq. (16)].

    Of a dual-quaternion base they are [Quiroz, eq. (5.54)], with the twist of the base as [Quiroz, eq. (5.52)].
    """
    E, E_rate = at.velocity_columns(q), at.velocity_rate_columns(q, rate)
    result = []
    for center in centers(at.model, at.minimal(q), at.velocity(q, rate)):
        omega, turn = center.twist.primary, center.seen.rotate
        v = {k: s.dual for k, s in center.columns.items()}
        # In world axes the rate of R_k s is R_k (ṡ + ω × s).
        v_rate = {k: s.dual + cross3(omega, v[k]) for k, s in center.rates.items()}
        w = {k: s.primary for k, s in center.columns.items()}
        w_rate = {k: s.primary for k, s in center.rates.items()}
        t, r = _chained(v, E), _chained(w, E)
        t_rate = [turn(a + b) for a, b in zip(_chained(v_rate, E), _chained(v, E_rate), strict=True)]
        r_rate = [a + b for a, b in zip(_chained(w_rate, E), _chained(w, E_rate), strict=True)]
        result.append(BodyJacobians(center, [turn(s) for s in t], r, t_rate, r_rate))
    return result


def _chained(columns: dict[int, Quaternion], E: Sparse) -> Columns:
    """J E by columns."""
    result = []
    for column in E:
        terms = [columns[k] * e for k, e in column if k in columns]
        result.append(sum(terms[1:], terms[0]) if terms else ZERO)
    return result
