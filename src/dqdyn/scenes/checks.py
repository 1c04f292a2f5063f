"""What the constructors of scenes accept: finite numbers, lengths, directions and poses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from dqdyn.algebra import foreign_poses
from dqdyn.algebra.any_pose import as_pose
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.real import real_array, real_number
from dqdyn.algebra.values import Pose
from dqdyn.arrays import RealArray
from dqdyn.errors import Error, one_line
from dqdyn.geometry.primitives import Point
from dqdyn.model.description import Shape
from dqdyn.model.inertia import Vector

PoseLike: TypeAlias = Pose | DQ | Point | RealArray | foreign_poses.ForeignPose
"""A pose, vec8, a homogeneous matrix (4, 4), a position (3,) in m with the axes of the world, or another library's."""

Place: TypeAlias = PoseLike | Callable[[Any], Any]
"""A constant pose, or a function of the time t in s that gives one."""


def finite(value: Any, what: str) -> float:
    """One finite number."""
    number = real_number(value, what)
    if not math.isfinite(number):
        raise Error(f"{what} must be finite; found {number}.", found=number)
    return number


def positive(value: Any, what: str) -> float:
    """One finite number above 0."""
    number = finite(value, what)
    if number <= 0.0:
        raise Error(f"{what} must be above 0; found {number:g}.", found=number)
    return number


def not_negative(value: Any, what: str) -> float:
    """One finite number from 0 on."""
    number = finite(value, what)
    if number < 0.0:
        raise Error(f"{what} must not be negative; found {number:g}.", found=number)
    return number


def vector(value: Any, what: str) -> Vector:
    """Three finite numbers."""
    array = real_array(value, what)
    if array.shape != (3,) or not np.isfinite(array).all():
        found = array.tolist() if array.shape == (3,) else f"shape {array.shape}"
        raise Error(f"{what} is three finite numbers; found {found}.", found=value)
    x, y, z = (float(c) for c in array)
    return x, y, z


def direction(value: Any, what: str) -> Vector:
    """A direction of any length above 0, as a unit vector."""
    x, y, z = vector(value, what)
    length = math.hypot(x, y, z)
    if length < 1e-9:
        raise Error(f"{what} needs a length above 0; found {[x, y, z]}.", found=value)
    return x / length, y / length, z / length


def named(value: Any, what: str = "The name of a body of a scene") -> str:
    """A name that can be shown and written."""
    if not isinstance(value, str) or not value or not value.isprintable():
        raise Error(f"{what} is a text in printable characters; found {one_line(repr(value), 80)}.", found=value)
    return value


def shapes(value: Any, what: str) -> tuple[Shape, ...]:
    """Shapes that are drawn."""
    found = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    for shape in found:
        if not isinstance(shape, Shape):
            raise Error(f"{what} are a list of Shapes; found {one_line(repr(shape), 80)}.", found=value)
    return found


def color(value: Any, what: str) -> tuple[float, float, float, float]:
    """Red, green, blue and opacity, each from 0 to 1."""
    array = real_array(value, what)
    if array.shape != (4,) or not ((array >= 0.0) & (array <= 1.0)).all():
        wanted = f"{what} is four numbers from 0 to 1: red, green, blue, opacity"
        raise Error(f"{wanted}; found {one_line(repr(value), 80)}.", found=value)
    r, g, b, a = (float(c) for c in array)
    return r, g, b, a


def constant_pose(value: Any, what: str) -> Pose:
    """One pose in finite numbers."""
    wanted = f"{what} is one pose in finite numbers"
    try:
        result = pose_of(value, what)
    except Error as problem:
        if str(problem).startswith(what):
            raise
        raise Error(f"{wanted}: {problem}", found=value) from None
    if result.shape or not np.isfinite(result.dq.vec8()).all():
        raise Error(f"{wanted}; found {one_line(repr(value), 80)}.", found=value)
    return result


def pose_of(value: Any, what: str) -> Pose:
    """What :data:`PoseLike` allows as a pose, over any scalar: functions of time are traced by controllers."""
    if isinstance(value, Pose):
        return value
    if isinstance(value, DQ):
        return Pose(value)
    if isinstance(value, Point):
        return Pose(translation=value.position)
    if foreign_poses.reader(value) is not None:
        return as_pose(value)
    if isinstance(value, np.ndarray) and value.shape == (4, 4):
        return Pose.from_matrix(value)
    try:
        size = len(value)
    except TypeError:
        size = 0
    if isinstance(value, (str, bytes)) or size not in (3, 4, 8):
        wanted = "a Pose, a position of three numbers in m, vec8 or a 4×4 matrix"
        raise Error(f"{what} is {wanted}; found {one_line(repr(value), 80)}.", found=value)
    if size == 4:
        return Pose.from_matrix(value)
    return Pose(translation=value) if size == 3 else Pose(value)
