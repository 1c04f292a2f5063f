"""Robots that stand on two feet with their centers of mass over the middle of the soles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import dqdyn as dq
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

    def others(self, touched: Iterable[str]) -> set[str]:
        """Links other than the feet that touched something."""
        return set(touched) - set(self.links)

    def feet_moved(self, q: Array) -> float:
        """The farthest that a foot was from where it stood, m, over configurations (n, nq)."""
        poses = ((self.robot.pose(foot, q), self.robot.pose(foot, self.q0)) for foot in self.feet)
        return max(float(np.linalg.norm(a.translation - b.translation, axis=-1).max()) for a, b in poses)


def humanoid() -> Standing:
    """Our humanoid with bent knees: 58.6 kg, feet of 22 cm × 11 cm."""
    return _built_in("humanoid")


def multi_contact_humanoid() -> Standing:
    """The one with seven-axis arms and palms, with bent knees: 62.2 kg, feet of 22 cm × 11 cm."""
    return _built_in("multi_contact_humanoid")


def balanced(given: Standing, angles: Mapping[str, float], pitches: list[tuple[str, str]]) -> Standing:
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


def _built_in(name: str) -> Standing:
    robot: dq.Robot = getattr(dq.robots, name)()
    joints = {"hip_pitch": -0.4, "knee": 0.8, "ankle_pitch": -0.4, "shoulder_roll": -0.15, "elbow": -0.4}
    angles = {f"{side}_{joint}": angle for side in ("left", "right") for joint, angle in joints.items()}
    return balanced(
        Standing(
            robot, robot, np.zeros(0), ("left_foot", "right_foot"), ("left_foot_link", "right_foot_link"),
            0.11, 0.055, "pelvis", "chest", ("left_hand", "right_hand"),
        ),
        angles,
        [(f"{side}_ankle_pitch", f"{side}_hip_pitch") for side in ("left", "right")],
    )  # fmt: skip
