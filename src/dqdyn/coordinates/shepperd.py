"""The unit quaternion of a rotation matrix over any scalar, without a branch on values."""

from __future__ import annotations

from dqdyn.algebra.adjoint import Columns
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.algebra.scalar import Scalar, divide, less, select, sqrt, total


def quaternion_of_columns(columns: Columns) -> Quaternion:
    """r with r i r*, r j r*, r k r* = ``columns``, from its largest component (Shepperd's method).

    The four rows are 4 w r, 4 x r, 4 y r, 4 z r; the one whose factor is largest loses no digits.
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
