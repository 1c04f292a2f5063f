"""URDF, the robot description of ROS.

Ignored on purpose, since dynamics has no use for them: <gazebo>, <ros2_control>, <sensor>,
<safety_controller>, <calibration>, textures, and what ``IGNORED_ELEMENTS`` and ``IGNORED_ATTRIBUTES`` of
:mod:`dqdyn.formats.urdf.values` list.
Motors are read from <transmission>, see :mod:`dqdyn.formats.urdf.transmissions`.
The axis of a planar joint is the normal of its plane, as URDF says; Pinocchio takes z whatever the axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dqdyn.algebra.dual import IDENTITY
from dqdyn.algebra.poses import position
from dqdyn.algebra.quaternion import Quaternion, rotation_columns
from dqdyn.errors import LoadError, unknown_name
from dqdyn.formats import safe_xml
from dqdyn.formats.meshes import MeshFinder
from dqdyn.formats.safe_xml import Document, Element
from dqdyn.formats.urdf.shapes import Shapes
from dqdyn.formats.urdf.transmissions import with_transmissions
from dqdyn.formats.urdf.values import Values, ignored_content
from dqdyn.formats.urdf.xacro_file import expanded, is_xacro, refuse_arguments
from dqdyn.model.description import LIMITS, Description, Joint, Link, Mimic
from dqdyn.model.inertia import Inertia, Tensor

JOINT_TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}
"""URDF's joint types and ours."""

DEFAULT_AXIS = (1.0, 0.0, 0.0)
_OTHER_FORMATS = {
    "sdf": "the file is SDF (Gazebo's format), which is not read: convert it to URDF or MJCF",
    "world": "the file is an SDF world, which is not read: convert its models to URDF or MJCF",
    "mujoco": "the file is MJCF, not URDF: load it with dqdyn.load, which reads both",
}


def read_urdf(source: str | Path, *, package_paths: Sequence[Path] = ()) -> Description:
    """The robot in a URDF file, or in URDF text (any string with ``<`` in it).

    ``package_paths`` are folders in which meshes named ``package://…`` are searched first. Only form is checked here;
    :func:`dqdyn.model.build.build` checks that the links and joints make a robot.
    """
    return describe(safe_xml.parse(source), package_paths)


def describe(
    document: Document, package_paths: Sequence[Path] = (), xacro_args: Mapping[str, Any] = MappingProxyType({})
) -> Description:
    """The robot in a parsed URDF document, or in a xacro template."""
    if document.root.tag == "robot" and is_xacro(document):
        document = expanded(document, package_paths, xacro_args)
    else:
        refuse_arguments(xacro_args, document.file)
    _require_urdf(document)
    return _Reader(document, package_paths).description()


def _require_urdf(document: Document) -> None:
    root, file = document.root, document.file
    at = root
    if root.tag == "robot" and not root.all("link") and _is_srdf(document):
        problem = "the file is SRDF, which goes with a URDF: give it as srdf, as in dqdyn.load(urdf, srdf=...)"
    elif root.tag != "robot":
        other = f"the outermost element is <{root.tag[:60]}>, not <robot>: give a URDF file"
        problem = _OTHER_FORMATS.get(root.tag, other)
    else:
        return
    raise LoadError(f"{file}, line {at.line}: {problem}.", file=file, line=at.line, element=at.tag)


def _is_srdf(document: Document) -> bool:
    tags = {child.tag for child in document.root.children}
    return document.file.endswith(".srdf") or bool(
        tags & {"group", "group_state", "disable_collisions", "end_effector"}
    )


class _Reader:
    def __init__(self, document: Document, package_paths: Sequence[Path]) -> None:
        self.document, self.root = document, document.root
        self.values = Values(document)
        self.shapes = Shapes(self.root, self.values, MeshFinder(document.path, package_paths))

    def description(self) -> Description:
        self.values.known(self.root, "the robot")
        name = self.values.text(self.root, "name", "the robot")
        links = [self.link(element) for element in self.root.all("link")]
        joints = [self.joint(element) for element in self.root.all("joint")]
        driven = with_transmissions(self.root, joints, self.values)
        colored = tuple(self.colored(link) for link in links)
        notes, lost = self.values.notes(), ignored_content(self.root)
        return Description(name, colored, driven, source=self.document.file, notes=notes, losses=lost)

    # --- links ------------------------------------------------------------------------------------------------------

    def link(self, element: Element) -> Link:
        name = self.values.text(element, "name", "a link")
        owner = f"link {name!r}"
        self.values.known(element, owner)
        inertia = self.inertia(element, owner)
        return Link(name, inertia, self.shapes.visuals(element, owner), self.shapes.collisions(element, owner))

    def colored(self, link: Link) -> Link:
        visuals = tuple(self.shapes.colored(shape, f"link {link.name!r}") for shape in link.visuals)
        return Link(link.name, link.inertia, visuals, link.collisions)

    def inertia(self, link: Element, owner: str) -> Inertia:
        """The inertia in the axes of the link; zero where the file gives none."""
        values = self.values
        inertial = values.optional(link, "inertial", owner)
        if inertial is None:
            return Inertia()
        mass = values.number(values.required(inertial, "mass", owner), "value", owner)
        entries = values.required(inertial, "inertia", owner)
        xx, xy, xz, yy, yz, zz = (values.number(entries, f"i{k}", owner) for k in ("xx", "xy", "xz", "yy", "yz", "zz"))
        tensor = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        origin = values.origin(inertial, owner)
        turned = tensor if origin.primary == IDENTITY.primary else _rotated(tensor, origin.primary)
        return Inertia(mass, position(origin).vector, turned)

    # --- joints -----------------------------------------------------------------------------------------------------

    def joint(self, element: Element) -> Joint:
        values = self.values
        name = values.text(element, "name", "a joint")
        owner = f"joint {name!r}"
        values.known(element, owner)
        kind_here = values.text(element, "type", owner)
        if kind_here not in JOINT_TYPES:
            close = unknown_name("joint type", kind_here, JOINT_TYPES)
            raise values.error(element, owner, f"has an unknown type: {close}")
        kind = JOINT_TYPES[kind_here]
        joint: dict[str, Any] = {"name": name, "kind": kind, "origin": values.origin(element, owner)}
        for end in ("parent", "child"):
            joint[end] = values.text(values.required(element, end, owner), "link", owner)
        if kind not in ("fixed", "free"):
            axis = values.optional(element, "axis", owner)
            joint["axis"] = values.vector(axis, "xyz", owner) if axis else DEFAULT_AXIS
        if kind in ("revolute", "prismatic"):
            joint |= self.limits(element, owner, kind_here)
        if kind != "fixed":
            joint |= self.dynamics(element, owner)
        mimic = values.optional(element, "mimic", owner)
        if mimic is not None and kind == "fixed":
            # Files of robots with locked joints keep it; what mimics a fixed joint itself is an error found later.
            values.doubt(owner, "a fixed joint cannot mimic another, so its <mimic> is ignored; remove it.")
        elif mimic is not None:
            ratio, offset = values.number(mimic, "multiplier", owner, 1.0), values.number(mimic, "offset", owner, 0.0)
            joint["mimic"] = Mimic(values.text(mimic, "joint", owner), ratio, offset)
        return Joint(**joint)

    def limits(self, element: Element, owner: str, kind: str) -> dict[str, float | None]:
        """Limits where the file gives them; a continuous joint has none of position."""
        limit = self.values.optional(element, "limit", owner)
        names = LIMITS[2:] if kind == "continuous" else LIMITS
        limits = {name: self.values.limit(limit, name, owner) if limit else None for name in names}
        if kind != "continuous" and (limits["lower"] is None or limits["upper"] is None):
            # URDF would make it 0, which locks the joint: rarely what is meant where the attribute is left out.
            self.values.doubt(owner, f"a {kind} joint lacks a lower or upper limit and is not limited there; add it.")
        for name in LIMITS[2:]:
            if limits[name] == 0.0:
                # URDF demands both attributes, so files have 0 for what is not known. MuJoCo (effort) and MoveIt
                # (velocity) read no limit too; Pinocchio keeps the 0.
                self.values.doubt(owner, f'{name}="0" in <limit> is taken as no limit; correct it.')
                limits[name] = None
        return limits

    def dynamics(self, element: Element, owner: str) -> dict[str, float]:
        dynamics = self.values.optional(element, "dynamics", owner)
        if dynamics is None:
            return {}
        return {name: self.values.number(dynamics, name, owner, 0.0) for name in ("damping", "friction")}


def _rotated(tensor: Tensor, r: Quaternion) -> Tensor:
    """R I Rᵀ in plain floats: faster than arrays for one small product."""
    columns = [c.vector for c in rotation_columns(r)]

    def entry(a: int, b: int) -> float:
        return float(sum(columns[i][a] * tensor[i][j] * columns[j][b] for i in range(3) for j in range(3)))

    xx, xy, xz, yy, yz, zz = entry(0, 0), entry(0, 1), entry(0, 2), entry(1, 1), entry(1, 2), entry(2, 2)
    return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)
