"""Symmetric tensors over any scalar: six entries, never nine. Turns about an axis at the least cost.

Under a turn by θ in the plane of two axes the mean of the diagonal and the skew part stay, and the rest turns by
2θ. With d = t₀₀ − t₁₁, e = t₀₁ + t₁₀ and w = s d + c e the diagonal changes by ∓s w and both others by c w − e: four
multiplications for four entries, where two matrix products take sixteen.
"""

from __future__ import annotations

from typing import Any

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.quaternion import ZERO, Columns, Quaternion, combine, dot3, pure
from dqdyn.algebra.scalar import Scalar


class Symmetric:
    """A symmetric 3×3 tensor, such as a moment of inertia."""

    __slots__ = ("xx", "xy", "xz", "yy", "yz", "zz")

    def __init__(self, xx: Scalar, yy: Scalar, zz: Scalar, xy: Scalar, xz: Scalar, yz: Scalar) -> None:
        self.xx, self.yy, self.zz, self.xy, self.xz, self.yz = xx, yy, zz, xy, xz, yz

    @property
    def entries(self) -> tuple[Scalar, ...]:
        """In the order of the arguments."""
        return self.xx, self.yy, self.zz, self.xy, self.xz, self.yz

    @property
    def matrix(self) -> list[list[Scalar]]:
        """All nine entries, by rows."""
        return [[self.xx, self.xy, self.xz], [self.xy, self.yy, self.yz], [self.xz, self.yz, self.zz]]

    @classmethod
    def of(cls, m: Any) -> Symmetric:
        """From the upper triangle of a 3×3 matrix."""
        return cls(m[0][0], m[1][1], m[2][2], m[0][1], m[0][2], m[1][2])

    def __add__(self, other: Symmetric) -> Symmetric:
        return Symmetric(*(a + b for a, b in zip(self.entries, other.entries, strict=True)))

    def __call__(self, v: Quaternion) -> Quaternion:
        """The tensor applied to a vector."""
        return pure(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )

    def cleared(self, axis: int) -> Symmetric:
        """The same with exact zeros in the row and the column of an axis."""
        names = ("xx", "yy", "zz", "xy", "xz", "yz")
        return Symmetric(*(0.0 if "xyz"[axis] in n else e for n, e in zip(names, self.entries, strict=True)))

    def rotated(self, columns: Columns) -> Symmetric:
        """R T Rᵀ for the rotation with these columns."""
        turn = plane_turn(columns)
        if turn is not None:
            return self._turned(*turn)
        rows = [pure(*row) for row in zip(*(column.vector for column in columns), strict=True)]
        product = [self(row) for row in rows]  # the rows of R T, then the six distinct products with those of R
        return Symmetric(*(dot3(product[i], rows[j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))

    def _turned(self, axis: int, c: Scalar, s: Scalar) -> Symmetric:
        """R T Rᵀ for a turn about a coordinate axis."""
        m = self.matrix
        i, j = (axis + 1) % 3, (axis + 2) % 3
        twice = m[i][j] + m[i][j]
        w = s * (m[i][i] - m[j][j]) + c * twice
        change = s * w
        m[i][i], m[j][j] = m[i][i] - change, m[j][j] + change
        m[i][j] = m[j][i] = c * w - m[i][j]
        m[i][axis], m[j][axis] = c * m[i][axis] - s * m[j][axis], s * m[i][axis] + c * m[j][axis]
        m[axis][i], m[axis][j] = m[i][axis], m[j][axis]
        return Symmetric.of(m)


def plane_turn(columns: Columns) -> tuple[int, Scalar, Scalar] | None:
    """(axis, cos θ, sin θ) of a rotation that turns about a coordinate axis, by an angle that is not a right one.

    Right angles and anything else: None. There the zeros of the columns make products cheaper than the formulas here.
    """
    axis = turning_axis(columns)
    if axis is None:
        return None
    vectors = [column.vector for column in columns]
    c, s = vectors[(axis + 1) % 3][(axis + 1) % 3], vectors[(axis + 1) % 3][(axis + 2) % 3]
    special = any(isinstance(e, float) and e in (0.0, 1.0, -1.0) for e in (c, s))
    return None if special else (axis, c, s)


def turning_axis(columns: Columns) -> int | None:
    """The coordinate axis that the rotation leaves in place, if it is known to."""
    for axis, column in enumerate(columns):
        if all(isinstance(e, float) and e == (k == axis) for k, e in enumerate(column.vector)):
            return axis
    return None


def legs(x: Adjoint) -> tuple[Quaternion, Quaternion]:
    """Two translations, before and after the rotation of a constant pose, that together are its translation.

    Along the axis of the rotation it may come after, and what is left before, in the axes of the child: in
    Denavit-Hartenberg frames each has one component, and moving an inertia by a vector with one component is cheap.
    """
    axis = turning_axis(x.columns)
    if axis is None or not all(isinstance(e, float) for e in (*x.p.vector, *x.columns[axis - 1].vector)):
        return ZERO, x.p
    along = [e if k == axis else 0.0 for k, e in enumerate(x.p.vector)]
    before = x.rotate_back(x.p - pure(*along)).vector
    size = max(map(abs, before))
    rest = [0.0 if abs(e) < 1e-13 * size else e for e in before]
    if sum(e != 0.0 for e in rest) > 1:
        return ZERO, x.p
    return pure(*rest), pure(*along)


def rotated(matrix: Columns, rotation: Columns) -> Columns:
    """R B Rᵀ of any matrix, by columns, for the rotation with these columns."""
    turn = plane_turn(rotation)
    if turn is not None:
        return turned(matrix, *turn)
    a, b, c = (combine(rotation, column) for column in matrix)  # R B
    rows = zip(*(column.vector for column in rotation), strict=True)
    x, y, z = (a * r[0] + b * r[1] + c * r[2] for r in rows)
    return x, y, z


def turned(columns: Columns, axis: int, c: Scalar, s: Scalar) -> Columns:
    """R B Rᵀ of any matrix, by columns, for a turn about a coordinate axis."""
    m = [list(row) for row in zip(*(column.vector for column in columns), strict=True)]
    i, j = (axis + 1) % 3, (axis + 2) % 3
    e = m[i][j] + m[j][i]
    w = s * (m[i][i] - m[j][j]) + c * e
    change, across = s * w, c * w - e
    m[i][i], m[j][j] = m[i][i] - change, m[j][j] + change
    m[i][j], m[j][i] = m[i][j] + across, m[j][i] + across
    m[i][axis], m[j][axis] = c * m[i][axis] - s * m[j][axis], s * m[i][axis] + c * m[j][axis]
    m[axis][i], m[axis][j] = c * m[axis][i] - s * m[axis][j], s * m[axis][i] + c * m[axis][j]
    x, y, z = (pure(*column) for column in zip(*m, strict=True))
    return x, y, z


def shifted(p: Quaternion, h: Quaternion) -> Symmetric:
    """2⟨p, h⟩ − p hᵀ − h pᵀ: what the parallel-axis theorem adds for a first moment h moved by p."""
    x, y, z = p.x * h.x, p.y * h.y, p.z * h.z
    return Symmetric(
        2.0 * (y + z),
        2.0 * (x + z),
        2.0 * (x + y),
        -(p.x * h.y + p.y * h.x),
        -(p.x * h.z + p.z * h.x),
        -(p.y * h.z + p.z * h.y),
    )


def turning(t: Symmetric, omega: Quaternion) -> Symmetric:
    """[ω]× T − T [ω]×: the rate of a tensor that turns with ω."""
    x, y, z = omega.vector
    a, b, c = x * t.yz, y * t.xz, z * t.xy
    return Symmetric(
        2.0 * (b - c),
        2.0 * (c - a),
        2.0 * (a - b),
        z * (t.xx - t.yy) + y * t.yz - x * t.xz,
        y * (t.zz - t.xx) + x * t.xy - z * t.yz,
        x * (t.yy - t.zz) + z * t.xz - y * t.xy,
    )
