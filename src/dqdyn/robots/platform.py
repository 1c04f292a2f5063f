"""A platform on six legs: the parallel robot of Gough and Stewart."""

from __future__ import annotations

import math

from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import pure, shortest_rotation
from dqdyn.model.description import Description, Joint, Link, Loop, NamedFrame, placement
from dqdyn.model.inertia import as_vector
from dqdyn.model.joints.axis_joint import X, Y, Z
from dqdyn.robots.parts import BLUE, ORANGE, STEEL, link, rod

HEIGHT = 0.6
"""Of the platform above the base at q = 0, in m."""


def stewart_platform() -> Description:
    """Six degrees of freedom from 24 velocities and six closed loops; 28 kg.

    The platform, a disc of 10 kg and radius 0.25 m, hangs on a free joint; each leg stands on the base with a universal
    joint and pushes with a prismatic joint, and its tip is a ball joint in the platform: the loops "ball_1" … "ball_6"
    close frames "tip_i" and "anchor_i". Feet lie on a circle of 0.5 m in pairs, anchors on one of 0.22 m. Lower and
    upper leg are uniform cylinders of 2 kg and 1 kg. Motors push the legs; the universal joints have none. At the
    neutral q all loops are closed. Frame "tool" on top of the disc.
    """
    links: list[Link] = [
        link("base", rod(20.0, 0.5, (0.0, 0.0, -0.05), (0.0, 0.0, 0.0), STEEL)),
        link("platform", rod(10.0, 0.25, (0.0, 0.0, -0.02), (0.0, 0.0, 0.02), BLUE)),
    ]
    joints = [Joint("platform_joint", "free", "base", "platform", origin=placement((0.0, 0.0, HEIGHT)))]
    frames = [NamedFrame("tool", "platform", placement((0.0, 0.0, 0.02)))]
    loops = []
    for i in range(6):
        number, pair, side = i + 1, i // 2, 1 if i % 2 else -1
        foot = _on_circle(0.5, 120.0 * pair + 8.0 * side)
        anchor = _on_circle(0.22, 120.0 * pair + 45.0 * side)
        leg = tuple(a - f for a, f in zip((anchor[0], anchor[1], HEIGHT), foot, strict=True))
        length = math.hypot(*leg)
        along = shortest_rotation(Z, as_vector([c / length for c in leg]))
        on_base = pose(along, pure(*foot))
        lower, upper = f"lower_leg_{number}", f"upper_leg_{number}"
        links += [
            link(lower, rod(2.0, 0.025, (0.0, 0.0, 0.0), (0.0, 0.0, 0.6 * length), STEEL)),
            link(upper, rod(1.0, 0.015, (0.0, 0.0, 0.4 * length), (0.0, 0.0, length), ORANGE)),
        ]
        joints += [
            Joint(f"foot_{number}", "universal", "base", lower, on_base, axis=X, second_axis=Y, motors=()),
            Joint(f"leg_{number}", "prismatic", lower, upper, lower=-0.2, upper=0.2, effort=2000.0),
        ]
        frames += [
            NamedFrame(f"tip_{number}", upper, placement((0.0, 0.0, length))),
            NamedFrame(f"anchor_{number}", "platform", placement(anchor)),
        ]
        loops.append(Loop(f"ball_{number}", "point", (f"anchor_{number}", f"tip_{number}")))
    return Description("stewart_platform", tuple(links), tuple(joints), tuple(frames), loops=tuple(loops))


def _on_circle(radius: float, degrees: float) -> tuple[float, float, float]:
    angle = math.radians(degrees)
    return radius * math.cos(angle), radius * math.sin(angle), 0.0
