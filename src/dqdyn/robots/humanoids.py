"""A humanoid with 27 joints on a free base, with a head that turns and two joints in its torso."""

from __future__ import annotations

from dqdyn.model.description import Description, NamedFrame, placement
from dqdyn.robots.parts import BLUE, STEEL, ball, block, hinge, link, mirrored, robot, rod, serial_limb, within

STANDING_HEIGHT = 0.86
"""Height in m of the pelvis over the soles at q = 0: 0.06 to the hip, thigh 0.36, shank 0.34, ankle 0.10."""


def humanoid() -> Description:
    """27 joints and a free base: legs 2 × 6, torso 2, arms 2 × 6, head 1; 58.6 kg, 1.58 m tall.

    Legs: hip yaw, roll, pitch; knee; ankle pitch, roll. Torso: yaw, pitch. Arms: shoulder pitch, roll; upper-arm yaw;
    elbow; forearm yaw; wrist pitch. Head: yaw. All links are uniform cylinders, boxes and balls; the tables below
    state mass and size. x points forward, y to the left. At q = 0 (base at the identity) it stands straight with its
    arms down and its soles 0.86 m below the pelvis. The left limbs are mirror images of the right ones: equal angles
    on both sides are symmetric. Frames "left_foot" and "right_foot" in the soles, "left_hand" and "right_hand" in the
    palms, "head". No damping, no friction.
    """
    sole, palm, face = placement((0.03, 0.0, -0.1)), placement((0.0, 0.0, -0.1)), placement((0.0, 0.0, 0.1))
    right_leg = serial_limb("pelvis", RIGHT_LEG, NamedFrame("right_foot", "right_foot_link", sole))
    right_arm = serial_limb("chest", _RIGHT_ARM, NamedFrame("right_hand", "right_palm", palm))
    trunk = serial_limb("pelvis", _TRUNK, NamedFrame("head", "skull", face))
    pelvis = link("pelvis", block(7.0, (0.16, 0.22, 0.12), color=STEEL))
    arms = mirrored(right_arm), right_arm
    return robot("humanoid", pelvis, mirrored(right_leg), right_leg, trunk, *arms, base="free")


_TRUNK = (
    hinge("torso_yaw", (0, 0, 0.08), "z", within(1.2, 4.0, 150.0)),
    link("waist", rod(2.0, 0.08, (0, 0, 0), (0, 0, 0.06), STEEL)),
    hinge("torso_pitch", (0, 0, 0.06), "y", (-0.3, 1.2, 4.0, 150.0)),
    link("chest", block(13.0, (0.18, 0.28, 0.34), (0, 0, 0.2), BLUE)),
    hinge("head_yaw", (0, 0, 0.38), "z", within(1.4, 4.0, 20.0)),
    link("skull", ball(3.6, 0.1, (0, 0, 0.1))),
)

RIGHT_LEG = (
    hinge("right_hip_yaw", (0, -0.1, -0.06), "z", within(0.8, 5.0, 100.0)),
    link("right_hip", rod(1.2, 0.05, (0, 0, 0), (0, 0, 0.04), STEEL)),
    hinge("right_hip_roll", (0, 0, 0), "x", within(0.6, 5.0, 150.0)),
    link("right_hip_yoke", rod(1.2, 0.05, (-0.05, 0, 0), (0.05, 0, 0), STEEL)),
    hinge("right_hip_pitch", (0, 0, 0), "y", (-2.0, 0.8, 5.0, 200.0)),
    link("right_thigh", rod(4.5, 0.065, (0, 0, 0), (0, 0, -0.36), BLUE)),
    hinge("right_knee", (0, 0, -0.36), "y", (0.0, 2.4, 6.0, 250.0)),
    link("right_shank", rod(2.8, 0.05, (0, 0, 0), (0, 0, -0.34))),
    hinge("right_ankle_pitch", (0, 0, -0.34), "y", (-1.0, 0.8, 6.0, 150.0)),
    link("right_ankle", rod(0.6, 0.035, (0, -0.03, 0), (0, 0.03, 0), STEEL)),
    hinge("right_ankle_roll", (0, 0, 0), "x", within(0.5, 6.0, 100.0)),
    link("right_foot_link", block(1.2, (0.22, 0.11, 0.04), (0.03, 0, -0.08), BLUE)),
)

_RIGHT_ARM = (
    hinge("right_shoulder_pitch", (0, -0.17, 0.3), "y", (-2.9, 1.0, 5.0, 60.0)),
    link("right_shoulder", rod(1.0, 0.05, (0, 0.02, 0), (0, -0.05, 0), STEEL)),
    hinge("right_shoulder_roll", (0, -0.05, 0), "x", (-2.4, 0.2, 5.0, 60.0)),
    link("right_shoulder_yoke", rod(0.8, 0.045, (0, 0, 0), (0, 0, -0.08), STEEL)),
    hinge("right_upper_arm_yaw", (0, 0, -0.08), "z", within(1.6, 5.0, 40.0)),
    link("right_upper_arm", rod(1.4, 0.04, (0, 0, 0), (0, 0, -0.18), BLUE)),
    hinge("right_elbow", (0, 0, -0.18), "y", (-2.4, 0.0, 5.0, 40.0)),
    link("right_elbow_yoke", rod(0.6, 0.035, (0, 0, 0), (0, 0, -0.08), STEEL)),
    hinge("right_forearm_yaw", (0, 0, -0.08), "z", within(1.8, 6.0, 20.0)),
    link("right_forearm", rod(0.7, 0.035, (0, 0, 0), (0, 0, -0.16))),
    hinge("right_wrist_pitch", (0, 0, -0.16), "y", within(1.2, 6.0, 20.0)),
    link("right_palm", block(0.5, (0.03, 0.08, 0.16), (0, 0, -0.09), BLUE)),
)
