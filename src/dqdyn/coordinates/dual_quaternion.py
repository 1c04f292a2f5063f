"""Unit dual quaternions as coordinates of a pose: eight coordinates, two conditions [Quiroz, section 5.4]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import pose, position
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.scalar import Scalar, Scalars, total
from dqdyn.coordinates.joint_coordinates import JointCoordinates


@dataclass(frozen=True)
class UnitDualQuaternion(JointCoordinates):
    """A free joint: q = vec8(x), the pose itself."""

    name = "dual-quaternion"
    labels = ("w", "x", "y", "z", "dual_w", "dual_x", "dual_y", "dual_z")
    nv = 6

    def minimal(self, q: Scalars) -> list[Scalar]:
        x = _dq(q)
        return [*x.primary.components, *position(x).vector]

    def from_minimal(self, own: Scalars) -> list[Scalar]:
        return list(pose(Quaternion(*own[:4]), pure(*own[4:])).components)

    def velocity(self, q: Scalars, rate: Scalars) -> list[Scalar]:
        """ξ = 2 x* ẋ [Quiroz, eq. (5.49)]: the part Ξ of the twist Jacobian at the base [Quiroz, eq. (5.53)]."""
        twist = _dq(q).conj() * _dq(rate) * 2.0
        return [*twist.primary.vector, *twist.dual.vector]

    def rate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """ẋ = ½ x ξ."""
        twist = DQ.of(pure(*v[:3]), pure(*v[3:]))
        return list((_dq(q) * twist * 0.5).components)

    def constraint(self, q: Scalars) -> list[Scalar]:
        """x* x − 1 [Quiroz, eq. (5.55)]: of its eight components these two are not zero by themselves."""
        primary, dual = q[:4], q[4:]
        return [total(c * c for c in primary) - 1.0, 2.0 * total(c * e for c, e in zip(primary, dual, strict=True))]

    def fault(self, q: Any) -> tuple[Any, str]:
        norm = np.sqrt(sum(np.square(c) for c in q[:4]))
        inner = np.abs(sum(c * e for c, e in zip(q[:4], q[4:], strict=True)))
        off = np.maximum(np.abs(norm - 1.0), inner)
        return off, (
            "the dual quaternion is not of unit norm, which it misses by {off:.3g}: the primary part has norm 1 and is "
            "orthogonal to the dual part; divide it by its dual norm, as project(q) does"
        )


def _dq(q: Scalars) -> DQ:
    return DQ.of(Quaternion(*q[:4]), Quaternion(*q[4:]))
