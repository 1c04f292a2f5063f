"""A humanoid that touches the world with hands and feet, of the structure of the one in Quiroz, section 6.2."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.model.description import Description, Joint, NamedFrame, placement
from dqdyn.robots.humanoids import RIGHT_LEG
from dqdyn.robots.parts import BLUE, STEEL, ball, block, hinge, link, mirrored, robot, rod, serial_limb, within

SOLE = (0.11, 0.055)
"""Half the length and the width of a sole in m."""
PALM = (0.08, 0.045)
"""Half the length, along the fingers, and the width of a palm in m."""


def multi_contact_humanoid() -> Description:
    """27 joints and a free base: legs 2 × 6, torso 1, arms 2 × 7; 62.2 kg, 1.60 m tall.

    Legs: hip yaw, roll, pitch; knee; ankle pitch, roll. Torso: yaw. Arms: shoulder pitch, roll; upper-arm yaw; elbow;
    forearm yaw; wrist pitch, roll. The counts are those of the robot in Quiroz, section 6.2; sizes, masses and
    limits, which are not printed there, are ours. All links are uniform cylinders, boxes and balls. x points forward,
    y to the left. At q = 0 (base at the identity) it stands straight with its arms down, palms to the back, and its
    soles 0.86 m below the pelvis. Equal angles on both sides are symmetric. The wrists bend far enough that a palm lies
    flat below a vertical forearm, and the palms stand out so far that wrist and forearm stay off the surface.

    Frames "left_foot" and "right_foot" in the middle of the soles, "left_hand" and "right_hand" in that of the palms:
    z is the direction in which a surface pushes the foot or the hand, x points to the toes or the fingertips. Corners
    of soles and palms: "left_foot_corner_1" to "right_hand_corner_4"; 1 is at the front on the side of the other foot
    or hand, 2 behind it, 3 behind on the outer side, 4 in front of that. "head". No damping, no friction.
    """
    sole = placement((0.03, 0.0, -0.1))
    leg = serial_limb("pelvis", _RIGHT_LEG, *_face("right_foot", "right_foot_link", sole, SOLE))
    # z of the palm's frame is x of the link, x of the frame points to the fingertips, -z of the link
    turned = Quaternion(math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)
    palm = pose(turned, pure(-0.04, 0.0, -0.06))
    arm = serial_limb("chest", _RIGHT_ARM, *_face("right_hand", "right_palm", palm, PALM))
    trunk = serial_limb("pelvis", _TRUNK, NamedFrame("head", "chest", placement((0.0, 0.0, 0.56))))
    pelvis = link("pelvis", block(7.0, (0.16, 0.22, 0.12), color=STEEL))
    limbs = mirrored(leg), leg, trunk, mirrored(arm), arm
    return robot("multi_contact_humanoid", pelvis, *limbs, base="free")


def _face(name: str, on: str, middle: DQ, half: tuple[float, float]) -> Iterator[NamedFrame]:
    """The frame in the middle of a flat face, and those in its corners."""
    yield NamedFrame(name, on, middle)
    for i, (x, y) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))):
        yield NamedFrame(f"{name}_corner_{i + 1}", on, middle * placement((x * half[0], y * half[1], 0.0)))


# Deeper than the other humanoid's: to lay its palms on the ground before its feet it folds at the hips alone.
_RIGHT_LEG = tuple(
    replace(part, lower=-2.4) if isinstance(part, Joint) and part.name == "right_hip_pitch" else part
    for part in RIGHT_LEG
)

_TRUNK = (
    hinge("torso_yaw", (0, 0, 0.08), "z", within(1.2, 4.0, 150.0)),
    link(
        "chest",
        rod(2.0, 0.08, (0, 0, 0), (0, 0, 0.06), STEEL),
        block(13.0, (0.18, 0.28, 0.34), (0, 0, 0.24), BLUE),
        ball(3.6, 0.1, (0, 0, 0.56)),
    ),
)

_RIGHT_ARM = (
    hinge("right_shoulder_pitch", (0, -0.17, 0.36), "y", (-3.2, 1.2, 6.0, 120.0)),
    link("right_shoulder", rod(1.2, 0.05, (0, 0.02, 0), (0, -0.06, 0), STEEL)),
    hinge("right_shoulder_roll", (0, -0.06, 0), "x", (-2.6, 0.3, 6.0, 120.0)),
    link("right_shoulder_yoke", rod(1.0, 0.045, (0, 0, 0), (0, 0, -0.08), STEEL)),
    hinge("right_upper_arm_yaw", (0, 0, -0.1), "z", within(2.0, 6.0, 80.0)),
    link("right_upper_arm", rod(1.6, 0.045, (0, 0, 0), (0, 0, -0.2), BLUE)),
    hinge("right_elbow", (0, 0, -0.2), "y", (-2.5, 0.0, 6.0, 120.0)),
    link("right_elbow_yoke", rod(1.0, 0.04, (0, 0, 0), (0, 0, -0.1), STEEL)),
    hinge("right_forearm_yaw", (0, 0, -0.12), "z", within(2.0, 6.0, 60.0)),
    link("right_forearm", rod(1.0, 0.035, (0, 0, 0), (0, 0, -0.15))),
    hinge("right_wrist_pitch", (0, 0, -0.15), "y", (-1.9, 1.2, 6.0, 60.0)),
    link("right_wrist", rod(0.4, 0.03, (0, -0.03, 0), (0, 0.03, 0), STEEL)),
    hinge("right_wrist_roll", (0, 0, 0), "x", within(1.2, 6.0, 60.0)),
    link("right_palm", block(0.6, (0.03, 2 * PALM[1], 2 * PALM[0]), (-0.025, 0, -0.06), BLUE)),
)
