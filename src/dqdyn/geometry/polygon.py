"""Convex polygons of the plane, over any scalar."""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.algebra.scalar import Scalar, less, select, total


def nearest_in_polygon(corners: Sequence[Sequence[float]], p: Sequence[Scalar]) -> list[Scalar]:
    """The point of a convex polygon, its corners counter-clockwise, next to p (x, y); inside it is p itself."""
    edges = zip(corners, [*corners[1:], corners[0]], strict=True)
    feet = [_foot(a, b, p) for a, b in edges]
    best, least, _ = feet[0]
    for foot, square, _ in feet[1:]:
        nearer = less(square, least)
        best = [select(nearer, c, d) for c, d in zip(foot, best, strict=True)]
        least = select(nearer, square, least)
    is_outside = less(0.5, total(beyond for _, _, beyond in feet))
    return [select(is_outside, c, d) for c, d in zip(best, p, strict=True)]


def _foot(a: Sequence[float], b: Sequence[float], p: Sequence[Scalar]) -> tuple[list[Scalar], Scalar, Scalar]:
    """The point of an edge next to p, the square of their distance, and 1 where p is on the right of the edge."""
    edge, arm = (b[0] - a[0], b[1] - a[1]), (p[0] - a[0], p[1] - a[1])
    along = (edge[0] * arm[0] + edge[1] * arm[1]) * (1.0 / (edge[0] * edge[0] + edge[1] * edge[1]))
    along = select(less(along, 0.0), 0.0, select(less(1.0, along), 1.0, along))
    off = (arm[0] - along * edge[0], arm[1] - along * edge[1])
    beyond = select(less(edge[0] * arm[1] - edge[1] * arm[0], 0.0), 1.0, 0.0)
    return [a[0] + along * edge[0], a[1] + along * edge[1]], off[0] * off[0] + off[1] * off[1], beyond
