"""Planar joint: motion in the plane normal to an axis; the holonomic mobile base."""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import pose
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import ZERO, I, J, Quaternion, rotate, shortest_rotation
from dqdyn.model.inertia import as_vector
from dqdyn.model.joints.axis_joint import AxisJoint, turn_columns
from dqdyn.model.joints.joint_kind import ChainPart, Coordinates, one_axis
from dqdyn.model.joints.prismatic import Prismatic
from dqdyn.model.joints.revolute import Revolute


@dataclass(frozen=True)
class Planar(AxisJoint):
    """q = (x, y, φ), v = q̇, ξ = φ̇ l + ε Ad(r*)(ẋ e₁ + ẏ e₂) [Silva, table 1].

    Silva's table has the axis k; here e₁, e₂ are the images of x, y under the shortest rotation that takes z to l.
    """

    name, nq, nv = "planar", 3, 3
    angular = (False, False, True)
    labels = ("x", "y", "phi")
    actuated = False

    def in_plane(self) -> tuple[Quaternion, Quaternion]:
        """e₁, e₂: the directions of x and y in the parent side."""
        tilt = shortest_rotation((0.0, 0.0, 1.0), self.axis)
        return rotate(tilt, I), rotate(tilt, J)

    def pose(self, q: Coordinates) -> DQ:
        e1, e2 = self.in_plane()
        return pose(self.turn(q[2]), e1 * q[0] + e2 * q[1])

    def adjoint(self, q: Coordinates) -> Adjoint:
        e1, e2 = self.in_plane()
        return Adjoint.of(turn_columns(self.axis, q[2]), e1 * q[0] + e2 * q[1])

    def subspace(self, q: Coordinates) -> tuple[DQ, ...]:
        turned = Adjoint.of(turn_columns(self.axis, q[2]))
        e1, e2 = (turned.rotate_back(e) for e in self.in_plane())
        return DQ.of(ZERO, e1), DQ.of(ZERO, e2), DQ.of(self.l)

    def subspace_rate(self, q: Coordinates, v: Coordinates) -> tuple[DQ, ...]:
        e1, e2, turning = self.subspace(q)
        return cross(e1, turning) * v[2], cross(e2, turning) * v[2], DQ.of(ZERO)

    def expansion(self) -> tuple[ChainPart, ...]:
        e1, e2 = (as_vector(e.vector) for e in self.in_plane())
        slides = one_axis("x", Prismatic(e1), 0), one_axis("y", Prismatic(e2), 1)
        return (*slides, one_axis("rotation", Revolute(self.axis), 2))
