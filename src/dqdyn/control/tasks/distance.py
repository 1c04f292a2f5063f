"""Tasks on the distance of two elements, or the angle of two lines."""

from __future__ import annotations

from typing import Unpack

from dqdyn.algebra.scalar import Scalar
from dqdyn.control.core.task import Task, TaskOptions
from dqdyn.control.core.term import Parts
from dqdyn.control.features.pairs import Pair, SideLike
from dqdyn.control.features.signals import SignalLike


class DistanceTask(Task):
    """Two elements at a distance in m (an angle in rad for ``angle=True``), at least one of them on the robot.

    The error is that of squared distances, but for planes, whose distance is signed, and for the angle, where it is
    that of 2 − 2 cos φ: the functions whose derivatives are finite everywhere [Quiroz, table 3.1].
    """

    def __init__(
        self,
        a: SideLike,
        b: SideLike,
        distance: SignalLike = 0.0,
        *,
        angle: bool = False,
        **options: Unpack[TaskOptions],
    ) -> None:
        self.pair = Pair.of(a, b, angle=angle)
        target = self.pair.limit(distance, f"the target of the {self.pair.name}")
        super().__init__(self.pair.name, self.pair.features, (*self.pair.signals, target), **options)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return [self.pair.distance(robot, given) - self.pair.scale(given[-1][0])]

    def distance_at_target(self, pair: Pair) -> Scalar | None:
        return pair.scale(self.signals[-1].at(0.0).value[0]) if pair.is_between(self.pair) else None
