"""Where the robot touches: the corners of its contacts, their gaps to every surface, and how they move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np

from dqdyn.arrays import Array
from dqdyn.contacts.contact import Contact
from dqdyn.model.description import WORLD
from dqdyn.robot import Robot
from dqdyn.simulate.unilateral.coulomb import Whole
from dqdyn.simulate.unilateral.frame_motion import FrameMotion, crossed
from dqdyn.simulate.unilateral.round_contact import RoundContact
from dqdyn.simulate.unilateral.surfaces import PartnerPlane, TouchedSurface

Touching: TypeAlias = Contact | RoundContact


@dataclass
class Pairs:
    """Corners and surfaces at one state, n pairs of all contacts.

    ``corner`` and ``surface`` (n,) say which; ``gap`` (n,) in m, ``place`` (n, 3) where they touch, ``normal`` (n, 3)
    from the surface to the robot; ``rows`` (n, 3, nv) Jacobian of the relative velocity in world axes and ``drift``
    (n, 3) what the surface's own motion adds to it; ``spin`` (n, nv) that of the spin about the normal, ``spin_drift``
    (n,) likewise; ``friction`` and ``torsion`` (n,).
    """

    corner: Whole
    surface: Whole
    gap: Array
    place: Array
    normal: Array
    rows: Array
    drift: Array
    spin: Array
    spin_drift: Array
    friction: Array
    torsion: Array


class Corners:
    """All corners of the contacts of a robot, numbered one contact after the other."""

    def __init__(
        self, robot: Robot, contacts: Sequence[Touching], surfaces: Sequence[TouchedSurface], q: Array
    ) -> None:
        self.contacts, self.nv = list(contacts), robot.nv
        self.frames = {name: FrameMotion(robot, name) for name in dict.fromkeys(c.frame for c in contacts)}
        points = [list(c.corners) if isinstance(c, Contact) else [c.center] for c in contacts]
        self.owners = [contact for contact, some in zip(contacts, points, strict=True) for _ in some]
        self.local = np.array([point for some in points for point in some]).reshape(-1, 3)
        self.radius = np.array([getattr(owner, "radius", 0.0) for owner in self.owners])
        self.of_frame = {name: self._owned(lambda c, name=name: c.frame == name) for name in self.frames}
        self.of_contact = [self._owned(lambda c, this=this: c is this) for this in contacts]
        self.surfaces = list(surfaces)
        # Corners that may meet each surface.
        self.meeting = [self._owned(lambda c: c.partner == WORLD)] * len(surfaces)
        for contact, corners in zip(contacts, self.of_contact, strict=True):
            if contact.partner != WORLD:
                self.surfaces.append(_partner_plane(robot, contact, q))
                self.meeting.append(corners)

    def _owned(self, condition: Callable[..., bool]) -> Whole:
        return np.flatnonzero([condition(owner) for owner in self.owners])

    def at(self, q: Array, t: float, h: float) -> Pairs:
        """The pairs at the configuration q and the time t, before a step of h."""
        moving = self._moved(q)
        parts = [self._with_surface(s, moving, q, t, h) for s in range(len(self.surfaces))]
        if not parts:
            none, vectors, rows = np.zeros(0), np.zeros((0, 3)), np.zeros((0, self.nv))
            index = np.zeros(0, dtype=np.intp)
            jacobians = np.zeros((0, 3, self.nv))
            return Pairs(index, index, none, vectors, vectors, jacobians, vectors, rows, none, none, none)
        if len(parts) == 1:
            return parts[0]
        return Pairs(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Pairs)))

    def _moved(self, q: Array) -> tuple[Array, Array, Array]:
        """Positions (c, 3) of the corners, and Jacobians (c, 3, nv) of their linear and angular velocity."""
        count = len(self.local)
        positions, linear, angular = np.zeros((count, 3)), np.zeros((count, 3, self.nv)), np.zeros((count, 3, self.nv))
        for name, frame in self.frames.items():
            frame.move(q)
            at = self.of_frame[name]
            arms = self.local[at] @ frame.rotation.T
            positions[at], linear[at], angular[at] = frame.position + arms, frame.jacobians(arms), frame.angular
        return positions, linear, angular

    def _with_surface(self, s: int, moving: tuple[Array, Array, Array], q: Array, t: float, h: float) -> Pairs:
        corners, surface = self.meeting[s], self.surfaces[s]
        centers, rows, spins = (array[corners] for array in moving)
        surface.move(q, t, h)
        gaps, normals = surface.gaps(centers)
        radius = self.radius[corners]
        if radius.any():  # of the point at −r n from the center
            rows = rows + radius[:, None, None] * (crossed(normals) @ spins)
        places = centers - radius[:, None] * normals
        carried, carried_spin = surface.carried(places), surface.spin()
        if carried is not None and carried_spin is not None:
            rows, spins = rows - carried, spins - carried_spin
        owners = [self.owners[i] for i in corners]
        return Pairs(
            corners,
            np.full(len(corners), s),
            gaps - radius,
            places,
            normals,
            rows,
            -surface.speeds(places),
            (normals[:, None] @ spins)[:, 0],
            -normals @ surface.own_spin(),
            _chosen(surface.friction, [owner.friction for owner in owners]),
            _chosen(surface.torsional_friction, [owner.torsional_friction for owner in owners]),
        )


def _chosen(of_surface: float | None, of_contacts: list[float]) -> Array:
    """What the surface says, else what the contacts say."""
    return np.array(of_contacts) if of_surface is None else np.full(len(of_contacts), of_surface)


def _partner_plane(robot: Robot, contact: Touching, q: Array) -> PartnerPlane:
    """The partner's side of a contact: the plane through the contact's origin at q, across its normal there."""
    assert isinstance(contact, Contact)  # round contacts meet the world alone
    partner = FrameMotion(robot, contact.partner)
    partner.move(q)
    corners = np.array([c.vector for c in contact.corner_positions(robot.model, q.tolist())])
    point = (corners.mean(axis=0) - partner.position) @ partner.rotation
    if contact.kind != "face":
        return PartnerPlane(partner, point, np.array(contact.normal))
    own = FrameMotion(robot, contact.frame)
    own.move(q)
    return PartnerPlane(partner, point, partner.rotation.T @ own.rotation @ np.array(contact.normal))


def tangent_axes(normals: Array) -> Array:
    """(n, 3, 3) with rows t1, t2, n; the tangents are those in which impulses are found, not those of a contact."""
    slanted = np.abs(normals[:, 0]) < 0.8
    t1 = np.where(slanted[:, None], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    t1 = t1 - (t1 * normals).sum(axis=1, keepdims=True) * normals
    t1 /= np.sqrt((t1 * t1).sum(axis=1, keepdims=True))
    t2 = (crossed(normals) @ t1[:, :, None])[:, :, 0]
    return np.stack([t1, t2, normals], axis=1)
