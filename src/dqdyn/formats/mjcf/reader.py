"""MJCF, the robot description of MuJoCo, read through the package ``mujoco``.

Every body becomes a link and every site a frame; the world is the root link ``world``, unless it carries nothing but
one body welded to its origin, which is the root then. Coordinates are MuJoCo's: ``ref`` is taken into account, and a
free joint holds the absolute pose (MuJoCo's order differs, see ``Robot.to_mujoco``). A body with several joints
becomes a chain through links without mass, named ``<body>@<joint>``; a body without joints has the fixed joint
``<body>_fixed``. What has no name in the file is called ``body<i>``, ``joint<i>`` or ``site<i>`` with MuJoCo's
number. A site named like a link or joint gets ``_site`` appended. Actuators say which joints have motors, see
:mod:`dqdyn.formats.mjcf.actuators`, and give effort limits where all of a joint are limited evenly. Equality
constraints become mimic joints and constraints, see :mod:`dqdyn.formats.mjcf.equalities`, and keyframes named postures.
Cameras are frames too, and so is what a sensor with a name is on. ``<exclude>`` disables a pair of links. What else
acts on the robot (tendons, fluids, …) is left out and noted; ``losses`` of the description has all that is left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.poses import rotation_matrix, translator
from dqdyn.algebra.quaternion import ZERO, pure
from dqdyn.errors import LoadError, ModelError
from dqdyn.formats.mjcf.actuators import effort_limits, kept_motors, read_motors
from dqdyn.formats.mjcf.equalities import SITE, EqualityReader, world_is_bound
from dqdyn.formats.mjcf.extras import ignored, left_out, sentences
from dqdyn.formats.mjcf.keyframes import read_postures
from dqdyn.formats.mjcf.mujoco_compiler import Compiled, compile_mjcf
from dqdyn.formats.mjcf.sensors import measured_frames
from dqdyn.formats.mjcf.shapes import SIZES, GeomReader
from dqdyn.model.description import DYNAMICS, PER_AXIS, WORLD, Description, Group, Joint, Link, NamedFrame, placement
from dqdyn.model.inertia import Inertia, as_tensor, as_vector
from dqdyn.model.joints import KINDS
from dqdyn.model.joints.axis_joint import turn
from dqdyn.model.layouts import MUJOCO_TYPES
from dqdyn.model.motors import AxisMotors
from dqdyn.model.names import fresh_name, listed

CUSTOM = "dqdyn"
"""First word of the texts in ``<custom>`` in which :mod:`dqdyn.formats.mjcf.writer` keeps what MJCF cannot hold."""


def read_mjcf(source: str | Path) -> Description:
    """The robot in an MJCF file, or in MJCF text (any string with ``<`` in it).

    Mesh files may be missing where no mass is computed from them.
    """
    return _Reader(compile_mjcf(source)).description()


def weld_name(body: str) -> str:
    """What a fixed joint is called, for MJCF has no name for it."""
    return f"{body}_fixed"


class _Reader:
    def __init__(self, compiled: Compiled) -> None:
        import mujoco

        self.compiled, self.model = compiled, compiled.model
        m = self.model
        self.kinds = {number: kind for kind, number in MUJOCO_TYPES.items()}
        shapes = {int(getattr(mujoco.mjtGeom, f"mjGEOM_{kind.upper()}")): kind for kind in (*SIZES, "mesh")}
        self.geoms = GeomReader(compiled, shapes)
        self.no_gravity = bool(m.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY))
        self.bodies = _names([m.body(i).name for i in range(m.nbody)], "body")
        self.joints = _names([m.joint(i).name for i in range(m.njnt)], "joint")
        self.used = set(self.joints)
        self.efforts = effort_limits(mujoco, m)
        self.motors, self.lost = read_motors(mujoco, m, self.joints)
        self.notes = list(compiled.notes)
        self.mujoco = mujoco

    def description(self) -> Description:
        m = self.model
        root = 1 if self.world_is_empty() else 0
        links: list[Link] = []
        joints: list[Joint] = []
        for body in range(root, m.nbody):
            between = self.between(body) if body > root else []
            links += [Link(joint.child) for joint in between[:-1]]
            links.append(self.link(body))
            joints += between
        taken = {link.name for link in links} | {joint.name for joint in joints} | {WORLD}
        sites, frames = self.frames(taken)
        taken |= {frame.name for frame in frames}
        equal = EqualityReader(m, self.bodies, self.joints, sites, frames).read(taken, self.compiled.texts)
        frames += [*equal.frames, *measured_frames(m, self.bodies, taken)]
        postures, of_keys = read_postures(m, self.joints, [self.kinds[int(kind)] for kind in m.jnt_type])
        lost = self.lost | equal.omissions() | left_out(self.mujoco, m, self.bodies, self.joints, self.geoms.lost)
        self.notes += [*equal.notes(), *sentences(lost, complete=False)]
        lost |= of_keys | ignored(self.mujoco, m, self.joints, self.compiled.texts)
        return Description(
            self.compiled.name or "robot",
            tuple(links),
            tuple(replace(joint, mimic=equal.mimics.get(joint.name)) for joint in joints),
            tuple(frames),
            gravity=(0.0, 0.0, 0.0) if self.no_gravity else as_vector(m.opt.gravity),
            source=self.compiled.file,
            notes=tuple(self.notes),
            loops=tuple(equal.loops),
            postures=postures,
            groups=self.groups(),
            disabled_pairs=tuple(self.excluded()),
            losses=tuple(sentences(lost, complete=True)),
        )

    def excluded(self) -> list[tuple[str, str]]:
        """Pairs of links whose contact <exclude> takes out; MuJoCo keeps both bodies in one number."""
        pairs = [divmod(int(signature), 1 << 16) for signature in self.model.exclude_signature]
        return [(self.bodies[a], self.bodies[b]) for a, b in pairs]

    def groups(self) -> tuple[Group, ...]:
        """Groups that the writer kept, for MJCF has none."""
        begin, result = f"{CUSTOM}:group:", []
        for key, text in self.compiled.texts.items():
            if key.startswith(begin):
                try:
                    parts = [tuple(str(name) for name in names) for names in json.loads(text)]
                    result.append(Group(key.removeprefix(begin), *parts))
                except (TypeError, ValueError):
                    file, problem = self.compiled.file, f"the text {key!r} in <custom> is not usable; found {text!r}."
                    raise LoadError(f"{file}: {problem}", file=file, element=key) from None
        return tuple(result)

    def world_is_empty(self) -> bool:
        """Whether the world carries nothing but one body, welded to its origin."""
        m = self.model
        if self.compiled.texts.get(f"{CUSTOM}:root") == WORLD:  # written from a robot that has a link of that name
            return False
        if world_is_bound(m):
            return False
        if m.nbody < 2 or m.body_geomnum[0] or np.count_nonzero(m.body_parentid[1:] == 0) != 1:
            return False
        at_origin = placement(m.body_pos[1], quaternion=m.body_quat[1]) == IDENTITY
        return bool(at_origin and m.body_jntnum[1] == 0 and m.body_mocapid[1] < 0 and 0 not in m.site_bodyid)

    def link(self, body: int) -> Link:
        m = self.model
        tensor = np.diag(m.body_inertia[body])
        turned = placement(quaternion=m.body_iquat[body])
        if turned != IDENTITY:
            r = rotation_matrix(turned)
            with np.errstate(over="ignore", invalid="ignore"):  # a tensor beyond all numbers is refused by its name
                tensor = r @ tensor @ r.T
                tensor = 0.5 * (tensor + tensor.T)
        mass = float(m.body_mass[body])
        inertia = Inertia(mass, as_vector(m.body_ipos[body]), as_tensor(tensor))
        visuals, collisions = self.geoms.shapes(body)
        return Link(self.bodies[body], Inertia() if inertia.is_zero else inertia, visuals, collisions)

    def between(self, body: int) -> list[Joint]:
        """The joints between a body and its parent, each but the last with a link of its own."""
        m = self.model
        name, parent = self.bodies[body], self.bodies[m.body_parentid[body]]
        origin = placement(m.body_pos[body], quaternion=m.body_quat[body])
        first, count = int(m.body_jntadr[body]), int(m.body_jntnum[body])
        if count == 0:
            weld = self.compiled.texts.get(f"{CUSTOM}:joint:{name}") or fresh_name(weld_name(name), self.used)
            return [Joint(weld, "fixed", parent, name, origin)]
        result = []
        for i in range(first, first + count):
            last, key = i == first + count - 1, self.joints[i]
            child = name if last else self.compiled.texts.get(f"{CUSTOM}:link:{key}", f"{name}@{key}")
            joint = self.joint(i, parent, child, origin)
            parent, origin = child, IDENTITY
            if not last and (place := self.kept(f"{CUSTOM}:place:{key}")):
                origin = DQ(list(place))
                joint = replace(joint, child_origin=joint.child_origin * origin.conj())
            result.append(joint)
        return result

    def joint(self, i: int, parent: str, child: str, origin: DQ) -> Joint:
        m = self.model
        kind, name = self.kinds[int(m.jnt_type[i])], self.joints[i]
        data: dict[str, Any] = {"effort": self.efforts.get(i)}
        if kind == "free":  # in MuJoCo the pose in the world
            origin = IDENTITY
        if kind in ("revolute", "prismatic"):
            data["axis"] = axis = as_vector(m.jnt_axis[i])
            if m.jnt_limited[i]:
                data["lower"], data["upper"] = (float(c) for c in m.jnt_range[i])
            ref = float(m.qpos0[m.jnt_qposadr[i]])
        at = pure(*(float(c) for c in m.jnt_pos[i]))
        if kind != "free" and at != ZERO:
            origin, data["child_origin"] = origin * translator(at), translator(-at)
        if kind in ("revolute", "prismatic") and ref != 0.0:  # MuJoCo moves the body by q − ref
            back = DQ.of(turn(axis, -ref)) if kind == "revolute" else translator(pure(*axis) * -ref)
            origin = origin * back
        dof = int(m.jnt_dofadr[i])  # MJCF has one number for all axes of a joint
        constants = zip(DYNAMICS, (m.dof_damping, m.dof_frictionloss, m.dof_armature), strict=False)
        data |= {field: float(values[dof]) for field, values in constants}
        if kind in ("revolute", "prismatic") and m.jnt_stiffness[i]:
            data |= {"stiffness": float(m.jnt_stiffness[i]), "rest": float(m.qpos_spring[m.jnt_qposadr[i]])}
        for field in PER_AXIS:
            if kept := self.kept(f"{CUSTOM}:{field}:{name}"):
                data[field] = kept[0] if len(set(kept)) == 1 else kept  # one number where all axes have the same
        return Joint(name, kind, parent, child, origin, motors=self.motors_of(i, data["effort"]), **data)

    def motors_of(self, i: int, limit: Any) -> AxisMotors | None:
        """The motors of a joint with this limit of effort; None where the file says nothing of motors."""
        key = f"{CUSTOM}:motors:{self.joints[i]}"
        if kept := self.kept(key):
            try:
                motors = kept_motors(kept, KINDS[self.kinds[int(self.model.jnt_type[i])]].nv)
            except ModelError as problem:
                file = self.compiled.file
                text = f"{file}: the text {key!r} in <custom> is not usable: {problem}"
                raise LoadError(text, file=file, element=key) from None
            actuator = (self.motors or {}).get(i)
            return motors if actuator is None else tuple(m and replace(m, name=actuator.name) for m in motors)
        if self.motors is None:
            return None
        motor = self.motors.get(i)
        if motor is not None and limit is not None and motor.effort > limit:
            motor = replace(motor, effort=math.inf)  # the joint bears less than its actuators give
        return () if motor is None else (motor,)

    def kept(self, key: str) -> tuple[float, ...]:
        """Numbers that the writer kept as a text; none where it did not."""
        text = self.compiled.texts.get(key, "")
        try:
            return tuple(float(number) for number in text.split())
        except ValueError:
            file, problem = self.compiled.file, f"the text {key!r} in <custom> must hold numbers; found {text!r}."
            raise LoadError(f"{file}: {problem}", file=file, element=key) from None

    def frames(self, taken: set[str]) -> tuple[list[str], list[NamedFrame]]:
        """The name of the frame of each site, and the frames that are new: some sites stand for links and joints."""
        m = self.model
        names = _names([m.site(i).name for i in range(m.nsite)], "site")
        used, renamed, result = taken | set(names), list[str](), list[NamedFrame]()
        for i, site in enumerate(names):
            name = site
            if name.startswith(SITE):
                names[i] = name.removeprefix(SITE)
                continue
            if name in taken:
                name = fresh_name(f"{site}_site", used)
                renamed.append(name)
            origin = placement(m.site_pos[i], quaternion=m.site_quat[i])
            result.append(NamedFrame(name, self.bodies[m.site_bodyid[i]], origin))
            names[i] = name
        if renamed:
            self.notes.append(f"sites with the name of a body or joint are renamed: {listed(renamed)}.")
        return names, result


def _names(names: Sequence[str], what: str) -> list[str]:
    """The names; unnamed elements are numbered."""
    used = set(names)
    return [name or fresh_name(f"{what}{i}", used) for i, name in enumerate(names)]
