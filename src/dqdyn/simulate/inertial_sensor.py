"""What an inertial sensor on a robot would read."""

from __future__ import annotations

import numpy as np

from dqdyn.arrays import Array, Reals
from dqdyn.errors import Error, one_line
from dqdyn.robot import Robot


def inertial_reading(robot: Robot, frame: str, q: Reals, v: Reals, a: Reals) -> tuple[Array, Array]:
    """Gyroscope (..., 3) in rad/s and accelerometer (..., 3) in m/s² of an ideal sensor, in the axes of its frame.

    The accelerometer feels p̈ − g: upwards with 9.81 m/s² at rest. ``q``, ``v``, ``a`` are one state or a batch.
    """
    if not isinstance(robot, Robot):
        raise Error(f"inertial_reading takes a robot first; found {one_line(repr(robot), 80)}.", found=robot)
    twist = robot.twist(frame, q, v).vec6()
    rate = robot.twist_rate(frame, q, v, a).vec6()
    omega, speed = twist[..., :3], twist[..., 3:]
    rotation = np.asarray(robot.pose(frame, q).rotation_matrix)
    gravity = np.einsum("...ji,j->...i", rotation, np.asarray(robot.model.gravity, dtype=float))
    # In axes that turn with the frame, its acceleration is that of the components and ω × ṗ.
    return omega, rate[..., 3:] + np.cross(omega, speed) - gravity
