"""The frames of two hands as features of the robot: half-way between them, and one seen from the other.

What takes a frame's name takes these too: zones, cones, regions and tasks on points, lines and planes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import Scalar
from dqdyn.control.core.kinematics import FeatureKinematics, State, along
from dqdyn.control.features.features import Attached, FramePose, PoseFeature, stacked
from dqdyn.kinematics import cooperative
from dqdyn.kinematics.attached import MOVED

_PAIRS = {"absolute": cooperative.absolute, "relative": cooperative.relative}


@dataclass(frozen=True)
class HandsPose(PoseFeature):
    """The absolute or the relative pose of two hands."""

    which: Literal["absolute", "relative"]
    hand1: str
    hand2: str

    def frames(self) -> tuple[str, ...]:
        return (self.hand1, self.hand2)

    @property
    def place(self) -> str:
        return f"the {self.which} frame of {self.hand1} and {self.hand2}"

    def kinematics(self, state: State) -> FeatureKinematics:
        pair = _PAIRS[self.which]
        hands = stacked([FramePose(hand).kinematics(state) for hand in self.frames()])
        return mapped(lambda c: pair(DQ.of8(c[:8]), DQ.of8(c[8:])).components, hands)


@dataclass(frozen=True)
class OnHands(Attached):
    """A point, line or plane fixed to such a frame; ``frame`` is the frame's name in words."""

    hands: HandsPose

    def frames(self) -> tuple[str, ...]:
        return self.hands.frames()

    @property
    def place(self) -> str:
        return self.frame

    def kinematics(self, state: State) -> FeatureKinematics:
        move = MOVED[self.kind]
        return mapped(lambda c: move(Adjoint(DQ.of8(c)), self.local), self.hands.kinematics(state))


def absolute_frame(hand1: str, hand2: str) -> HandsPose:
    """The frame half-way between two hands, x_a = x_2 x_r^{1/2}: ``KeepOut(absolute_frame("left", "right"), …)``."""
    return HandsPose("absolute", hand1, hand2)


def relative_frame(hand1: str, hand2: str) -> HandsPose:
    """``hand1`` seen from ``hand2``, x_r = x_2* x_1; what it is compared with is given in the axes of ``hand2``."""
    return HandsPose("relative", hand1, hand2)


def mapped(function: Callable[[Sequence[Scalar]], Sequence[Scalar]], feature: FeatureKinematics) -> FeatureKinematics:
    """A function of the components of a feature, and how it moves with the feature."""
    at = feature.value
    value = list(function(at))
    columns = {k: derivative(function, at, column) for k, column in feature.columns.items()}
    if feature.rate is None or feature.drift is None:
        return FeatureKinematics(value, columns)
    return FeatureKinematics(value, columns, *along(function, at, feature.rate, feature.drift))
