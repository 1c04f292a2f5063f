"""Universal joint: two intersecting axes, the first fixed to the parent, the second to the child."""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import ZERO, pure
from dqdyn.model.joints.axis_joint import X, Z, turn, turn_columns
from dqdyn.model.joints.joint_kind import ChainPart, Coordinates, DrawnAxis, JointKind, Vector, one_axis
from dqdyn.model.joints.revolute import Revolute


@dataclass(frozen=True)
class Universal(JointKind):
    """q = (θ₁, θ₂), v = q̇, ξ = Ad(r₂*) l₁ θ̇₁ + l₂ θ̇₂ with r = r₁ r₂."""

    axis: Vector = Z
    second_axis: Vector = X

    name, nq, nv = "universal", 2, 2
    angular = (True, True)
    labels = ("first", "second")

    def pose(self, q: Coordinates) -> DQ:
        return DQ.of(turn(self.axis, q[0]) * turn(self.second_axis, q[1]))

    def adjoint(self, q: Coordinates) -> Adjoint:
        return Adjoint.of(turn_columns(self.axis, q[0])) @ Adjoint.of(turn_columns(self.second_axis, q[1]))

    def subspace(self, q: Coordinates) -> tuple[DQ, ...]:
        first = Adjoint.of(turn_columns(self.second_axis, q[1])).rotate_back(pure(*self.axis))
        return DQ.of(first), DQ.of(pure(*self.second_axis))

    def subspace_rate(self, q: Coordinates, v: Coordinates) -> tuple[DQ, ...]:
        first, second = self.subspace(q)
        return cross(first, second) * v[1], DQ.of(ZERO)

    def expansion(self) -> tuple[ChainPart, ...]:
        return one_axis("first", Revolute(self.axis), 0), one_axis("second", Revolute(self.second_axis), 1)

    def problem(self) -> str | None:
        parallel = abs(sum(a * b for a, b in zip(self.axis, self.second_axis, strict=True))) > 1.0 - 1e-6
        return "has two axes that are parallel: choose others" if parallel else None

    def drawn_axes(self) -> tuple[DrawnAxis, ...]:
        return ("parent", self.axis), ("child", self.second_axis)
