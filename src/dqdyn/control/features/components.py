"""Values of users as lists of components, and the checks that their kinds ask for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.any_pose import as_pose, is_foreign_pose
from dqdyn.algebra.checks import UNIT_TOLERANCE
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.real import real_number
from dqdyn.algebra.scalar import Scalar, is_numeric, is_scalar
from dqdyn.algebra.value import Value
from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array
from dqdyn.control.core.errors import refused
from dqdyn.errors import Error
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.geometry.segment import Segment

SIZE = {"number": 1, "point": 3, "line": 6, "plane": 4, "segment": 6, "pose": 8, "rotation": 4}
VALUES: dict[str, type[Value]] = {"point": Point, "line": Line, "plane": Plane, "segment": Segment, "pose": Pose}
_PLACES = {
    "point": (1, 2, 3),
    "line": (1, 2, 3, 5, 6, 7),
    "plane": (1, 2, 3, 4),
    "pose": tuple(range(8)),
    "rotation": (0, 1, 2, 3),
}
"""Where the components of a kind stand in vec8."""
_DUAL = {"line": ("moment", "give it by dq.Line"), "pose": ("dual part", "give it by dq.Pose")}
_UNIT = {"line": ("direction", 3), "plane": ("normal", 3), "rotation": ("quaternion", 4), "pose": ("rotation", 4)}


def sentence(what: str) -> str:
    """Words as the beginning of a sentence."""
    return what[:1].upper() + what[1:]


def kind_of(value: Any) -> str | None:
    """The kind of a value with a meaning; None for arrays and functions."""
    return next((kind for kind, cls in VALUES.items() if isinstance(value, cls)), None)


def components(kind: str, value: Any, what: str, size: int | None = None) -> list[Scalar]:
    """Components of a value, a dual quaternion or a sequence, over any scalar; an error with ``what`` otherwise."""
    size = SIZE[kind] if size is None else size
    if type(value) is np.ndarray and value.dtype == np.float64 and value.shape == (size,):
        numbers: list[Scalar] = value.tolist()  # what loops give at every step
        return numbers
    if kind in ("pose", "rotation") and is_foreign_pose(value):
        value = as_pose(value)
    if isinstance(value, (Value, DQ)):
        c = of_dual_quaternion(kind, _dual_quaternion(kind, value, what))
    elif kind == "number" and is_scalar(value):
        c = [value]
    else:
        try:
            c = list(value)
        except TypeError:
            raise refused(f"{sentence(what)} is a {kind}", value) from None
    if len(c) != size or not all(is_scalar(x) and not np.ndim(x) for x in c):
        raise refused(f"{sentence(what)} has {size} components", value, expected=size)
    return [real_number(x, what) if is_numeric(x) else x for x in c]


def _dual_quaternion(kind: str, value: Value | DQ, what: str) -> DQ:
    """The dual quaternion of a value of the kind; a pose also stands for its rotation and its position."""
    if isinstance(value, DQ):
        return value
    if isinstance(value, Pose) and kind in ("rotation", "point"):
        return value.dq if kind == "rotation" else Point(value.translation).dq
    if not isinstance(value, VALUES.get(kind, ())):
        raise refused(f"{sentence(what)} is a {kind}", value, expected=kind)
    return value.dq


def of_dual_quaternion(kind: str, x: DQ) -> list[Scalar]:
    """Components of a kind out of a dual quaternion."""
    return [x.components[i] for i in _PLACES.get(kind, _PLACES["line"])]


def as_dual_quaternion(kind: str, c: Sequence[Scalar]) -> Any:
    """The dual quaternion of components; a number as it is, segments and configurations as lists."""
    if kind not in _PLACES:
        return c[0] if kind == "number" else c
    placed = dict(zip(_PLACES[kind], c, strict=True))
    return DQ.of8([placed.get(i, 0.0) for i in range(8)])


def check(kind: str, c: Sequence[float], what: str) -> None:
    """Finite numbers, unit directions, normals and rotations, lines and poses that are such."""
    if not np.isfinite(c).all():
        raise Error(f"{sentence(what)} must be finite; found {list(c)}.", found=list(c))
    check_shape(kind, c, what)


def check_shape(kind: str, c: Sequence[float], what: str) -> None:
    """Unit directions, normals and rotations, moments and dual parts at right angles to them; NaN passes."""
    if kind not in _UNIT:
        return
    name, size = _UNIT[kind]
    norm = math.hypot(*c[:size])
    if not math.isfinite(norm):
        return
    if norm == 0.0:
        raise Error(f"The {name} of {what} is zero: give one of length 1.", found=list(c))
    if abs(norm - 1.0) > UNIT_TOLERANCE:
        raise Error(f"The {name} of {what} has length {norm:.6g}: divide it by that length.", norm=norm)
    if kind in _DUAL:
        rest = c[size:]
        along = sum(a * b for a, b in zip(c, rest, strict=False))
        if abs(along) > UNIT_TOLERANCE * max(1.0, math.hypot(*rest)):
            dual, remedy = _DUAL[kind]
            askew = f"is not at right angles to its {name}, their product is {along:.6g}"
            raise Error(f"The {dual} of {what} {askew}: {remedy}.", found=list(c))


def is_finite(array: Array) -> bool:
    """Whether all numbers are, without the overflow of a sum of squares; NumPy's least and largest include NaN."""
    return math.isfinite(array.item(array.argmin())) and math.isfinite(array.item(array.argmax()))
