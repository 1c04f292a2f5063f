"""Torso and arm as cylinders: the switch between line and point primitives."""

from __future__ import annotations

from typing import Any, Unpack

from dqdyn.algebra.scalar import Scalar
from dqdyn.control.core.inequality import Gains, Inequality
from dqdyn.control.core.term import Parts
from dqdyn.control.features.on_robot import line, on, segment
from dqdyn.control.features.pairs import Pair
from dqdyn.errors import Error


class TorsoArm(Inequality):
    """The line of the torso and the forearm, from elbow to hand, at least ``distance`` m apart.

    Where the common perpendicular of torso and forearm meets the forearm, this is the distance of the lines; where it
    does not, that of the torso from the hand or the elbow, whichever is closer [Quiroz, eq. (4.37)]
    [Quiroz, eq. (4.38)]. The paper switches where the distance of the lines is zero, across which it jumps; switching
    at the ends of the forearm is what it is meant for, and leaves distance and Jacobian continuous but where both are
    parallel. Two more rows keep elbow and hand away, which matters there.
    """

    def __init__(self, torso: Any, elbow: Any, hand: Any, distance: Any, **gains: Unpack[Gains]) -> None:
        trunk = on(line, torso)
        self.pair_of_things = Pair.of(trunk, segment(elbow, hand))
        if self.pair_of_things.function.name != "line_to_segment":
            raise Error(f"The torso is a frame, a line of the robot or a Line; found {torso!r}.", found=torso)
        safe = self.pair_of_things.limit(distance, "the safe distance of torso and arm")
        super().__init__("torso and arm", self.pair_of_things.things, (*self.pair_of_things.signals, safe), **gains)

    def row_names(self) -> list[str]:
        words = dict(zip(self.pair_of_things.rows, ("", "elbow", "hand"), strict=True))
        return [f"{self.name}: {words[row]}" if words[row] else self.name for row in self.pair_of_things.rows]

    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        pair = self.pair_of_things
        safe = pair.scale(given[-1][0])
        return [d - safe for d in pair.distances(robot, given)]
