"""The unknown forces of a contact, and what it asks of the motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dqdyn.arrays import Array
from dqdyn.contacts.axes import polygon, slide

if TYPE_CHECKING:
    from dqdyn.contacts.contact import Contact

F1, F2, FN, T1, T2, TN = range(6)
"""Places in a contact wrench [f_t1, f_t2, f_n, τ_t1, τ_t2, τ_n]."""

MOMENTS = {"point": [], "edge": [T2], "face": [T1, T2]}
"""Moments that pressure can have: about the edge it has none."""


def pyramid(contact: Contact) -> Array:
    """Tangential forces (e, 2) per newton of normal force at the edges of the friction pyramid.

    They lie on the round cone, halfway between multiples of 2π/n, so that a side of the pyramid faces +t1. Without
    friction, and where the contact slides, there is one.
    """
    if contact.mode == "sliding":
        return -contact.friction * slide(contact)[:1]
    if not contact.friction:
        return np.zeros((1, 2))
    angles = (2 * np.arange(contact.edges) + 1) * np.pi / contact.edges
    return contact.friction * np.column_stack([np.cos(angles), np.sin(angles)])


def generators(contact: Contact) -> Array:
    """Wrenches (6, g) of one newton of normal force at a corner, along each edge of its pyramid.

    Every wrench of the contact is a sum of them with weights ≥ 0. With torsional friction each comes twice, with the
    greatest moment in either sense; a contact that slides has none, for slip takes all of the friction.
    """
    twists = [0.0]
    if contact.mode == "fixed" and contact.torsional_friction:
        twists = [-contact.torsional_friction, contact.torsional_friction]
    columns = [
        [t1, t2, 1.0, y, -x, x * t2 - y * t1 + twist]
        for x, y in polygon(contact)
        for t1, t2 in pyramid(contact)
        for twist in twists
    ]
    return np.array(columns).T


def wrench_basis(contact: Contact) -> Array:
    """(6, k) from the unknowns φ to the wrench."""
    if contact.mode == "off":
        return np.zeros((6, 0))
    if contact.cone == "corners":
        return generators(contact)
    if contact.mode == "sliding":
        return _sliding_basis(contact)
    tangential = [F1, F2] if contact.friction else []
    yaw = [TN] if contact.torsional_friction or (contact.friction and contact.kind != "point") else []
    return np.eye(6)[:, [*tangential, FN, *MOMENTS[contact.kind], *yaw]]


def _sliding_basis(contact: Contact) -> Array:
    """Columns for f_n and the moments of pressure.

    All corners slip alike, so each has the friction −μ f_n d: together −μ f_n d at the center of pressure p, with
    f_n p = (−τ_t2, τ_t1), whose moment about the normal is p × (−μ f_n d) = μ (d_1 τ_t1 + d_2 τ_t2).
    """
    friction = pyramid(contact)[0]
    basis = np.eye(6)[:, [FN, *MOMENTS[contact.kind]]]
    basis[[F1, F2], 0] = friction
    basis[TN] = -friction @ basis[[T1, T2]]
    return basis


def motion_rows(contact: Contact) -> Array:
    """(m, 6) on the twist [ω, v] of the body against its partner, in the order of forces and moments."""
    if contact.mode == "off":
        return np.zeros((0, 6))
    held = [FN, *MOMENTS[contact.kind]]
    if contact.kind != "point" or (contact.torsional_friction and contact.mode == "fixed"):
        held.append(TN)
    tangential = np.eye(2)
    if contact.mode == "sliding":
        d = slide(contact)
        tangential = np.array([[-d[0, 1], d[0, 0]]]) if len(d) == 1 else np.zeros((0, 2))
    # A force has its power with the velocity, a moment with the angular velocity, which comes first in a twist.
    forces = np.vstack([np.pad(tangential, ((0, 0), (0, 4))), np.eye(6)[held]])
    return np.roll(forces, 3, axis=1)
