"""A knife edge, a skate, a keel: a point of a body that does not move sideways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion, cross3, dot3, pure
from dqdyn.algebra.scalar import Scalars
from dqdyn.constraints.directions import Vector, unit
from dqdyn.constraints.kinds.frame_constraint import Components, FrameConstraint, FramePair
from dqdyn.constraints.relative_motion import RelativeMotion
from dqdyn.model.model import WORLD_FRAME


@dataclass(frozen=True)
class KnifeEdge(FrameConstraint):
    """The origin of ``frame`` has no velocity along ``sideways``, a direction n fixed to the frame."""

    frame: str
    sideways: Vector = (0.0, 1.0, 0.0)
    name: str = ""
    holonomic: ClassVar[bool] = False
    count = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "sideways", unit(self.sideways, "the sideways direction of a knife edge"))
        self._named(f"knife edge {self.frame}")

    @property
    def pair(self) -> FramePair:
        return WORLD_FRAME, self.frame

    def components(self, relative: RelativeMotion) -> Components:
        """⟨n, v⟩ with the velocity of the frame in the world."""
        n = self._direction(relative)
        return lambda twist: [dot3(n, twist.dual)]

    def turning(self, relative: RelativeMotion, twist: DQ) -> Scalars:
        """⟨ω × n, v⟩."""
        return [dot3(cross3(twist.primary, self._direction(relative)), twist.dual)]

    def _direction(self, relative: RelativeMotion) -> Quaternion:
        return relative.x.rotate(pure(*self.sideways))
