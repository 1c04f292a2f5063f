"""Values of users as lists of components, and the checks that their kinds ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.functions import UNIT_TOLERANCE
from dqdyn.algebra.scalar import Scalar, is_numeric, is_scalar
from dqdyn.algebra.values import Pose, Value
from dqdyn.errors import Error
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.geometry.segment import Segment

SIZE = {"number": 1, "point": 3, "line": 6, "plane": 4, "segment": 6, "pose": 8, "rotation": 4}
VALUES: dict[str, type[Value]] = {"point": Point, "line": Line, "plane": Plane, "segment": Segment, "pose": Pose}
_UNIT = {"line": ("direction", 3), "plane": ("normal", 3), "rotation": ("quaternion", 4), "pose": ("rotation", 4)}


def sentence(what: str) -> str:
    """Words as the beginning of a sentence."""
    return what[:1].upper() + what[1:]


def kind_of(value: Any) -> str | None:
    """The kind of a value with a meaning; None for arrays and functions."""
    return next((kind for kind, cls in VALUES.items() if isinstance(value, cls)), None)


def components(kind: str, value: Any, what: str, size: int | None = None) -> list[Scalar]:
    """Components of a value, a dual quaternion or a sequence, over any scalar; an error with ``what`` if it is none."""
    size = SIZE[kind] if size is None else size
    if isinstance(value, (Value, DQ)):
        found = _of_value(kind, value, what)
    elif kind == "number" and is_scalar(value):
        found = [value]
    else:
        try:
            found = list(value)
        except TypeError:
            raise Error(f"{sentence(what)} is a {kind}; found {value!r}.", found=value) from None
    if len(found) != size or not all(is_scalar(c) and not np.ndim(c) for c in found):
        raise Error(f"{sentence(what)} has {size} components; found {value!r}.", expected=size, found=value)
    return [float(c) if is_numeric(c) else c for c in found]


def _of_value(kind: str, value: Value | DQ, what: str) -> list[Scalar]:
    if isinstance(value, Value) and kind == "rotation" and isinstance(value, Pose):
        value = value.dq
    elif isinstance(value, Value) and kind == "point" and isinstance(value, Pose):
        return list(Point(value.translation).dq.primary.vector)
    elif isinstance(value, Value) and not isinstance(value, VALUES.get(kind, ())):
        raise Error(f"{sentence(what)} is a {kind}; found {value!r}.", expected=kind, found=value)
    dq = value.dq if isinstance(value, Value) else value
    p, d = dq.primary, dq.dual
    if kind == "point":
        return list(p.vector)
    if kind == "plane":
        return [*p.vector, d.w]
    if kind == "rotation":
        return list(p.components)
    return list(dq.components) if kind == "pose" else [*p.vector, *d.vector]


def check(kind: str, found: Sequence[float], what: str) -> None:
    """Finite numbers, unit directions, normals and rotations."""
    if not np.isfinite(found).all():
        raise Error(f"{sentence(what)} must be finite; found {list(found)}.", found=list(found))
    if kind in _UNIT:
        name, size = _UNIT[kind]
        norm = float(np.linalg.norm(found[:size]))
        if norm == 0.0:
            raise Error(f"The {name} of {what} is zero: give one of length 1.", found=list(found))
        if abs(norm - 1.0) > UNIT_TOLERANCE:
            raise Error(f"The {name} of {what} has length {norm:.6g}: divide it by that length.", norm=norm)
