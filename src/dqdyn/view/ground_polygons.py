"""Support polygons over time as corners that can be drawn: as many at every sample, on the ground."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array, RealArray
from dqdyn.contacts.support_polygon import SupportPolygon
from dqdyn.errors import Error, one_line

OnGround: TypeAlias = SupportPolygon | RealArray
"""A polygon of the ground, by its corners (k, 2) in m."""


def corners_over_time(given: OnGround | Sequence[OnGround], height: float) -> Array:
    """(n, k, 3) of a polygon per sample, n = 1 of a constant one; the last corner is repeated where there are fewer."""
    wanted = "A support polygon to draw is a SupportPolygon or corners (k, 2) in m, or a list with one per sample"
    polygons: Any = given
    if isinstance(given, SupportPolygon):
        polygons = [given]
    elif not isinstance(given, (Sequence, np.ndarray)) or not len(given):
        raise Error(f"{wanted}; found {one_line(repr(given), 80)}.", found=given)
    elif not any(isinstance(each, SupportPolygon) or np.ndim(each) == 2 for each in polygons):
        polygons = [given]
    found = [
        real_array(each.corners if isinstance(each, SupportPolygon) else each, "A support polygon to draw")
        for each in polygons
    ]
    if any(corners.ndim != 2 or corners.shape[1] != 2 or not len(corners) for corners in found):
        raise Error(f"{wanted}; found {one_line(repr(given), 80)}.", found=given)
    most = max(3, *map(len, found))
    flat = np.array([np.vstack([p, np.repeat(p[-1:], most - len(p), axis=0)]) for p in found])
    return np.dstack([flat, np.full(flat.shape[:2], height)])
