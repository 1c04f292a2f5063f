"""Cylindrical joint: rotation about and displacement along one axis, independent."""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import ZERO
from dqdyn.model.joints.axis_joint import AxisJoint, turn_columns
from dqdyn.model.joints.joint_kind import ChainPart, Coordinates, one_axis
from dqdyn.model.joints.prismatic import Prismatic
from dqdyn.model.joints.revolute import Revolute


@dataclass(frozen=True)
class Cylindrical(AxisJoint):
    """q = (θ, d), v = (θ̇, ḋ), ξ = (θ̇ + ε ḋ) l [Silva, table 1]."""

    name, nq, nv = "cylindrical", 2, 2
    angular = (True, False)
    labels = ("turn", "slide")
    commutes = True

    def pose(self, q: Coordinates) -> DQ:
        return pose(self.turn(q[0]), self.l * q[1])

    def adjoint(self, q: Coordinates) -> Adjoint:
        return Adjoint.of(turn_columns(self.axis, q[0]), self.l * q[1])

    def subspace(self, q: Coordinates) -> tuple[DQ, ...]:
        return DQ.of(self.l), DQ.of(ZERO, self.l)

    def expansion(self) -> tuple[ChainPart, ...]:
        return one_axis("rotation", Revolute(self.axis), 0), one_axis("translation", Prismatic(self.axis), 1)
