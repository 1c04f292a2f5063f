"""What a parameterisation of rotations must answer: the map ρ from parameters θ to a rotation, and little else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from dqdyn.algebra.adjoint import Columns
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.quaternion import Quaternion, cross3, dot3, pure
from dqdyn.algebra.scalar import Scalar, Scalars, divide, less, select, sqrt, total
from dqdyn.dynamics.fast.sparse_solve import solve

Matrix = list[list[Scalar]]
"""Rows of scalars."""


class Coordinates(ABC):
    """Coordinates θ with a ``name``, a label each, and the conditions that they obey."""

    name: str
    labels: tuple[str, ...]

    def _set(self, name: str, labels: tuple[str, ...]) -> None:
        """Names of a frozen value that follow from its fields."""
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "labels", labels)

    def constraint(self, theta: Scalars) -> list[Scalar]:
        """C(θ), zero where the coordinates stand for something [Bouyarmane, eq. (27)] [Bouyarmane, table 2]."""
        return []

    def fault(self, theta: Any) -> tuple[Any, str]:
        """(how far off θ is, what is wrong with it) for arrays of numbers; checked on input."""
        residuals = self.constraint(theta)
        return max(map(abs, residuals), default=0.0), f"{self.name} coordinates miss their condition by {{off:.3g}}"

    def regularity(self, theta: Scalars) -> Scalar:
        """Zero where the coordinates are singular, negative where they are those of a reflection."""
        return 1.0

    def lock(self, theta: Any) -> str:
        """What to say of a singular θ, and what to do about it."""
        return f"{self.name} coordinates are singular: take others there, such as 'quaternion'"


class Parameterisation(Coordinates):
    """Rotations by d parameters θ, over any scalar; a new one needs ``rotation`` and ``parameters``.

    Defining identity: for θ moving with θ̇ = ``rate(θ, ω)``, R = ``rotation(θ)`` obeys Ṙ = R [ω]×, with ω in the moving
    axes, and ``constraint(θ)`` stays zero. The Jacobian of ω follows from ρ alone [Bouyarmane, eq. (10)].
    """

    @property
    def d(self) -> int:
        """Number of parameters [Bouyarmane, table 1]."""
        return len(self.labels)

    @abstractmethod
    def rotation(self, theta: Scalars) -> Columns:
        """ρ: columns of R₀ as pure quaternions."""

    @abstractmethod
    def parameters(self, r: Quaternion) -> list[Scalar]:
        """θ of a unit quaternion: an inverse of ρ."""

    def quaternion(self, theta: Scalars) -> Quaternion:
        """The unit quaternion of the rotation, of either sign."""
        return quaternion_of_columns(self.rotation(theta))

    # --- the angular velocity -------------------------------------------------------------------------------------

    def rotation_rate(self, theta: Scalars, theta_rate: Scalars) -> Columns:
        """Columns of Ṙ₀ = Σ ∂R₀/∂θᵢ θ̇ᵢ."""
        rates = derivative(lambda t: [c for column in self.rotation(t) for c in column.vector], theta, theta_rate)
        return pure(*rates[:3]), pure(*rates[3:6]), pure(*rates[6:])

    def global_jacobian(self, theta: Scalars) -> Matrix:
        """J_ω (3×d) with ω = J_ω θ̇ in world axes [Bouyarmane, eq. (2)], from ρ by [Bouyarmane, eq. (10)].

        ω is defined by [ω×] = Ṙ₀R₀ᵀ [Bouyarmane, eq. (3)], so ∂(R₀u)/∂θ = −[(R₀u)×] J_ω for a fixed vector u
        [Bouyarmane, eq. (5)]. Each column of R₀ turns with ω [Bouyarmane, eq. (6)]; (10) puts ω together from their
        rates by the identity of an orthonormal basis [Bouyarmane, eq. (8)].
        """
        R1, R2, R3 = self.rotation(theta)
        columns = []
        for i in range(self.d):
            d1, d2, d3 = self.rotation_rate(theta, unit_vector(self.d, i))
            columns.append((R3 * dot3(R2, d1) + R2 * dot3(R1, d3) + R1 * dot3(R3, d2)).vector)
        return [list(row) for row in zip(*columns, strict=True)]

    def body_jacobian(self, theta: Scalars) -> Matrix:
        """R₀ᵀ J_ω (3×d) with ω in the moving axes [Bouyarmane, eq. (13)]."""
        columns = [self.body_velocity(theta, unit_vector(self.d, i)).vector for i in range(self.d)]
        return [list(row) for row in zip(*columns, strict=True)]

    def body_velocity(self, theta: Scalars, theta_rate: Scalars) -> Quaternion:
        """ω in the moving axes: the same as (10) and (13), where R₀ᵀR₀ = 1 left of (10) is already taken out."""
        R1, R2, R3 = self.rotation(theta)
        d1, d2, d3 = self.rotation_rate(theta, theta_rate)
        return pure(dot3(R3, d2), dot3(R1, d3), dot3(R2, d1))

    def rate(self, theta: Scalars, omega: Quaternion) -> list[Scalar]:
        """θ̇ that turns the rotation with ω (moving axes) and keeps C(θ) = 0."""
        rows = self.body_jacobian(theta)
        if self.d == 3:
            a, b, c = (pure(*column) for column in zip(*rows, strict=True))
            normals = cross3(b, c), cross3(c, a), cross3(a, b)
            scale = divide(1.0, dot3(a, normals[0]))
            return [dot3(n, omega) * scale for n in normals]
        # J θ̇ = ω and A θ̇ = 0 together have full rank: their normal equations.
        stacked = rows + half_gradient(self, theta)
        normal = [[total(row[i] * row[j] for row in stacked) for j in range(self.d)] for i in range(self.d)]
        right = [total(row[i] * w for row, w in zip(rows, omega.vector, strict=True)) for i in range(self.d)]
        return solve(normal, right)

    def regularity(self, theta: Scalars) -> Scalar:
        """(det J_ω)² of three parameters, zero where they are singular; 1 for redundant ones, which never are."""
        if self.d > 3:
            return 1.0
        a, b, c = (pure(*column) for column in zip(*self.body_jacobian(theta), strict=True))
        determinant = dot3(a, cross3(b, c))
        return determinant * determinant

    def __str__(self) -> str:
        return self.name


def half_gradient(coordinates: Coordinates, theta: Scalars) -> Matrix:
    """½ ∂C/∂θ, one row per condition: conditions are quadratic, and [Bouyarmane, eq. (30)] halves them too."""
    n = len(theta)
    columns = [derivative(coordinates.constraint, theta, unit_vector(n, i)) for i in range(n)]
    return [[0.5 * entry for entry in row] for row in zip(*columns, strict=True)]


def unit_vector(n: int, i: int) -> list[float]:
    """The i-th of n unit vectors."""
    return [1.0 if k == i else 0.0 for k in range(n)]


def quaternion_of_columns(columns: Columns) -> Quaternion:
    """r with r i r*, r j r*, r k r* = ``columns``, from its largest component (Shepperd's method).

    Over any scalar, without a branch on values. The four rows are 4 w r, 4 x r, 4 y r, 4 z r; the one whose factor is
    largest loses no digits.
    """
    a, b, c = columns
    wx, wy, wz = b.z - c.y, c.x - a.z, a.y - b.x
    xy, xz, yz = a.y + b.x, a.z + c.x, b.z + c.y
    rows: list[list[Scalar]] = [
        [1.0 + a.x + b.y + c.z, wx, wy, wz],
        [wx, 1.0 + a.x - b.y - c.z, xy, xz],
        [wy, xy, 1.0 - a.x + b.y - c.z, yz],
        [wz, xz, yz, 1.0 - a.x - b.y + c.z],
    ]
    best, row = rows[0][0], rows[0]
    for i in (1, 2, 3):
        larger = less(best, rows[i][i])
        row = [select(larger, new, old) for new, old in zip(rows[i], row, strict=True)]
        best = select(larger, rows[i][i], best)
    scale = divide(1.0, sqrt(total(e * e for e in row)))
    return Quaternion(*(e * scale for e in row))
