"""Tasks on lines, planes and distances."""

from __future__ import annotations

from typing import Any, Unpack

from dqdyn.algebra.scalar import Scalar
from dqdyn.control.core.task import Settings, Task
from dqdyn.control.core.term import Parts
from dqdyn.control.features.features import Thing
from dqdyn.control.features.on_robot import line, plane, required
from dqdyn.control.features.pairs import Pair
from dqdyn.control.features.signals import as_signal

_FIRST = "make it the first level of the tasks, [[line or plane], [others]]"


class LineTask(Task):
    """A line of the robot on a line in the workspace: error [l − l_d, m − m_d]; a frame's name: its z axis."""

    instead_of_equality = _FIRST

    def __init__(self, robot: str | Thing, target: Any, **settings: Unpack[Settings]) -> None:
        thing = required(line, robot, "What a LineTask moves")
        target = as_signal("line", target, f"the target of the line on {thing.place!r}")
        super().__init__(f"line on {thing.place}", (thing,), (target,), **settings)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return [a - b for a, b in zip(robot[0], given[0], strict=True)]


class PlaneTask(Task):
    """A plane of the robot on a plane in the workspace: error [n − n_d, d − d_d]; a frame's name: its xy plane."""

    instead_of_equality = _FIRST

    def __init__(self, robot: str | Thing, target: Any, **settings: Unpack[Settings]) -> None:
        thing = required(plane, robot, "What a PlaneTask moves")
        target = as_signal("plane", target, f"the target of the plane on {thing.place!r}")
        super().__init__(f"plane on {thing.place}", (thing,), (target,), **settings)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return [a - b for a, b in zip(robot[0], given[0], strict=True)]


class DistanceTask(Task):
    """Two things at a distance in m (an angle in rad for ``angle=True``), at least one of them on the robot.

    The error is that of squared distances, but for planes, whose distance is signed, and for the angle, where it is
    that of 2 − 2 cos φ: the functions whose derivatives are finite everywhere [Quiroz, table 3.1].
    """

    def __init__(
        self, a: Any, b: Any, distance: Any = 0.0, *, angle: bool = False, **settings: Unpack[Settings]
    ) -> None:
        self.pair = Pair.of(a, b, angle=angle)
        target = self.pair.limit(distance, f"the target of the {self.pair.name}")
        super().__init__(self.pair.name, self.pair.things, (*self.pair.signals, target), **settings)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return [self.pair.distance(robot, given) - self.pair.scale(given[-1][0])]
