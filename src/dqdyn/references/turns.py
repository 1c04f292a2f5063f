"""Angles that are the same after a full turn: continuous joints, and the heading of a planar one."""

from __future__ import annotations

import math

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.arrays import Array
from dqdyn.errors import Error
from dqdyn.model.joints.joint_kind import JointKind
from dqdyn.model.model import Model
from dqdyn.references.space import Space


def unwrapped(space: Space, points: Array) -> Array:
    """The way points (N, nq) with full turns added to angles without limits, so that each step is the shorter way."""
    if space.model is None:
        raise Error(f"wrap is for joints of a robot; a {space.name} takes the shorter way as it is.", argument="wrap")
    result = points.copy()
    for q in turning_coordinates(space.model):
        steps = np.diff(points[:, q])
        result[1:, q] = points[0, q] + np.cumsum(steps - 2.0 * math.pi * np.round(steps / (2.0 * math.pi)))
    return result


def turning_coordinates(model: Model) -> list[int]:
    """Coordinates that are angles without limits, after a full turn of which the robot is as before."""
    masters = {joint.q.start for joint in model.joints if joint.is_mimic}
    found = []
    for joint in model.joints:
        if joint.is_mimic or joint.q.start in masters or joint.motion.nq != joint.motion.nv:
            continue
        for i, (low, high) in enumerate(zip(joint.lower, joint.upper, strict=True)):
            if math.isinf(low) and math.isinf(high) and _is_periodic(joint.motion, i):
                found.append(joint.q.start + i)
    return found


def _is_periodic(kind: JointKind, i: int) -> bool:
    """Whether a full turn of a coordinate brings the child frame back; a helical joint also moves along."""
    if not kind.angular[i]:
        return False
    turned = [2.0 * math.pi if k == i else 0.0 for k in range(kind.nq)]
    here, there = kind.pose([0.0] * kind.nq), kind.pose(turned)
    return min(_distance(here, there), _distance(here, there * -1.0)) < 1e-9


def _distance(x: DQ, y: DQ) -> float:
    return max(abs(float(a) - float(b)) for a, b in zip(x.components, y.components, strict=True))
