"""The motion of ``dqdyn demo``: a mobile manipulator drives a figure eight by computed torque, its arm swinging."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from dqdyn.algebra.scalar import Scalar, atan2, cos, divide, sin
from dqdyn.arrays import Array
from dqdyn.references import ComputedTorque
from dqdyn.robot import Robot
from dqdyn.simulate import Trajectory, simulate
from dqdyn.splines import Piecewise, quintic_coefficients
from dqdyn.view.markers import GOLD, TEAL, Markers

DURATION, DT, SAMPLE = 12.0, 1e-3, 0.01  # s
LENGTH, WIDTH = 1.2, 0.7  # half of the eight in m
KP, KD = 36.0, 12.0  # 1/s², 1/s
ANGLE = Piecewise.of_one(0.0, DURATION, quintic_coefficients(DURATION, ([0.0], 0.0, 0.0), ([2.0 * pi], 0.0, 0.0)))
"""Along the eight, from rest to rest."""
CENTER = (0.0, 0.1, 0.2, 0.0, 0.6, 0.0)
SWING = (0.9, 0.35, -0.45, 0.8, 0.5, 1.2)  # rad
ASIDE = (0.35, -0.25, 0.3, -0.4, 0.3, 0.5)  # rad, from where the arm should begin


def reference(t: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Wanted q, v and a (9 each) at the time t in s: from rest to rest, once along the eight."""
    (angle,), (speed,), (growth,) = ANGLE.over(t)
    q, first, second = along(angle)
    v = [d * speed for d in first]
    return q, v, [e * (speed * speed) + d * growth for d, e in zip(first, second, strict=True)]


def along(angle: Scalar) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """q (9) and its first and second derivative at a place of the eight, an angle from 0 to 2π.

    The platform faces along its path, so that q obeys the rolling constraint.
    """
    s, c, s2, c2 = sin(angle), cos(angle), sin(2.0 * angle), cos(2.0 * angle)
    x, y = (LENGTH * c, -LENGTH * s, -LENGTH * c), (2.0 * WIDTH * c2, -4.0 * WIDTH * s2, -8.0 * WIDTH * c2)
    # Headings lie between -270° and 90°: a quarter turn away, atan2 does not jump.
    heading = atan2(x[0], -y[0]) - 0.5 * pi
    square, slope = x[0] * x[0] + y[0] * y[0], 2.0 * (x[0] * x[1] + y[0] * y[1])
    turn, bend = x[0] * y[1] - y[0] * x[1], x[0] * y[2] - y[0] * x[2]
    joints = list(zip(CENTER, SWING, strict=True))
    q = [LENGTH * s, WIDTH * s2, heading, *(middle + size * s2 for middle, size in joints)]
    first = [x[0], y[0], divide(turn, square), *(2.0 * size * c2 for _, size in joints)]
    curl = divide(bend * square - turn * slope, square * square)
    return q, first, [x[1], y[1], curl, *(-4.0 * size * s2 for _, size in joints)]


class WheelsAndMotors:
    """Computed torque without the sideways force on the platform, which no wheel can give: the ground does."""

    level = "torque"

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.law = ComputedTorque(robot, reference, KP, KD)

    def step(self, t: float, q: Array, v: Array) -> Array:
        """τ (nv) with A τ = 0; the row of A has unit length."""
        tau: Array = self.law(t, q, v)
        sideways: Array = self.robot.constraint_matrix(q)[0]
        return tau - sideways * (sideways @ tau)

    def record(self) -> dict[str, Array]:
        """How far the arm and the platform are from what is wanted."""
        error = self.law.error
        return {"arm error (rad)": error[3:], "platform error (m, m, rad)": error[:3]}


def drive(robot: Robot, dt: float = DT) -> Trajectory:
    """The run in steps of ``dt`` s: the platform starts on its way, the arm aside of it."""
    q0 = np.array(reference(0.0)[0])
    q0[3:] += ASIDE
    return simulate(robot, WheelsAndMotors(robot), DURATION, dt, q0=q0, every=round(SAMPLE / dt), progress=False)


def markers_of(run: Trajectory) -> Markers:
    """The ways of the platform and of the tool."""
    ground = np.column_stack([run.q[:, :2], np.full(len(run), 0.004)])
    tool = run.robot.pose("tool", run.q).translation
    markers = Markers().path(ground, name="way of the platform", radius=0.008, color=TEAL)
    return markers.path(tool, name="way of the tool", radius=0.006, color=GOLD).frame(on="tool", size=0.2)
