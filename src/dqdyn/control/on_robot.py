"""How users name things on the robot: points, lines, planes and segments fixed to frames."""

from __future__ import annotations

from typing import Any

from dqdyn.algebra.values import vector
from dqdyn.control.things import Attached, FramePose, Joined
from dqdyn.errors import Error
from dqdyn.geometry.primitives import Line, Plane

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def point(frame: str, at: Any = (0.0, 0.0, 0.0)) -> Attached:
    """A point fixed to a frame, ``at`` in m in its axes."""
    return Attached("point", frame, _numbers(at, 3, "A point of the robot"))


def line(frame: str, direction: Any = "z", at: Any = (0.0, 0.0, 0.0)) -> Attached:
    """A line fixed to a frame through the point ``at``; ``direction`` is "x", "y", "z" or a unit vector."""
    return Attached("line", frame, _primitive(Line(_direction(direction), at)))


def plane(frame: str, normal: Any = "z", at: Any = (0.0, 0.0, 0.0)) -> Attached:
    """A plane fixed to a frame through the point ``at``; ``normal`` is "x", "y", "z" or a unit vector."""
    return Attached("plane", frame, _primitive(Plane(_direction(normal), at)))


def segment(a: Attached | str, b: Attached | str) -> Joined:
    """The segment between two points of the robot, which may belong to different frames."""
    return Joined(*(end if isinstance(end, Attached) else point(end) for end in (a, b)))


def pose(frame: str) -> FramePose:
    """The pose of a frame."""
    return FramePose(frame)


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
