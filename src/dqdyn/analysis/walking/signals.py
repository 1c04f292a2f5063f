"""What moves while a robot walks: the targets of its tasks, and the tasks."""

from __future__ import annotations

import math

import numpy as np

from dqdyn import control as ct
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.algebra.values import Pose
from dqdyn.analysis.standing.balance import DIVERGENT, FORCES, HEIGHT, MOMENTUM, POSTURE, TRUNK
from dqdyn.analysis.standing.setting import Standing
from dqdyn.footsteps import SwingMotion

FOOT = 300.0
"""Weight of the swinging foot, for errors in m/s² and rad/s²."""


class FootTarget:
    """Where a foot is to be: its position and its rotation."""

    def __init__(self, foot: str, pose: Pose) -> None:
        self.foot = foot
        self.position, self.rotation = ct.Measured(pose.translation), ct.Measured(pose.rotation)

    def move(self, motion: SwingMotion) -> None:
        self.position.update(*motion[:3])
        self.rotation.update(*motion[3:])

    def tasks(self, gain: float = 15.0, weight: float = FOOT) -> list[ct.Task]:
        return [
            ct.TranslationTask(self.foot, self.position, gain=gain, weight=weight),
            ct.RotationTask(self.foot, self.rotation, gain=gain, weight=weight),
        ]


class Heading:
    """The trunk's rotation about z: pelvis and chest turn with the feet."""

    def __init__(self, standing: Standing) -> None:
        poses = [standing.robot.pose(frame, standing.q0) for frame in (standing.pelvis, standing.chest)]
        self._first = [Quaternion(*pose.rotation.tolist()) for pose in poses]
        self.pelvis, self.chest = (ct.Measured(pose.rotation) for pose in poses)

    def turn(self, angle: float, rate: float = 0.0, second: float = 0.0) -> None:
        """rad, rad/s and rad/s², from where the robot started: r = e^{kψ/2} r₀."""
        about = Quaternion(math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle))
        half = Quaternion(0.0, 0.0, 0.0, 0.5 * rate)
        grows = Quaternion(-0.25 * rate * rate, 0.0, 0.0, 0.5 * second)
        for signal, first in zip((self.pelvis, self.chest), self._first, strict=True):
            r = about * first
            signal.update(*(np.array(x.components) for x in (r, half * r, grows * r)))


class Targets:
    """All signals of a walk: ``goal`` of ξ (2,), the ``height`` of the center of mass, trunk and feet."""

    def __init__(self, standing: Standing) -> None:
        self.standing = standing
        self.goal, self.height = ct.Measured(standing.center[:2]), ct.Measured(float(standing.center[2]))
        self.heading = Heading(standing)
        robot, q0 = standing.robot, standing.q0
        self.feet = {foot: FootTarget(foot, robot.pose(foot, q0)) for foot in standing.feet}

    def foot_tasks(self, foot: str) -> list[ct.Task]:
        """Of a foot that swings."""
        return self.feet[foot].tasks()

    def tasks(self, omega: float) -> list[ct.Task]:
        """Balance: the divergent component, the height, the trunk, the posture."""
        standing = self.standing
        return [
            ct.DivergentComponentTask(self.goal, omega=omega, gain=5.0, weight=DIVERGENT, name="divergent component"),
            ct.FunctionTask(
                lambda c, h: c.components[3] - h,
                ct.CenterOfMass(),
                [("number", self.height)],
                gain=5.0,
                weight=HEIGHT,
                name="height",
            ),
            ct.RotationTask(standing.pelvis, self.heading.pelvis, gain=6.0, weight=10 * TRUNK),
            ct.RotationTask(standing.chest, self.heading.chest, gain=6.0, weight=10 * TRUNK),
            ct.MomentumTask(part="angular", gain=5.0, weight=MOMENTUM),
            ct.PostureTask(standing.q0, joints="motors", gain=3.0, weight=POSTURE),
            ct.ForceRegularisation(components=("f_t1", "f_t2", "tau_t1", "tau_t2", "tau_n"), weight=FORCES),
        ]
