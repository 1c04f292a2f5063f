"""Spherical joint: any rotation, by a unit quaternion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.exponential import exp, screw_log
from dqdyn.algebra.quaternion import I, J, K, Quaternion, pure
from dqdyn.algebra.scalar import Scalar
from dqdyn.model.joints.axis_joint import X, Y, Z
from dqdyn.model.joints.group_joint import GroupJoint, nearest_sign, random_rotation
from dqdyn.model.joints.joint_kind import ChainPart, Column, Coordinates
from dqdyn.model.joints.revolute import Revolute


@dataclass(frozen=True)
class Spherical(GroupJoint):
    """q = (w, x, y, z), v = ω in the child frame, ξ = ω [Silva, table 1]."""

    name, nq, nv = "spherical", 4, 3
    angular = (True,) * 3
    labels = ("w", "x", "y", "z")
    velocity_labels = ("x", "y", "z")
    group = "rotation"

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
        relative = Quaternion(*q0).conj() * Quaternion(*q1)
        return list((screw_log(DQ.of(relative * nearest_sign(relative))).primary * 2.0).vector)

    def neutral(self) -> list[float]:
        return [1.0, 0.0, 0.0, 0.0]

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> list[float]:
        return random_rotation(rng)

    def expansion(self) -> tuple[ChainPart, ...]:
        # Yaw, pitch, roll: the same orientations, other coordinates, singular at a pitch of ±90°. Limits, damping and
        # the like belong to the angular velocity and have no counterpart in the rates of three angles.
        return tuple(ChainPart(name, Revolute(axis)) for name, axis in (("yaw", Z), ("pitch", Y), ("roll", X)))

    def chart_columns(self) -> list[Column]:
        return [(f"turn {axis}", "rad") for axis in "xyz"]
