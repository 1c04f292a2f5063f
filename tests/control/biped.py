"""A small robot that stands: a trunk on two legs of two joints, quick to compile."""

from __future__ import annotations

from functools import cache

from dqdyn import contacts
from dqdyn.contacts.contact import Contact
from dqdyn.model.description import Description, Joint, Link, NamedFrame, placement
from dqdyn.model.inertia import box
from dqdyn.robot import Robot


@cache
def biped() -> Robot:
    """nv = 10: the trunk, and per leg a skew hip and an ankle; efforts of 200 N m."""
    links, joints, frames = [Link("trunk", box(20.0, (0.2, 0.3, 0.4), (0.01, 0.0, 0.2)))], [], []
    for side, y in (("left", 0.1), ("right", -0.1)):
        steps = (
            ("hip", "leg", (0.6, 0.8, 0.0), (0.0, y, 0.0), box(5.0, (0.1, 0.1, 0.7), (0.0, 0.0, -0.35))),
            ("ankle", "foot", (0.0, 1.0, 0.0), (0.0, 0.0, -0.75), box(1.0, (0.2, 0.1, 0.05), (0.03, 0.0, -0.04))),
        )
        parent = "trunk"
        for name, link, axis, at, inertia in steps:
            links.append(Link(f"{side}_{link}", inertia))
            joints.append(
                Joint(f"{side}_{name}", "revolute", parent, links[-1].name, placement(at), axis=axis, effort=(200.0,))
            )
            parent = links[-1].name
        frames.append(NamedFrame(f"{side}_sole", parent, placement((0.03, 0.0, -0.05))))
    return Robot.from_description(Description("biped", tuple(links), tuple(joints), tuple(frames), base="free"))


def contact_sets() -> dict[str, list[Contact]]:
    """Feet by faces, edges and points, one foot or both, holding or sliding."""
    size: dict[str, float] = {"half_length": 0.1, "half_width": 0.05, "friction": 0.8}
    face = {side: contacts.face(f"{side}_sole", **size) for side in ("left", "right")}
    point = contacts.point("right_sole", (0.05, 0.0, 0.0), friction=0.8)
    edge = contacts.edge("right_sole", ((0.1, -0.05, 0.0), (0.1, 0.05, 0.0)), friction=0.8)
    return {
        "two faces": [face["left"], face["right"]],
        "face and point": [face["left"], point],
        "edge": [edge],
        "two points": [contacts.point("left_sole", friction=0.8), point],
    }
