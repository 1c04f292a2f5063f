"""A standing robot turns a wheel with both hands, which the engine joins to the rim: a closed loop over the hands.

The controller knows where the wheel is, not what it weighs, how it is damped, or that the hands cannot leave it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dqdyn import control as ct
from dqdyn import scenes
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import translator
from dqdyn.algebra.quaternion import pure
from dqdyn.algebra.scalar import cos, sin
from dqdyn.algebra.values import Pose
from dqdyn.analysis.standing.balance import balance
from dqdyn.analysis.standing.loop import Run, run
from dqdyn.analysis.standing.setting import Standing
from dqdyn.arrays import Array

RADIUS, AHEAD, ABOVE = 0.18, 0.33, 0.16
"""m: of the rim; of the hands before the center of mass, and above it."""
BEHIND = 0.06  # m from the palms to the middle of the wheel
MASS, DAMPING = 4.0, 5.0  # kg, N m s/rad
ANGLE, FREQUENCY = 0.5, 0.25  # rad, Hz
_BEGIN, _STEADY = 1.0, 4.0  # s
_REACH, _STEP = 400, 0.02  # steps and s


def angle(t: Any) -> Any:
    """rad by which the wheel is to be turned at the time t in s."""
    return ANGLE * (t * t / (t * t + _BEGIN**2)) * sin((2.0 * math.pi * FREQUENCY) * t)


def hub(standing: Standing) -> Array:
    """The middle between the hands, m."""
    return np.asarray(standing.center + np.array([AHEAD, 0.0, ABOVE]))


def reaching(standing: Standing) -> Standing:
    """The same robot with its hands at the rim: feet, trunk and the center of mass stay."""
    robot, q = standing.robot, standing.q0
    rims = [hub(standing) + np.array([0.0, side * RADIUS, 0.0]) for side in (1.0, -1.0)]
    tasks: list[ct.Task] = [
        *(ct.TranslationTask(hand, rim, gain=2.0, weight=10.0) for hand, rim in zip(standing.hands, rims, strict=True)),
        ct.RotationTask(standing.chest, robot.pose(standing.chest, q)),
        ct.PoseTask(standing.pelvis, robot.pose(standing.pelvis, q), weight=0.1),
        ct.PostureTask(q, weight=1e-3),
    ]
    ground = standing.center

    def over(c: Any) -> list[Any]:
        return [c.components[1] - float(ground[0]), c.components[2] - float(ground[1])]

    feet = [ct.PoseTask(foot, robot.pose(foot, q), gain=10.0) for foot in standing.feet]
    balanced = ct.FunctionTask(over, ct.CenterOfMass(), gain=10.0)
    law = ct.velocity_controller(robot, tasks, [*feet, balanced, ct.JointLimits(margin=0.02)])
    for k in range(_REACH):
        q = robot.integrate(q, law(k * _STEP, q), _STEP)
    return replace(standing, q0=q)


def controller(standing: Standing, center: Array) -> ct.Controller:
    """Balance, and the hands along the rim of a wheel around ``center`` with its axis along x."""
    at = pure(*center.tolist())

    def along_the_rim(hand: str) -> ct.Task:
        start = standing.robot.pose(hand, standing.q0).dq

        def target(t: Any) -> DQ:
            half = 0.5 * angle(t)
            turn = DQ.of8([cos(half), sin(half), *[0.0] * 6])
            return translator(at) * turn * translator(-at) * start

        return ct.PoseTask(hand, target, gain=25.0, weight=100.0)

    hands = [along_the_rim(hand) for hand in standing.hands]
    return balance(standing, None, hands)


@dataclass(frozen=True, eq=False)
class WheelTurned:
    """``amplitude`` and ``error`` in rad: how far the wheel turned, and the farthest from what was wanted.

    ``grip`` in m: the farthest that a hand was from its place on the wheel.
    """

    run: Run
    scene: scenes.Scene
    amplitude: float
    error: float
    grip: float


def turn_wheel(standing: Standing, duration: float = 12.0) -> WheelTurned:
    ready = reaching(standing)
    hands = [ready.robot.pose(hand, ready.q0).translation for hand in ready.hands]
    center = np.mean(hands, axis=0)
    body = scenes.wheel(RADIUS, center + np.array([BEHIND, 0.0, 0.0]), mass=MASS, damping=DAMPING)
    scene = scenes.Scene([*ready.scene, body])
    joined = [(hand, "wheel") for hand in ready.hands]
    done = run(ready, controller(ready, center), duration, scene=scene, welds=joined)
    time, poses = done.trajectory.time, done.trajectory.extra["scene_pose/wheel"]
    wheels = [Pose(rotation=p[:4], translation=p[4:]) for p in poses]
    turns = [(wheel * wheels[0].inverse()).rotation_matrix for wheel in wheels]
    measured = np.array([math.atan2(turn[2, 1], turn[1, 1]) for turn in turns])
    wanted = np.array([angle(float(t)) for t in time])
    late = time >= min(_STEADY, 0.5 * duration)
    grip = 0.0
    for hand in ready.hands:
        at = ready.robot.pose(hand, done.trajectory.q).translation
        on = [wheel.rotation_matrix.T @ (p - wheel.translation) for wheel, p in zip(wheels, at, strict=True)]
        grip = max(grip, float(np.linalg.norm(np.array(on) - on[0], axis=1).max()))
    error = float(np.abs(measured - wanted)[late].max())
    return WheelTurned(done, scene, 0.5 * float(np.ptp(measured[late])), error, grip)
