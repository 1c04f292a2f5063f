"""Six- and seven-axis arms of our own design, with industrial proportions."""

from __future__ import annotations

from dataclasses import replace

from dqdyn.model.description import Description, NamedFrame, placement
from dqdyn.robots.parts import BLUE, ORANGE, STEEL, Limb, block, hinge, link, robot, rod, serial_limb, within


def arm6() -> Description:
    """A six-axis arm with a spherical wrist: reach 1.25 m from the shoulder, 46.5 kg moving on a base of 20 kg.

    All links are uniform cylinders and boxes; each function call below states mass, radius and ends. At q = 0 the
    upper arm (0.6 m) points up and the forearm (0.55 m) forward along x. Axes: z, y, y, x, y, x; the last three meet
    in one point. Limits are typical of the class. No damping, no friction. Frame "tool" on the flange, 0.1 m from the
    wrist center.
    """
    limb = arm6_limb()
    return Description("arm6", limb.links, limb.joints, limb.frames)


def arm6_limb(prefix: str = "") -> Limb:
    """The links, joints and frames of :func:`arm6`, with a prefix to all names but "tool"."""
    base = link(f"{prefix}base", rod(20.0, 0.14, (0, 0, 0), (0, 0, 0.2), STEEL))
    chain = (
        hinge(f"{prefix}joint1", (0, 0, 0.4), "z", within(3.0, 3.0, 400.0)),
        link(
            f"{prefix}shoulder",
            rod(10.0, 0.12, (0, 0, -0.2), (0, 0, 0.0), ORANGE),
            rod(6.0, 0.09, (0, -0.13, 0), (0, 0.13, 0), STEEL),
        ),
        hinge(f"{prefix}joint2", (0, 0, 0), "y", within(2.1, 2.5, 400.0)),
        link(f"{prefix}upper_arm", rod(14.0, 0.07, (0, 0, 0), (0, 0, 0.6), ORANGE)),
        hinge(f"{prefix}joint3", (0, 0, 0.6), "y", within(2.5, 3.0, 250.0)),
        link(
            f"{prefix}elbow",
            rod(5.0, 0.08, (0, -0.1, 0), (0, 0.1, 0), STEEL),
            rod(2.5, 0.06, (0, 0, 0), (0.2, 0, 0), ORANGE),
        ),
        hinge(f"{prefix}joint4", (0.2, 0, 0), "x", within(3.1, 6.0, 60.0)),
        link(f"{prefix}forearm", rod(5.0, 0.05, (0, 0, 0), (0.35, 0, 0), ORANGE)),
        hinge(f"{prefix}joint5", (0.35, 0, 0), "y", within(2.1, 6.0, 60.0)),
        link(f"{prefix}wrist", rod(3.0, 0.05, (0, -0.06, 0), (0, 0.06, 0), STEEL)),
        hinge(f"{prefix}joint6", (0, 0, 0), "x", within(6.2, 9.0, 30.0)),
        link(f"{prefix}flange", rod(1.0, 0.04, (0.05, 0, 0), (0.1, 0, 0), ORANGE)),
    )
    moving = serial_limb(base.name, chain, NamedFrame("tool", f"{prefix}flange", placement((0.1, 0.0, 0.0))))
    return replace(moving, links=(base, *moving.links))


def arm7() -> Description:
    """A seven-axis arm with shoulder, elbow and wrist as of a human: reach 0.98 m, 19.3 kg moving on a base of 4 kg.

    All links are uniform cylinders and boxes; each function call below states mass, radius and ends. At q = 0 it
    stands straight up: shoulder at 0.36 m, upper arm 0.44 m, forearm 0.40 m, flange 0.14 m above the wrist. Axes: z,
    y, z, y, z, y, z; three meet in the shoulder and three in the wrist. No damping, no friction. Frame "tool" on the
    flange.
    """
    base = link("base", rod(4.0, 0.09, (0, 0, 0), (0, 0, 0.16), STEEL))
    chain = (
        hinge("joint1", (0, 0, 0.36), "z", within(2.9, 2.0, 180.0)),
        link("link1", rod(4.0, 0.07, (0, 0, -0.2), (0, 0, 0))),
        hinge("joint2", (0, 0, 0.0), "y", within(2.0, 2.0, 180.0)),
        link("link2", rod(4.0, 0.065, (0, 0, 0), (0, 0, 0.22), BLUE)),
        hinge("joint3", (0, 0, 0.22), "z", within(2.9, 2.5, 110.0)),
        link("link3", rod(3.4, 0.06, (0, 0, 0), (0, 0, 0.22))),
        hinge("joint4", (0, 0, 0.22), "y", within(2.3, 2.5, 110.0)),
        link("link4", rod(3.0, 0.06, (0, 0, 0), (0, 0, 0.2), BLUE)),
        hinge("joint5", (0, 0, 0.2), "z", within(2.9, 3.0, 60.0)),
        link("link5", rod(2.2, 0.05, (0, 0, 0), (0, 0, 0.2))),
        hinge("joint6", (0, 0, 0.2), "y", within(2.0, 3.0, 40.0)),
        link("link6", rod(2.0, 0.05, (0, -0.05, 0), (0, 0.05, 0), BLUE)),
        hinge("joint7", (0, 0, 0.0), "z", within(3.0, 3.0, 40.0)),
        link("link7", rod(0.4, 0.035, (0, 0, 0.06), (0, 0, 0.12), STEEL), block(0.3, (0.07, 0.07, 0.02), (0, 0, 0.13))),
    )
    return robot("arm7", base, serial_limb("base", chain, NamedFrame("tool", "link7", placement((0.0, 0.0, 0.14)))))
