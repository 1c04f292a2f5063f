"""A small upper body with a torso of five axes and two arms of four, on a stand or on wheels."""

from __future__ import annotations

from typing import Any

from dqdyn.model.description import Description, Drive, Joint, Link, NamedFrame, placement
from dqdyn.robots.mobile import WHEELS
from dqdyn.robots.parts import BLUE, ORANGE, STEEL, ball, block, hinge, link, mirrored, robot, rod, serial_limb, within

HEIGHT = 0.3
"""Of the stand, and of the top of the platform, in m."""


def small_bimanual() -> Description:
    """Thirteen joints: a torso of five (pitch, roll, yaw, pitch, roll) and two arms of four; 6.2 kg moving on a stand.

    The kind of robot that Quiroz makes the experiments of chapter 6 on. All links are uniform cylinders, boxes and
    balls; each function call below states mass and size. x points forward, y to the left. At q = 0 the arms hang down:
    upper arm 0.18 m, palm 0.20 m below the elbow. The left arm is the mirror image of the right one: equal angles on
    both sides are symmetric. Frames "left_hand" and "right_hand" in the palms and "head". No damping, no friction.
    """
    stand = link(
        "stand", block(4.0, (0.3, 0.3, 0.02), (0, 0, 0.01), STEEL), rod(2.0, 0.04, (0, 0, 0.02), (0, 0, HEIGHT), STEEL)
    )
    return _with_body("small_bimanual", stand)


def mobile_bimanual() -> Description:
    """The body of :func:`small_bimanual` on a differential drive: fifteen degrees of freedom; 16.9 kg.

    Sixteen coordinates x, y, φ and thirteen joints under one constraint. The platform is a uniform disk of 8 kg with
    two wheels of 0.5 kg (radius 0.08 m, 0.3 m apart) on the y axis and two casters; their spin is left out. Base
    "differential", driven as that of ``nonholonomic_manipulator``; frames as of :func:`small_bimanual`. No damping, no
    friction.
    """
    drive = Drive(wheel_radius=0.08, wheel_distance=0.3)
    wheels = [rod(0.5, drive.wheel_radius, (0, y - 0.015, 0.08), (0, y + 0.015, 0.08), STEEL) for y in (0.15, -0.15)]
    casters = [rod(0.1, 0.03, (x, -0.01, 0.03), (x, 0.01, 0.03), STEEL) for x in (0.15, -0.15)]
    platform = link(
        "platform",
        rod(8.0, 0.2, (0, 0, 0.07), (0, 0, 0.15), ORANGE),
        rod(1.5, 0.05, (0, 0, 0.15), (0, 0, HEIGHT), STEEL),
        *wheels,
        *casters,
    )
    return _with_body("mobile_bimanual", platform, base="differential", drive=drive, base_motors=WHEELS)


def _with_body(name: str, root: Link, **base: Any) -> Description:
    pitch = hinge("torso_pitch", (0, 0, HEIGHT), "y", within(0.6, 2.0, 30.0))
    trunk = serial_limb(root.name, (pitch, *_TRUNK), NamedFrame("head", "chest", placement((0.0, 0.0, 0.28))))
    right = serial_limb("chest", _RIGHT_ARM, NamedFrame("right_hand", "right_forearm", placement((0.0, 0.0, -0.2))))
    neck = Joint("neck", "fixed", "chest", "skull", origin=placement((0.0, 0.0, 0.28)))
    head = serial_limb("chest", (neck, link("skull", ball(0.5, 0.07))))
    return robot(name, root, trunk, head, mirrored(right), right, **base)


_TRUNK = (
    link("hips", rod(0.8, 0.05, (0, -0.06, 0), (0, 0.06, 0), STEEL)),
    hinge("torso_roll", (0, 0, 0.05), "x", within(0.5, 2.0, 30.0)),
    link("waist", rod(0.5, 0.04, (0, 0, -0.02), (0, 0, 0.06))),
    hinge("torso_yaw", (0, 0, 0.06), "z", within(1.2, 2.0, 20.0)),
    link("belly", rod(0.7, 0.05, (0, 0, 0), (0, 0, 0.07), BLUE)),
    hinge("chest_pitch", (0, 0, 0.08), "y", within(0.4, 2.0, 20.0)),
    link("ribs", rod(0.4, 0.04, (0, -0.04, 0), (0, 0.04, 0), STEEL)),
    hinge("chest_roll", (0, 0, 0.03), "x", within(0.4, 2.0, 20.0)),
    link("chest", block(1.4, (0.1, 0.16, 0.16), (0, 0, 0.1), BLUE)),
)

_RIGHT_ARM = (
    hinge("right_shoulder_pitch", (0, -0.1, 0.15), "y", (-2.6, 1.0, 3.0, 10.0)),
    link("right_shoulder", rod(0.25, 0.03, (0, 0.015, 0), (0, -0.03, 0), STEEL)),
    hinge("right_shoulder_roll", (0, -0.03, 0), "x", (-1.8, 0.2, 3.0, 10.0)),
    link("right_yoke", rod(0.15, 0.028, (0, 0, 0), (0, 0, -0.05))),
    hinge("right_arm_yaw", (0, 0, -0.05), "z", within(1.5, 3.0, 6.0)),
    link("right_upper_arm", rod(0.3, 0.026, (0, 0, 0), (0, 0, -0.12), BLUE)),
    hinge("right_elbow", (0, 0, -0.13), "y", (-2.4, 0.0, 3.0, 6.0)),
    link("right_forearm", rod(0.25, 0.022, (0, 0, 0), (0, 0, -0.22))),
)
