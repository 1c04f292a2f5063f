"""The steps of [Quiroz, section 5.5.1] one by one and as counted there, for :mod:`dqdyn.analysis.costs.quiroz`.

Full matrices, zeros included, and a conjugate that multiplies by −1. On counters they give what the steps cost, on
numbers the forces of an arm of revolute joints by Denavit-Hartenberg parameters whose centers of mass are the origins
of its frames. For a robot use :mod:`dqdyn.dynamics.formulations.gauss`, which is general and cheaper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.scalar import Scalar, cos, sin

Matrix = list[list[Scalar]]


@dataclass(frozen=True)
class DHRow:
    """Half the length d along z, half the length a along x, and half the angle α between axes, all constant."""

    half_d: Scalar
    half_a: Scalar
    half_alpha: Scalar


# --- quaternions and matrices -----------------------------------------------------------------------------------------


def conjugate(a: Any) -> Any:
    """The conjugate of a quaternion or dual quaternion; changing a sign is a multiplication there."""
    if isinstance(a, DQ):
        return DQ.of(conjugate(a.primary), conjugate(a.dual))
    return Quaternion(a.w, a.x * -1.0, a.y * -1.0, a.z * -1.0)


def adjoint(a: Any, b: Any) -> Any:
    """a b a* as two products and a conjugate, of quaternions or dual quaternions."""
    return a * b * conjugate(a)


def scaled(factor: Scalar, a: Matrix) -> Matrix:
    """λA."""
    return [[factor * x for x in row] for row in a]


def plus(a: Matrix, b: Matrix) -> Matrix:
    """A + B."""
    return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]


def product(a: Matrix, b: Matrix) -> Matrix:
    """AB."""
    return [[_dot(row, column) for column in zip(*b, strict=True)] for row in a]


def transposed(a: Matrix) -> Matrix:
    """Aᵀ."""
    return [list(column) for column in zip(*a, strict=True)]


def skew(c: Sequence[Scalar]) -> Matrix:
    """S(c) with three changes of sign."""
    x, y, z = c
    return [[0.0, z * -1.0, y], [z, 0.0, x * -1.0], [y * -1.0, x, 0.0]]


def gyroscopic(omega: Sequence[Scalar], inertia: Matrix, mass: Scalar) -> Matrix:
    """blkdiag(−S(I ω), m S(ω)) (6×6); −S is Sᵀ, and m S(ω) is S(m ω) [Quiroz, eq. (5.13)]."""
    spin = [row[0] for row in product(inertia, [[w] for w in omega])]
    return block_diagonal(transposed(skew(spin)), skew([mass * w for w in omega]))


def block_diagonal(a: Matrix, b: Matrix) -> Matrix:
    """The two 3×3 matrices on the diagonal of a 6×6 one."""
    return [[*row, 0.0, 0.0, 0.0] for row in a] + [[0.0, 0.0, 0.0, *row] for row in b]


# --- Jacobians --------------------------------------------------------------------------------------------------------


def dh_pose(row: DHRow, half_angle: Scalar) -> DQ:
    """The pose from one frame to the next: 12 products and 4 sums beside sines and cosines."""
    ct, st = cos(half_angle), sin(half_angle)
    ca, sa = cos(row.half_alpha), sin(row.half_alpha)
    w, x, y, z = ct * ca, ct * sa, st * sa, st * ca
    d, a = row.half_d, row.half_a
    return DQ.of(Quaternion(w, x, y, z), Quaternion(-(d * z) - a * x, a * w - d * y, d * x + a * z, d * w - a * y))


def half_axis(x: DQ) -> DQ:
    """½ x k x*, the joint's axis seen from the base: 21 products and 14 sums."""
    w, i, j, k = x.primary.components
    dw, di, dj, dk = x.dual.components
    return DQ.of(
        pure(i * k + w * j, j * k - w * i, (k * k - j * j - i * i + w * w) * 0.5),
        pure(
            i * dk + di * k + w * dj + dw * j,
            j * dk + dj * k - w * di - dw * i,
            k * dk - j * dj - i * di + w * dw,
        ),
    )


def pose_jacobian(rows: Sequence[DHRow], half_angles: Sequence[Scalar], first: DQ) -> tuple[DQ, list[DQ], list[DQ]]:
    """The pose x of the last frame, its Jacobian by columns z x, and the half axes z; angles θ/2, ``first`` is 1.

    The forward kinematics first, then per joint its axis, its column and the running pose once more.
    """
    end = dh_pose(rows[0], half_angles[0])
    for row, angle in zip(rows[1:], half_angles[1:], strict=True):
        end = end * dh_pose(row, angle)
    axes, columns = [], []
    running = first
    for row, angle in zip(rows, half_angles, strict=True):
        axes.append(half_axis(running))
        columns.append(axes[-1] * end)
        running = running * dh_pose(row, angle)
    return end, columns, axes


def pose_jacobian_rate(end: DQ, axes: Sequence[DQ], v: Sequence[Scalar]) -> tuple[DQ, list[DQ]]:
    """ẋ, and the columns ż x + z ẋ of J̇_x, with the half twist s of the frames before: ż = s z − z s = 2 s × z."""
    halves = [DQ.of(z.primary * rate, z.dual * rate) for z, rate in zip(axes, v, strict=True)]
    sums = [halves[0]]
    for half in halves[1:]:
        sums.append(sums[-1] + half)
    end_rate = sums[-1] * end
    return end_rate, [cross(s, z) * 2.0 * end + z * end_rate for s, z in zip(sums, axes, strict=True)]


def twist_rows(x: DQ) -> Matrix:
    """The rows of H⁺₈(2x*) that give a twist (6×8): those of the real parts are removed; 2x is the only cost."""
    p, d = (x.primary * 2.0).conj(), (x.dual * 2.0).conj()
    zero = [[0.0] * 4 for _ in range(3)]
    return [[*a, *b] for a, b in zip(_hamilton(p), zero, strict=True)] + [
        [*a, *b] for a, b in zip(_hamilton(d), _hamilton(p), strict=True)
    ]


def twist_jacobian_rate(rate_rows: Matrix, columns: Matrix, rows: Matrix, column_rates: Matrix) -> Matrix:
    """J̇_ξ = 2Ī(H⁺₈(ẋ*) J_x + H⁺₈(x*) J̇_x) (6×i) [Quiroz, eq. (5.61)] [Quiroz, eq. (5.62)]."""
    return plus(product(rate_rows, columns), product(rows, column_rates))


def by_columns(columns: Sequence[DQ]) -> Matrix:
    """Dual quaternions as the columns of a matrix (8×i)."""
    return transposed([list(c.components) for c in columns])


# --- the equations of motion ------------------------------------------------------------------------------------------


def mass_part(jacobian: Matrix, psi: Matrix) -> Matrix:
    """M_i = (JᵀΨ)J (i×i) [Quiroz, eq. (5.65)]."""
    return product(product(transposed(jacobian), psi), jacobian)


def coriolis_part(jacobian: Matrix, rate: Matrix, psi: Matrix, s: Matrix) -> Matrix:
    """C_i = Jᵀ(S̄J + ΨJ̇) (i×i) [Quiroz, eq. (5.67)], whose print repeats two of its terms."""
    return product(transposed(jacobian), plus(product(s, jacobian), product(psi, rate)))


def gravity_part(jacobian: Matrix, r: Quaternion, weight: Quaternion) -> list[Scalar]:
    """g_i = J_Dᵀ vec3(−Ad(r) f) (i) [Quiroz, eq. (5.70)], r the rotation from the base to the body."""
    held = -adjoint(r, weight)
    return [row[0] for row in product(transposed(jacobian[3:]), [[c] for c in held.vector])]


def padded_sum(parts: Sequence[Matrix], zero: Scalar) -> Matrix:
    """Σ of the parts, each with zeros to full size [Quiroz, eq. (5.66)] [Quiroz, eq. (5.68)] [Quiroz, eq. (5.71)]."""
    n, wide = len(parts[-1]), len(parts[-1][0])

    def full(part: Matrix) -> Matrix:
        return [[*row, *[zero] * (wide - len(row))] for row in part] + [[zero] * wide] * (n - len(part))

    total = full(parts[0])
    for part in parts[1:]:
        total = plus(total, full(part))
    return total


def forces(mass: Matrix, coriolis: Matrix, gravity: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]) -> Any:
    """τ = M a + C v + g."""
    column = lambda x: [[c] for c in x]
    moved = plus(product(mass, column(a)), product(coriolis, column(v)))
    return [row[0] for row in plus(moved, column(gravity))]


def _dot(row: Sequence[Scalar], column: Sequence[Scalar]) -> Scalar:
    products = [x * y for x, y in zip(row, column, strict=True)]
    total = products[0]
    for x in products[1:]:
        total = total + x
    return total


def _hamilton(h: Quaternion) -> Matrix:
    """The rows of i, j, k of H⁺₄(h)."""
    w, x, y, z = h.components
    return [[x, w, -z, y], [y, z, w, -x], [z, -y, x, w]]
