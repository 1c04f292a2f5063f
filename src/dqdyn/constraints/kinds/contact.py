"""Points and faces that hold on to the world where they are, with friction data for checking contact forces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dqdyn.constraints.kinds.frame_constraint import Components, FrameConstraint, FramePair
from dqdyn.constraints.relative_motion import RelativeMotion
from dqdyn.model.model import WORLD_FRAME


@dataclass(frozen=True)
class PointContact(FrameConstraint):
    """The origin of ``frame`` does not move: v = 0 in the frame's axes. Multipliers are the force in N on the robot.

    It binds velocities, so the point stays wherever the contact began. ``mu`` is the coefficient of friction, with the
    frame's z as normal; a force is checked by :meth:`holds`. Forces are not limited here.
    """

    frame: str
    mu: float = 0.7
    name: str = ""
    holonomic: ClassVar[bool] = False
    at_second: ClassVar[bool] = False
    count = 3

    def __post_init__(self) -> None:
        self._named(f"contact {self.frame}")
        if not self.mu >= 0.0:
            raise self._error(f"the friction of the constraint {self.name!r} must not be negative; found {self.mu}.")

    @property
    def pair(self) -> FramePair:
        """The world as seen from the frame, at the frame's origin: minus the body twist, whose axes need no world."""
        return self.frame, WORLD_FRAME

    def components(self, relative: RelativeMotion) -> Components:
        """The last ``count`` of [ω, v], with the sign of the frame's own twist."""
        return lambda twist: [-c for c in (*twist.primary.vector, *twist.dual.vector)[-self.count :]]

    def holds(self, multipliers: Sequence[float]) -> bool:
        """Whether the force pushes and stays in the friction cone: f_z ≥ 0 and ‖(f_x, f_y)‖ ≤ μ f_z."""
        x, y, z = multipliers[-3:]
        return bool(z >= 0.0 and x * x + y * y <= (self.mu * z) ** 2)


@dataclass(frozen=True)
class FaceContact(PointContact):
    """A face that neither moves nor turns: the twist [ω, v] of ``frame`` vanishes. Multipliers are [τ, f] in its axes.

    ``half_length`` along x and ``half_width`` along y in m bound where the pressure can act; 0 means not given.
    """

    half_length: float = 0.0
    half_width: float = 0.0
    count = 6

    def holds(self, multipliers: Sequence[float]) -> bool:
        """Whether the force is in the cone and the center of pressure on the face (where its size is given)."""
        torque_x, torque_y, *_, z = multipliers
        inside_x = not self.half_length or abs(torque_y) <= self.half_length * z
        inside_y = not self.half_width or abs(torque_x) <= self.half_width * z
        return bool(super().holds(multipliers) and inside_x and inside_y)
