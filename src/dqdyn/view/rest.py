"""A configuration to begin with, and how far each velocity coordinate can lead away from it."""

from __future__ import annotations

import numpy as np

from dqdyn.arrays import Array
from dqdyn.robot import Robot

ANGLE, LENGTH, GROUND = np.pi, 0.5, 1.0
"""Reach without limits: rad of a joint, m of a joint, m of a base."""


def resting(robot: Robot) -> Array:
    """q (nq,): neutral where the limits allow, else the limit next to it."""
    q: Array = np.clip(robot.neutral(), robot.limits.lower, robot.limits.upper)
    return q


def reach_of(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest value (nv,) of what may be added to the resting configuration, in rad or m."""
    low, high, rest = np.zeros(robot.nv), np.zeros(robot.nv), resting(robot)
    for joint in robot.joints:
        if joint.is_mimic:
            continue
        motion = joint.motion
        for k, turns in enumerate(motion.angular):
            i = joint.v.start + k
            if motion.nq == motion.nv:
                default = ANGLE if turns else LENGTH if motion.actuated else GROUND
                at = rest[joint.q.start + k]
                low[i], high[i] = _bounded(joint.lower[k] - at, -default), _bounded(joint.upper[k] - at, default)
            else:  # a ball or a free base, whose quaternion has no limits
                low[i], high[i] = (-0.5 * ANGLE, 0.5 * ANGLE) if turns else (-GROUND, GROUND)
    return low, high


def _bounded(value: float, default: float) -> float:
    """Limits are kept, but none is further away than two turns or the default."""
    return float(np.clip(value, -4.0 * np.pi, 4.0 * np.pi)) if np.isfinite(value) else default
