"""Limits of joints as end stops: contacts of one axis, without friction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import StateError
from dqdyn.model.model import TreeJoint
from dqdyn.robot import Robot

DEEP = 1e-3
"""m or rad by which the start may be inside a surface or beyond a limit."""


@dataclass(frozen=True)
class Stops:
    """``gap`` (n,) in rad or m to each end stop, and ``rows`` (n, nv) of its rate."""

    gap: Array
    rows: Array


class JointStops:
    """The end stops of joints with one axis and finite limits; none unless ``wanted``."""

    def __init__(self, robot: Robot, wanted: bool) -> None:
        limits = ((1.0, robot.limits.lower), (-1.0, robot.limits.upper))
        single = [joint for joint in robot.joints if wanted and _has_one_axis(joint)]
        ends = [(joint, sign, float(ends[joint.q.start])) for joint in single for sign, ends in limits]
        ends = [end for end in ends if np.isfinite(end[2])]
        self.names = [joint.name for joint, _, _ in ends]
        self.coordinate = np.array([joint.q.start for joint, _, _ in ends], dtype=np.intp)
        self.sign = np.array([sign for _, sign, _ in ends])
        self.end = np.array([end for _, _, end in ends])
        self.rows = np.zeros((len(ends), robot.nv))
        for row, (joint, sign, _) in zip(self.rows, ends, strict=True):
            row[joint.v.start] = sign

    def at(self, q: Array) -> Stops:
        """The stops at a configuration."""
        return Stops(self.sign * (q[self.coordinate] - self.end), self.rows)

    def require_inside(self, q: Array) -> None:
        """An error where a joint starts beyond its limit: being pushed back would throw the robot."""
        gap = self.at(q).gap
        if gap.min(initial=0.0) < -DEEP:
            joint = self.names[int(gap.argmin())]
            what = f"joint {joint!r} is {-gap.min():.3g} rad or m beyond its limit at the start"
            raise StateError(f"{what}: change q0, or leave out limits=True.", joint=joint, found=float(-gap.min()))


def _has_one_axis(joint: TreeJoint) -> bool:
    return joint.master is None and joint.q.stop - joint.q.start == joint.v.stop - joint.v.start == 1
