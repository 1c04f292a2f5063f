"""A bimanual upper body: torso and two seven-axis arms."""

from __future__ import annotations

from dqdyn.model.description import Description, NamedFrame, placement
from dqdyn.robots.parts import BLUE, STEEL, ball, block, hinge, link, mirrored, robot, rod, serial_limb, within


def bimanual() -> Description:
    """Sixteen joints: torso yaw and pitch, and two arms of seven; 31.6 kg moving on a column of 40 kg.

    All links are uniform cylinders, boxes and balls; each function call below states mass and size. x points forward,
    y to the left. At q = 0 the arms hang down beside the torso: upper arm 0.30 m, forearm 0.27 m, hand center 0.10 m
    below the wrist. The left arm is the mirror image of the right one: equal angles on both sides are symmetric.
    Frames "left_hand" and "right_hand" in the palms and "head". No damping, no friction.
    """
    base = link("base", rod(40.0, 0.2, (0, 0, 0), (0, 0, 0.7), STEEL))
    trunk = serial_limb("base", _TRUNK, NamedFrame("head", "torso", placement((0.0, 0.0, 0.62))))
    right = serial_limb("torso", _RIGHT_ARM, NamedFrame("right_hand", "right_palm", placement((0.0, 0.0, -0.1))))
    return robot("bimanual", base, trunk, mirrored(right), right)


_TRUNK = (
    hinge("torso_yaw", (0, 0, 0.7), "z", within(1.5, 2.0, 150.0)),
    link("waist", rod(4.0, 0.1, (0, 0, 0), (0, 0, 0.1), STEEL)),
    hinge("torso_pitch", (0, 0, 0.1), "y", (-0.5, 1.2, 2.0, 200.0)),
    link(
        "torso",
        block(10.0, (0.2, 0.28, 0.4), (0, 0, 0.25), BLUE),
        rod(0.8, 0.04, (0, 0, 0.45), (0, 0, 0.53), STEEL),
        ball(2.8, 0.1, (0, 0, 0.62)),
    ),
)

_RIGHT_ARM = (
    hinge("right_shoulder_pitch", (0, -0.2, 0.38), "y", (-2.9, 1.0, 3.0, 60.0)),
    link("right_shoulder", rod(1.2, 0.05, (0, 0.02, 0), (0, -0.06, 0), STEEL)),
    hinge("right_shoulder_roll", (0, -0.06, 0), "x", (-2.6, 0.2, 3.0, 60.0)),
    link("right_shoulder_yoke", rod(1.0, 0.05, (0, 0, 0), (0, 0, -0.08))),
    hinge("right_upper_arm_yaw", (0, 0, -0.1), "z", within(1.6, 3.0, 40.0)),
    link("right_upper_arm", rod(1.6, 0.045, (0, 0, 0), (0, 0, -0.2), BLUE)),
    hinge("right_elbow", (0, 0, -0.2), "y", (-2.4, 0.0, 3.0, 40.0)),
    link("right_elbow_yoke", rod(1.0, 0.04, (0, 0, 0), (0, 0, -0.1), STEEL)),
    hinge("right_forearm_yaw", (0, 0, -0.12), "z", within(1.8, 4.0, 15.0)),
    link("right_forearm", rod(1.0, 0.035, (0, 0, 0), (0, 0, -0.15), BLUE)),
    hinge("right_wrist_pitch", (0, 0, -0.15), "y", within(1.2, 4.0, 15.0)),
    link("right_wrist", rod(0.5, 0.03, (0, -0.03, 0), (0, 0.03, 0), STEEL)),
    hinge("right_wrist_roll", (0, 0, 0), "x", within(0.8, 4.0, 15.0)),
    link("right_palm", block(0.7, (0.03, 0.08, 0.14), (0, 0, -0.1))),
)
