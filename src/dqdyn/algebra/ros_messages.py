"""Messages of ROS as plain dictionaries, such as ``rosidl_runtime_py`` makes of messages and sets them from.

What is read may also be a message itself: fields are entries of a dictionary, or attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from dqdyn.algebra.real import real_number
from dqdyn.arrays import Array
from dqdyn.errors import Error, one_line

Message: TypeAlias = dict[str, Any]
"""Fields by name; numbers are Python's own."""
_MISSING = object()


def fields(names: str, values: Array) -> Message:
    """Numbers under names of one letter each: {"x": 0.1, "y": 0.2, "z": 0.3}."""
    return dict(zip(names, values.tolist(), strict=True))


def entry(message: Any, name: str, default: Any = _MISSING) -> Any:
    """A field of a message, or the default where there is none."""
    found = message.get(name, _MISSING) if isinstance(message, Mapping) else getattr(message, name, _MISSING)
    return default if found is _MISSING else found


def has(message: Any, *names: str) -> bool:
    """Whether a message has all these fields."""
    return all(entry(message, name) is not _MISSING for name in names)


def read(message: Any, names: str, what: str) -> list[float]:
    """Numbers under names of one letter each, in this order."""
    for name in names:
        if not has(message, name):
            wanted = ", ".join(names)
            raise Error(f"{what} has the fields {wanted}; found {shown(message)}.", expected=name, found=message)
    return [real_number(entry(message, name), f"{what} ({name})") for name in names]


def pose_entries(message: Any) -> tuple[tuple[Any, Any], tuple[str | None, str | None]]:
    """(position, orientation), and (body, reference) where the message names them."""
    header, child = entry(message, "header", {}), entry(message, "child_frame_id", None)
    names = (child or None, entry(header, "frame_id", None) or None)
    for stamped in ("pose", "transform"):
        message = entry(message, stamped, message)
    for position, orientation in (("position", "orientation"), ("translation", "rotation")):
        if has(message, position, orientation):
            return (entry(message, position), entry(message, orientation)), names
    wanted = "position and orientation, or translation and rotation"
    raise Error(f"A ROS pose has the fields {wanted}; found {shown(message)}.", found=message)


def pair(message: Any, kind: str, first: str, second: str) -> tuple[list[float], list[float]]:
    """Two vectors of a ``Twist`` or ``Wrench``, or of its stamped form."""
    message = entry(message, kind, message)
    if not has(message, first, second):
        wanted = f"A ROS {kind} has the fields {first} and {second}"
        raise Error(f"{wanted}; found {shown(message)}.", found=message)
    return tuple(read(entry(message, name), "xyz", f"the {name} part of a ROS {kind}") for name in (first, second))  # type: ignore[return-value]


def shown(message: Any) -> str:
    """A message in few words: its fields, or what it is instead."""
    if isinstance(message, Mapping):
        return "the fields " + ", ".join(map(str, message)) if message else "an empty dictionary"
    return one_line(repr(message), 80)
