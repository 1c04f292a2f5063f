"""The kinds of joints, one file each; a kind is known as soon as its class is defined, so all files are imported."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from pkgutil import iter_modules

from dqdyn.errors import unknown_name
from dqdyn.model import description
from dqdyn.model.joints.joint_kind import KINDS, JointKind

__all__ = ["KINDS", "JointKind", "joint_kind"]

for _file in iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")


def joint_kind(joint: description.Joint) -> JointKind:
    """The motion of a described joint; its geometric parameters are the fields that the kind declares."""
    if joint.kind not in KINDS:
        raise unknown_name(f"joint kind (joint {joint.name!r})", joint.kind, KINDS)
    kind = KINDS[joint.kind]
    return kind(**{field.name: getattr(joint, field.name) for field in fields(kind)})
