"""The cone of the angle between two lines, for tools that must not tilt and for joints."""

from __future__ import annotations

from typing import Any, Unpack

from dqdyn.algebra.scalar import Scalar
from dqdyn.control.inequality import Gains, Inequality
from dqdyn.control.on_robot import line, on
from dqdyn.control.pairs import Pair
from dqdyn.control.quantity import Parts
from dqdyn.control.things import Thing
from dqdyn.geometry.primitives import Line


class Cone(Inequality):
    """A line of the robot within ``angle`` (rad) of an axis: f(φ_safe) − f(φ) ≥ 0 with f = 2 − 2 cos φ.

    First order [Quiroz, eq. (4.31)] [Quiroz, eq. (4.33)] [Quiroz, eq. (4.35)], second order [Quiroz, eq. (4.32)]
    [Quiroz, eq. (4.34)] [Quiroz, eq. (4.36)]. The line is a frame (its z axis) or a :func:`~dqdyn.control.line`; the
    axis is a direction (3), a Line, a line of the robot, or one that moves. f is smooth at all angles.
    """

    def __init__(self, robot: Any, axis: Any, angle: Any, **gains: Unpack[Gains]) -> None:
        thing = on(line, robot)
        self.pair_of_lines = Pair.of(thing, _axis(axis), angle=True)
        safe = self.pair_of_lines.limit(angle, "the angle of a cone")
        name = f"cone: {self.pair_of_lines.name}"
        super().__init__(name, self.pair_of_lines.things, (*self.pair_of_lines.signals, safe), **gains)

    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        return [self.pair_of_lines.scale(given[-1][0]) - self.pair_of_lines.distance(robot, given)]


def _axis(axis: Any) -> Any:
    """A direction as the line through the origin; anything else is a line already."""
    is_direction = not isinstance(axis, (Thing, Line)) and not callable(axis) and hasattr(axis, "__len__")
    return Line(axis, (0.0, 0.0, 0.0)) if is_direction and len(axis) == 3 else axis
