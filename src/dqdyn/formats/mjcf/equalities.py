"""Equality constraints of MJCF: mimic joints, and loops that become constraints of the robot.

A linear constraint between two joints is a mimic joint where that is possible, else a coupling; ``connect`` is a point
closure and ``weld`` a pose closure, between sites or between bodies. MuJoCo keeps to all of them softly, we exactly.
A site named ``dqdyn:<frame>`` stands for a frame of a link or joint, which MJCF has no site for.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.formats.xml_text import element, name_text, numbers, xyz
from dqdyn.model.description import ROOT_JOINT, WORLD, Description, Joint, Loop, Mimic, NamedFrame, placement
from dqdyn.model.names import fresh_name, listed

SITE = "dqdyn:"
"""Begin of the names of sites that stand for frames of links and joints."""
COUPLING = "coupling"
"""The text ``dqdyn:coupling:<name>`` in <custom> says that an equality of joints is a constraint, not a mimic."""


@dataclass
class Equalities:
    """What the equality constraints of a file become."""

    mimics: dict[str, Mimic] = field(default_factory=dict)  # by the joint that follows
    loops: list[Loop] = field(default_factory=list)
    frames: list[NamedFrame] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def notes(self) -> list[str]:
        result = []
        if self.mimics:
            exactly = "joints mimic others exactly, where MuJoCo's equality constraints keep to it softly"
            result.append(f"{exactly}: {listed(self.mimics)}.")
        if self.loops:
            exactly = "constraints hold exactly, where MuJoCo's equality constraints keep to them softly"
            result.append(f"{exactly}: {listed(loop.name for loop in self.loops)}.")
        return result

    def omissions(self) -> dict[str, list[str]]:
        return {"equality constraints": self.lost} if self.lost else {}


def world_is_bound(m: Any) -> bool:
    """Whether a constraint between bodies holds one to the world, for whose points frames on it are needed."""
    import mujoco

    between_bodies = m.eq_objtype == int(mujoco.mjtObj.mjOBJ_BODY)
    return bool((between_bodies & ((m.eq_obj1id == 0) | (m.eq_obj2id == 0))).any())


class EqualityReader:
    """``bodies``, ``joints`` and ``sites`` are our names by MuJoCo's index; ``taken`` are those of all frames."""

    def __init__(
        self, m: Any, bodies: Sequence[str], joints: Sequence[str], sites: Sequence[str], frames: Sequence[NamedFrame]
    ) -> None:
        self.m, self.bodies, self.joints, self.sites = m, bodies, joints, sites
        self.known = {frame.name: frame for frame in frames}
        self.found = Equalities()

    def read(self, taken: set[str], texts: Mapping[str, str]) -> Equalities:
        import mujoco

        m, kinds = self.m, mujoco.mjtEq
        used: set[str] = set()
        for i in range(m.neq):
            given = m.equality(i).name
            name = fresh_name(given or f"equality{i}", used)
            used.add(name)
            kind = int(m.eq_type[i])
            if not m.eq_active0[i]:
                self.found.lost.append(f"{name} (not active)")
            elif kind == int(kinds.mjEQ_JOINT):
                self.joint(i, name, constrains=f"{SITE}{COUPLING}:{given}" in texts)
            elif kind in (int(kinds.mjEQ_CONNECT), int(kinds.mjEQ_WELD)):
                self.closure(i, name, taken, is_weld=kind == int(kinds.mjEQ_WELD), sites=_between_sites(mujoco, m, i))
            else:
                self.found.lost.append(name)
        self.drop_idle()
        return self.found

    def drop_idle(self) -> None:
        """Take out couplings of joints that follow the same one, which bind nothing or contradict it."""
        mimics = self.found.mimics
        idle = [loop for loop in self.found.loops if loop.kind == "coupling" and len(loop.between) == 2]
        idle = [loop for loop in idle if _master(mimics, loop.between[0]) == _master(mimics, loop.between[1])]
        self.found.loops = [loop for loop in self.found.loops if loop not in idle]
        self.found.lost += [loop.name for loop in idle]

    def joint(self, i: int, name: str, constrains: bool) -> None:
        m, mimics = self.m, self.found.mimics
        first, second = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
        offset, ratio, *higher = (float(c) for c in m.eq_data[i, :5])
        # MuJoCo couples the displacements from ref: q₁ − ref₁ = offset + ratio (q₂ − ref₂).
        ref1 = float(m.qpos0[m.jnt_qposadr[first]])
        if second < 0:  # one joint held at a place, whatever the other coefficients
            self.found.loops.append(Loop(name, "coupling", (self.joints[first],), (1.0, offset + ref1)))
            return
        if any(higher):
            self.found.lost.append(f"{name} (not linear)")
            return
        one, other = self.joints[first], self.joints[second]
        offset += ref1 - ratio * float(m.qpos0[m.jnt_qposadr[second]])
        if constrains or one in mimics or _master(mimics, other) == one:
            self.found.loops.append(Loop(name, "coupling", (one, other), (1.0, -ratio, offset)))
        else:
            mimics[one] = Mimic(other, ratio, offset)

    def closure(self, i: int, name: str, taken: set[str], is_weld: bool, sites: bool) -> None:
        m, data = self.m, self.m.eq_data[i]
        ends = (int(m.eq_obj1id[i]), int(m.eq_obj2id[i]))
        kind, values = ("pose", tuple(IDENTITY.components)) if is_weld else ("point", ())
        if sites:
            between = tuple(self.sites[end] for end in ends)
        elif is_weld:  # x₁ (data[3:10]) = x₂ (data[0:3])
            pose = placement(data[3:6], quaternion=data[6:10])
            between = (self.bodies[ends[0]], self.anchor(ends[1], data[0:3], f"{name}_2", taken))
            values = tuple(float(c) for c in pose.components)
        else:
            anchors = (data[0:3], data[3:6])
            numbered = zip(ends, anchors, (1, 2), strict=True)
            between = tuple(self.anchor(end, anchor, f"{name}_{k}", taken) for end, anchor, k in numbered)
        if between[0] == between[1]:
            self.found.lost.append(f"{name} (a frame bound to itself)")
            return
        self.found.loops.append(Loop(name, kind, between, values))

    def anchor(self, body: int, at: Any, wanted: str, taken: set[str]) -> str:
        """The frame at a point of a body: that of its link, or a new one."""
        if not any(at):
            return self.bodies[body]
        own, there = self.known.get(wanted), NamedFrame(wanted, self.bodies[body], placement(at))
        if own is not None and own.link == there.link and np.allclose(xyz(own.origin), at, rtol=1e-12, atol=1e-12):
            return wanted  # the frame that the writer put there
        name = fresh_name(wanted, taken)
        taken.add(name)
        self.found.frames.append(replace(there, name=name))
        return name


def _between_sites(mujoco: Any, m: Any, i: int) -> bool:
    return int(m.eq_objtype[i]) == int(mujoco.mjtObj.mjOBJ_SITE)


def _master(followers: dict[str, Mimic], joint: str) -> str:
    while joint in followers:
        joint = followers[joint].joint
    return joint


# --- writing ----------------------------------------------------------------------------------------------------------


def holdable(loops: Sequence[Loop]) -> tuple[list[Loop], list[str]]:
    """The loops that MJCF holds, and the names of the others."""
    held = [loop for loop in loops if loop.kind in ("point", "pose") or (loop.kind == "coupling" and _is_pair(loop))]
    return held, [loop.name for loop in loops if loop not in held]


def _is_pair(loop: Loop) -> bool:
    return len(loop.between) <= 2 and loop.values[0] != 0.0


def with_loop_sites(description: Description, loops: Sequence[Loop]) -> Description:
    """The description with a frame for every end of a loop that is none yet."""
    own = {frame.name for frame in description.frames}
    ends = dict.fromkeys(end for loop in loops if loop.kind != "coupling" for end in loop.between if end not in own)
    added = tuple(NamedFrame(SITE + end, *_place(description, end)) for end in ends)
    return description.with_changes(frames=(*description.frames, *added))


def _place(description: Description, frame: str) -> tuple[str, Any]:
    """The link that carries the frame of a link, of a joint or of the world, and where on it."""
    joints: dict[str, Joint] = {joint.name: joint for joint in description.joints}
    if frame in {link.name for link in description.links}:
        return frame, IDENTITY
    if frame in joints:
        return joints[frame].child, joints[frame].child_origin.conj()
    if frame.endswith("_joint") and frame.removesuffix("_joint") in joints:
        return _place(description.with_changes(links=()), frame.removesuffix("_joint"))
    assert frame in (WORLD, ROOT_JOINT), frame  # on a fixed base the root link is where the world is
    return description.root, IDENTITY


def write_loops(equality: ET.Element, description: Description, loops: Sequence[Loop], custom: dict[str, str]) -> None:
    """The elements of the loops; ``description`` is that of :func:`with_loop_sites`."""
    places = {frame.name: frame for frame in description.frames}
    for loop in loops:
        name = name_text(loop.name, "MJCF")
        if loop.kind == "coupling":
            custom[f"{SITE}{COUPLING}:{loop.name}"] = "1"
            _, *rest = (value / loop.values[0] for value in loop.values)
            coefficients = numbers((rest[-1], -rest[0] if len(rest) == 2 else 0.0, 0.0, 0.0, 0.0))
            other = loop.between[1] if len(loop.between) == 2 else None
            element(equality, "joint", name=name, joint1=loop.between[0], joint2=other, polycoef=coefficients)
            continue
        one, two = (places.get(end) or places[SITE + end] for end in loop.between)
        if loop.kind == "point" or tuple(loop.values) == tuple(IDENTITY.components):
            tag = "connect" if loop.kind == "point" else "weld"
            element(equality, tag, name=name, site1=one.name, site2=two.name)
        else:
            # MuJoCo compares the body's rotation, but the place of the anchor: that of the second frame on either side.
            on_one = one.origin * DQ(list(loop.values))
            rotation = (on_one * two.origin.conj()).primary
            relative, anchor = numbers((*xyz(on_one), *rotation.components)), numbers(xyz(two.origin))
            element(equality, "weld", name=name, body1=one.link, body2=two.link, relpose=relative, anchor=anchor)
