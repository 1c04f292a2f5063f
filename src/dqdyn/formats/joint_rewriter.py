"""Descriptions rewritten with the few joint kinds that a file format knows; every link keeps its name and its pose."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any

from dqdyn.algebra.dual import IDENTITY
from dqdyn.errors import FormatError
from dqdyn.model.description import DYNAMICS, LIMITS, PER_AXIS, ROOT_JOINT, WORLD, Description, Joint, Link, Loop, Mimic
from dqdyn.model.joints import KINDS, joint_kind
from dqdyn.model.joints.joint_kind import ChainPart, leader
from dqdyn.model.model import Model
from dqdyn.model.motors import AxisMotors
from dqdyn.model.per_axis import axis_motors, axis_values


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
    """Replaces joints by the chains that their kinds say, through links without mass, where a format has no such joint.

    A part of joint ``j`` is named ``j_<part>`` and moves the new link ``<child>_<part>``; the last one moves the child.
    """

    def __init__(self, description: Description, file_format: str, couples: bool) -> None:
        """``couples`` says whether the format has joints that follow others exactly."""
        self.description, self.file_format, self.couples = description, file_format, couples
        self.link_names = Names([link.name for link in description.links] + [f.name for f in description.frames])
        self.joint_names = Names(joint.name for joint in description.joints)
        self.new_links: dict[str, list[Link]] = {}  # before which link
        self.joints: list[Joint] = []
        self.parts: dict[str, list[tuple[str, ChainPart]]] = {}  # of joints that became chains

    def coordinates(self, joint: str, values: tuple[float, ...]) -> list[tuple[str, tuple[float, ...]]]:
        """The coordinates of a described joint as those of the joints that stand for it."""
        if joint not in self.parts:
            return [(joint, values)]
        result = []
        for name, part in self.parts[joint]:
            if part.q is not None:
                own = values[part.q]
                result += [(name, own)] if name == joint else self.coordinates(name, own)
        return result

    def names_of(self, joint: str) -> list[str]:
        """The joints that stand for a described one."""
        parts = [name for name, _ in self.parts.get(joint, ())]
        return [one for name in parts for one in ([name] if name == joint else self.names_of(name))] or [joint]

    def result(self) -> Description:
        links = [one for link in self.description.links for one in (*self.new_links.get(link.name, ()), link)]
        return self.description.with_changes(links=tuple(links), joints=tuple(self.joints))

    def add(self, joint: Joint, is_native: Callable[[Joint], bool]) -> None:
        """The joint, or its chain where it is not native to the format, and so for the joints of that chain."""
        if is_native(joint):
            self.joints.append(joint)
        else:
            for part in self.chain(joint):
                self.add(part, is_native)

    def chain(self, joint: Joint) -> list[Joint]:
        parts = joint_kind(joint).expansion()
        coupled = any(part.ratio is not None for part in parts)
        if not parts or (coupled and not self.couples):
            remedy = f"write {'URDF or ' if coupled else ''}JSON"
            message = f"{self.file_format} cannot hold the {joint.kind} joint {joint.name!r}: {remedy}."
            raise FormatError(message, element=joint.name)
        one = KINDS[joint.kind].nq == 1
        names = [
            joint.name if one and part.q == slice(0, 1) else self.joint_names.new(f"{joint.name}_{part.suffix}")
            for part in parts
        ]
        self.parts[joint.name] = list(zip(names, parts, strict=True))
        followed = names[leader(parts) or 0]
        result: list[Joint] = []
        for part, name in zip(parts, names, strict=True):
            first, last = part is parts[0], part is parts[-1]
            own: dict[str, Any] = {field.name: getattr(part.motion, field.name) for field in fields(part.motion)}
            for field in PER_AXIS:
                value = _share(getattr(joint, field), part.q if field in LIMITS[:2] else part.v)
                own |= {} if value is None else {field: value}
            own["motors"] = part_motors(joint, part)
            parent, origin = (joint.parent, joint.origin) if first else (result[-1].child, IDENTITY)
            child = joint.child if last else self.link(joint.child, part.suffix)
            own["child_origin"] = joint.child_origin if last else IDENTITY
            if name == joint.name or part.ratio is not None:
                own["mimic"] = joint.mimic if part.ratio is None else Mimic(followed, part.ratio)
            result.append(Joint(name, part.motion.name, parent, child, origin, **own))
        return result

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


def part_motors(joint: Joint, part: ChainPart) -> AxisMotors | None:
    """The motors of a part of the chain that stands for a joint; None leaves them to its kind."""
    given = joint.motors
    if given is None and KINDS[joint.kind].actuated:
        return None
    if not given or part.ratio is not None:
        return ()
    return given[part.v] if part.v is not None else given[:1] if all(given) else ()


def is_driven_alike(joint: Joint) -> bool:
    """Whether all axes of a joint have the same motor, or none has one."""
    return len(set(axis_motors(joint))) < 2


def _share(value: Any, slot: slice | None) -> Any:
    if slot is None or value is None:
        return None
    if not isinstance(value, tuple):
        return value
    return value[slot] if slot.stop - slot.start > 1 else value[slot][0]


def data_of(joint: Joint) -> set[str]:
    """Which of ``PER_AXIS`` say anything: limits that are finite, dynamic constants that are not zero."""
    limits = {name for name in LIMITS if any(map(math.isfinite, axis_values(joint, name)))}
    return limits | {name for name in DYNAMICS if any(axis_values(joint, name))}


def limit_of(joint: Joint, name: str) -> float | None:
    """The limit of a joint with one axis, or None."""
    values = axis_values(joint, name)
    return values[0] if len(values) == 1 and math.isfinite(values[0]) else None


def with_base_joint(model: Model, file_format: str) -> Description:
    """The description on a fixed base: a free or planar base becomes the joint ``root_joint`` on a link ``world``."""
    root = model.description.base_joint(model.base)
    description = model.description.on_base("fixed").with_changes(gravity=model.gravity)
    if model.base == "fixed":
        return description
    if model.base == "differential":
        remedy = 'write it with base="planar" or "fixed", or as JSON'
        rolling = f"the rolling constraint of the differential base of {model.name!r}"
        raise FormatError(f"{file_format} cannot hold {rolling}: {remedy}.", element=ROOT_JOINT)
    if any(link.name == WORLD for link in description.links):
        remedy = "but a link has it: rename that link, or write JSON"
        needed = f"the link name {WORLD!r} for the {model.base} base of {model.name!r}"
        raise FormatError(f"{file_format} needs {needed}, {remedy}.", element=WORLD)
    return description.with_changes(links=(Link(WORLD), *description.links), joints=(root, *description.joints))


def loops_of(model: Model) -> tuple[list[Loop], list[str]]:
    """The constraints that a file could hold, and the names of those that none can."""
    own = [c for c in model.constraints if not c.of_base(model.base)]
    loops = [loop for c in own if (loop := c.loop()) is not None]
    known = {c.name for c in own}
    loops += [loop for loop in model.description.loops if loop.name not in known]
    return loops, [c.name for c in own if c.loop() is None]
