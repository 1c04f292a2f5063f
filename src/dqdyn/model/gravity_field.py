"""Gravity that is not the same for all bodies, in the place of three numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dqdyn.errors import Error, FormatError


@dataclass(frozen=True)
class FieldGravity:
    """A field of :mod:`dqdyn.dynamics.gravity` as the gravity of a robot.

    Code without support for fields reads three numbers from a robot's gravity, and is refused: nothing computes
    without gravity by mistake.
    """

    field: Any

    def __iter__(self) -> Iterator[float]:
        remedy = f"the robot is in the field {self.field!r}: use robot.with_gravity([x, y, z]) for it"
        raise Error(f"this needs gravity as three numbers in m/s², and {remedy}.", field=self.field)

    def __repr__(self) -> str:
        return repr(self.field)


def require_uniform(name: str, gravity: FieldGravity | tuple[float, float, float], file_format: str) -> None:
    """An error where a file cannot hold the gravity of a robot."""
    if isinstance(gravity, FieldGravity):
        remedy = "write robot.with_gravity([x, y, z]), and give it the field again after loading"
        message = f"{file_format} cannot hold the gravity field {gravity!r} of {name!r}: {remedy}."
        raise FormatError(message, element="gravity")
