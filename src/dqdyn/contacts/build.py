"""Contacts by their geometry: :func:`point`, :func:`edge`, :func:`face`."""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

import numpy as np

from dqdyn.arrays import Reals
from dqdyn.contacts import checks
from dqdyn.contacts.axes import contact_axes
from dqdyn.contacts.contact import Contact
from dqdyn.errors import Error


class Options(TypedDict, total=False):
    """Fields of a :class:`~dqdyn.contacts.contact.Contact` beside its geometry."""

    friction: float
    torsional_friction: float
    greatest_normal_force: float
    partner: str
    mode: str
    directions: Reals
    edges: int
    cone: str
    name: str


UP = (0.0, 0.0, 1.0)


def point(frame: str, point: Reals = (0.0, 0.0, 0.0), *, normal: Reals = UP, **options: Unpack[Options]) -> Contact:
    """A point in m in the axes of ``frame`` that touches; ``normal`` is in the axes of the partner.

    ``options`` are the other fields of :class:`~dqdyn.contacts.contact.Contact`: ``friction``, ``torsional_friction``,
    ``greatest_normal_force``, ``partner``, ``mode``, ``directions``, ``edges``, ``cone``, ``name``.
    """
    return _with_corners(frame, point, 1, "contacts.point has one point of 3 numbers", normal, options)


def edge(frame: str, ends: Reals, *, normal: Reals = UP, **options: Unpack[Options]) -> Contact:
    """An edge between two ends in m in the axes of ``frame``; ``normal`` is in the axes of the partner.

    ``options`` as for :func:`point`. Directions of sliding are in the contact frame: (1, 0, 0) is along the edge.
    """
    return _with_corners(frame, ends, 2, "contacts.edge has two ends of 3 numbers each", normal, options)


def face(
    frame: str,
    corners: Reals | None = None,
    *,
    half_length: float | None = None,
    half_width: float | None = None,
    center: Reals = (0.0, 0.0, 0.0),
    normal: Reals = UP,
    **options: Unpack[Options],
) -> Contact:
    """A convex polygon by its corners in m in the axes of ``frame``, or a rectangle about ``center``.

    The rectangle has ``half_length`` along x and ``half_width`` along y of the contact frame. ``normal`` is in the axes
    of ``frame``; ``options`` as for :func:`point`.
    """
    name = _name(frame, options)
    if corners is not None:
        if half_length is not None or half_width is not None:
            raise Error(f"the face of the contact {name!r} has corners and half sides: give one of them.", contact=name)
        return _with_corners(frame, corners, 3, "contacts.face has 3 or more corners", normal, options)
    if half_length is None or half_width is None:
        remedy = "give corners, or half_length and half_width"
        raise Error(f"the face of the contact {name!r} has no size: {remedy}.", contact=name)
    x, y = checks.positive(half_length, "half length", name), checks.positive(half_width, "half width", name)
    signs = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    tangents = contact_axes(checks.unit_vector(normal, "normal", name))[:, :2]
    middle = np.array(checks.one_vector(center, "center", name))
    return _with_corners(frame, middle + signs * [x, y] @ tangents.T, 3, "", normal, options)


def _name(frame: Any, options: Any) -> str:
    """What errors call the contact, whose name is still to be checked."""
    given = options.get("name", "")
    return given if isinstance(given, str) and given else str(frame)


def _with_corners(frame: str, corners: Any, least: int, expected: str, normal: Any, options: Any) -> Contact:
    name = _name(frame, options)
    found = checks.vectors(corners, "corners", name)
    if len(found) < least or (least < 3 and len(found) > least):
        raise Error(f"{expected}; found {len(found)} for {name!r}.", contact=name, found=len(found))
    return Contact(frame, found, normal, **options)
