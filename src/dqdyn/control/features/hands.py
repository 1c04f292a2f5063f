"""The frames of two hands as things of the robot: half-way between them, and one seen from the other.

What takes a frame's name takes these too: zones, cones, regions and tasks on points, lines and planes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.algebra.scalar import Scalar
from dqdyn.control.core.state import Seen, State
from dqdyn.control.features.features import Attached, FramePose, Thing, stacked
from dqdyn.kinematics import cooperative
from dqdyn.kinematics.attached import MOVED

_PAIRS = {"absolute": cooperative.absolute, "relative": cooperative.relative}


@dataclass(frozen=True)
class HandsPose(Thing):
    """The absolute or the relative pose of two hands, as vec8."""

    word: str
    hand1: str
    hand2: str
    kind = "pose"

    def frames(self) -> tuple[str, ...]:
        return (self.hand1, self.hand2)

    @property
    def place(self) -> str:
        return f"the {self.word} frame of {self.hand1} and {self.hand2}"

    def seen(self, state: State) -> Seen:
        pair = _PAIRS[self.word]
        hands = stacked([FramePose(hand).seen(state) for hand in self.frames()])
        return mapped(lambda c: pair(_dq(c[:8]), _dq(c[8:])).components, hands)


@dataclass(frozen=True)
class OnHands(Attached):
    """A point, line or plane fixed to such a frame; ``frame`` is the frame's name in words."""

    hands: HandsPose

    def frames(self) -> tuple[str, ...]:
        return self.hands.frames()

    @property
    def place(self) -> str:
        return self.frame

    def seen(self, state: State) -> Seen:
        move = MOVED[self.kind]
        return mapped(lambda c: move(Adjoint(_dq(c)), self.local), self.hands.seen(state))


def absolute_frame(hand1: str, hand2: str) -> HandsPose:
    """The frame half-way between two hands, x_a = x_2 x_r^{1/2}: ``KeepOut(absolute_frame("left", "right"), …)``."""
    return HandsPose("absolute", hand1, hand2)


def relative_frame(hand1: str, hand2: str) -> HandsPose:
    """``hand1`` seen from ``hand2``, x_r = x_2* x_1; what it is compared with is given in the axes of ``hand2``."""
    return HandsPose("relative", hand1, hand2)


def mapped(function: Callable[[Sequence[Scalar]], Sequence[Scalar]], thing: Seen) -> Seen:
    """A function of the components of a thing, and how it moves with the thing."""
    at = thing.value
    value = list(function(at))
    columns = {k: derivative(function, at, column) for k, column in thing.columns.items()}
    if thing.rate is None or thing.drift is None:
        return Seen(value, columns)
    n, rate = len(at), thing.rate
    drift = derivative(lambda c: derivative(function, c[:n], c[n:]), [*at, *rate], [*rate, *thing.drift])
    return Seen(value, columns, derivative(function, at, rate), drift)


def _dq(c: Sequence[Scalar]) -> DQ:
    return DQ.of(Quaternion(*c[:4]), Quaternion(*c[4:]))
