"""A small robot that stands: a trunk on two legs of four joints, quick to compile."""

from __future__ import annotations

from functools import cache

from dqdyn import contacts
from dqdyn.contacts.contact import Contact
from dqdyn.model.description import Description, Joint, Link, NamedFrame, placement
from dqdyn.model.inertia import box
from dqdyn.robot import Robot

HEIGHT = 0.8


@cache
def biped() -> Robot:
    """nv = 14: the trunk, and per leg hip roll, hip pitch, knee and ankle; efforts of 200 N m."""
    links, joints, frames = [Link("trunk", box(20.0, (0.2, 0.3, 0.4), (0.01, 0.0, 0.2)))], [], []
    for side, y in (("left", 0.1), ("right", -0.1)):
        steps = (
            ("hip_roll", "hip", (1.0, 0.0, 0.0), (0.0, y, 0.0), box(1.0, (0.1, 0.1, 0.1))),
            ("hip_pitch", "thigh", (0.0, 1.0, 0.0), (0.0, 0.0, 0.0), box(3.0, (0.1, 0.1, 0.4), (0.0, 0.0, -0.2))),
            ("knee", "shank", (0.0, 1.0, 0.0), (0.0, 0.0, -0.4), box(2.0, (0.1, 0.1, 0.35), (0.0, 0.0, -0.2))),
            ("ankle", "foot", (0.0, 1.0, 0.0), (0.0, 0.0, -0.35), box(1.0, (0.2, 0.1, 0.05), (0.03, 0.0, -0.04))),
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
    face = {
        side: contacts.face(f"{side}_sole", half_length=0.1, half_width=0.05, friction=0.8)
        for side in ("left", "right")
    }
    point = contacts.point("right_sole", (0.05, 0.0, 0.0), friction=0.8)
    edge = contacts.edge("right_sole", ((0.1, -0.05, 0.0), (0.1, 0.05, 0.0)), friction=0.8)
    return {
        "two faces": [face["left"], face["right"]],
        "face and point": [face["left"], point],
        "face": [face["left"]],
        "two points": [contacts.point("left_sole", friction=0.8), point],
        "face and edge": [face["left"], edge],
        "corners": [contacts.face("left_sole", half_length=0.1, half_width=0.05, friction=0.8, cone="corners")],
    }
