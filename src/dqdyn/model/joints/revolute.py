"""Revolute joint: one angle about a fixed axis; continuous joints are revolute without limits."""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.model.joints.axis_joint import AxisJoint, turn_columns
from dqdyn.model.joints.joint_kind import Coordinates


@dataclass(frozen=True)
class Revolute(AxisJoint):
    """q = θ, v = θ̇, ξ = θ̇ l [Silva, table 1]."""

    name, nq, nv = "revolute", 1, 1
    angular = (True,)
    commutes = True

    def pose(self, q: Coordinates) -> DQ:
        return DQ.of(self.turn(q[0]))

    def adjoint(self, q: Coordinates) -> Adjoint:
        return Adjoint.of(turn_columns(self.axis, q[0]))

    def subspace(self, q: Coordinates) -> tuple[DQ, ...]:
        return (DQ.of(self.l),)
