"""A robot without a trajectory: where it begins, how far each coordinate leads away from there, and a tour of that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array
from dqdyn.robot import Robot

PER_JOINT = 1.6
"""Seconds."""
_STEPS = 48  # per joint
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


@dataclass(frozen=True, eq=False)
class Sweep:
    """Time, q and v of the motion; there are no forces in it."""

    robot: Robot
    time: Array
    q: Array
    v: Array
    status: str = "each joint in turn"


def sweep(robot: Robot) -> Sweep:
    """Each velocity coordinate in turn goes to its upper reach, its lower reach and back to rest."""
    rest = resting(robot)
    phase = np.arange(_STEPS) / _STEPS
    rows, rates = [rest[None]], [np.zeros((1, robot.nv))]
    low, high = reach_of(robot)
    for i in range(robot.nv):
        # A smooth bump up and one down, each at rest at its ends.
        bump, slope = np.sin(2.0 * np.pi * phase) ** 2, 2.0 * np.pi * np.sin(4.0 * np.pi * phase) / PER_JOINT
        size = np.where(phase < 0.5, high[i], low[i])
        v = np.zeros((_STEPS, robot.nv))
        v[:, i] = size * bump
        rows.append(robot.integrate(np.broadcast_to(rest, (_STEPS, robot.nq)), v, 1.0))
        v[:, i] = size * slope
        rates.append(v)
    q, v = np.concatenate([*rows[1:], rows[0]]), np.concatenate([*rates[1:], rates[0]])
    return Sweep(robot, np.arange(len(q)) * PER_JOINT / _STEPS, q, v)
