"""Joints with an axis, and rotations about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dqdyn.algebra.adjoint import Columns
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.scalar import Scalar, cos, sin
from dqdyn.model.joints.joint_kind import DrawnAxis, JointKind, Vector

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class AxisJoint(JointKind):
    """A joint with one unit axis l, and nothing else that tells directions apart.

    Its motion is that of the same joint with the axis z, seen from axes turned by the shortest rotation from z to l.
    """

    axis: Vector = Z

    commutes: ClassVar[bool] = False  # with turns about the axis and shifts along it

    @property
    def l(self) -> Quaternion:
        """The axis as a pure quaternion."""
        return pure(*self.axis)

    def turn(self, angle: Scalar) -> Quaternion:
        """cos(θ/2) + l sin(θ/2)."""
        return turn(self.axis, angle)

    def drawn_axes(self) -> tuple[DrawnAxis, ...]:
        return (("child", self.axis),)


def turn(axis: Vector, angle: Scalar) -> Quaternion:
    """cos(θ/2) + l sin(θ/2), the rotation about a unit axis."""
    half = 0.5 * angle
    s = sin(half)
    x, y, z = axis
    return Quaternion(cos(half), x * s, y * s, z * s)


def turn_columns(axis: Vector, angle: Scalar) -> Columns:
    """The images of i, j, k under the rotation about a unit axis, by Rodrigues: l lᵀ + c (1 − l lᵀ) + s [l]×."""
    c, s = cos(angle), sin(angle)
    x, y, z = axis

    def entry(outer: float, same: float, skew: float) -> Scalar:
        if skew == 0.0 and same == outer:  # a constant, so that sparsity is detected
            return outer
        return c * (same - outer) + s * skew + outer

    return (
        pure(entry(x * x, 1.0, 0.0), entry(y * x, 0.0, z), entry(z * x, 0.0, -y)),
        pure(entry(x * y, 0.0, -z), entry(y * y, 1.0, 0.0), entry(z * y, 0.0, x)),
        pure(entry(x * z, 0.0, y), entry(y * z, 0.0, -x), entry(z * z, 1.0, 0.0)),
    )
