"""Mobile manipulators: the arm of :func:`arm6` on a holonomic or a differential-drive platform."""

from __future__ import annotations

from typing import Any

from dqdyn.model.description import Description, Drive, Joint, Link, placement
from dqdyn.model.motors import Motor
from dqdyn.robots.arms import arm6_limb
from dqdyn.robots.parts import STEEL, Limb, Part, block, link, robot, rod

WHEELS = (Motor(), Motor(), Motor())
"""What driven wheels give together, along x, along y and about z; limits would be those of each wheel."""
HEIGHT = 0.45
"""Top of the platform above the ground in m, where the arm stands."""


def holonomic_manipulator() -> Description:
    """Nine degrees of freedom: a platform that moves in x, y, φ at will and a six-axis arm; 186.5 kg.

    The kind of robot that Silva validates the holonomic case on. The platform is a uniform box of 0.9 × 0.6 × 0.35 m
    and 100 kg with four omnidirectional wheels, cylinders of 5 kg; their spin is left out. The arm is that of
    ``arm6``, 0.2 m ahead of the center. Base "planar", with motors on x, y and φ: the wheels push any way. Frame "tool"
    on the flange. No damping, no friction.
    """
    wheels = tuple(_wheel(5.0, 0.1, x, y) for x in (0.3, -0.3) for y in (0.3, -0.3))
    platform = link("platform", block(100.0, (0.9, 0.6, 0.35), (0, 0, 0.275)), *wheels)
    return _with_arm("holonomic_manipulator", platform, 0.2, base="planar")


def nonholonomic_manipulator() -> Description:
    """Nine coordinates x, y, φ and six joints under one constraint: eight degrees of freedom; 186.5 kg.

    The kind of robot that Silva validates the nonholonomic case on. The platform is a uniform box of 0.8 × 0.5 × 0.35
    m and 106 kg with two wheels of 6 kg (radius 0.15 m, 0.6 m apart) on the y axis and two casters, each 1 kg; their
    spin is left out. The arm is that of ``arm6``, above the wheel axis. Base "differential", with motors on x, y and φ:
    the wheels push ahead and turn, and the rolling constraint bears what is across. Frame "tool" on the flange. No
    damping, no friction.
    """
    drive = Drive(wheel_radius=0.15, wheel_distance=0.6)
    wheels = tuple(_wheel(6.0, drive.wheel_radius, 0.0, y) for y in (0.3, -0.3))
    casters = tuple(_wheel(1.0, 0.05, x, 0.0) for x in (0.35, -0.35))
    platform = link("platform", block(106.0, (0.8, 0.5, 0.35), (0, 0, 0.275)), *wheels, *casters)
    return _with_arm("nonholonomic_manipulator", platform, 0.0, base="differential", drive=drive)


def _wheel(mass: float, radius: float, x: float, y: float) -> Part:
    return rod(mass, radius, (x, y - 0.03, radius), (x, y + 0.03, radius), STEEL)


def _with_arm(name: str, platform: Link, arm_x: float, **base: Any) -> Description:
    mount = Joint("mount", "fixed", platform.name, "arm_base", origin=placement((arm_x, 0.0, HEIGHT)))
    return robot(name, platform, Limb((), (mount,)), arm6_limb("arm_"), base_motors=WHEELS, **base)
