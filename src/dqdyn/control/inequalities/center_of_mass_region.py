"""Balance at rest: the center of mass inside of the support polygon, which may change at every contact."""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import Scalar
from dqdyn.arrays import Array, RealArray
from dqdyn.contacts.support_polygon import SupportPolygon, convex_hull
from dqdyn.control.core.errors import refused
from dqdyn.control.core.inequality import Inequality, ZoneOptions
from dqdyn.control.core.settings import is_number
from dqdyn.control.core.term import Parts
from dqdyn.control.features.features import CenterOfMass
from dqdyn.control.features.signals import Measured, SignalLike, as_signal
from dqdyn.errors import Error

EDGES = 12
"""Of a polygon at most, unless told: the hull of two soles and a palm has no more."""
_FAR = 1e3  # m to the planes that fill up those of a polygon with fewer edges
_THIN = 1e-9  # of the square of the extent: polygons of less area have none


class CenterOfMassRegion(Inequality):
    """The center of mass inside of the vertical planes through the edges of a polygon [Quiroz, eq. (4.62)].

    ``polygon``: a :class:`~dqdyn.contacts.SupportPolygon`, or points of the ground (n, 2) in m, whose convex hull
    counts; the center of mass stays at least ``margin`` m inside of each edge. :meth:`update` sets another polygon
    while a loop runs, as contacts are made and lost, for all controllers that have this constraint and without
    compiling again: it is prepared for polygons of up to ``edges`` edges, of which those that are not needed lie 1 km
    away. Edges that stay keep their row.
    """

    _planes: Array

    def __init__(
        self,
        polygon: SupportPolygon | RealArray,
        margin: SignalLike = 0.0,
        *,
        edges: int = EDGES,
        **options: Unpack[ZoneOptions],
    ) -> None:
        if not is_number(edges) or not 3 <= edges < math.inf or edges != int(edges):
            raise refused("The edges of a center-of-mass region are a whole number from 3", edges)
        self.edges = int(edges)
        self._planes = np.empty((0, 3))
        self._measured = Measured(None)
        self.update(polygon)
        planes_signal = as_signal("vector", self._measured, "the polygon of the center of mass", 3 * self.edges)
        safe = as_signal("number", margin, "the margin of the center of mass")
        if is_number(margin) and not len(_inside_of(self._polygon, float(margin))):  # type: ignore[arg-type]
            said = f"no point of the polygon of the center of mass is {margin:g} m inside of all its edges"
            raise Error(f"{said}: take a smaller margin or a larger polygon.", found=margin)
        super().__init__("center of mass in the polygon", (CenterOfMass(),), (planes_signal, safe), **options)

    @property
    def polygon(self) -> SupportPolygon:
        """The polygon that holds now."""
        return self._polygon

    def update(self, polygon: SupportPolygon | RealArray) -> None:
        """Another polygon, from the next step on."""
        found = as_polygon(polygon, "the polygon of the center of mass")
        count = len(found.corners)
        if count > self.edges:
            said = f"the polygon of the center of mass has {count} edges, more than the {self.edges} prepared for"
            raise Error(f"{said}: make the region with edges={count}.", found=count)
        self._polygon, self._planes = found, _in_rows(found.sides, self._planes, self.edges)
        self._measured.update(self._planes.reshape(-1))

    def row_names(self) -> list[str]:
        return [f"{self.name}: plane {i + 1}" for i in range(self.edges)]

    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        (x, y, _), (planes, margin) = robot[0], given
        sides = zip(planes[::3], planes[1::3], planes[2::3], strict=True)
        return [a * x + b * y - d - margin[0] for a, b, d in sides]


def _inside_of(polygon: SupportPolygon, margin: float) -> Array:
    """Corners (n, 2) of what is left of a polygon when each edge is moved inwards, cut off edge by edge."""
    corners = polygon.corners
    for a, b, d in polygon.sides:
        room = corners @ np.array([a, b]) - d - margin
        kept = []
        for p, q, here, there in zip(corners, np.roll(corners, -1, axis=0), room, np.roll(room, -1), strict=True):
            if here >= 0.0:
                kept.append(p)
            if (here > 0.0) != (there > 0.0) and here != there:
                kept.append(p + here / (here - there) * (q - p))
        corners = np.array(kept).reshape(-1, 2)
    return corners


def _in_rows(planes: Array, former: Array, count: int) -> Array:
    """Planes (count, 3) with normals and distances; each where the former one next to it was, the rest far away."""
    rows = np.resize(planes, (count, 3)) - [0.0, 0.0, _FAR]
    if not len(former):
        rows[: len(planes)] = planes
        return rows
    gaps = np.abs(planes[:, None] - former).sum(axis=2)
    for _ in planes:
        new, row = np.unravel_index(int(gaps.argmin()), gaps.shape)
        rows[row] = planes[new]
        gaps[new], gaps[:, row] = np.inf, np.inf
    return rows


def as_polygon(given: Any, what: str) -> SupportPolygon:
    """The convex polygon of a SupportPolygon or of points (n, 2) in m; an error where it has no area."""
    points = real_array(given.corners if isinstance(given, SupportPolygon) else given, what)
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise refused(f"{what[:1].upper()}{what[1:]} is a SupportPolygon or points (n, 2), finite and in m", given)
    found = SupportPolygon(convex_hull(points).reshape(-1, 2))
    if len(found.corners) < 3 or found.area <= _THIN * float(np.ptp(found.corners, axis=0).max()) ** 2:
        raise refused(f"{what} has no area: give at least three points that are not on one line", given)
    return found
