"""The axes of a contact: tangents of a normal, corners and directions seen in them, and the frame's pose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import pose, position
from dqdyn.algebra.quaternion import Quaternion, pure, quaternion_from_matrix, rotate
from dqdyn.algebra.scalar import Scalars, atan2, cos, sin
from dqdyn.arrays import Array
from dqdyn.kinematics.tree import frame_pose
from dqdyn.model.description import WORLD
from dqdyn.model.inertia import Vector
from dqdyn.model.model import WORLD_FRAME, Frame, Model

if TYPE_CHECKING:
    from dqdyn.contacts.contact import Contact

ALONG = 1e-3
"""Sine of the angle to the normal below which the x axis gives no tangent, and the y axis does."""


def contact_axes(normal: Vector) -> Array:
    """(3, 3) with columns t1, t2, n: t1 is x without its part along n, or y where x is along n."""
    n = np.array(normal) / np.linalg.norm(normal)
    t1 = next(t for e in np.eye(3)[:2] if np.linalg.norm(t := e - (e @ n) * n) > ALONG)
    t1 /= np.linalg.norm(t1)
    return np.column_stack([t1, np.cross(n, t1), n])


def origin(contact: Contact) -> Array:
    """The mean of the corners, (3,) in m, in the axes of the contact's frame."""
    return np.asarray(np.mean(contact.corners, axis=0))


def polygon(contact: Contact) -> Array:
    """Corners (c, 2) in the tangents t1, t2, in m from the contact's origin, in the order given.

    Those of an edge lie on t1, whose direction is the edge's.
    """
    corners = np.array(contact.corners) - origin(contact)
    if contact.kind == "face":
        return corners @ contact_axes(contact.normal)[:, :2]
    half = 0.5 * np.linalg.norm(corners[-1] - corners[0])
    return np.array([[-half, 0.0], [half, 0.0]]) if contact.kind == "edge" else np.zeros((1, 2))


def slide(contact: Contact) -> Array:
    """Directions of sliding (d, 2) in the tangents t1, t2."""
    given = np.array(contact.directions).reshape(-1, 3)
    tangential = given[:, :2] if contact.kind == "edge" else given @ contact_axes(contact.normal)[:, :2]
    return np.asarray(tangential / np.linalg.norm(tangential, axis=1, keepdims=True))


def partner_frame(contact: Contact, model: Model) -> Frame:
    """The partner; "world" is the world at rest also where a link has that name."""
    return WORLD_FRAME if contact.partner == WORLD else model.frame(contact.partner)


def contact_pose(contact: Contact, model: Model, q: Scalars) -> DQ:
    """x_0c: the contact frame in the world."""
    x_0f = frame_pose(model, model.frame(contact.frame), q)
    center = pure(*origin(contact).tolist())
    axes = Quaternion(*quaternion_from_matrix(contact_axes(contact.normal)))
    if contact.kind == "face":
        return x_0f * pose(axes, center)
    r = frame_pose(model, partner_frame(contact, model), q).primary * axes
    if contact.kind == "edge":
        first, second = (pure(*corner) for corner in contact.corners)
        along = rotate(r.conj() * x_0f.primary, second - first)
        half = 0.5 * atan2(along.y, along.x)
        r = r * Quaternion(cos(half), 0.0, 0.0, sin(half))
    return pose(r, position(x_0f) + rotate(x_0f.primary, center))


def corner_positions(contact: Contact, model: Model, q: Scalars) -> list[Quaternion]:
    """The corners in the world, in m."""
    x_0f = frame_pose(model, model.frame(contact.frame), q)
    return [position(x_0f) + rotate(x_0f.primary, pure(*corner)) for corner in contact.corners]
