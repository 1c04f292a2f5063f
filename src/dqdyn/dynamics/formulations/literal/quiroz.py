"""The equations of motion by Gauss's principle as [Quiroz, section 5.5.1] counts them, step by step.

Every body adds its part to M a + C v + g, from the Jacobian of its center of mass, in full matrices, zeros included.
For the same with fewer operations see :mod:`dqdyn.dynamics.formulations.gauss`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.arguments import Matrix, Scalars, Wrenches
from dqdyn.dynamics.formulations.literal import quiroz_jacobians as jacobians
from dqdyn.dynamics.formulations.literal.matrices import block_diagonal, plus, product, skew, times, transposed
from dqdyn.dynamics.formulations.literal.products import adjoint, summed
from dqdyn.kinematics.center_frames import to_center
from dqdyn.model.inertia import Inertia
from dqdyn.model.model import Model

Part = tuple[Sequence[int], Sequence[int], Matrix]
"""What a body contributes to a matrix, with the indices of its rows and columns there."""


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """τ (nv) that gives the acceleration a at the state (q, v): M a + C v + g [Silva, eq. (48)] [Quiroz, eq. (5.20)].

    ``wrenches`` are external ones by body, in the frame of the body at its origin.
    """
    bodies, given, gravity = _centers(model, q, v), wrenches or {}, pure(*model.gravity)
    held = padded_sum([(b.indices, [0], b.held(gravity, given.get(i))) for i, b in enumerate(bodies)], model.nv, 1, 0.0)
    return forces(_mass_matrix(bodies, model.nv), _coriolis_matrix(bodies, model.nv), held, v, a)


def mass_matrix(model: Model, q: Scalars) -> Matrix:
    """M (nv×nv), without armature [Silva, eq. (43)] [Quiroz, eq. (5.15)]."""
    return _mass_matrix(_centers(model, q), model.nv)


def coriolis_matrix(model: Model, q: Scalars, v: Scalars) -> Matrix:
    """C (nv×nv) [Silva, eq. (44)] [Quiroz, eq. (5.16)]."""
    return _coriolis_matrix(_centers(model, q, v), model.nv)


@dataclass(frozen=True)
class CenterJacobian:
    """A center of mass: its rotation, the twist Jacobian (6×i) by the axes that move it, and the rate of that.

    ``indices`` are the places of these axes in v, the same for joints that mimic one another; ``v`` their velocities.
    """

    inertia: Inertia
    indices: list[int]
    rotation: Quaternion
    jacobian: Matrix
    rate: Matrix
    v: list[Scalar]

    @classmethod
    def of(cls, model: Model, body: int, q: Scalars, v: Scalars | None = None) -> CenterJacobian:
        """That of a body [Quiroz, eq. (5.60)]; without v no rate."""
        joints = [jacobians.CenterJoint(model, model.joints[i], q) for i in model.path(body)]
        poses, axes, columns = jacobians.pose_jacobian(joints, IDENTITY)
        end, indices = poses[-1], [k for own in axes for k, _ in own]
        rows, along = jacobians.twist_rows(end), jacobians.by_columns(columns)
        rate, own_v = [], []
        if v is not None:
            changing = [joint.half_axis_rates(x, v) for joint, x in zip(joints, poses, strict=True)]
            end_rate, column_rates = jacobians.pose_jacobian_rate(end, axes, v, changing)
            rate_rows, changing_along = jacobians.twist_rows(end_rate), jacobians.by_columns(column_rates)
            rate, own_v = jacobians.twist_jacobian_rate(rate_rows, along, rows, changing_along), [v[k] for k in indices]
        return cls(model.bodies[body].inertia, indices, end.primary, product(rows, along), rate, own_v)

    def held(self, gravity: Quaternion, wrench: DQ | None) -> Matrix:
        """The forces (i×1) that hold the body against gravity and an external wrench."""
        weight = gravity_part(self.jacobian, self.rotation.conj(), gravity * self.inertia.mass)
        if wrench is None:
            return weight
        at_center = to_center(self.inertia, wrench)
        given = [[-c] for c in (*at_center.dual.vector, *at_center.primary.vector)]
        return plus(weight, product(transposed(self.jacobian), given))

    @property
    def psi(self) -> Matrix:
        """Ψ = blkdiag(I, m) (6×6)."""
        m = self.inertia.mass
        return block_diagonal(self.tensor, [[m, 0.0, 0.0], [0.0, m, 0.0], [0.0, 0.0, m]])

    @property
    def tensor(self) -> Matrix:
        """I by rows (3×3)."""
        return [list(row) for row in self.inertia.tensor]


def gyroscopic(omega: Scalars, inertia: Matrix, mass: Scalar) -> Matrix:
    """blkdiag(−S(I ω), m S(ω)) (6×6); −S is Sᵀ, and m S(ω) is S(m ω) [Quiroz, eq. (5.13)]."""
    return block_diagonal(transposed(skew(times(inertia, omega))), skew([mass * w for w in omega]))


def mass_part(jacobian: Matrix, psi: Matrix) -> Matrix:
    """M_i = (JᵀΨ)J (i×i) [Quiroz, eq. (5.65)]."""
    return product(product(transposed(jacobian), psi), jacobian)


def coriolis_part(jacobian: Matrix, rate: Matrix, psi: Matrix, s: Matrix) -> Matrix:
    """C_i = Jᵀ(S̄J + ΨJ̇) (i×i) [Quiroz, eq. (5.67)], whose print repeats two of its terms."""
    return product(transposed(jacobian), plus(product(s, jacobian), product(psi, rate)))


def gravity_part(jacobian: Matrix, r: Quaternion, weight: Quaternion) -> Matrix:
    """g_i = J_Dᵀ vec3(−Ad(r) f) (i×1) [Quiroz, eq. (5.70)], r the rotation from the base to the body."""
    held = -adjoint(r, weight)
    return product(transposed(jacobian[3:]), [[c] for c in held.vector])


def padded_sum(parts: Sequence[Part], rows: int, columns: int, zero: Scalar) -> Matrix:
    """Σ of the parts, each with zeros to full size [Quiroz, eq. (5.66)] [Quiroz, eq. (5.68)] [Quiroz, eq. (5.71)]."""

    def full(at_rows: Sequence[int], at_columns: Sequence[int], part: Matrix) -> Matrix:
        entries = [
            ((i, j), e) for i, row in zip(at_rows, part, strict=True) for j, e in zip(at_columns, row, strict=True)
        ]
        place = summed(entries)
        return [[place.get((i, j), zero) for j in range(columns)] for i in range(rows)]

    return reduce(plus, [full(*part) for part in parts]) if parts else []


def forces(mass: Matrix, coriolis: Matrix, gravity: Matrix, v: Scalars, a: Scalars) -> list[Scalar]:
    """τ = M a + C v + g."""
    moved = plus(product(mass, [[c] for c in a]), product(coriolis, [[c] for c in v]))
    return [row[0] for row in plus(moved, gravity)]


def _centers(model: Model, q: Scalars, v: Scalars | None = None) -> list[CenterJacobian]:
    return [CenterJacobian.of(model, i, q, v) for i in range(len(model.bodies))]


def _mass_matrix(bodies: Sequence[CenterJacobian], n: int) -> Matrix:
    return padded_sum([(b.indices, b.indices, mass_part(b.jacobian, b.psi)) for b in bodies], n, n, 0.0)


def _coriolis_matrix(bodies: Sequence[CenterJacobian], n: int) -> Matrix:
    spinning = [gyroscopic(times(b.jacobian[:3], b.v), b.tensor, b.inertia.mass) for b in bodies]  # ω = J_P v
    parts = [coriolis_part(b.jacobian, b.rate, b.psi, s) for b, s in zip(bodies, spinning, strict=True)]
    return padded_sum([(b.indices, b.indices, part) for b, part in zip(bodies, parts, strict=True)], n, n, 0.0)
