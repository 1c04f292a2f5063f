"""Where a contact may be made: all its corners above a surface, and inside of a region of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

from dqdyn.algebra.scalar import Scalar, total
from dqdyn.algebra.value import Value
from dqdyn.contacts.contact import Contact
from dqdyn.control.core.errors import refused
from dqdyn.control.core.inequality import Inequality, ZoneOptions
from dqdyn.control.core.term import Parts
from dqdyn.control.features.features import Feature
from dqdyn.control.features.on_robot import PointLike, point, required
from dqdyn.control.features.signals import SignalLike, as_signal
from dqdyn.errors import Error


class ContactRegion(Inequality):
    """All corners of a contact above a surface, and on the inner side of planes that bound a region of it.

    ``contact``: one of dqdyn.contacts, or several points of the robot. ``planes``: of the workspace, at rest or moving,
    their normals inwards [Quiroz, eq. (4.39)]; every corner is at least ``margin`` m inside of each. ``surface``: the
    plane to be touched, its normal towards the robot; every corner is at least ``distance`` m above it
    [Quiroz, eq. (4.57)], 0 lets it touch. One row per corner and plane.
    """

    def __init__(
        self,
        contact: Contact | PointLike | Sequence[PointLike],
        planes: Sequence[SignalLike] = (),
        surface: SignalLike | None = None,
        *,
        margin: SignalLike = 0.0,
        distance: SignalLike = 0.0,
        **options: Unpack[ZoneOptions],
    ) -> None:
        corners, place = _corners(contact)
        if isinstance(planes, Value) or not isinstance(planes, Iterable):
            raise refused("The planes of a contact region are a list", planes)
        sides = [as_signal("plane", p, f"plane {i + 1} of the region of {place}") for i, p in enumerate(planes)]
        ground = [] if surface is None else [as_signal("plane", surface, f"the surface for {place}")]
        if not sides and not ground:
            raise Error(f"the contact region of {place} needs planes around it, or a surface.", contact=place)
        limits = (
            as_signal("number", margin, "the margin of a contact region"),
            as_signal("number", distance, "the distance of a contact region"),
        )
        self._words = [f"plane {i + 1}" for i in range(len(sides))] + ["surface"] * len(ground)
        super().__init__(f"contact region of {place}", corners, (*sides, *ground, *limits), **options)

    def row_names(self) -> list[str]:
        return [f"{self.name}: corner {i + 1}, {word}" for i in range(len(self.features)) for word in self._words]

    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        *planes, margin, distance = given
        limits = [distance[0] if word == "surface" else margin[0] for word in self._words]
        pairs = list(zip(planes, limits, strict=True))
        return [_above(p, plane) - limit for p in robot for plane, limit in pairs]


def _above(p: Sequence[Scalar], plane: Sequence[Scalar]) -> Scalar:
    return total(a * b for a, b in zip(p, plane[:3], strict=True)) - plane[3]


def _corners(given: Any) -> tuple[tuple[Feature, ...], str]:
    """The corners as points of the robot, and what they belong to in words."""
    if isinstance(given, Contact):
        return tuple(point(given.frame, corner) for corner in given.corners), given.name
    alone = isinstance(given, (str, Feature)) or not isinstance(given, Iterable)
    corners = tuple(required(point, p, "A corner of a contact region") for p in ([given] if alone else given))
    if not corners:
        raise Error("a contact region needs a contact, or at least one point of the robot.")
    return corners, " and ".join(dict.fromkeys(corner.place for corner in corners))
