"""Descriptions rewritten with the few joint kinds that a file format knows; every link keeps its name and its pose."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from dqdyn.algebra.dual import IDENTITY
from dqdyn.errors import FormatError
from dqdyn.model.check import per_axis
from dqdyn.model.description import ROOT_JOINT, WORLD, Description, Joint, Link, Mimic
from dqdyn.model.inertia import Vector, as_vector
from dqdyn.model.joints import KINDS
from dqdyn.model.joints.planar import Planar
from dqdyn.model.model import Model

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
LIMITS = ("lower", "upper", "velocity", "effort")
DYNAMICS = ("damping", "friction", "armature")
PER_AXIS = LIMITS + DYNAMICS


@dataclass(frozen=True)
class Part:
    """One joint of a chain; ``q`` and ``v`` say which coordinates of the whole joint it takes over (None: none)."""

    suffix: str
    kind: str
    axis: Vector = Z
    q: slice | None = None
    v: slice | None = None


def _single(suffix: str, kind: str, axis: Vector, coordinate: int) -> Part:
    at = slice(coordinate, coordinate + 1)
    return Part(suffix, kind, axis, at, at)


def _cylindrical(joint: Joint) -> list[Part]:
    return [_single("rotation", "revolute", joint.axis, 0), _single("translation", "prismatic", joint.axis, 1)]


def _universal(joint: Joint) -> list[Part]:
    return [_single("first", "revolute", joint.axis, 0), _single("second", "revolute", joint.second_axis, 1)]


def _planar(joint: Joint) -> list[Part]:
    e1, e2 = (as_vector(e.vector) for e in Planar(joint.axis).in_plane())
    return [
        _single("x", "prismatic", e1, 0),
        _single("y", "prismatic", e2, 1),
        _single("rotation", "revolute", joint.axis, 2),
    ]


def _helical(joint: Joint) -> list[Part]:
    # The rotation keeps the joint's name, so that mimic joints still find it; see ``chain`` for the coupling.
    return [_single("", "revolute", joint.axis, 0), Part("translation", "prismatic", joint.axis)]


def _spherical(joint: Joint) -> list[Part]:
    # Yaw, pitch, roll: the same orientations, other coordinates, singular at a pitch of ±90°. Limits, damping and the
    # like belong to the angular velocity and have no counterpart in the rates of three angles.
    return [Part("yaw", "revolute", Z), Part("pitch", "revolute", Y), Part("roll", "revolute", X)]


def _free(joint: Joint) -> list[Part]:
    moves = [Part(s, "prismatic", a, slice(4 + i, 5 + i), slice(3 + i, 4 + i)) for i, (s, a) in enumerate(_AXES)]
    return [*moves, Part("rotation", "spherical", Z, slice(0, 4), slice(0, 3))]


_AXES = (("x", X), ("y", Y), ("z", Z))
_PARTS: dict[str, Callable[[Joint], list[Part]]] = {
    "cylindrical": _cylindrical,
    "universal": _universal,
    "planar": _planar,
    "helical": _helical,
    "spherical": _spherical,
    "free": _free,
}


class Names:
    """Names that are taken, and new ones that are not."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken)

    def new(self, wanted: str) -> str:
        """``wanted``, or the first of ``wanted_2``, ``wanted_3``, … that is free; it is taken then."""
        name, number = wanted, 1
        while name in self.taken:
            number += 1
            name = f"{wanted}_{number}"
        self.taken.add(name)
        return name


class Rewriter:
    """Replaces joints by chains through links without mass.

    A part of joint ``j`` is named ``j_<part>`` and moves the new link ``<child>_<part>``; the last one moves the child.
    """

    def __init__(self, description: Description) -> None:
        self.description = description
        self.link_names = Names([link.name for link in description.links] + [f.name for f in description.frames])
        self.joint_names = Names(joint.name for joint in description.joints)
        self.new_links: dict[str, list[Link]] = {}  # before which link
        self.joints: list[Joint] = []

    def result(self) -> Description:
        links = [one for link in self.description.links for one in (*self.new_links.get(link.name, ()), link)]
        return self.description.with_changes(links=tuple(links), joints=tuple(self.joints))

    def keep(self, joint: Joint) -> None:
        self.joints.append(joint)

    def chain(self, joint: Joint) -> None:
        """``joint`` as a chain of joints with fewer axes."""
        parts, start = _PARTS[joint.kind](joint), len(self.joints)
        parent = joint.parent
        for part in parts:
            last = part is parts[-1]
            child = joint.child if last else self.link(joint.child, part.suffix or "rotation")
            own = {name: _share(getattr(joint, name), part.q if name in LIMITS[:2] else part.v) for name in PER_AXIS}
            self.joints.append(
                Joint(
                    name=self.joint_names.new(f"{joint.name}_{part.suffix}") if part.suffix else joint.name,
                    kind=part.kind,
                    parent=parent,
                    child=child,
                    origin=IDENTITY if len(self.joints) > start else joint.origin,
                    axis=part.axis,
                    child_origin=joint.child_origin if last else IDENTITY,
                    mimic=None if part.suffix else joint.mimic,
                    **{name: value for name, value in own.items() if value is not None},
                )
            )
            parent = child
        if joint.kind == "helical":
            self.joints[-1] = replace(self.joints[-1], mimic=Mimic(joint.name, joint.pitch))

    def settle_child(self) -> None:
        """Move the child origin of the last joint into a fixed joint of its own."""
        joint = self.joints.pop()
        if joint.child_origin == IDENTITY:
            self.joints.append(joint)
        elif joint.kind == "fixed":
            self.joints.append(replace(joint, origin=joint.origin * joint.child_origin, child_origin=IDENTITY))
        else:
            side = self.link(joint.child, "joint_side")
            self.joints.append(replace(joint, child=side, child_origin=IDENTITY))
            offset = self.joint_names.new(f"{joint.name}_offset")
            self.joints.append(Joint(offset, "fixed", side, joint.child, joint.child_origin))

    def link(self, child: str, suffix: str) -> str:
        name = self.link_names.new(f"{child}_{suffix}")
        self.new_links.setdefault(child, []).append(Link(name))
        return name


def _share(value: Any, slot: slice | None) -> Any:
    if slot is None or value is None:
        return None
    if not isinstance(value, tuple):
        return value
    return value[slot] if slot.stop - slot.start > 1 else value[slot][0]


def values_of(joint: Joint, name: str) -> tuple[float, ...]:
    """One number per axis; infinite limits stand for none."""
    kind = KINDS[joint.kind]
    default = 0.0 if name in DYNAMICS else -math.inf if name == "lower" else math.inf
    return per_axis(getattr(joint, name), kind.nq if name in LIMITS[:2] else kind.nv, default)


def data_of(joint: Joint) -> set[str]:
    """Which of ``PER_AXIS`` say anything: limits that are finite, dynamic constants that are not zero."""
    return {
        name
        for name in PER_AXIS
        if any(v != 0.0 if name in DYNAMICS else math.isfinite(v) for v in values_of(joint, name))
    }


def limit_of(joint: Joint, name: str) -> float | None:
    """The limit of a joint with one axis; None where there is none."""
    values = values_of(joint, name)
    return values[0] if len(values) == 1 and math.isfinite(values[0]) else None


def with_base_joint(model: Model, file_format: str) -> Description:
    """The description on a fixed base: a free or planar base becomes the joint ``root_joint`` on a link ``world``."""
    held = [c.name for c in model.constraints if not c.of_base(model.base)]
    held += [loop.name for loop in model.description.loops if loop.name not in held]
    if held:
        raise FormatError(
            f"{file_format} cannot hold the constraint {held[0]!r} of {model.name!r}: write "
            "robot.without_constraints(), or JSON.",
            element=held[0],
        )
    description = model.description.with_changes(base="fixed", gravity=model.gravity)
    if model.base == "fixed":
        return description
    if model.base == "differential":
        raise FormatError(
            f"{file_format} cannot hold the rolling constraint of the differential base of {model.name!r}: "
            'write it with base="planar" or "fixed", or as JSON.',
            element=ROOT_JOINT,
        )
    if any(link.name == WORLD for link in description.links):
        raise FormatError(
            f"{file_format} needs the link name {WORLD!r} for the {model.base} base of {model.name!r}, "
            "but a link has it: rename that link, or write JSON.",
            element=WORLD,
        )
    root = Joint(ROOT_JOINT, model.base, WORLD, root_link(description))
    return description.with_changes(links=(Link(WORLD), *description.links), joints=(root, *description.joints))


def root_link(description: Description) -> str:
    """Name of the link that no joint moves."""
    moved = {joint.child for joint in description.joints}
    return next(link.name for link in description.links if link.name not in moved)
