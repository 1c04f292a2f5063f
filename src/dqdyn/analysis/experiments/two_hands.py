"""What the experiments with two hands keep an eye on: the frame half-way between the hands, and their grip."""

from __future__ import annotations

import numpy as np

from dqdyn import control as ct
from dqdyn.robot import Robot

HANDS = ("left_hand", "right_hand")
BETWEEN = ct.absolute_frame(*HANDS)


def relative_error(robot: Robot, q: np.ndarray) -> np.ndarray:
    """‖vec8(x_r − x_r(0))‖ (n,) for q (n, nq); the signs of poses are continuous along a run."""
    x = robot.relative_pose(*HANDS, q).vec8()
    return np.asarray(np.linalg.norm(x - x[0], axis=1))
