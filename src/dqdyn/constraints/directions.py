"""Unit vectors that users give, and the directions across them."""

from __future__ import annotations

import math

from dqdyn.algebra.quaternion import Quaternion, pure, rotate, shortest_rotation
from dqdyn.algebra.value import vector
from dqdyn.arrays import RealArray
from dqdyn.errors import Error
from dqdyn.model.model import snapped

Vector = tuple[float, float, float]


def unit(direction: RealArray, what: str) -> Vector:
    """A direction scaled to length one."""
    x, y, z = (float(c) for c in vector(direction, 3, what))
    length = math.sqrt(x * x + y * y + z * z)
    if length < 1e-9:
        raise Error(f"{what} must not be zero; found {direction!r}.", found=direction)
    return x / length, y / length, z / length


def across(axis: Vector) -> tuple[Quaternion, Quaternion]:
    """Two unit vectors that are perpendicular to the axis and to each other."""
    tilt = shortest_rotation((0.0, 0.0, 1.0), axis)
    first, second = rotate(tilt, pure(1.0, 0.0, 0.0)), rotate(tilt, pure(0.0, 1.0, 0.0))
    return pure(*(snapped(c) for c in first.vector)), pure(*(snapped(c) for c in second.vector))
