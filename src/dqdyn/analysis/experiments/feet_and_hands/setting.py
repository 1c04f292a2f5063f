"""The robot of the experiment, where its feet and hands go on the ground, and the ground."""

from __future__ import annotations

import numpy as np

from dqdyn import robots, scenes
from dqdyn.algebra.values import Pose
from dqdyn.contacts import Contact, face
from dqdyn.robot import Robot
from dqdyn.robots.multi_contact import PALM, SOLE

FRICTION = 0.7
BORDER = 0.01  # m of soles and palms that the controller does not press with: on it they would rock
FEET = "left_foot", "right_foot"
HANDS = "left_hand", "right_hand"
LIMBS = (*FEET, *HANDS)
LINKS = {
    "left_foot": "left_foot_link",
    "right_foot": "right_foot_link",
    "left_hand": "left_palm",
    "right_hand": "right_palm",
}
"""What touches the ground, by limb."""
PLACES = {
    "left_foot": (0.0, 0.1),
    "right_foot": (0.0, -0.1),
    "left_hand": (0.3, 0.23),
    "right_hand": (0.3, -0.23),
}
"""(x, y) in m of the middle of soles and palms on the ground z = 0; toes and fingers point along x."""


def humanoid() -> Robot:
    """The robot with 27 joints on a free base, whose orientation is a unit quaternion."""
    return robots.multi_contact_humanoid()


def ground() -> scenes.Scene:
    """Level ground at z = 0."""
    return scenes.Scene([scenes.ground(friction=FRICTION)])


def on_ground(limb: str, height: float = 0.0) -> Pose:
    """The pose of a limb at its place, flat, ``height`` m above the ground."""
    return Pose(rotation=np.array([1.0, 0.0, 0.0, 0.0]), translation=np.array([*PLACES[limb], height]))


def touching(limb: str, border: float = 0.0) -> Contact:
    """The sole or the palm of a limb, without its ``border`` in m."""
    length, width = SOLE if limb in FEET else PALM
    return face(limb, half_length=length - border, half_width=width - border, friction=FRICTION)


SURFACES = tuple(touching(limb) for limb in LIMBS)
"""Whole soles and palms, as they meet the ground."""
SUPPORTS = {limb: touching(limb, BORDER) for limb in LIMBS}
"""What the controller presses with."""


def near_pairs() -> list[tuple[str, str]]:
    """Links of the robot that could meet each other: the trunk with its head, arms and legs; not those of one limb."""
    legs = {side: [f"{side}_thigh", f"{side}_shank", f"{side}_foot_link"] for side in ("left", "right")}
    arms = {
        side: [f"{side}_upper_arm", f"{side}_elbow_yoke", f"{side}_forearm", f"{side}_palm"]
        for side in ("left", "right")
    }
    pairs = [("chest", link) for side in legs for link in (*legs[side], *arms[side])]
    pairs += [(arm, leg) for here in arms for arm in arms[here] for there in legs for leg in legs[there]]
    pairs += [(a, b) for limbs in (legs, arms) for a in limbs["left"] for b in limbs["right"]]
    return pairs
