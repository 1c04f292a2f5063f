"""How users name features of the robot: points, lines, planes and segments fixed to frames.

A frame is given by its name, or by :func:`~dqdyn.control.absolute_frame` and ``relative_frame`` of two hands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dqdyn.algebra.value import vector
from dqdyn.arrays import RealArray
from dqdyn.control.core.errors import refused
from dqdyn.control.features.components import of_dual_quaternion
from dqdyn.control.features.features import Attached, Feature, FramePose, SegmentBetween
from dqdyn.control.features.hands import HandsPose, OnHands
from dqdyn.geometry.primitives import Line, Plane

FrameLike = str | FramePose | HandsPose
"""A frame: its name, its pose, or a frame of two hands."""
PointLike = FrameLike | Feature
"""A feature, or a frame that stands for one: its origin, its z axis or its xy plane."""
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def point(frame: FrameLike, at: RealArray = (0.0, 0.0, 0.0)) -> Attached:
    """A point fixed to a frame, ``at`` in m in its axes."""
    return _attached("point", frame, vector(at, 3, "A point of the robot"))


def line(frame: FrameLike, direction: str | RealArray = "z", at: RealArray = (0.0, 0.0, 0.0)) -> Attached:
    """A line fixed to a frame through the point ``at``; ``direction`` is "x", "y", "z" or a unit vector.

    Lines are infinite, but in a zone of two lines, see :class:`KeepOut`. Of what ends, such as a link, take a
    :func:`segment`.
    """
    return _attached("line", frame, of_dual_quaternion("line", Line(_direction(direction), at).dq))


def plane(frame: FrameLike, normal: str | RealArray = "z", at: RealArray = (0.0, 0.0, 0.0)) -> Attached:
    """A plane fixed to a frame through the point ``at``; ``normal`` is "x", "y", "z" or a unit vector."""
    return _attached("plane", frame, of_dual_quaternion("plane", Plane(_direction(normal), at).dq))


def segment(a: PointLike, b: PointLike) -> SegmentBetween:
    """The segment between two points of the robot, which may belong to different frames."""
    return SegmentBetween(*(required(point, end, "An end of a segment") for end in (a, b)))


def part(line: Attached, reach: float) -> SegmentBetween:
    """The part of a line within ``reach`` m of its point next to the origin of its frame, a segment along it."""
    l, p = np.array(line.local[:3]), np.cross(line.local[:3], line.local[3:])
    ends = ((p + sign * reach * l).tolist() for sign in (-1.0, 1.0))
    return SegmentBetween(*(replace(line, kind="point", local=tuple(end)) for end in ends))


def pose(frame: FrameLike) -> FramePose | HandsPose:
    """The pose of a frame."""
    return FramePose(frame) if isinstance(frame, str) else frame


def on(make: Callable[[FrameLike], Feature], given: Any) -> Any:
    """What a frame stands for where a point, line or plane is meant; anything else as it is."""
    return make(given) if isinstance(given, (str, FramePose, HandsPose)) else given


def required(make: Callable[[FrameLike], Feature], given: Any, owner: str) -> Any:
    """The feature of the kind that ``make`` is named after; an error that begins with ``owner`` otherwise."""
    feature, kind = on(make, given), make.__name__
    if isinstance(feature, Feature) and feature.kind == kind:
        return feature
    ways = (
        "a frame of the robot, by its name, before the target"
        if kind == "pose"
        else f"a frame or a {kind} of the robot, ct.{kind}(frame, …)"
    )
    raise refused(f"{owner} is {ways}", given, expected=kind)


def _attached(shape: str, frame: FrameLike, local: Any) -> Attached:
    local = tuple(float(c) for c in local)
    if isinstance(frame, HandsPose):
        return OnHands(shape, frame.place, local, frame)
    if not isinstance(frame, (str, FramePose)):
        raise refused(f"A {shape} of the robot is fixed to a frame, given by its name", frame, shape=shape)
    return Attached(shape, frame.frame if isinstance(frame, FramePose) else frame, local)


def _direction(given: str | RealArray) -> RealArray:
    if not isinstance(given, str):
        return given
    sign = -1.0 if given.startswith("-") else 1.0
    name = given.lstrip("+-")
    if name not in AXES:
        raise refused("A direction is 'x', 'y', 'z', '-x', '-y', '-z' or a unit vector", given)
    return tuple(sign * c for c in AXES[name])
