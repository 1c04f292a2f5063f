"""Validation of descriptions, before anything is built."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from dqdyn.algebra.checks import is_unit
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.real import is_real
from dqdyn.algebra.scalar import is_numeric
from dqdyn.errors import ModelError, one_line, unknown_name
from dqdyn.model.description import (
    BASES,
    DYNAMICS,
    LIMITS,
    PER_AXIS,
    ROOT_JOINT,
    WORLD,
    Description,
    Joint,
    Link,
    NamedFrame,
    Shape,
)
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.inertia import Vector
from dqdyn.model.joints import KINDS, joint_kind
from dqdyn.model.joints.consistency import contradiction, unknown_parameters
from dqdyn.model.motors import Motor
from dqdyn.model.per_axis import axis_count, axis_values

AXIS_TOLERANCE = 1e-3
"""An axis may miss length one by this much: files hold few digits. Beyond 1e-6 it is said in a warning."""

SHAPES = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "ellipsoid": 3, "plane": 0, "mesh": 3}
"""Kinds of shapes, and how many numbers their sizes have; a mesh without a scale has none."""

LARGEST = 1e30
"""A larger length, mass or inertia is a mistake, and its square would overflow soon. Limits may be larger."""
_BEYOND = f"that is not finite or beyond {LARGEST:g}"


def in_range(x: Any) -> bool:
    """Whether x is a real number from −LARGEST to LARGEST."""
    if type(x) is float:
        return abs(x) <= LARGEST
    try:
        return is_real(x) and abs(float(x)) <= LARGEST
    except (OverflowError, TypeError):  # an integer of 400 digits; a symbol
        return False


_WHAT = {Link: "link", Joint: "joint", NamedFrame: "frame"}


class Checker:
    """Checks a description once; ``warnings`` holds what is doubtful but usable."""

    def __init__(self, description: Description, strict: bool) -> None:
        self.description, self.strict = description, strict
        self.where = f"{description.source}: " if description.source else ""
        self.warnings: list[str] = []

    def error(self, message: str, element: str) -> ModelError:
        return ModelError(self.where + message, file=self.description.source, element=element)

    def fault(self, item: Link | Joint | NamedFrame, message: str) -> ModelError:
        """The error of a link, joint or frame; the message continues after its name."""
        return self.error(f"{_WHAT[type(item)]} {item.name!r} {message}", item.name)

    def doubt(self, message: str, element: str) -> None:
        if self.strict:
            raise self.error(message, element)
        self.warnings.append(one_line(self.where + message))

    def checked(self) -> Description:
        d = self.description
        for note in d.notes:
            self.doubt(note, "")
        if not d.links:
            raise self.error("a robot has at least one link; found none: add one.", "robot")
        for items in (d.links, d.joints, d.frames):
            self.unique(items)
        for link in d.links:
            self.link(link)
        joints = tuple(self.joint(joint) for joint in d.joints)
        self.tree(joints)
        if d.base in BASES:  # another base may be chosen in its place
            self.motors(d.base_joint(d.base))
        self.mimics({joint.name: joint for joint in joints})
        links = {link.name for link in d.links}
        taken = links | {joint.name for joint in d.joints} | {WORLD}
        for frame in d.frames:
            if frame.name in taken:
                raise self.fault(frame, "has the name of a link, of a joint or of the world: rename it.")
            if frame.link not in links:
                raise self.fault(frame, f"is on the link {frame.link!r}, which does not exist.")
            self.placement(frame.origin, f"frame {frame.name!r}")
        self.beside_the_tree(d)
        if not isinstance(d.gravity, FieldGravity) and not all(in_range(g) for g in d.gravity):
            raise self.error(f"gravity must be three finite numbers up to {LARGEST:g}; found {d.gravity}.", "gravity")
        return d.with_changes(joints=joints)

    def unique(self, items: Sequence[Link | Joint | NamedFrame]) -> None:
        seen: set[str] = set()
        for item in items:
            what = _WHAT[type(item)]
            if not item.name:
                raise self.error(f"a {what} has no name: give every {what} a name.", what)
            if item.name in seen:
                raise self.error(f"two {what}s are named {item.name!r}: rename one of them.", item.name)
            seen.add(item.name)

    # --- links ------------------------------------------------------------------------------------------------------

    def link(self, link: Link) -> None:
        inertia = link.inertia
        numbers = (inertia.mass, *inertia.com, *(c for row in inertia.tensor for c in row))
        if not all(in_range(n) for n in numbers):
            raise self.fault(link, f"has a mass or inertia {_BEYOND}: {inertia}.")
        tensor = inertia.tensor
        if any(abs(tensor[i][j] - tensor[j][i]) > 1e-9 * (1.0 + abs(tensor[i][j])) for i in range(3) for j in range(i)):
            raise self.fault(link, "has an inertia tensor that is not symmetric: give I_xy = I_yx and so on.")
        if inertia.mass < 0.0:
            raise self.fault(link, f"has the negative mass {inertia.mass} kg: correct it.")
        for shape in (*link.visuals, *link.collisions):
            self.shape(shape, link)
        for problem in inertia.problems():
            self.doubt(f"link {link.name!r}: {problem}; check the inertia in its source.", link.name)

    def shape(self, shape: Shape, link: Link) -> None:
        what = f"the {shape.kind} of link {link.name!r}"
        if shape.kind not in SHAPES:
            raise self.fault(link, f"has the unknown shape {shape.kind!r}: known are {', '.join(SHAPES)}.")
        if len(shape.size) != SHAPES[shape.kind] and (shape.kind != "mesh" or shape.size):
            expected = f"{SHAPES[shape.kind]} numbers; found {len(shape.size)}"
            raise self.error(f"{what} has a size of {expected}: correct it.", link.name)
        if not all(in_range(c) for c in (*shape.size, *(shape.color or ()))):
            raise self.error(f"{what} has a size or a color {_BEYOND}: correct it.", link.name)
        self.placement(shape.origin, what)

    def beside_the_tree(self, d: Description) -> None:
        """Postures, groups and pairs refer to what there is."""
        joints = {joint.name: joint for joint in (*d.joints, d.base_joint("fixed"))}
        links = {link.name for link in d.links}
        for named in (d.postures, d.groups):
            names = [one.name for one in named]
            if twice := next((name for name in names if names.count(name) > 1), None):
                raise self.error(f"two postures or groups are named {twice!r}: rename one.", twice)
        for posture in d.postures:
            what = f"the posture {posture.name!r}"
            if len(posture.joints) != len(posture.values):
                counts = f"{len(posture.joints)} joints and {len(posture.values)} values"
                raise self.error(f"{what} has {counts}: give the coordinates of each joint.", posture.name)
            for name, values in zip(posture.joints, posture.values, strict=True):
                if name not in joints:
                    raise self.error(f"{what} has a missing joint: {unknown_name('joint', name, joints)}", posture.name)
                size = KINDS[joints[name].kind].nq
                if not all(in_range(c) for c in values) or (size and name != ROOT_JOINT and len(values) != size):
                    fault = f"gives joint {name!r} the coordinates {values}: give {size} finite numbers."
                    raise self.error(f"{what} {fault}", posture.name)
        for group in d.groups:
            for kind, given, known in (("joint", group.joints, set(joints)), ("link", group.links, links)):
                if lost := next((name for name in given if name not in known), None):
                    unknown = unknown_name(kind, lost, known)
                    raise self.error(f"the group {group.name!r} has a missing {kind}: {unknown}", group.name)
        for link in (link for pair in d.disabled_pairs for link in pair if link not in links | {WORLD}):
            raise self.error(f"a pair that may touch has a missing link: {unknown_name('link', link, links)}", link)

    # --- joints -----------------------------------------------------------------------------------------------------

    def joint(self, joint: Joint) -> Joint:
        if joint.kind not in KINDS:
            raise self.fault(joint, f"has the unknown kind {joint.kind!r}: known are {', '.join(KINDS)}.")
        for origin in (joint.origin, joint.child_origin):
            self.placement(origin, f"joint {joint.name!r}")
        for field in PER_AXIS:
            self.numbers(joint, field)
        if not in_range(joint.pitch):
            raise self.fault(joint, f"has a pitch, {joint.pitch} m/rad, {_BEYOND}.")
        low, high = axis_values(joint, "lower"), axis_values(joint, "upper")
        if any(a > b for a, b in zip(low, high, strict=True)):
            raise self.fault(joint, f"has a lower limit above the upper one, {low} > {high}: correct one.")
        if math.inf in low or -math.inf in high:
            raise self.fault(joint, f"has limits that no value satisfies, {low} and {high}: correct them.")
        self.motors(joint)
        return self.motion(joint)

    def motors(self, joint: Joint) -> None:
        given, count = joint.motors, KINDS[joint.kind].nv
        if given is None:
            return
        if not isinstance(given, tuple) or not all(motor is None or isinstance(motor, Motor) for motor in given):
            raise self.fault(joint, f"has the motors {given!r}: give a tuple with a Motor or None per axis.")
        if len(given) not in (0, count):
            raise self.fault(joint, f"has {len(given)} motors: give one Motor or None per axis, {count} in all.")
        for what in LIMITS[2:]:
            for motor, limit in zip(given, axis_values(joint, what), strict=False):
                if motor is not None and math.inf > getattr(motor, what) > limit:
                    excess = f"a motor with the {what} {getattr(motor, what):g}, above its own limit {limit:g}"
                    raise self.fault(joint, f"has {excess}: give the motor at most that, or raise the limit.")

    def motion(self, joint: Joint) -> Joint:
        """The joint with axes of length one; its kind says what is wrong with its parameters."""
        kind = KINDS[joint.kind]
        if unknown := unknown_parameters(kind):
            field = f"the field {unknown[0]!r}, which joints do not have: make it a ClassVar"
            raise self.fault(joint, f"is {joint.kind}, a kind with {field}.")
        axes = [field.name for field in fields(kind) if field.name in ("axis", "second_axis")]
        units: dict[str, Any] = {axis: self.axis(getattr(joint, axis), joint) for axis in axes}
        joint = replace(joint, **units)
        motion = joint_kind(joint)
        own = not kind.__module__.startswith("dqdyn.")
        if problem := motion.problem() or (contradiction(motion) if own else None):
            raise self.error(f"the {joint.kind} joint {joint.name!r} {problem}.", joint.name)
        return joint

    def axis(self, axis: Vector, joint: Joint) -> Vector:
        if len(axis) != 3 or not all(in_range(c) for c in axis):
            raise self.fault(joint, f"has the axis {axis}: give three finite numbers.")
        size = math.sqrt(sum(c * c for c in axis))
        if size < 1e-9:
            raise self.fault(joint, "has a zero axis: give a direction of length one.")
        if abs(size - 1.0) > AXIS_TOLERANCE:
            raise self.fault(joint, f"has the axis {axis} of length {size:.6g}: divide it by its length.")
        if abs(size - 1.0) > 1e-6:
            doubt = f"joint {joint.name!r} has the axis {axis} of length {size:.8g}; it is used with length one."
            self.doubt(doubt, joint.name)
        if abs(size - 1.0) < 1e-15:  # rounding alone: a checked description that is checked again must not change
            return axis
        x, y, z = (c / size for c in axis)
        return x, y, z

    def placement(self, x: DQ, what: str) -> None:
        if not all(is_numeric(c) and in_range(c) for c in x.components) or not is_unit(x):
            raise self.error(f"{what} is placed at {x!r}, which is not a pose: give a unit dual quaternion.", what)

    def numbers(self, joint: Joint, field: str) -> None:
        value, size = getattr(joint, field), axis_count(joint, field)
        if isinstance(value, (tuple, list)) and len(value) != size:
            raise self.fault(joint, f"needs {size} values of {field}; found {len(value)}.")
        try:
            values = axis_values(joint, field)
        except (TypeError, ValueError, OverflowError):
            raise self.fault(joint, f"has the {field} {value!r}: give numbers.") from None
        if any(math.isnan(v) for v in values):
            raise self.fault(joint, f"has NaN for {field}.")
        if field in (*DYNAMICS, "rest") and not all(in_range(v) for v in values):
            beyond = f"infinite or above {LARGEST:g}: give a smaller one, or a joint that is fixed."
            raise self.fault(joint, f"has the {field} {value}, which is {beyond}")
        if field == "stiffness" and any(values) and KINDS[joint.kind].quaternion is not None:
            remedy = "springs are of joints whose coordinates are angles and lengths"
            raise self.fault(joint, f"is {joint.kind} and has a stiffness, but {remedy}: set it to 0.")
        if field not in ("lower", "upper", "rest") and any(v < 0.0 for v in values):
            if field in DYNAMICS:
                raise self.fault(joint, f"has the negative {field} {value}: correct its sign.")
            self.doubt(f"joint {joint.name!r} has the negative {field} limit {value}; correct its sign.", joint.name)

    # --- the tree ---------------------------------------------------------------------------------------------------

    def tree(self, joints: tuple[Joint, ...]) -> None:
        links = [link.name for link in self.description.links]
        known, parents = set(links), dict[str, Joint]()
        for joint in joints:
            for end, name in (("parent", joint.parent), ("child", joint.child)):
                if name not in known:
                    raise self.fault(joint, f"has a missing {end}: {unknown_name('link', name, links)}")
            if joint.parent == joint.child:
                raise self.fault(joint, f"joins the link {joint.child!r} to itself: choose another.")
            if joint.child in parents:
                both = f"{parents[joint.child].name!r} and {joint.name!r}"
                problem = f"is the child of two joints, {both}: a tree has one; close loops by constraints."
                raise self.error(f"link {joint.child!r} {problem}", joint.child)
            parents[joint.child] = joint
        roots = [name for name in links if name not in parents]
        if not roots:
            raise self.error("every link is the child of a joint, so the joints form a cycle: free one link.", links[0])
        if len(roots) > 1:
            shown = ", ".join(map(repr, roots[:4]))
            raise self.error(f"there are {len(roots)} roots, {shown}: join all links into one tree.", roots[1])
        reached, on_link = [roots[0]], self.description.joints_by_parent()
        for name in reached:  # grows while it is walked
            reached.extend(joint.child for joint in on_link.get(name, ()))
        if len(reached) < len(links):
            lost = next(name for name in links if name not in set(reached))
            problem = f"is part of a cycle and not joined to the root {roots[0]!r}: join it."
            raise self.error(f"link {lost!r} {problem}", lost)

    def mimics(self, joints: dict[str, Joint]) -> None:
        for joint in joints.values():
            seen, current = {joint.name}, joint
            while current.mimic is not None:
                target = joints.get(current.mimic.joint)
                if target is None:
                    close = unknown_name("joint", current.mimic.joint, joints)
                    raise self.fault(current, f"mimics a missing joint: {close}")
                if target.name in seen:
                    raise self.fault(joint, f"mimics itself through {target.name!r}: free one.")
                for end in (current, target):
                    if KINDS[end.kind].nq != 1:
                        only = "only joints with one coordinate can"
                        raise self.fault(current, f"mimics {target.name!r}, but {end.name!r} is {end.kind}: {only}.")
                if not all(in_range(c) for c in (current.mimic.ratio, current.mimic.offset)):
                    raise self.fault(current, f"mimics with a number {_BEYOND}.")
                seen.add(target.name)
                current = target
