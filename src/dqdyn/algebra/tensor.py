"""Symmetric tensors over any scalar: six entries, never nine."""

from __future__ import annotations

from typing import Any

from dqdyn.algebra.functions import Columns
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.scalar import Scalar


class Symmetric:
    """A symmetric 3×3 tensor, such as a moment of inertia."""

    __slots__ = ("xx", "xy", "xz", "yy", "yz", "zz")

    def __init__(self, xx: Scalar, yy: Scalar, zz: Scalar, xy: Scalar, xz: Scalar, yz: Scalar) -> None:
        self.xx, self.yy, self.zz, self.xy, self.xz, self.yz = xx, yy, zz, xy, xz, yz

    @classmethod
    def of(cls, m: Any) -> Symmetric:
        """From the upper triangle of a 3×3 matrix."""
        return cls(m[0][0], m[1][1], m[2][2], m[0][1], m[0][2], m[1][2])

    def __add__(self, other: Symmetric) -> Symmetric:
        return Symmetric(
            self.xx + other.xx,
            self.yy + other.yy,
            self.zz + other.zz,
            self.xy + other.xy,
            self.xz + other.xz,
            self.yz + other.yz,
        )

    def __call__(self, v: Quaternion) -> Quaternion:
        """The tensor applied to a vector."""
        return pure(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )

    def rotated(self, columns: Columns) -> Symmetric:
        """R T Rᵀ for the rotation with these columns."""
        a, b, c = columns
        # Columns of R T, then the six distinct products with the rows of R.
        rows_x = a.x * self.xx + b.x * self.xy + c.x * self.xz
        rows_y = a.x * self.xy + b.x * self.yy + c.x * self.yz
        rows_z = a.x * self.xz + b.x * self.yz + c.x * self.zz
        mid_x = a.y * self.xx + b.y * self.xy + c.y * self.xz
        mid_y = a.y * self.xy + b.y * self.yy + c.y * self.yz
        mid_z = a.y * self.xz + b.y * self.yz + c.y * self.zz
        low_x = a.z * self.xx + b.z * self.xy + c.z * self.xz
        low_y = a.z * self.xy + b.z * self.yy + c.z * self.yz
        low_z = a.z * self.xz + b.z * self.yz + c.z * self.zz
        return Symmetric(
            rows_x * a.x + rows_y * b.x + rows_z * c.x,
            mid_x * a.y + mid_y * b.y + mid_z * c.y,
            low_x * a.z + low_y * b.z + low_z * c.z,
            rows_x * a.y + rows_y * b.y + rows_z * c.y,
            rows_x * a.z + rows_y * b.z + rows_z * c.z,
            mid_x * a.z + mid_y * b.z + mid_z * c.z,
        )


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
