"""Torso and arm as cylinders: the switch between line and point primitives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from dqdyn.control.core.errors import refused
from dqdyn.control.core.inequality import PairInequality, ZoneOptions
from dqdyn.control.features.on_robot import PointLike, line, on, segment
from dqdyn.control.features.pairs import Pair, SideLike
from dqdyn.control.features.signals import SignalLike


class TorsoArm(PairInequality):
    """The line of the torso and the forearm, from elbow to hand, at least ``distance`` m apart.

    Where the common perpendicular of torso and forearm meets the forearm, this is the distance of the lines; where it
    does not, that of the torso from the hand or the elbow, whichever is closer [Quiroz, eq. (4.37)]
    [Quiroz, eq. (4.38)]. The paper switches where the distance of the lines is zero, across which it jumps; switching
    at the ends of the forearm is what it is meant for, and leaves distance and Jacobian continuous but where both are
    parallel. Two more rows keep elbow and hand away, which matters there.
    """

    keeps_apart = True

    def __init__(
        self, torso: SideLike, elbow: PointLike, hand: PointLike, distance: SignalLike, **options: Unpack[ZoneOptions]
    ) -> None:
        pair = Pair.of(on(line, torso), segment(elbow, hand))
        if pair.function.name != "line_to_segment":
            raise refused("The torso is a frame, a line of the robot or a Line", torso)
        super().__init__("torso and arm", pair, distance, "the safe distance of torso and arm", **options)

    def row_words(self) -> Sequence[str]:
        return ("", "elbow", "hand")
