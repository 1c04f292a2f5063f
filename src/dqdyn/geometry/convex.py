"""Convex polygons of the plane: the hull of points, and the point of a polygon next to a given one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dqdyn.algebra.scalar import Scalar, less, select
from dqdyn.arrays import Array

_FLAT = 1e-9  # of the largest extent: corners that near to a line between others are on it


def convex_hull(points: Array) -> Array:
    """Corners (m, 2) of the convex hull of points (n, 2), counterclockwise; fewer than 3 where all are on a line."""
    points = np.unique(points, axis=0)
    if len(points) < 3:
        return points
    flat = _FLAT * float(np.ptp(points, axis=0).max()) ** 2
    halves = []
    for ordered in (points, points[::-1]):
        half: list[Array] = []
        for p in ordered:
            while len(half) > 1 and _turn(half[-2], half[-1], p) <= flat:
                half.pop()
            half.append(p)
        halves += half[:-1]
    return np.array(halves)


def nearest_in_polygon(corners: Sequence[Sequence[float]], p: Sequence[Scalar]) -> list[Scalar]:
    """The point of a convex polygon, corners counterclockwise, next to p; over any scalar. Inside it is p itself."""
    best, least, is_outside = list(p), None, None
    for a, b in zip(corners, [*corners[1:], corners[0]], strict=True):
        e, r = [b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]
        along = (e[0] * r[0] + e[1] * r[1]) * (1.0 / (e[0] * e[0] + e[1] * e[1]))
        along = select(less(along, 0.0), 0.0, select(less(1.0, along), 1.0, along))
        foot = [a[0] + along * e[0], a[1] + along * e[1]]
        far = (p[0] - foot[0]) * (p[0] - foot[0]) + (p[1] - foot[1]) * (p[1] - foot[1])
        beyond = select(less(e[0] * r[1] - e[1] * r[0], 0.0), 1.0, 0.0)
        if least is None:
            best, least, is_outside = foot, far, beyond
            continue
        nearer = less(far, least)
        best = [select(nearer, c, d) for c, d in zip(foot, best, strict=True)]
        least, is_outside = select(nearer, far, least), is_outside + beyond
    return [select(less(0.5, is_outside), c, d) for c, d in zip(best, p, strict=True)]


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
