"""Spherical joint: any rotation, by a unit quaternion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.exponential import exp, screw_log
from dqdyn.algebra.quaternion import I, J, K, Quaternion, pure
from dqdyn.algebra.scalar import Scalar
from dqdyn.model.joints.joint_kind import Coordinates, JointKind, nearest_sign, random_rotation


@dataclass(frozen=True)
class Spherical(JointKind):
    """q = (w, x, y, z), v = ω in the child frame, ξ = ω [Silva, table 1]."""

    name: ClassVar[str] = "spherical"
    nq: ClassVar[int] = 4
    nv: ClassVar[int] = 3
    quaternion: ClassVar[slice | None] = slice(0, 4)

    def pose(self, q: Coordinates) -> DQ:
        return DQ.of(Quaternion(*q))

    def subspace(self, q: Coordinates) -> tuple[DQ, ...]:
        return DQ.of(I), DQ.of(J), DQ.of(K)

    def rate(self, q: Coordinates, v: Coordinates) -> list[Scalar]:
        return list((Quaternion(*q) * pure(*v) * 0.5).components)

    def integrate(self, q: Coordinates, v: Coordinates, dt: Scalar) -> list[Scalar]:
        step = exp(DQ.of(pure(*v) * (0.5 * dt))).primary
        return list((Quaternion(*q) * step).components)

    def difference(self, q0: Coordinates, q1: Coordinates) -> list[Scalar]:
        relative = nearest_sign(Quaternion(*q0).conj() * Quaternion(*q1))
        return list((screw_log(DQ.of(relative)).primary * 2.0).vector)

    def neutral(self) -> list[float]:
        return [1.0, 0.0, 0.0, 0.0]

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> list[float]:
        return random_rotation(rng)
