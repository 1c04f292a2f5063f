"""The task on the area of the support polygon: keep it, enlarge it to a target, or let it grow."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Unpack

from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.arrays import Reals
from dqdyn.contacts.contact import one_state
from dqdyn.contacts.support_polygon import SupportPolygon
from dqdyn.control.core.build import require_robot
from dqdyn.control.core.errors import refused
from dqdyn.control.core.settings import is_number
from dqdyn.control.core.task import Task, TaskOptions
from dqdyn.control.core.term import Parts
from dqdyn.control.features.signals import SignalLike, as_signal
from dqdyn.control.features.support_area import SupportLike, support_area
from dqdyn.errors import Error
from dqdyn.model.model import Model
from dqdyn.robot import Robot


class SupportAreaTask(Task):
    """The area A of the support polygon at a target in m², or growing: error A − A_d, with A_d = 0 unless given.

    ``contacts``: contacts with all their corners, points of the robot such as ``ct.point("left_hand")``, and fixed
    points; the polygon is the convex hull of them all, projected on the ground, for contacts at any height.

    A positive ``gain`` η drives A to its target, Ȧ = −η (A − A_d). A negative one, which no other task takes, lets it
    grow, A(t) = A(0) e^{ρt} with ρ = −η in 1/s; Quiroz takes η = −0.5. By accelerations A is brought onto that growth
    at the rate k = 2|η|: Ä = ρȦ − k (Ȧ − ρA). Growth has no end: limits, regions and strict priorities have to bound
    it.

    Where a corner is about to enter the hull or to leave it, A has two one-sided derivatives. The task takes that of
    the corners that are on the hull now: a corner inside, or on an edge, has no part in it until the others have let
    it out. :meth:`corners_on_hull` says which they are. Corners in one line, or in one place, count once.
    """

    _checked: Model | None = None

    def __init__(
        self,
        contacts: SupportLike | Iterable[SupportLike],
        area: SignalLike | None = None,
        **options: Unpack[TaskOptions],
    ) -> None:
        gain = options.get("gain", 1.0)
        if is_number(gain) and (gain == 0.0 or not math.isfinite(gain)):  # type: ignore[arg-type]
            wanted = (
                "the gain of a support area is a finite number in 1/s, above 0 to reach an area, below 0 to let it grow"
            )
            raise refused(wanted, gain)
        if is_number(area) and area < 0.0:  # type: ignore[operator]
            raise refused("the target of a support area is an area from 0 m² on", area)
        growth = is_number(gain) and gain < 0.0  # type: ignore[operator]
        if growth:
            _check_growth(area, options)
            options = {**options, "gain": -gain}  # type: ignore[operator]
        self.area = support_area(contacts)
        target = as_signal("number", 0.0 if area is None else area, "the target of the support area")
        super().__init__("support area", (self.area,), (target,), **options)
        if growth:
            # ρ = −η, k = 2|η|: poles at ρ, where the growth is, and at −k.
            eta, k = -self.gain, 2.0 * self.gain
            self.gain, self.gains = eta, (k + eta, k * eta)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return [robot[0][0] - given[0][0]]

    def corners_on_hull(self, robot: Robot, q: Reals) -> tuple[str, ...]:
        """Names of the robot's corners, such as "left_foot: corner 1", that are corners of the hull at q (nq,)."""
        return self.area.on_hull_at(robot, self._state(robot, q))

    def polygon(self, robot: Robot, q: Reals) -> SupportPolygon:
        """The support polygon at q (nq,)."""
        return self.area.polygon_at(robot, self._state(robot, q))

    def _state(self, robot: Robot, q: Reals) -> Scalars:
        require_robot(robot)
        if self._checked is not robot.model:
            self.area.check(robot.model)
            self._checked = robot.model
        return one_state(robot.model, q)


def _check_growth(area: SignalLike | None, options: TaskOptions) -> None:
    """An error for what belongs to a target where there is none."""
    for name, given in (("area", area), ("gains", options.get("gains")), ("within", options.get("within"))):
        if given is not None:
            why = "a support area that grows, by a negative gain, has no target"
            raise Error(f"{why}: leave out {name}, or give a positive gain and a larger area.", found=given)
