"""From a checked description to a model: fold fixed joints, number the rest depth-first."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.errors import ModelWarning, unknown_name
from dqdyn.model.check import Checker
from dqdyn.model.description import BASES, PER_AXIS, ROOT_JOINT, WORLD, Description, Joint
from dqdyn.model.inertia import Inertia
from dqdyn.model.joints import joint_kind
from dqdyn.model.model import WORLD_BODY, WORLD_FRAME, Body, Frame, Master, Model, TreeJoint
from dqdyn.model.motors import AxisMotors, Motor
from dqdyn.model.names import fresh_name, listed
from dqdyn.model.per_axis import axis_motors, axis_values


def build(
    description: Description, *, base: str | None = None, mimic: bool = True, strict: bool = False, quiet: bool = False
) -> Model:
    """The model of a description.

    ``base`` overrides the description's: "fixed", "free", "planar" or "differential". ``mimic=False`` gives mimic
    joints a coordinate of their own. ``strict=True`` turns warnings into errors; ``quiet=True`` only records them.
    """
    base = description.base if base is None else base
    if base not in BASES:
        raise unknown_name("base", base, BASES)
    checker = Checker(description, strict)
    if base != "fixed" and any(joint.name == ROOT_JOINT for joint in description.joints):
        raise checker.error(f"a joint is named {ROOT_JOINT!r}, the name of the {base} base: rename it.", ROOT_JOINT)
    described = checker.checked()
    if (loose := free_root(described)) and base != "fixed":
        twice = f"the joint {loose!r} lets the robot move freely already, and a {base} base would move it twice"
        raise checker.error(f"{twice}: leave base out, or say base='fixed'.", loose)
    model = _Builder(described, base, mimic).model(checker)
    if not quiet:
        for text in model.warnings:
            warnings.warn(text, ModelWarning, stacklevel=4)
    return model


def free_root(description: Description) -> str | None:
    """The free joint of a robot on the world: on the root link or on what is fixed to it, none of which has mass."""
    masses = {link.name: link.inertia for link in description.links}
    still, on_link, found = [description.root], description.joints_by_parent(), list[str]()
    for link in still:  # grows while it is walked
        if not masses[link].is_zero:
            return None
        joints = on_link.get(link, [])
        found += [joint.name for joint in joints if joint.kind == "free"]
        still += [joint.child for joint in joints if joint.kind == "fixed"]
    return found[0] if found else None


class _Builder:
    """Walks the checked tree depth-first, in the order of the file, and numbers what moves."""

    def __init__(self, description: Description, base: str, mimic: bool) -> None:
        self.description, self.base, self.mimic = description, base, mimic
        self.links = {link.name: link for link in description.links}
        self.moving: list[tuple[Joint, int, DQ]] = []  # joint, parent body, placement in the parent body
        self.inertias: list[Inertia] = []
        self.fixed_inertia = Inertia()
        self.frames = {WORLD: WORLD_FRAME}
        self.joint_frames: list[Frame] = []

    def model(self, checker: Checker) -> Model:
        self.walk()
        self.name_joint_frames(checker)
        for named in self.description.frames:
            on = self.frames[named.link]
            self.frames[named.name] = Frame(named.name, on.body, on.placement * named.origin, "user")
        joints, nq, nv = self.numbered()
        moving = zip(self.moving, self.inertias, strict=True)
        bodies = tuple(Body(joint.child, inertia) for (joint, _, _), inertia in moving)
        d, doubts = self.description, tuple(checker.warnings)
        return Model(
            d.name, nq, nv, joints, bodies, self.frames, d.gravity, self.fixed_inertia, d, self.base, self.mimic, doubts
        )

    def name_joint_frames(self, checker: Checker) -> None:
        """Add the frames of joints. Links go first: where one has the name, the frame of the joint gets another."""
        world, renamed = self.frames[WORLD], {}
        if (world.body, world.placement) != (WORLD_BODY, IDENTITY):
            checker.doubt(f"the frame {WORLD!r} is that of the link, which is not the world; rename the link.", WORLD)
        used = {WORLD, *self.links}
        used |= {named.name for part in (self.description.joints, self.description.frames) for named in part}
        for frame in self.joint_frames:
            taken = self.frames.get(frame.name, frame)
            name = frame.name
            if (taken.body, taken.placement) != (frame.body, frame.placement):
                name = renamed[frame.name] = fresh_name(f"{frame.name}_joint", used)
            self.frames.setdefault(name, replace(frame, name=name))
        if renamed:
            doubt = f"the frames of joints named like a link or the world get other names: {listed(renamed.values())}."
            checker.doubt(doubt, next(iter(renamed)))

    def walk(self) -> None:
        children = self.description.joints_by_parent()
        self.base_joint = self.description.base_joint(self.base)
        pending = [(self.base_joint, WORLD_BODY, IDENTITY)]
        while pending:
            joint, parent, placement = pending.pop()
            body, at = self.attach(joint, parent, placement)
            for child in reversed(children.get(joint.child, [])):
                pending.append((child, body, at * child.origin))

    def attach(self, joint: Joint, parent: int, placement: DQ) -> tuple[int, DQ]:
        """Add a joint and its child link; the body that carries the link and the link's placement on it."""
        if joint.kind == "fixed":
            body, at = parent, placement
        else:
            self.moving.append((joint, parent, placement))
            self.inertias.append(Inertia())
            body, at = len(self.moving) - 1, IDENTITY
        if joint is not self.base_joint or joint.kind != "fixed":  # a fixed base adds no joint
            self.joint_frames.append(Frame(joint.name, body, at, "joint"))
        at = at * joint.child_origin if joint.child_origin != IDENTITY else at
        self.frames[joint.child] = Frame(joint.child, body, at)
        inertia = self.links[joint.child].inertia
        if not inertia.is_zero:
            inertia = inertia if at == IDENTITY else inertia.moved_by(at)
            if body == WORLD_BODY:
                self.fixed_inertia = self.fixed_inertia + inertia
            else:
                self.inertias[body] = self.inertias[body] + inertia
        return body, at

    def numbered(self) -> tuple[tuple[TreeJoint, ...], int, int]:
        masters = self.masters() if self.mimic else {}
        nq = nv = 0
        slices: list[tuple[slice, slice]] = []
        for i, (joint, _, _) in enumerate(self.moving):
            kind = joint_kind(joint)
            own_q, own_v = (0, 0) if i in masters else (kind.nq, kind.nv)
            slices.append((slice(nq, nq + own_q), slice(nv, nv + own_v)))
            nq, nv = nq + own_q, nv + own_v
        joints = []
        followers = self.follower_motors(masters)
        for i, (joint, parent, placement) in enumerate(self.moving):
            kind, master = joint_kind(joint), masters.get(i)
            of_axes: dict[str, Any] = {field: axis_values(joint, field) for field in PER_AXIS}
            own = () if master else axis_motors(joint)
            of_axes["motors"] = own if any(own) else followers.get(i, own)
            q, v = slices[master.joint if master else i]
            joints.append(TreeJoint(i, joint.name, kind, parent, placement, q, v, **of_axes, master=master))
        return tuple(joints), nq, nv

    def follower_motors(self, masters: dict[int, Master]) -> dict[int, AxisMotors]:
        """What drives a joint through one that mimics it, by the index of the driven joint, as it acts there."""
        result: dict[int, AxisMotors] = {}
        for i, master in masters.items():
            joint = self.moving[i][0]
            if not joint.motors or master.ratio == 0.0:  # only where it is said: a follower needs no motor
                continue
            (motor,) = axis_motors(joint)
            if motor is not None and master.joint not in result:
                effort, velocity = motor.effort * abs(master.ratio), motor.velocity / abs(master.ratio)
                result[master.joint] = (Motor(effort, velocity, motor.gear * master.ratio, motor.name),)
        return result

    def masters(self) -> dict[int, Master]:
        """Mimic joints by index, each traced to a joint that has a coordinate."""
        index = {joint.name: i for i, (joint, _, _) in enumerate(self.moving)}
        result = {}
        for i, (joint, _, _) in enumerate(self.moving):
            ratio, offset, current = 1.0, 0.0, joint
            while current.mimic is not None:
                offset, ratio = offset + ratio * current.mimic.offset, ratio * current.mimic.ratio
                current = self.moving[index[current.mimic.joint]][0]
            if current is not joint:
                result[i] = Master(index[current.name], ratio, offset)
        return result
