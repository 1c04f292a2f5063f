"""URDF text of a model.

What URDF cannot hold becomes an equivalent chain: cylindrical and universal joints, planar joints with limits,
damping or friction, helical joints (the displacement mimics the angle), and spherical joints (yaw, pitch, roll, which
are singular at a pitch of ±90°). Names of the parts are given in :class:`dqdyn.formats.joint_rewriter.Rewriter`. A
child origin and an extra frame become a fixed joint, a capsule becomes a cylinder with two balls. A free or planar base
is written as the joint ``root_joint`` on a link ``world``: load the file with ``base="fixed"`` to get the same model
back. Where a robot says which joints have motors, these get a ``<transmission>``. Gravity, armature and the rest of
what is left out is said in one :class:`~dqdyn.errors.ModelWarning`. A differential base is refused.
"""

from __future__ import annotations

import math
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.formats.joint_rewriter import Rewriter, data_of, is_driven_alike, limit_of, loops_of, with_base_joint
from dqdyn.formats.losses import Written, text_of
from dqdyn.formats.urdf.shapes import SIZES
from dqdyn.formats.urdf.transmissions import write_transmission
from dqdyn.formats.xml_text import document, element, name_text, numbers, roll_pitch_yaw, xyz
from dqdyn.model.description import GRAVITY, LIMITS, PER_AXIS, Description, Joint, Link, Shape, placement
from dqdyn.model.inertia import Inertia
from dqdyn.model.joints import joint_kind
from dqdyn.model.model import Model
from dqdyn.model.per_axis import axis_motors, axis_values

UNLIMITED = sys.float_info.max
"""Stands for "no limit" where URDF demands a number; "inf" is refused by the parser that ROS uses."""

_TYPES = {"fixed": "fixed", "revolute": "revolute", "prismatic": "prismatic", "planar": "planar", "free": "floating"}


def write_urdf(model: Model) -> str:
    """The model as URDF; see the module for what becomes of what URDF does not know."""
    return text_of(compose_urdf, model)


def compose_urdf(model: Model) -> Written:
    """The same, with a list of what URDF cannot hold."""
    writer = _Writer(with_base_joint(model, "URDF"))
    text = writer.text()
    loops, constraints = loops_of(model)
    constraints += [loop.name for loop in loops]
    return Written(text, "URDF", tuple(constraints), tuple(writer.left_out + _beside_the_tree(model.description)))


def _beside_the_tree(description: Description) -> list[str]:
    lost = [f"the posture {posture.name!r}" for posture in description.postures]
    lost += [f"the group {group.name!r}" for group in description.groups]
    return lost + [f"that {a!r} and {b!r} may touch" for a, b in description.disabled_pairs]


class _Writer:
    def __init__(self, description: Description) -> None:
        self.left_out: list[str] = []
        if description.gravity != GRAVITY:
            self.left_out.append(f"gravity {description.gravity}")
        self.description = self.plain(description)

    def plain(self, description: Description) -> Description:
        """The same robot with URDF's joints only."""
        rewriter = Rewriter(description, "URDF", couples=True)
        for joint in description.joints:
            rewriter.add(joint, _is_native)
            rewriter.settle_child()
            self.note_left_out(joint)
        plain = rewriter.result()
        links, joints = list(plain.links), list(plain.joints)
        for frame in plain.frames:
            links.append(Link(frame.name))
            name = rewriter.joint_names.new(f"{frame.name}_frame")
            joints.append(Joint(name, "fixed", frame.link, frame.name, frame.origin))
        return plain.with_changes(links=tuple(links), joints=tuple(joints), frames=())

    def note_left_out(self, joint: Joint) -> None:
        data = data_of(joint)
        if joint.kind == "free":
            # A floating joint takes only one damping and one friction value.
            uniform = {name for name in ("damping", "friction") if len(set(axis_values(joint, name))) == 1}
            lost = data - uniform
        else:
            chain = () if _is_native(joint) else joint_kind(joint).expansion()
            lost = data if chain and all(part.v is None for part in chain) else data & {"armature", "stiffness"}
        self.left_out += [f"{name} of the {joint.kind} joint {joint.name!r}" for name in PER_AXIS if name in lost]
        if not is_driven_alike(joint) and joint.kind in ("free", "spherical"):
            self.left_out.append(f"which motors the axes of the {joint.kind} joint {joint.name!r} have")
        elif joint.kind == "free" and any(m and min(m.effort, m.velocity) < math.inf for m in axis_motors(joint)):
            self.left_out.append(f"the limits of the motors of the free joint {joint.name!r}")
        for name in LIMITS[2:]:
            motors = zip(axis_motors(joint), axis_values(joint, name), strict=True)
            if any(motor and getattr(motor, name) < limit < math.inf for motor, limit in motors):
                self.left_out.append(f"the {name} limit of the joint {joint.name!r}, above that of its motor")
            most = [*axis_values(joint, name), *(getattr(motor, name) for motor in axis_motors(joint) if motor)]
            if 0.0 in most:
                self.left_out.append(f"the {name} 0 of the joint {joint.name!r}, which stands for no limit in URDF")

    def text(self) -> str:
        robot = ET.Element("robot", {"name": name_text(self.description.name, "URDF")})
        for link in self.description.links:
            self.link(robot, link)
        for joint in self.description.joints:
            self.joint(robot, joint)
        self.transmissions(robot)
        return document(robot)

    def transmissions(self, robot: ET.Element) -> None:
        """One per driven joint, unless all joints have the motors that they have without any."""
        moving = [joint for joint in self.description.joints if joint.kind != "fixed" and joint.mimic is None]
        if all(joint.motors is None for joint in moving):
            return
        driven = {joint.name: motor for joint in moving if (motor := next(filter(None, axis_motors(joint)), None))}
        for joint in moving:
            if joint.name in driven:
                write_transmission(robot, joint, driven[joint.name])
        if not driven:
            self.left_out.append("that no joint has a motor")

    def link(self, robot: ET.Element, link: Link) -> None:
        item = element(robot, "link", name=name_text(link.name, "URDF"))
        if not link.inertia.is_zero:
            _inertial(item, link.inertia)
        for tag, shapes in (("visual", link.visuals), ("collision", link.collisions)):
            for shape in shapes:
                for simple in self.simple(shape, link):
                    name = name_text(simple.name, "URDF") if simple.name else None
                    _shape(element(item, tag, name=name), simple, with_color=tag == "visual")

    def simple(self, shape: Shape, link: Link) -> list[Shape]:
        if shape.kind in ("box", "sphere", "cylinder") or (shape.kind == "mesh" and _file(shape)):
            return [shape]
        if shape.kind == "capsule":
            radius, length = shape.size
            ends = (shape.origin * placement((0.0, 0.0, sign * length / 2.0)) for sign in (-1.0, 1.0))
            balls = [replace(shape, kind="sphere", size=(radius,), origin=end) for end in ends]
            return [replace(shape, kind="cylinder"), *balls]
        self.left_out.append(f"a shape of kind {shape.kind!r} on the link {link.name!r}")
        return []

    def joint(self, robot: ET.Element, joint: Joint) -> None:
        low, high, velocity, effort = (limit_of(joint, name) for name in LIMITS)
        for motor in filter(None, axis_motors(joint)[:1]):
            velocity, effort = (x if math.isfinite(x) else None for x in (motor.velocity, motor.effort))
        kind = _TYPES[joint.kind]
        if kind == "revolute" and low is None and high is None:
            kind = "continuous"
        item = element(robot, "joint", name=name_text(joint.name, "URDF"), type=kind)
        _origin(item, joint.origin)
        element(item, "parent", link=name_text(joint.parent, "URDF"))
        element(item, "child", link=name_text(joint.child, "URDF"))
        if kind not in ("fixed", "floating"):
            element(item, "axis", xyz=numbers(joint.axis))
        rates = {"effort": _or(effort, UNLIMITED), "velocity": _or(velocity, UNLIMITED)}
        if kind in ("revolute", "prismatic"):
            element(item, "limit", lower=_or(low, -UNLIMITED), upper=_or(high, UNLIMITED), **rates)
        elif kind == "continuous" and not (velocity is None and effort is None):
            element(item, "limit", **rates)
        dynamics = {name: set(axis_values(joint, name)) for name in ("damping", "friction")}
        held = {name: numbers(values) for name, values in dynamics.items() if len(values) == 1}
        if any(any(dynamics[name]) for name in held):
            element(item, "dynamics", **held)
        if joint.mimic is not None:
            ratio, offset = numbers(joint.mimic.ratio), numbers(joint.mimic.offset)
            element(item, "mimic", joint=name_text(joint.mimic.joint, "URDF"), multiplier=ratio, offset=offset)


def _is_native(joint: Joint) -> bool:
    return joint.kind in _TYPES and not (joint.kind == "planar" and (data_of(joint) or not is_driven_alike(joint)))


def _or(value: float | None, default: float) -> str:
    return numbers(default if value is None else value)


def _origin(item: ET.Element, x: DQ) -> None:
    if x != IDENTITY:
        element(item, "origin", xyz=numbers(xyz(x)), rpy=numbers(roll_pitch_yaw(x)))


def _inertial(item: ET.Element, inertia: Inertia) -> None:
    inertial = element(item, "inertial")
    element(inertial, "origin", xyz=numbers(inertia.com), rpy="0 0 0")
    element(inertial, "mass", value=numbers(inertia.mass))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.tensor
    tensor = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
    element(inertial, "inertia", **{name: numbers(value) for name, value in tensor.items()})


def _file(shape: Shape) -> str | None:
    return shape.mesh or (None if shape.path is None else str(shape.path))


def _shape(item: ET.Element, shape: Shape, with_color: bool) -> None:
    _origin(item, shape.origin)
    geometry = element(item, "geometry")
    if shape.kind == "box":
        element(geometry, "box", size=numbers(shape.size))
    elif shape.kind in SIZES:
        sizes = zip(SIZES[shape.kind], shape.size, strict=True)
        element(geometry, shape.kind, **{name: numbers(value) for name, value in sizes})
    else:
        scale = None if shape.size in ((), (1.0, 1.0, 1.0)) else numbers(shape.size)
        element(geometry, "mesh", filename=name_text(_file(shape) or "", "URDF"), scale=scale)
    if with_color and not (shape.color is None and shape.material is None):
        material = element(item, "material", name=name_text(shape.material or "", "URDF"))
        if shape.color is not None:
            element(material, "color", rgba=numbers(shape.color))
