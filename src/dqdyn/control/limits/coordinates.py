"""What limits share: coordinates and axes by name, and values for each, given or the robot's own."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array, RealArray, RealNumber
from dqdyn.control.core.errors import refused
from dqdyn.model.model import Model

FREE = 1e19  # limits from this size on count as infinite

LimitLike = RealArray | RealNumber | None
"""One number, one per coordinate, or None for the robot's own."""


def coordinates(model: Model) -> list[tuple[str, int, int]]:
    """(name, index into q, index into v) of every coordinate whose rate is a velocity: all but those of quaternions."""
    return [
        (_indexed(joint.name, i, joint.motion.nq), joint.q.start + i, joint.v.start + i)
        for joint in model.joints
        if joint.master is None and joint.motion.quaternion is None
        for i in range(joint.motion.nq)
    ]


def axes(model: Model) -> list[str]:
    """A name per component of v."""
    own = [joint for joint in model.joints if joint.master is None]
    return [_indexed(joint.name, i, joint.motion.nv) for joint in own for i in range(joint.motion.nv)]


def _indexed(name: str, i: int, count: int) -> str:
    return name if count == 1 else f"{name}[{i}]"


def own(model: Model, what: Literal["lower", "upper", "velocity", "effort"]) -> Array:
    """The robot's own limits per coordinate.

    Those of position and velocity leave room for the joints that follow another, ratio · q + offset of it; those of
    velocity and effort are no larger than those of the motors.
    """
    limits = np.array([c for joint in model.joints if not joint.is_mimic for c in getattr(joint, what)])
    if what in ("velocity", "effort"):
        motors = [math.inf if motor is None else getattr(motor, what) for motor in model.motors]
        limits = np.minimum(limits, motors)
    for joint in model.joints:
        master = joint.master
        if master is None or what == "effort" or master.ratio == 0.0:
            continue
        if what == "velocity":
            k = joint.v.start
            limits[k] = min(limits[k], joint.velocity[0] / abs(master.ratio))
            continue
        k, ends = joint.q.start, [(end[0] - master.offset) / master.ratio for end in (joint.lower, joint.upper)]
        limits[k] = max(limits[k], min(ends)) if what == "lower" else min(limits[k], max(ends))
    return limits


def given_or_own(given: LimitLike, own: Array, what: str) -> Array:
    """One number or one per coordinate, as given, or the robot's own."""
    values = own if given is None else real_array(given, what)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != len(own)) or np.isnan(values).any():
        raise refused(f"{what} are one number or {len(own)}", given, expected=len(own))
    return np.broadcast_to(values, own.shape)
