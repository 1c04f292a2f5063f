"""The kinds of joints, one file each; a kind is known as soon as its class is defined."""

from __future__ import annotations

from dataclasses import fields

from dqdyn.errors import unknown_name
from dqdyn.model import description
from dqdyn.model.joints import cylindrical, fixed, free, helical, planar, prismatic, revolute, spherical, universal
from dqdyn.model.joints.joint_kind import KINDS, JointKind

__all__ = ["KINDS", "JointKind", "joint_kind"]

BUILT_IN = (cylindrical, fixed, free, helical, planar, prismatic, revolute, spherical, universal)
"""The files of the kinds of this package, which register them."""


def joint_kind(joint: description.Joint) -> JointKind:
    """The motion of a described joint; its geometric parameters are the fields that the kind declares."""
    if joint.kind not in KINDS:
        raise unknown_name(f"joint kind (joint {joint.name!r})", joint.kind, KINDS)
    kind = KINDS[joint.kind]
    return kind(**{field.name: getattr(joint, field.name) for field in fields(kind)})
