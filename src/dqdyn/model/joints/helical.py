"""Helical joint: rotation and displacement along one axis, coupled by the pitch."""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import pose
from dqdyn.model.joints.axis_joint import AxisJoint, turn_columns
from dqdyn.model.joints.joint_kind import ChainPart, Coordinates, one_axis
from dqdyn.model.joints.prismatic import Prismatic
from dqdyn.model.joints.revolute import Revolute


@dataclass(frozen=True)
class Helical(AxisJoint):
    """q = θ, v = θ̇, ξ = (1 + εh) θ̇ l with pitch h in m/rad [Silva, table 1]."""

    pitch: float = 0.0

    name, nq, nv = "helical", 1, 1
    angular = (True,)
    commutes = True

    def pose(self, q: Coordinates) -> DQ:
        return pose(self.turn(q[0]), self.l * (self.pitch * q[0]))

    def adjoint(self, q: Coordinates) -> Adjoint:
        return Adjoint.of(turn_columns(self.axis, q[0]), self.l * (self.pitch * q[0]))

    def subspace(self, q: Coordinates) -> tuple[DQ, ...]:
        return (DQ.of(self.l, self.l * self.pitch),)

    def expansion(self) -> tuple[ChainPart, ...]:
        slide = ChainPart("translation", Prismatic(self.axis), ratio=self.pitch)
        return one_axis("rotation", Revolute(self.axis), 0), slide
