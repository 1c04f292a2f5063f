"""MJCF text of a model, MuJoCo's format.

A body per link; joints with several axes become several joints in one body, and so do moving links without mass,
shapes and frames that carry one moving joint (names in :class:`dqdyn.formats.joint_rewriter.Rewriter`). Where
MuJoCo refuses the inertia of a link, the link to which it is fixed carries the inertia of both. Other moving links
without mass or with an impossible inertia, helical joints and a differential base are refused by name. Mimic joints
and loops become equality constraints, which MuJoCo keeps softly, and postures keyframes. Where a robot says which
joints have motors, these are actuators. Visuals are geoms of group 2 without contacts; collisions
are geoms of group 3 that touch other objects but not the robot itself. What MJCF has no place for, such as velocity
limits and the names of fixed joints and of massless links, stands in ``<custom>`` as texts
``dqdyn:<what>:<of which>``, which :func:`dqdyn.formats.mjcf.reader.read_mjcf` reads.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.quaternion import ONE, pure, rotate
from dqdyn.errors import FormatError
from dqdyn.formats.joint_rewriter import Rewriter, data_of, limit_of, loops_of, with_base_joint
from dqdyn.formats.losses import Written, text_of
from dqdyn.formats.mjcf.actuators import write_motors
from dqdyn.formats.mjcf.equalities import holdable, with_loop_sites, write_loops
from dqdyn.formats.mjcf.geoms import Geoms
from dqdyn.formats.mjcf.inertia import has_mass, settled, write_inertial
from dqdyn.formats.mjcf.keyframes import write_postures
from dqdyn.formats.mjcf.reader import CUSTOM, weld_name
from dqdyn.formats.xml_text import document, element, name_text, numbers, xyz
from dqdyn.model.description import DYNAMICS, WORLD, Description, Joint, Link, Loop
from dqdyn.model.gravity_field import require_uniform
from dqdyn.model.model import Model
from dqdyn.model.per_axis import axis_values

DEEPEST = 490
"""The deepest nesting of bodies that MuJoCo reads."""

_TYPES = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball", "free": "free"}
_ATTRIBUTES = {"damping": "damping", "friction": "frictionloss", "armature": "armature"}


def write_mjcf(model: Model) -> str:
    """The model as MJCF; see the module for what becomes of what MJCF does not know."""
    return text_of(compose_mjcf, model)


def compose_mjcf(model: Model) -> Written:
    """The same, with a list of what MJCF cannot hold."""
    require_uniform(model.name, model.gravity, "MJCF")
    loops, lost = loops_of(model)
    held, others = holdable(loops)
    based = with_base_joint(model, "MJCF")
    writer = _Writer(_plain(with_loop_sites(based, held)), tuple(held))
    text = writer.text()
    if held and model.description.stabilisation is not None:
        writer.left_out.append("the stabilisation of the constraints")
    return Written(text, "MJCF", tuple(lost + others), tuple(writer.left_out))


def _plain(description: Description) -> Rewriter:
    """The same robot with MuJoCo's joints only."""
    rewriter = Rewriter(description, "MJCF", couples=False)

    on_world = description.root == WORLD

    def is_native(joint: Joint) -> bool:
        # MuJoCo's free joint is an absolute pose, so it must start at the world's origin.
        absolute = on_world and joint.parent == WORLD and joint.origin == IDENTITY
        return joint.kind in ("fixed", *_TYPES) and (joint.kind != "free" or absolute)

    for joint in description.joints:
        rewriter.add(joint, is_native)
        # The coordinates of these are seen from the child, so its frame must be that of the joint.
        last = rewriter.joints[-1]
        if last.kind in ("fixed", "free") or (last.kind == "spherical" and last.child_origin.primary != ONE):
            rewriter.settle_child()
    return rewriter


class _Writer:
    def __init__(self, rewriter: Rewriter, loops: tuple[Loop, ...] = ()) -> None:
        description = rewriter.result()
        self.description, self.rewriter, self.loops = description, rewriter, loops
        self.links = {link.name: link for link in description.links}
        self.inertias = settled(description)
        self.children = description.joints_by_parent()
        self.framed = {frame.link for frame in description.frames}
        self.custom: dict[str, str] = {}
        self.left_out: list[str] = []

    def text(self) -> str:
        root = ET.Element("mujoco", {"model": name_text(self.description.name, "MJCF")})
        # Radians, and masses as given here rather than from the geoms.
        element(root, "compiler", angle="radian", autolimits="true", inertiafromgeom="false")
        element(root, "option", gravity=numbers(self.description.gravity))
        assets, world = element(root, "asset"), element(root, "worldbody")
        self.geoms = Geoms(assets, self.left_out)
        self.tree(world)
        self.equalities(root)
        write_motors(root, self.description.joints, self.custom, CUSTOM)
        self.beside_the_tree(root)
        if self.custom:
            custom = element(root, "custom")
            for name, data in self.custom.items():
                element(custom, "text", name=name, data=data)
        if len(assets) == 0:
            root.remove(assets)
        self.geoms.note_left_out()
        return document(root)

    def tree(self, world: ET.Element) -> None:
        root = self.links[self.description.root]
        if root.name == WORLD:
            if not self.inertias[WORLD].is_zero:
                problem = "has no mass, but here that link or one fixed to it gives it some: rename it."
                raise FormatError(f"MJCF's {WORLD!r} {problem}", element=WORLD)
            self.custom[f"{CUSTOM}:root"] = WORLD
            body = world
        else:
            body = element(world, "body", name=name_text(root.name, "MJCF"))
        self.fill(body, root, moving=False)
        pending = [(joint, body, False, 2) for joint in reversed(self.children.get(root.name, []))]
        while pending:
            first, parent, moving, depth = pending.pop()
            if depth > DEEPEST:
                reason = f"MuJoCo reads at most {DEEPEST} bodies inside each other: write URDF or JSON"
                raise FormatError(f"MJCF cannot hold the link {first.child!r}, because {reason}.", element=first.child)
            group = self.group(first)
            link = self.links[group[-1].child]
            moving = moving or first.kind != "fixed"
            body = self.body(parent, group, link)
            self.fill(body, link, moving)
            for joint in reversed(self.children.get(link.name, [])):
                pending.append((joint, body, moving, depth + 1))

    def group(self, first: Joint) -> list[Joint]:
        """The joints of one body: more than one where links between them have no mass."""
        group = [first]
        while group[-1].kind != "fixed" and not self.is_heavy(group[-1].child):
            link, joint = self.links[group[-1].child], group[-1]
            below = self.children.get(link.name, [])
            carries = link.visuals or link.collisions or link.name in self.framed
            empty = self.inertias[link.name].is_zero and not carries
            if not empty or len(below) != 1 or below[0].kind == "fixed" or joint.kind == "free":
                raise self.massless(link, joint)
            group.append(below[0])
        balls = [i for i, joint in enumerate(group[:-1]) if joint.kind == "spherical"]
        for i in balls:  # MuJoCo allows no rotation after a ball joint, and its coordinates are seen from the body
            if any(j.kind != "prismatic" for j in group[i + 1 :]) or _tails(group)[i].primary != ONE:
                raise self.massless(self.links[group[i].child], group[i])
        return group

    def massless(self, link: Link, joint: Joint) -> FormatError:
        reason = "neither it nor a link fixed to it has both mass and inertia"
        remedy = f"give it some, or fix the joint {joint.name!r}"
        problem = f"MJCF cannot hold the moving link {link.name!r}, because {reason}: {remedy}."
        return FormatError(problem, element=link.name)

    def is_heavy(self, link: str) -> bool:
        """Whether MuJoCo finds mass on a moving link: a body with mass and inertia, on it or welded to it."""
        pending = [link]
        while pending:
            name = pending.pop()
            if has_mass(self.inertias[name]):
                return True
            pending += [joint.child for joint in self.children.get(name, []) if joint.kind == "fixed"]
        return False

    def body(self, parent: ET.Element, group: list[Joint], link: Link) -> ET.Element:
        if link.name == WORLD:
            raise FormatError(f"MJCF keeps the name {WORLD!r} for the world: rename that link.", element=WORLD)
        tails = _tails(group)
        body = element(parent, "body", name=name_text(link.name, "MJCF"), **_pose(group[0].origin * tails[0]))
        for joint, after, tail in zip(group[:-1], group[1:], tails[1:], strict=True):
            # The link between the two joints: its name, and the pose of the body in it.
            self.custom[f"{CUSTOM}:link:{joint.name}"] = name_text(joint.child, "MJCF")
            if (place := after.origin * tail) != IDENTITY:
                self.custom[f"{CUSTOM}:place:{joint.name}"] = numbers(place.components)
        for joint, tail in zip(group, tails, strict=True):
            if joint.kind == "fixed":
                if joint.name != weld_name(link.name):
                    self.custom[f"{CUSTOM}:joint:{link.name}"] = name_text(joint.name, "MJCF")
            else:
                self.joint(body, joint, tail)
        return body

    def joint(self, body: ET.Element, joint: Joint, tail: DQ) -> None:
        """``tail`` is the pose of the body in the child side of the joint, at the neutral configuration."""
        item = element(body, "joint", name=name_text(joint.name, "MJCF"), type=_TYPES[joint.kind])
        if joint.kind != "free" and tail.dual != IDENTITY.dual:
            item.set("pos", numbers(xyz(tail.conj())))
        if joint.kind in ("revolute", "prismatic"):
            item.set("axis", numbers(rotate(tail.primary.conj(), pure(*joint.axis)).vector))
        data = data_of(joint)
        low, high, effort = (limit_of(joint, name) for name in ("lower", "upper", "effort"))
        if joint.kind in ("revolute", "prismatic") and data & {"lower", "upper"} and low != high:
            item.set("range", numbers((*axis_values(joint, "lower"), *axis_values(joint, "upper"))))
            data -= {"lower", "upper"}
        if effort:
            item.set("actuatorfrcrange", numbers((-effort, effort)))
            data -= {"effort"}
        if "stiffness" in data:  # MuJoCo's joints with springs have one axis
            item.set("stiffness", numbers(axis_values(joint, "stiffness")))
            item.set("springref", numbers(axis_values(joint, "rest")))
            data -= {"stiffness"}
        for name, attribute in _ATTRIBUTES.items():
            values = set(axis_values(joint, name))
            if name in data and len(values) == 1:
                item.set(attribute, numbers(values))
                data -= {name}
        for name in sorted(data):
            self.custom[f"{CUSTOM}:{name}:{joint.name}"] = numbers(axis_values(joint, name))
            if name in DYNAMICS:
                self.left_out.append(f"different values of {name} per axis of the joint {joint.name!r}")

    def fill(self, body: ET.Element, link: Link, moving: bool) -> None:
        write_inertial(body, self.inertias[link.name])
        self.geoms.write(body, link, moving)
        for frame in self.description.frames:
            if frame.link == link.name:
                element(body, "site", name=name_text(frame.name, "MJCF"), **_pose(frame.origin))

    def beside_the_tree(self, root: ET.Element) -> None:
        """Keyframes, pairs of links that do not touch, and groups."""
        joints = {joint.name: joint for joint in self.description.joints}
        postures = []
        for posture in self.description.postures:
            given = zip(posture.joints, posture.values, strict=True)
            parts = [part for joint, values in given for part in self.rewriter.coordinates(joint, values)]
            postures.append((posture.name, dict(parts)))
        write_postures(root, joints, postures)
        bodies = {WORLD, *(body.attrib["name"] for body in root.iter("body"))}
        pairs = [pair for pair in self.description.disabled_pairs if bodies.issuperset(pair)]
        contact = element(root, "contact") if pairs else root
        for one, two in pairs:
            element(contact, "exclude", body1=name_text(one, "MJCF"), body2=name_text(two, "MJCF"))
        merged = (pair for pair in self.description.disabled_pairs if pair not in pairs)
        self.left_out += [f"that {one!r} and {two!r}, one of which is no body, may touch" for one, two in merged]
        for group in self.description.groups:
            key = name_text(f"{CUSTOM}:group:{group.name}", "MJCF")
            joints_of = [part for joint in group.joints for part in self.rewriter.names_of(joint)]
            self.custom[key] = json.dumps([joints_of, group.links])

    def equalities(self, root: ET.Element) -> None:
        mimics = {joint.name: joint.mimic for joint in self.description.joints if joint.mimic is not None}
        equality = element(root, "equality") if mimics or self.loops else root
        write_loops(equality, self.description, self.loops, self.custom)
        for name, mimic in mimics.items():
            coefficients = numbers((mimic.offset, mimic.ratio, 0.0, 0.0, 0.0))
            element(equality, "joint", joint1=name, joint2=mimic.joint, polycoef=coefficients)


def _tails(group: list[Joint]) -> list[DQ]:
    """For each joint of a body, the pose of the body in the child side of that joint, at the neutral configuration."""
    tails, after = [], IDENTITY
    for joint in reversed(group):
        tails.append(joint.child_origin * after)
        after = joint.origin * tails[-1]
    return tails[::-1]


def _pose(x: DQ) -> dict[str, str | None]:
    return {
        "pos": None if x.dual == IDENTITY.dual else numbers(xyz(x)),
        "quat": None if x.primary == ONE else numbers(x.primary.components),
    }
