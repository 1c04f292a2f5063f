"""How far a contact is above the ground: a height, a plane, or a scene."""

from __future__ import annotations

import math
from typing import Any, Protocol

from dqdyn.arrays import Array
from dqdyn.contacts.contact import Contact
from dqdyn.control.core.errors import refused
from dqdyn.control.core.settings import is_number, number
from dqdyn.geometry.primitives import Plane
from dqdyn.model.description import WORLD
from dqdyn.model.model import Model


class HasSurfaces(Protocol):
    """A scene: knows the surface below a point, with its ``height``; None where there is nothing."""

    def surface_below(self, point: Any, t: float = 0.0, *, above: float = 0.02) -> Any:
        """The highest surface below a point (3,) in m at the time t in s."""


Ground = float | Plane | HasSurfaces
"""z of level ground in m, a plane in the world, or a scene."""


def as_ground(given: Any) -> Plane | HasSurfaces:
    """A plane or a scene; an error where something else is given."""
    if is_number(given):
        return Plane([0.0, 0.0, 1.0], distance=number(given, "the height of the ground in m"))
    if isinstance(given, Plane) or callable(getattr(given, "surface_below", None)):
        checked: Plane | HasSurfaces = given
        return checked
    raise refused("the ground is a height z in m, a Plane or a Scene", given)


def gaps(model: Model, contact: Contact, q: Array, ground: Plane | HasSurfaces, t: float = 0.0) -> list[float]:
    """m of each corner above the ground, negative below; infinite where there is no ground below."""
    if isinstance(ground, Plane):
        return [float(gap) for gap in contact.gaps(model, q.tolist(), ground)]
    found = []
    for corner in contact.corner_positions(model, q.tolist()):
        point = [float(c) for c in corner.vector]
        surface = ground.surface_below(point, t)
        found.append(math.inf if surface is None else point[2] - float(surface.height))
    return found


def in_the_air(model: Model, contact: Contact, q: Array, ground: Plane | HasSurfaces, t: float, most: float) -> str:
    """What is wrong with a contact whose corners are farther than ``most`` m from the ground, in words, or ""."""
    if contact.partner != WORLD:
        return ""
    farthest = max(gaps(model, contact, q, ground, t), key=abs)
    if abs(farthest) <= most:
        return ""
    if farthest == math.inf:
        return f"the contact {contact.name!r} has no ground below it"
    where = "above" if farthest > 0.0 else "below"
    return f"the contact {contact.name!r} is {abs(farthest):.4g} m {where} the ground"
