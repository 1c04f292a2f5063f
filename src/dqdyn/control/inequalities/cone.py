"""The cone of the angle between two lines, for tools that must not tilt and for joints."""

from __future__ import annotations

from typing import Any, Unpack

from dqdyn.algebra.scalar import Scalar
from dqdyn.algebra.value import Value
from dqdyn.control.core.errors import refused
from dqdyn.control.core.inequality import PairInequality, ZoneOptions
from dqdyn.control.core.kinematics import SignalMotion
from dqdyn.control.features.components import check, check_shape
from dqdyn.control.features.features import Feature
from dqdyn.control.features.on_robot import PointLike, line, on, required
from dqdyn.control.features.pairs import Pair, SideLike
from dqdyn.control.features.signals import Signal, SignalLike, as_signal, value_at_start
from dqdyn.geometry.primitives import Line


class Cone(PairInequality):
    """A line of the robot within ``angle`` (rad) of an axis: f(φ_safe) − f(φ) ≥ 0 with f = 2 − 2 cos φ.

    First order [Quiroz, eq. (4.31)] [Quiroz, eq. (4.33)] [Quiroz, eq. (4.35)], second order [Quiroz, eq. (4.32)]
    [Quiroz, eq. (4.34)] [Quiroz, eq. (4.36)]. The line is a frame (its z axis) or a :func:`~dqdyn.control.line`; the
    axis is a direction (3) or a Line, at rest or moving, or a line of the robot, likewise. f is smooth at all angles.

    On the axis itself the gradient of f vanishes, and no acceleration changes ḧ = −2φ̇² there: a line that turns fast
    through the axis has the second-order form infeasible for that moment, however far the cone. It is feasible with
    η_p f(φ_safe) ≥ 2φ̇² at φ = 0: give ``gains`` for the fastest turn that may occur.
    """

    keeps_apart = False

    def __init__(self, robot: PointLike, axis: SideLike, angle: SignalLike, **options: Unpack[ZoneOptions]) -> None:
        pair = Pair.of(required(line, robot, "The line of a cone"), _axis(axis), angle=True)
        super().__init__(f"cone: {pair.name}", pair, angle, "the angle of a cone", **options)


class _Direction(Signal):
    """A direction, at rest or moving, as the line through the origin."""

    def __init__(self, given: SignalLike) -> None:
        super().__init__("line", 6, "the line in the workspace")
        self._given = as_signal("point", given, "the axis of a cone")
        self.inside, self.moves = self._given.inside, self._given.moves
        for t in (0.0, 0.1) if self.inside else (0.0,):  # a function in the program can only be checked now
            check("line", [float(c) for c in self.at(t).value], "the axis of a cone" + self.moves * f" at t = {t:g}")

    def at(self, t: Scalar) -> SignalMotion:
        given, zero = self._given.at(t), [0.0] * 3
        if not self.inside:
            check_shape("line", [*given.value, *zero], "the axis of a cone")
        return SignalMotion([*given.value, *zero], [*given.rate, *zero], [*given.acceleration, *zero])


def _axis(axis: Any) -> Any:
    """The axis as a line: of the robot, in the workspace, or through the origin where a direction is given."""
    given = on(line, axis)
    now = value_at_start(given, "the axis of a cone")
    if isinstance(now, Line) or (isinstance(now, (Feature, Signal)) and now.kind == "line"):
        return given
    if not isinstance(now, Value) and hasattr(now, "__len__") and len(now) == 3:
        return _Direction(given)
    raise refused("The axis of a cone is a direction (3), a Line, a frame or a line of the robot", axis)
