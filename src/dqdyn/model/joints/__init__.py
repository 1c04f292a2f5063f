"""The kinds of joints, one file each."""

from __future__ import annotations

from dataclasses import fields

from dqdyn.errors import unknown_name
from dqdyn.model import description
from dqdyn.model.joints.cylindrical import Cylindrical
from dqdyn.model.joints.fixed import Fixed
from dqdyn.model.joints.free import Free
from dqdyn.model.joints.helical import Helical
from dqdyn.model.joints.joint_kind import KINDS, JointKind
from dqdyn.model.joints.planar import Planar
from dqdyn.model.joints.prismatic import Prismatic
from dqdyn.model.joints.revolute import Revolute
from dqdyn.model.joints.spherical import Spherical
from dqdyn.model.joints.universal import Universal

__all__ = [
    "KINDS",
    "Cylindrical",
    "Fixed",
    "Free",
    "Helical",
    "JointKind",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Universal",
    "joint_kind",
]


def joint_kind(joint: description.Joint) -> JointKind:
    """The motion of a described joint; its geometric parameters are the fields that the kind declares."""
    if joint.kind not in KINDS:
        raise unknown_name(f"joint kind (joint {joint.name!r})", joint.kind, KINDS)
    kind = KINDS[joint.kind]
    return kind(**{field.name: getattr(joint, field.name) for field in fields(kind)})
