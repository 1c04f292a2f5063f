"""The cone of the angle between two lines, for tools that must not tilt and for joints."""

from __future__ import annotations

from typing import Any, Unpack

from dqdyn.algebra.scalar import Scalar
from dqdyn.algebra.value import Value
from dqdyn.control.core.differentiate import Given
from dqdyn.control.core.inequality import Gains, Inequality
from dqdyn.control.core.term import Parts
from dqdyn.control.features.components import check, check_shape
from dqdyn.control.features.features import Thing
from dqdyn.control.features.on_robot import line, on, required
from dqdyn.control.features.pairs import Pair
from dqdyn.control.features.signals import Measured, Moving, Signal, as_signal, at_start
from dqdyn.errors import Error
from dqdyn.geometry.primitives import Line


class Cone(Inequality):
    """A line of the robot within ``angle`` (rad) of an axis: f(φ_safe) − f(φ) ≥ 0 with f = 2 − 2 cos φ.

    First order [Quiroz, eq. (4.31)] [Quiroz, eq. (4.33)] [Quiroz, eq. (4.35)], second order [Quiroz, eq. (4.32)]
    [Quiroz, eq. (4.34)] [Quiroz, eq. (4.36)]. The line is a frame (its z axis) or a :func:`~dqdyn.control.line`; the
    axis is a direction (3) or a Line, at rest or moving, or a line of the robot, likewise. f is smooth at all angles.

    On the axis itself the gradient of f vanishes, and no acceleration changes ḧ = −2φ̇² there: a line that turns fast
    through the axis has the second-order form infeasible for that moment, however far the cone. It is feasible with
    η_p f(φ_safe) ≥ 2φ̇² at φ = 0: give ``gains`` for the fastest turn that may occur.
    """

    def __init__(self, robot: Any, axis: Any, angle: Any, **gains: Unpack[Gains]) -> None:
        thing = required(line, robot, "The line of a cone")
        self.pair_of_lines = Pair.of(thing, _axis(axis), angle=True)
        safe = self.pair_of_lines.limit(angle, "the angle of a cone")
        name = f"cone: {self.pair_of_lines.name}"
        super().__init__(name, self.pair_of_lines.things, (*self.pair_of_lines.signals, safe), **gains)

    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        return [self.pair_of_lines.scale(given[-1][0]) - self.pair_of_lines.distance(robot, given)]


class _Direction(Signal):
    """A direction, at rest or moving, as the line through the origin."""

    def __init__(self, given: Any) -> None:
        super().__init__("line", 6, "the line in the workspace")
        self._given = as_signal("point", given, "the axis of a cone")
        self.inside = self._given.inside
        for t in (0.0, 0.1) if self.inside else (0.0,):  # a function in the program is looked at now or never
            check("line", [float(c) for c in self.at(t).value], "the axis of a cone" + self.moves * f" at t = {t:g}")

    @property
    def moves(self) -> bool:
        return self._given.moves

    def at(self, t: Any) -> Given:
        given, zero = self._given.at(t), [0.0] * 3
        found = Given([*given.value, *zero], [*given.rate, *zero], [*given.acceleration, *zero])
        if not self.inside:
            check_shape("line", found.value, "the axis of a cone")
        return found


def _axis(axis: Any) -> Any:
    """The axis as a line: of the robot, in the workspace, or through the origin where a direction is given."""
    given = on(line, axis)
    now = given.position if isinstance(given, (Moving, Measured)) else given
    now = at_start(now, "the axis of a cone") if callable(now) else now
    if isinstance(now, Line) or (isinstance(now, (Thing, Signal)) and now.kind == "line"):
        return given
    if not isinstance(now, Value) and hasattr(now, "__len__") and len(now) == 3:
        return _Direction(given)
    raise Error(
        f"The axis of a cone is a direction (3), a Line, a frame or a line of the robot; found {axis!r}.", found=axis
    )
