"""Uniform solids that links are made of, so that mass, inertia and shape agree by construction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.poses import pose, position
from dqdyn.algebra.quaternion import Quaternion, pure, shortest_rotation
from dqdyn.model import inertia
from dqdyn.model.description import LIMITS, Description, Joint, Link, NamedFrame, Shape, placement
from dqdyn.model.inertia import Inertia, as_tensor, as_vector

STEEL = (0.35, 0.38, 0.42, 1.0)
WHITE = (0.92, 0.92, 0.90, 1.0)
ORANGE = (0.95, 0.45, 0.10, 1.0)
BLUE = (0.20, 0.40, 0.75, 1.0)

Point = Sequence[float] | np.ndarray
Color = tuple[float, float, float, float]


@dataclass(frozen=True)
class Part:
    """A uniform solid on a link."""

    inertia: Inertia
    shape: Shape


def rod(mass: float, radius: float, start: Point, end: Point, color: Color = WHITE) -> Part:
    """A cylinder in kg and m from the center of one end to that of the other, in the link frame."""
    a, b = np.array(start, dtype=float), np.array(end, dtype=float)
    length, middle = float(np.linalg.norm(b - a)), as_vector((a + b) / 2.0)
    at = pose(shortest_rotation((0.0, 0.0, 1.0), as_vector((b - a) / length)), pure(*middle))
    along = [name for name, c in zip("xyz", b - a, strict=True) if c]
    body = (
        inertia.cylinder(mass, radius, length, along[0], middle)  # exact zeros off the diagonal
        if len(along) == 1
        else inertia.cylinder(mass, radius, length).moved_by(at)
    )
    return Part(body, Shape("cylinder", (radius, length), at, color=color))


def block(mass: float, size: Point, center: Point = (0.0, 0.0, 0.0), color: Color = WHITE) -> Part:
    """A box in kg and m with edges along the axes of the link."""
    body = inertia.box(mass, as_vector(size), as_vector(center))
    return Part(body, Shape("box", as_vector(size), placement(center), color=color))


def ball(mass: float, radius: float, center: Point = (0.0, 0.0, 0.0), color: Color = WHITE) -> Part:
    """A ball in kg and m."""
    body = inertia.sphere(mass, radius, as_vector(center))
    return Part(body, Shape("sphere", (radius,), placement(center), color=color))


def link(name: str, *parts: Part) -> Link:
    """A link made of parts: their inertias add up, and each is seen and touched."""
    total = Inertia()
    for part in parts:
        total = total + part.inertia
    shapes = tuple(part.shape for part in parts)
    return Link(name, total, visuals=shapes, collisions=tuple(replace(shape, color=None) for shape in shapes))


@dataclass(frozen=True)
class Limb:
    """Links and joints that hang on a link of a larger robot, and the frames on them."""

    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    frames: tuple[NamedFrame, ...] = ()


def robot(name: str, root: Link, *limbs: Limb, **options: Any) -> Description:
    """A robot of limbs on the link ``root``; options are other fields of the description."""
    links = (root, *(link for limb in limbs for link in limb.links))
    joints = tuple(joint for limb in limbs for joint in limb.joints)
    return Description(name, links, joints, tuple(frame for limb in limbs for frame in limb.frames), **options)


def serial_limb(root: str, chain: Sequence[Joint | Link], *frames: NamedFrame) -> Limb:
    """Joint, link, joint, link, … one after the other, the first on the link ``root``."""
    links = tuple(item for item in chain if isinstance(item, Link))
    parents = (root, *(item.name for item in links[:-1]))
    joints = (item for item in chain if isinstance(item, Joint))
    joined = (
        replace(joint, parent=parent, child=child.name)
        for joint, parent, child in zip(joints, parents, links, strict=True)
    )
    return Limb(links, tuple(joined), frames)


HingeLimits = tuple[float | None, float | None, float | None, float | None]
"""Lower, upper, velocity and effort."""


def hinge(
    name: str, at: Point, axis: str, limits: HingeLimits = (None,) * 4, parent: str = "", child: str = ""
) -> Joint:
    """A revolute joint at a point of the parent link about an axis such as "z" or "-y"; its frames are parallel.

    In a chain for :func:`serial_limb` the links before and behind it are its parent and child.
    """
    sign = -1.0 if axis.startswith("-") else 1.0
    direction = as_vector([sign if letter == axis[-1] else 0.0 for letter in "xyz"])
    bounds: dict[str, Any] = dict(zip(LIMITS, limits, strict=True))
    return Joint(name, "revolute", parent, child, origin=placement(at), axis=direction, **bounds)


def within(reach: float, velocity: float, effort: float) -> HingeLimits:
    """Limits ±reach in rad, with velocity in rad/s and effort in N m."""
    return -reach, reach, velocity, effort


# --- mirror images ----------------------------------------------------------------------------------------------------


def mirrored(limb: Limb) -> Limb:
    """A right limb seen in a mirror that is the plane y = 0, named for the left side.

    Equal joint angles on both sides are mirror images of each other: rotation axes flip in x and z, not in y.
    """

    def rename(name: str) -> str:
        return name.replace("right_", "left_", 1)

    def joint_of(joint: Joint) -> Joint:
        changes: dict[str, Any] = {field: rename(getattr(joint, field)) for field in ("name", "parent", "child")}
        changes |= {field: _mirrored_pose(getattr(joint, field)) for field in ("origin", "child_origin")}
        x, y, z = joint.axis
        return replace(joint, **changes, axis=(-x or 0.0, y, -z or 0.0))

    links = tuple(_mirrored_link(item, rename(item.name)) for item in limb.links)
    frames = (NamedFrame(rename(f.name), rename(f.link), _mirrored_pose(f.origin)) for f in limb.frames)
    return Limb(links, tuple(map(joint_of, limb.joints)), tuple(frames))


def _mirrored_pose(x: DQ) -> DQ:
    if x == IDENTITY:
        return IDENTITY
    r, p = x.primary, position(x)
    return pose(Quaternion(r.w, -r.x, r.y, -r.z), pure(p.x, -p.y, p.z))


def _mirrored_link(item: Link, name: str) -> Link:
    flip = np.array([1.0, -1.0, 1.0])
    body = item.inertia
    mirror = Inertia(body.mass, as_vector(flip * body.com), as_tensor(np.outer(flip, flip) * np.array(body.tensor)))
    # Boxes, cylinders and balls are their own mirror images; only their poses change.
    visuals, collisions = (
        tuple(replace(shape, origin=_mirrored_pose(shape.origin)) for shape in shapes)
        for shapes in (item.visuals, item.collisions)
    )
    return Link(name, mirror, visuals, collisions)
