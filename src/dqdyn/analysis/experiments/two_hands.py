"""What the experiments with two hands keep an eye on: the frame half-way between the hands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dqdyn import control as ct
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.functions import position
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.scalar import Scalar, total
from dqdyn.control.quantity import Parts
from dqdyn.geometry.primitives import Plane
from dqdyn.kinematics import cooperative
from dqdyn.robot import Robot

HANDS = ("left_hand", "right_hand")
POSES = tuple(ct.pose(hand) for hand in HANDS)


class AbsoluteCone(ct.Inequality):
    """The axis of the absolute frame, given in that frame, within ``angle`` rad of the vertical: as ``ct.Cone``."""

    def __init__(self, axis: np.ndarray, angle: float, **gains: Any) -> None:
        self.axis, self.largest = pure(*(float(c) for c in axis)), 2.0 - 2.0 * float(np.cos(angle))
        super().__init__("tilt", POSES, (), **gains)

    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        r = absolute(robot).primary
        x, y, z = (r * self.axis * r.conj()).vector
        return [self.largest - total([x * x, y * y, (z - 1.0) * (z - 1.0)])]


class AbsoluteRegion(ct.Inequality):
    """The origin of the absolute frame on the inner side of planes: as ``ct.Region``."""

    def __init__(self, planes: Sequence[Plane], distance: float, **gains: Any) -> None:
        self.planes = [([float(c) for c in plane.normal], float(plane.distance) + distance) for plane in planes]
        super().__init__("region", POSES, (), **gains)

    def row_names(self) -> list[str]:
        return [f"region: plane {i + 1}" for i in range(len(self.planes))]

    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        p = position(absolute(robot)).vector
        return [total(a * b for a, b in zip(normal, p, strict=True)) - d for normal, d in self.planes]


def absolute(robot: Parts) -> DQ:
    """The absolute pose from the components of both hands'."""
    return cooperative.absolute(*(DQ.of(Quaternion(*c[:4]), Quaternion(*c[4:])) for c in robot))


def absolute_place(x1: DQ, x2: DQ) -> list[Scalar]:
    """Its origin, for function tasks."""
    return list(position(cooperative.absolute(x1, x2)).vector)


def relative_error(robot: Robot, q: np.ndarray) -> np.ndarray:
    """‖vec8(x_r − x_r(0))‖ (n,) for q (n, nq); the signs of poses are continuous along a run."""
    x = robot.relative_pose(*HANDS, q).vec8()
    return np.asarray(np.linalg.norm(x - x[0], axis=1))
