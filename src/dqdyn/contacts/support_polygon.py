"""The support polygon of a robot: the convex hull of the corners that touch the ground."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array, real_number
from dqdyn.arrays import Array, Reals
from dqdyn.contacts.contact import Contact, model_of
from dqdyn.errors import Error, StateError
from dqdyn.model.description import WORLD

LEVEL = 0.02
"""m by which the heights of corners on level ground may differ."""


@dataclass(frozen=True, eq=False)
class SupportPolygon:
    """``corners`` (n, 2) in m, counter-clockwise in the world's x and y; 2 of an edge, 1 of a point."""

    corners: Array

    @property
    def area(self) -> float:
        """m², by the shoelace formula; 0 of an edge or a point."""
        x, y = (self.corners - self.corners[0]).T
        return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))

    @property
    def sides(self) -> Array:
        """(n, 3), one per edge: the inward unit normal (n_x, n_y), and d in m with n · p ≥ d for p inside."""
        along = np.roll(self.corners, -1, axis=0) - self.corners
        if len(along) < 3:
            raise Error("a support polygon without area has no inner side: give at least three corners not in line.")
        normals = np.column_stack([-along[:, 1], along[:, 0]]) / np.linalg.norm(along, axis=1, keepdims=True)
        return np.column_stack([normals, (normals * self.corners).sum(axis=1)])

    def distance(self, point: Reals) -> Any:
        """m from a point (..., 2) to the border: positive inside, negative outside."""
        p = real_array(point, "a point of the ground", StateError)
        if p.shape[-1:] != (2,):
            raise StateError(f"a point of the ground is (x, y) in m; found shape {p.shape}.", found=p.shape)
        starts, along = self.corners, np.roll(self.corners, -1, axis=0) - self.corners
        arms = p[..., None, :] - starts
        squares = np.maximum((along * along).sum(axis=-1), 1e-300)
        part = np.clip((arms * along).sum(axis=-1) / squares, 0.0, 1.0)
        nearest = np.linalg.norm(arms - part[..., None] * along, axis=-1).min(axis=-1)
        left = along[:, 0] * arms[..., 1] - along[:, 1] * arms[..., 0]
        inside = (left >= 0.0).all(axis=-1) & (len(starts) > 2)
        return np.where(inside, nearest, -nearest)[()]

    def contains(self, point: Reals) -> Any:
        """Whether a point (..., 2) is inside or on the border."""
        return self.distance(point) >= 0.0


def support_polygon(
    robot: Any, q: Reals, contacts: Iterable[Contact], tolerance: float = LEVEL, *, level: bool = True
) -> SupportPolygon:
    """Of the contacts with the world that are not off, at one configuration q.

    It bounds the center of pressure on level ground alone, so corners whose heights differ by more than ``tolerance``
    in m are refused. ``level=False`` takes the corners of contacts at any height, a hand on a table say, projected on
    the ground: it bounds where the center of mass of a robot at rest can be as long as friction holds each contact,
    however steep [Quiroz, fig. 4.10].
    """
    if not isinstance(level, bool):
        raise Error(f"level is True or False; found {level!r}.", found=level)
    model = model_of(robot)
    at, most = _configuration(q, model.nq), real_number(tolerance, "the tolerance of the heights")
    points = [
        corner.vector
        for contact in _all_contacts(contacts)
        if contact.mode != "off" and contact.partner == WORLD
        for corner in contact.corner_positions(model, at)
    ]
    if not points:
        raise Error("there is no support polygon: no contact with the world is on.")
    found = np.array(points, dtype=float)
    spread = float(np.ptp(found[:, 2]))
    if level and not spread <= most:
        problem = f"the heights of the corners differ by {spread:.3g} m, more than the tolerance of {most:g} m"
        remedy = "level=False projects corners of different heights on the ground"
        raise Error(f"{problem}: there is a support polygon on level ground only; {remedy}.", found=spread)
    return SupportPolygon(convex_hull(found[:, :2]))


def _all_contacts(contacts: Iterable[Contact]) -> list[Contact]:
    found = list(contacts) if isinstance(contacts, Iterable) else [contacts]
    for contact in found:
        if not isinstance(contact, Contact):
            raise Error(f"the contacts are a list of values of dqdyn.contacts; found {contact!r}.", found=contact)
    return found


def _configuration(q: Reals, nq: int) -> list[float]:
    array = real_array(q, "the configuration", StateError)
    if array.shape != (nq,) or not np.isfinite(array).all():
        raise StateError(f"the configuration has {nq} finite numbers; found {q!r}.", expected=nq, found=q)
    return [float(c) for c in array]


def convex_hull(points: Array) -> Array:
    """Corners of the hull of points (n, 2), counter-clockwise, by Andrew's monotone chain."""
    ordered = sorted({(float(x), float(y)) for x, y in points})
    if len(ordered) < 3:
        return np.array(ordered)

    def chain(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
        kept: list[tuple[float, float]] = []
        for x, y in points:
            while len(kept) > 1 and _left(kept[-2], kept[-1], (x, y)) <= 0.0:
                kept.pop()
            kept.append((x, y))
        return kept[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


def _left(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """Twice the area of a triangle, positive counter-clockwise."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
