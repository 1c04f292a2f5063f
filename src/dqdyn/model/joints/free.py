"""Six-degree-of-freedom joint: any pose; the free-floating base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.exponential import screw_exp, screw_log
from dqdyn.algebra.poses import pose, position
from dqdyn.algebra.quaternion import ZERO, I, J, K, Quaternion, pure, rotate, rotation_columns
from dqdyn.algebra.scalar import Scalar
from dqdyn.model.joints.axis_joint import X, Y, Z
from dqdyn.model.joints.group_joint import GroupJoint, nearest_sign, random_rotation
from dqdyn.model.joints.joint_kind import ChainPart, Column, Coordinates
from dqdyn.model.joints.prismatic import Prismatic
from dqdyn.model.joints.spherical import Spherical


@dataclass(frozen=True)
class Free(GroupJoint):
    """q = (w x y z, px py pz), v = [ω, v] in the child frame, ξ = ω + εv [Silva, table 1] [Silva, eq. (16)]."""

    name, nq, nv = "free", 7, 6
    angular = (True,) * 3 + (False,) * 3
    labels = ("rw", "rx", "ry", "rz", "px", "py", "pz")
    velocity_labels = ("wx", "wy", "wz", "vx", "vy", "vz")
    group = "pose"
    actuated = False

    def pose(self, q: Coordinates) -> DQ:
        return pose(Quaternion(*q[:4]), pure(*q[4:]))

    def adjoint(self, q: Coordinates) -> Adjoint:
        return Adjoint.of(rotation_columns(Quaternion(*q[:4])), pure(*q[4:]))

    def subspace(self, q: Coordinates) -> tuple[DQ, ...]:
        return tuple(DQ.of(e) for e in (I, J, K)) + tuple(DQ.of(ZERO, e) for e in (I, J, K))

    def rate(self, q: Coordinates, v: Coordinates) -> list[Scalar]:
        r = Quaternion(*q[:4])
        return [*(r * pure(*v[:3]) * 0.5).components, *rotate(r, pure(*v[3:])).vector]

    def integrate(self, q: Coordinates, v: Coordinates, dt: Scalar) -> list[Scalar]:
        half = 0.5 * dt
        x = self.pose(q) * screw_exp(DQ.of(pure(*v[:3]) * half, pure(*v[3:]) * half))
        return [*x.primary.components, *position(x).vector]

    def difference(self, q0: Coordinates, q1: Coordinates) -> list[Scalar]:
        relative = self.pose(q0).conj() * self.pose(q1)
        g = screw_log(relative * nearest_sign(relative.primary)) * 2.0
        return [*g.primary.vector, *g.dual.vector]

    def neutral(self) -> list[float]:
        return [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> list[float]:
        return [*random_rotation(rng), *(float(c) for c in rng.uniform(-1.0, 1.0, 3))]

    def expansion(self) -> tuple[ChainPart, ...]:
        moves = [
            ChainPart(name, Prismatic(axis), slice(4 + i, 5 + i), slice(3 + i, 4 + i))
            for i, (name, axis) in enumerate((("x", X), ("y", Y), ("z", Z)))
        ]
        return (*moves, ChainPart("rotation", Spherical(), slice(0, 4), slice(0, 3)))

    def chart(self, q: Coordinates) -> list[Scalar]:
        return [*Spherical().chart(q[:4]), *q[4:]]

    def from_chart(self, values: Coordinates) -> list[Scalar]:
        return [*Spherical().from_chart(values[:3]), *values[3:]]

    def chart_columns(self) -> list[Column]:
        return [*Spherical().chart_columns(), *self.columns("q")[4:]]
