"""Robots that stand on two feet, how they stand, and the controller that keeps them there."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import dqdyn as dq
from benchmarks.robots import TALOS, example_robots
from dqdyn import contacts, scenes
from dqdyn import control as ct
from dqdyn.arrays import Array

FRICTION = 0.7
G = 9.81


@dataclass(frozen=True, eq=False)
class Standing:
    """A robot at ``q0`` with its soles on z = 0 and its center of mass over the middle of them.

    ``feet`` are frames in the middle of the soles, with z up; ``links`` the links they belong to.
    """

    robot: dq.Robot
    q0: Array
    feet: tuple[str, str]
    links: tuple[str, str]
    half_length: float
    half_width: float
    pelvis: str
    chest: str
    hands: tuple[str, str]
    weights: dict[str, float] = field(default_factory=dict)

    def contact(self, side: int, **options: Any) -> contacts.Contact:
        """The sole of the left (0) or the right (1) foot; CoP bounds 5 mm inside its edges."""
        sides = {"half_length": self.half_length, "half_width": self.half_width}
        return contacts.face(self.feet[side], friction=FRICTION, **{**sides, **options})

    @property
    def contacts(self) -> list[contacts.Contact]:
        return [self.contact(0), self.contact(1)]

    @property
    def center(self) -> Array:
        """The center of mass at q0, m."""
        return np.asarray(self.robot.center_of_mass(self.q0))

    @property
    def omega(self) -> float:
        """ω₀ of the linear pendulum, rad/s."""
        return math.sqrt(G / float(self.center[2]))

    @property
    def polygon(self) -> contacts.SupportPolygon:
        return contacts.support_polygon(self.robot, self.q0, self.contacts)

    def scene(self) -> scenes.Scene:
        return scenes.Scene([scenes.ground(friction=FRICTION)])


def humanoid() -> Standing:
    robot = dq.robots.humanoid()
    bent = {f"{side}_{joint}": angle for side in ("left", "right") for joint, angle in
            (("hip_pitch", -0.4), ("knee", 0.8), ("ankle_pitch", -0.4), ("shoulder_roll", -0.15), ("elbow", -0.4))}
    return placed(robot, bent, ("left_foot", "right_foot"), ("left_foot_link", "right_foot_link"), (0.11, 0.055),
                  "pelvis", "chest", ("left_hand", "right_hand"), ("left_ankle_pitch", "right_ankle_pitch"),
                  ("left_hip_pitch", "right_hip_pitch"))


def talos(friction: bool = False) -> Standing:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        robot = dq.load(example_robots() / TALOS, base="free")
    if not friction:
        robot = robot.without_friction()
    sole = dq.Shape("box", (0.20, 0.13, 0.02), dq.placement((0.0, 0.0, 0.01)))
    ball = lambda r: [dq.Shape("sphere", (r,))]
    shapes = {link.name: [] for link in robot.description.links if link.collisions}
    shapes |= {"left_sole_link": [sole], "right_sole_link": [sole], "base_link": ball(0.15), "torso_2_link": ball(0.2)}
    for side in ("left", "right"):
        shapes |= {f"leg_{side}_4_link": ball(0.06), f"arm_{side}_4_link": ball(0.05), f"arm_{side}_7_link": ball(0.05)}
    robot = robot.with_collisions(shapes)
    bent = {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        bent |= {f"leg_{side}_3_joint": -0.411354, f"leg_{side}_4_joint": 0.859395, f"leg_{side}_5_joint": -0.448041,
                 f"arm_{side}_1_joint": 0.25 * sign, f"arm_{side}_2_joint": 0.173 * sign, f"arm_{side}_3_joint": -0.0002,
                 f"arm_{side}_4_joint": -0.525366, f"arm_{side}_6_joint": 0.0, f"arm_{side}_7_joint": 0.1 * 0,
                 f"gripper_{side}_joint": -0.005}
    bent["torso_2_joint"] = 0.006761
    return placed(robot, bent, ("left_sole_link", "right_sole_link"), ("left_sole_link", "right_sole_link"),
                  (0.10, 0.065), "base_link", "torso_2_link", ("gripper_left_base_link", "gripper_right_base_link"),
                  ("leg_left_5_joint", "leg_right_5_joint"), ("leg_left_3_joint", "leg_right_3_joint"))


def placed(robot: dq.Robot, bent: dict[str, float], feet: Any, links: Any, half: Any, pelvis: str, chest: str,
           hands: Any, ankles: Any, hips: Any) -> Standing:
    """The robot on z = 0 with the angles ``bent``, hips and ankles moved so that it stands over its soles' middle."""
    q0 = robot.neutral()
    for name, angle in bent.items():
        q0[robot.model.joint(name).q] = angle
    for _ in range(30):
        # Ankles tilt all above them about y, hips tilt the trunk back: the feet stay level, the trunk upright.
        ahead = float(robot.center_of_mass(q0)[0] - np.mean([robot.pose(f, q0).translation[0] for f in feet]))
        for ankle, hip in zip(ankles, hips, strict=True):
            q0[robot.model.joint(ankle).q] += ahead * 0.8
            q0[robot.model.joint(hip).q] -= ahead * 0.8
    sole = robot.pose(feet[0], q0)
    assert np.abs(sole.rotation_matrix - np.eye(3)).max() < 1e-9, sole
    q0[6] -= sole.translation[2]
    q0[4] -= sole.translation[0]
    return Standing(robot, q0, tuple(feet), tuple(links), *half, pelvis, chest, tuple(hands))
