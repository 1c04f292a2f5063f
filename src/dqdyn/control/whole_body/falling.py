"""Whether a robot falls: where its capture point is against the support polygon."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dqdyn.arrays import Array
from dqdyn.contacts.contact import Contact
from dqdyn.contacts.support_polygon import convex_hull
from dqdyn.control.whole_body.contact_motion import anchored_corners
from dqdyn.control.whole_body.context import Contacts
from dqdyn.model.description import WORLD
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.model import WORLD_BODY, Model

_LEVEL = 0.02  # m by which the heights of corners on level ground may differ
_PERIOD = 0.01  # s between checks: falls take tenths of a second
_LEAST = 0.05  # m of the center of mass above the ground, below which it is no pendulum


def is_watched(model: Model, contacts: Contacts) -> bool:
    """Whether the robot is one tree on a free base without motors, in contact with the world alone."""
    roots = [joint for joint in model.joints if joint.parent == WORLD_BODY]
    on_world = all(contact.partner == WORLD for contact in contacts.contacts)
    return len(roots) == 1 and bool(contacts.contacts) and on_world and None not in contacts.homes


class FallWatch:
    """The capture point c + ċ/ω₀ of the linear inverted pendulum, ω₀ = √(g/height), and how far it is outside.

    A pendulum whose capture point is outside of the support polygon falls, unless it makes a step; arms and trunk can
    bring it back by a few centimeters, which the ``margin`` in m leaves to them. It says nothing where the contacts
    are not on level ground, or with other bodies than the world.
    """

    def __init__(self, model: Model, margin: float) -> None:
        self.model, self.margin = model, margin
        gravity = model.gravity
        level = not isinstance(gravity, FieldGravity) and math.hypot(*gravity[:2]) < 1e-9 and gravity[2] < 0.0
        self._g = -gravity[2] if level and not isinstance(gravity, FieldGravity) else 0.0
        self.reset()

    def reset(self) -> None:
        """Watch from the next step on."""
        self._corners: list[list[float]] = []
        self._height = 0.0
        self._next: float | None = None

    def stand_on(self, contacts: Sequence[Contact], anchors: Array) -> None:
        """The support polygon of contacts with the world, from where they hold: ``anchors`` (contacts, 12)."""
        self._corners = []
        if self._g <= 0.0:
            return
        places = zip(contacts, anchors, strict=False)  # there is a row of anchors even without contacts
        points = np.vstack([anchored_corners(contact, at) for contact, at in places])
        if np.ptp(points[:, 2]) <= _LEVEL:
            self._corners = convex_hull(points[:, :2]).tolist()
            self._height = float(points[:, 2].mean())

    def problem(self, t: float, center: Array) -> str:
        """In words, or ""; ``center`` (6,): the center of mass and its velocity, in m and m/s."""
        if not self._corners or (self._next is not None and self._next - 2.0 * _PERIOD < t < self._next):
            return ""
        self._next = t + _PERIOD
        x, y, z, vx, vy, _ = center.tolist()
        if z - self._height < _LEAST:
            return f"the robot fell: its center of mass is {z - self._height:.3g} m above the ground"
        omega = math.sqrt(self._g / (z - self._height))
        outside = _outside(self._corners, x + vx / omega, y + vy / omega)
        if outside <= self.margin:
            return ""
        return f"the robot falls: its capture point is {outside:.3g} m outside of the support polygon"


def _outside(corners: list[list[float]], x: float, y: float) -> float:
    """m from a point to a convex polygon, counter-clockwise; 0 inside."""
    nearest, inside = math.inf, len(corners) > 2
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
        dx, dy, px, py = bx - ax, by - ay, x - ax, y - ay
        if dx * py - dy * px < 0.0:
            inside = False
        square = dx * dx + dy * dy
        part = min(max((px * dx + py * dy) / square, 0.0), 1.0) if square > 0.0 else 0.0
        nearest = min(nearest, math.hypot(px - part * dx, py - part * dy))
    return 0.0 if inside else nearest
