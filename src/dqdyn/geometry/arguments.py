"""What the functions of geometry accept: the values of users, or the raw elements of the algebra."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.algebra.scalar import is_numeric, stack
from dqdyn.algebra.value import Value, require_broadcast
from dqdyn.errors import Error
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.geometry.segment import Segment

Pair: TypeAlias = tuple[Quaternion, Quaternion]
"""Two points: the ends of a segment, or closest points."""


def raw_point(x: Any) -> Quaternion:
    """A pure quaternion from a point, a pure quaternion, or a DQ that holds one."""
    if isinstance(x, Quaternion):
        return x
    if isinstance(x, (Point, DQ)):
        return (x if isinstance(x, DQ) else x.dq).primary
    raise _wrong("point", "Point([x, y, z])", x)


def _raw_dq(kind: type[Value], remedy: str) -> Callable[[Any], DQ]:
    """The converter that takes a value of this kind, or a DQ as it is."""

    def raw(x: Any) -> DQ:
        if isinstance(x, (kind, DQ)):
            return x if isinstance(x, DQ) else x.dq
        raise _wrong(kind.__name__.lower(), remedy, x)

    return raw


raw_line = _raw_dq(Line, "Line(direction, point)")
"""l + εm from a line or a DQ."""
raw_plane = _raw_dq(Plane, "Plane(normal, point)")
"""n + εd from a plane or a DQ."""


def raw_segment(x: Any) -> Pair:
    """Two pure quaternions from a segment or a pair of points."""
    if isinstance(x, Segment):
        return x.dq.primary, x.dq.dual
    if isinstance(x, (tuple, list)) and len(x) == 2:
        return raw_point(x[0]), raw_point(x[1])
    raise _wrong("segment", "Segment(a, b)", x)


def takes(*converters: Callable[[Any], Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a function of raw elements take the values of users as well, and answer those with values.

    The raw function stays as it is written: over any scalar and without checks.
    """

    def decorate(core: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(core)

        @functools.wraps(core)
        def function(*given: Any, **named: Any) -> Any:
            if named or len(given) != len(converters):
                given = signature.bind(*given, **named).args
            raw = [convert(x) for convert, x in zip(converters, given, strict=True)]
            shapes = [x.shape for x in given if isinstance(x, Value)]
            if not shapes:
                return core(*raw)
            require_broadcast(*shapes)
            return _as_values(core(*raw))

        return function

    return decorate


def _as_values(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(_as_values(r) for r in result)
    if isinstance(result, Quaternion):
        return Point.of(DQ.of(result))
    return _as_line(result) if isinstance(result, DQ) else result


def _as_line(dq: DQ) -> Line:
    direction = dq.primary.vector
    if all(is_numeric(c) for c in direction) and not np.all(np.any(stack(direction), axis=-1)):
        raise Error("A line along the normal of a plane projects to a point: use line_plane_intersection.", found=dq)
    return Line.of(dq)


def _wrong(what: str, remedy: str, given: object) -> Error:
    name = type(given).__name__
    return Error(f"This function needs a {what}, found {name}: make one with {remedy}.", expected=what, found=name)
