"""Universal joint: two intersecting axes, the first fixed to the parent, the second to the child."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import ZERO, Quaternion, pure
from dqdyn.model.joints.joint_kind import Coordinates, JointKind, Vector, turn, turn_columns


@dataclass(frozen=True)
class Universal(JointKind):
    """q = (θ₁, θ₂), v = q̇, ξ = Ad(r₂*) l₁ θ̇₁ + l₂ θ̇₂ with r = r₁ r₂."""

    axis: Vector = (0.0, 0.0, 1.0)
    second_axis: Vector = (1.0, 0.0, 0.0)

    name: ClassVar[str] = "universal"
    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2
    constant_subspace: ClassVar[bool] = False
    angular: ClassVar[tuple[bool, ...]] = (True, True)

    def pose(self, q: Coordinates) -> DQ:
        return DQ.of(turn(self.axis, q[0]) * turn(self.second_axis, q[1]))

    def adjoint(self, q: Coordinates) -> Adjoint:
        return Adjoint.of(turn_columns(self.axis, q[0])) @ Adjoint.of(turn_columns(self.second_axis, q[1]))

    def subspace(self, q: Coordinates) -> tuple[DQ, ...]:
        return DQ.of(self._first_axis(q)), DQ.of(pure(*self.second_axis))

    def subspace_rate(self, q: Coordinates, v: Coordinates) -> tuple[DQ, ...]:
        first, second = self.subspace(q)
        return cross(first, second) * v[1], DQ.of(ZERO)

    def _first_axis(self, q: Coordinates) -> Quaternion:
        return Adjoint.of(turn_columns(self.second_axis, q[1])).rotate_back(pure(*self.axis))
