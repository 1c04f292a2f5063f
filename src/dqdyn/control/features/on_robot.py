"""How users name things on the robot: points, lines, planes and segments fixed to frames.

A frame is given by its name, or by :func:`~dqdyn.control.absolute_frame` and ``relative_frame`` of two hands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dqdyn.algebra.value import vector
from dqdyn.control.features.features import Attached, FramePose, Joined, Thing
from dqdyn.control.features.hands import HandsPose, OnHands
from dqdyn.errors import Error
from dqdyn.geometry.primitives import Line, Plane

Frame = str | FramePose | HandsPose
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def point(frame: Frame, at: Any = (0.0, 0.0, 0.0)) -> Attached:
    """A point fixed to a frame, ``at`` in m in its axes."""
    return _attached("point", frame, _numbers(at, 3, "A point of the robot"))


def line(frame: Frame, direction: Any = "z", at: Any = (0.0, 0.0, 0.0)) -> Attached:
    """A line fixed to a frame through the point ``at``; ``direction`` is "x", "y", "z" or a unit vector.

    Lines are infinite, but in a zone of two lines, see :class:`KeepOut`. Of what ends, such as a link, take a
    :func:`segment`.
    """
    return _attached("line", frame, _primitive(Line(_direction(direction), at)))


def plane(frame: Frame, normal: Any = "z", at: Any = (0.0, 0.0, 0.0)) -> Attached:
    """A plane fixed to a frame through the point ``at``; ``normal`` is "x", "y", "z" or a unit vector."""
    return _attached("plane", frame, _primitive(Plane(_direction(normal), at)))


def segment(a: Attached | Frame, b: Attached | Frame) -> Joined:
    """The segment between two points of the robot, which may belong to different frames."""
    return Joined(*(required(point, end, "An end of a segment") for end in (a, b)))


def part(line: Attached, reach: float) -> Joined:
    """The part of a line within ``reach`` m of its point next to the origin of its frame, a segment along it."""
    l, p = np.array(line.local[:3]), np.cross(line.local[:3], line.local[3:])
    ends = ((p + sign * reach * l).tolist() for sign in (-1.0, 1.0))
    return Joined(*(replace(line, shape="point", local=tuple(end)) for end in ends))


def pose(frame: Frame) -> FramePose | HandsPose:
    """The pose of a frame."""
    return FramePose(frame) if isinstance(frame, str) else frame


def on(make: Callable[[Frame], Thing], given: Any) -> Any:
    """What a frame stands for where a point, line or plane is meant; anything else as it is."""
    return make(given) if isinstance(given, (str, FramePose, HandsPose)) else given


def required(make: Callable[[Frame], Thing], given: Any, owner: str) -> Any:
    """The thing of the robot of the kind that ``make`` is named after; an error that begins with ``owner`` if not."""
    found, kind = on(make, given), make.__name__
    if isinstance(found, Thing) and found.kind == kind:
        return found
    ways = "a frame" if kind == "pose" else f"a frame or a {kind} of the robot, ct.{kind}(frame, …)"
    raise Error(f"{owner} is {ways}; found {given!r}.", expected=kind, found=given)


def _attached(shape: str, frame: Frame, local: tuple[float, ...]) -> Attached:
    if isinstance(frame, HandsPose):
        return OnHands(shape, frame.place, local, frame)
    if not isinstance(frame, (str, FramePose)):
        raise Error(
            f"A {shape} of the robot is fixed to a frame, given by its name; found {frame!r}.", shape=shape, found=frame
        )
    return Attached(shape, frame.frame if isinstance(frame, FramePose) else frame, local)


def _direction(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    sign = -1.0 if given.startswith("-") else 1.0
    name = given.lstrip("+-")
    if name not in AXES:
        raise Error(f"A direction is 'x', 'y', 'z', '-x', '-y', '-z' or a unit vector; found {given!r}.", found=given)
    return tuple(sign * c for c in AXES[name])


def _numbers(value: Any, size: int, what: str) -> tuple[float, ...]:
    found = vector(value, size, what)
    return tuple(float(c) for c in found)


def _primitive(value: Line | Plane) -> tuple[float, ...]:
    p, d = value.dq.primary, value.dq.dual
    parts = (*p.vector, *d.vector) if isinstance(value, Line) else (*p.vector, d.w)
    return tuple(float(c) for c in parts)
