"""Signed distance from points to a shape, in the axes of the shape, with the direction that leads out of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dqdyn.arrays import Array

Distance = Callable[[tuple[float, ...], Array], tuple[Array, Array]]
"""(size, points (k, 3)) → distances (k,) in m, negative inside, and unit normals (k, 3) out of the shape."""


def _plane(size: tuple[float, ...], points: Array) -> tuple[Array, Array]:
    return points[:, 2], np.broadcast_to([0.0, 0.0, 1.0], points.shape)


def _sphere(size: tuple[float, ...], points: Array) -> tuple[Array, Array]:
    away = np.linalg.norm(points, axis=1)
    return away - size[0], _unit(points, away)


def _box(size: tuple[float, ...], points: Array) -> tuple[Array, Array]:
    """Edges ``size`` about the origin."""
    return _corner_distance(np.abs(points) - 0.5 * np.array(size), np.where(points < 0.0, -1.0, 1.0))


def _cylinder(size: tuple[float, ...], points: Array) -> tuple[Array, Array]:
    """Radius and length along z: a rectangle in the half-plane of the radius and z."""
    radius, length = size
    away = np.hypot(points[:, 0], points[:, 1])
    outside = np.column_stack([away - radius, np.abs(points[:, 2]) - 0.5 * length])
    gaps, normals = _corner_distance(outside, np.ones_like(outside))
    radial = _unit(points[:, :2], away)
    up = np.where(points[:, 2] < 0.0, -1.0, 1.0)
    return gaps, np.column_stack([normals[:, :1] * radial, normals[:, 1] * up])


def _corner_distance(outside: Array, signs: Array) -> tuple[Array, Array]:
    """Of points that are ``outside`` (k, n) beyond the face of each axis, negative within: face, edge or corner."""
    beyond = np.maximum(outside, 0.0)
    away = np.linalg.norm(beyond, axis=1)
    nearest = outside.argmax(axis=1)
    inside = away == 0.0
    normals = np.where(
        inside[:, None], np.eye(outside.shape[1])[nearest], beyond / np.where(inside, 1.0, away)[:, None]
    )
    return np.where(inside, outside.max(axis=1), away), normals * signs


def _unit(vectors: Array, lengths: Array) -> Array:
    """Along the vectors; where the length is 0, along the first axis."""
    zero = lengths == 0.0
    first = np.eye(vectors.shape[1])[0]
    return np.where(zero[:, None], first, vectors / np.where(zero, 1.0, lengths)[:, None])


DISTANCES: dict[str, Distance] = {"plane": _plane, "sphere": _sphere, "box": _box, "cylinder": _cylinder}
