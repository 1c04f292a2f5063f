"""Six-degree-of-freedom joint: any pose; the free-floating base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.functions import Adjoint, pose, position, screw_exp, screw_log
from dqdyn.algebra.quaternion import ZERO, I, J, K, Quaternion, pure, rotate, rotation_columns
from dqdyn.algebra.scalar import Scalar, less, select
from dqdyn.model.joints.joint_kind import Coordinates, JointKind, random_rotation


@dataclass(frozen=True)
class Free(JointKind):
    """q = (w x y z, px py pz), v = [ω, v] in the child frame, ξ = ω + εv [Silva, table 1] [Silva, eq. (16)]."""

    name: ClassVar[str] = "free"
    nq: ClassVar[int] = 7
    nv: ClassVar[int] = 6
    quaternion: ClassVar[slice | None] = slice(0, 4)

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
        g = screw_log(relative * select(less(relative.primary.w, 0.0), -1.0, 1.0)) * 2.0
        return [*g.primary.vector, *g.dual.vector]

    def neutral(self) -> list[float]:
        return [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> list[float]:
        return [*random_rotation(rng), *(float(c) for c in rng.uniform(-1.0, 1.0, 3))]
