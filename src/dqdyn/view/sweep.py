"""A motion that shows a robot without a trajectory: each joint in turn moves to its limits and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array
from dqdyn.robot import Robot
from dqdyn.view.rest import reach_of, resting

PER_JOINT = 1.6
"""Seconds."""
_STEPS = 48  # per joint


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
