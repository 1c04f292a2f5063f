"""Robots that stand on two feet, our humanoid and the Talos: their centers of mass are over the middle of the soles."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import dqdyn as dq
from benchmarks.robots import TALOS, example_robots
from dqdyn import contacts, scenes
from dqdyn.arrays import Array

FRICTION = 0.7
BORDER = 0.01  # m
G = 9.81
_STANDS = 1e-9  # m, of the center of mass over the middle of the soles


@dataclass(frozen=True, eq=False)
class Standing:
    """A robot at ``q0`` with both soles on z = 0.

    ``robot`` is what the controller knows, ``plant`` what is simulated. ``feet``: frames in the middle of the soles,
    left and right, x forward and z up; ``links``: what touches the ground there; ``hands``: frames. Lengths in m.
    """

    robot: dq.Robot
    plant: dq.Robot
    q0: Array
    feet: tuple[str, str]
    links: tuple[str, str]
    half_length: float
    half_width: float
    pelvis: str
    chest: str
    hands: tuple[str, str]

    @cached_property
    def soles(self) -> tuple[contacts.Contact, contacts.Contact]:
        """The left and the right one, whole."""
        return self._soles(0.0)

    @cached_property
    def supports(self) -> tuple[contacts.Contact, contacts.Contact]:
        """What the controller presses with: the soles without their border, on which they would rock."""
        return self._soles(BORDER)

    def _soles(self, border: float) -> tuple[contacts.Contact, contacts.Contact]:
        length, width = self.half_length - border, self.half_width - border
        left, right = (
            contacts.face(foot, half_length=length, half_width=width, friction=FRICTION) for foot in self.feet
        )
        return left, right

    @cached_property
    def center(self) -> Array:
        """The center of mass (3,) at q0."""
        return np.asarray(self.robot.center_of_mass(self.q0))

    @cached_property
    def omega(self) -> float:
        """ω₀ = √(g/h) in rad/s of the linear pendulum at the height of the center of mass."""
        return math.sqrt(G / float(self.center[2]))

    @cached_property
    def polygon(self) -> contacts.SupportPolygon:
        """What both soles span."""
        return contacts.support_polygon(self.robot, self.q0, self.soles)

    @cached_property
    def scene(self) -> scenes.Scene:
        return scenes.Scene([scenes.ground(friction=FRICTION)])

    def others(self, touched: Mapping[str, Any]) -> set[str]:
        """Links other than the feet that touched something."""
        return set(touched) - set(self.links)

    def feet_moved(self, q: Array) -> float:
        """The farthest that a foot was from where it stood, m, over configurations (n, nq)."""
        poses = ((self.robot.pose(foot, q), self.robot.pose(foot, self.q0)) for foot in self.feet)
        return max(float(np.linalg.norm(a.translation - b.translation, axis=-1).max()) for a, b in poses)


def humanoid() -> Standing:
    """Our humanoid with bent knees: 58.6 kg, feet of 22 cm × 11 cm."""
    robot = dq.robots.humanoid()
    joints = {"hip_pitch": -0.4, "knee": 0.8, "ankle_pitch": -0.4, "shoulder_roll": -0.15, "elbow": -0.4}
    angles = {f"{side}_{name}": angle for side in ("left", "right") for name, angle in joints.items()}
    return _balanced(
        Standing(
            robot, robot, np.zeros(0), ("left_foot", "right_foot"), ("left_foot_link", "right_foot_link"),
            0.11, 0.055, "pelvis", "chest", ("left_hand", "right_hand"),
        ),
        angles,
        [(f"{side}_ankle_pitch", f"{side}_hip_pitch") for side in ("left", "right")],
    )  # fmt: skip


def talos() -> Standing:
    """The reduced Talos, 90.3 kg, in the half-sitting posture of its makers; feet of 20 cm × 13 cm.

    Its meshes give way to boxes at the soles and to balls at knees, hands, elbows, pelvis and chest, so that a fall is
    felt. Its joints have the damping and the Coulomb friction of its file, which the controller does not know: torques
    against friction · sign(v) would shake joints that are at rest.
    """
    soles, angles = ("left_sole_link", "right_sole_link"), {"torso_2_joint": 0.006761}
    plant = _talos_on_boxes(soles)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        legs, arms = {3: -0.411354, 4: 0.859395, 5: -0.448041}, {1: 0.25 * sign, 2: 0.173 * sign, 4: -0.525366}
        angles |= {f"leg_{side}_{i}_joint": angle for i, angle in legs.items()}
        angles |= {f"arm_{side}_{i}_joint": angle for i, angle in arms.items()} | {f"gripper_{side}_joint": -0.1}
    return _balanced(
        Standing(
            plant.without_friction(), plant, np.zeros(0), soles, soles, 0.10, 0.065,
            "base_link", "torso_2_link", ("gripper_left_base_link", "gripper_right_base_link"),
        ),
        angles,
        [(f"leg_{side}_5_joint", f"leg_{side}_3_joint") for side in ("left", "right")],
    )  # fmt: skip


ROBOTS: dict[str, Callable[[], Standing]] = {"humanoid": humanoid, "talos": talos}


def _talos_on_boxes(soles: tuple[str, str]) -> dq.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        robot = dq.load(example_robots() / TALOS, base="free")
    radii = {"base_link": 0.15, "torso_2_link": 0.2}
    for side in ("left", "right"):
        radii |= {f"leg_{side}_4_link": 0.06, f"arm_{side}_4_link": 0.05, f"arm_{side}_7_link": 0.05}
    shapes: dict[str, list[dq.Shape]] = {link.name: [] for link in robot.description.links if link.collisions}
    shapes |= {link: [dq.Shape("sphere", (radius,))] for link, radius in radii.items()}
    box = dq.Shape("box", (0.20, 0.13, 0.02), dq.placement((0.0, 0.0, 0.01)))
    return robot.with_collisions(shapes | {sole: [box] for sole in soles})


def _balanced(given: Standing, angles: Mapping[str, float], pitches: list[tuple[str, str]]) -> Standing:
    """On the ground, with pairs of ankle and hip turned against each other: soles and trunk stay level."""
    robot, q0 = given.robot, given.robot.neutral()
    for name, angle in angles.items():
        q0[robot.model.joint(name).q] = angle
    for _ in range(100):
        soles = np.mean([robot.pose(foot, q0).translation for foot in given.feet], axis=0)
        q0[4:7] -= soles
        ahead = float(robot.center_of_mass(q0)[0])
        if abs(ahead) < _STANDS:
            break
        for ankle, hip in pitches:
            q0[robot.model.joint(ankle).q] += 0.8 * ahead
            q0[robot.model.joint(hip).q] -= 0.8 * ahead
    values = {name: getattr(given, name) for name in given.__dataclass_fields__}
    return Standing(**values | {"q0": q0})
