"""Prismatic joint: a displacement along a fixed axis."""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import translator
from dqdyn.algebra.quaternion import ZERO, I, J, K
from dqdyn.model.joints.axis_joint import AxisJoint
from dqdyn.model.joints.joint_kind import Coordinates


@dataclass(frozen=True)
class Prismatic(AxisJoint):
    """q = d, v = ḋ, ξ = ε ḋ l [Silva, table 1]."""

    name, nq, nv = "prismatic", 1, 1
    angular = (False,)
    commutes = True

    def pose(self, q: Coordinates) -> DQ:
        return translator(self.l * q[0])

    def adjoint(self, q: Coordinates) -> Adjoint:
        return Adjoint.of((I, J, K), self.l * q[0])

    def subspace(self, q: Coordinates) -> tuple[DQ, ...]:
        return (DQ.of(ZERO, self.l),)
