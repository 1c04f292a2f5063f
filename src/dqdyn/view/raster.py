"""Triangles to pixels in NumPy: which triangle each pixel shows, without a graphics card or a browser.

Each triangle is cut into rows of pixels, each row into pixels; all triangles together, so that the work is done on few
long arrays. The pixel of column i and row k has its center at (i + ½, k + ½).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array
from dqdyn.view.triangles import Indices, counted

NEAR = 1e-3
"""m ahead of the eye from which on something is seen."""


@dataclass(frozen=True, eq=False)
class Fragments:
    """Pixels that triangles cover: ``pixel`` (k,) = row · width + column, the triangle, and 1/depth there."""

    pixel: Indices
    triangle: Indices
    inverse_depth: Array


def fragments(places: Array, inverse_depths: Array, size: tuple[int, int]) -> Fragments:
    """Of triangles with corners at ``places`` (m, 3, 2) in pixels and 1/depths (m, 3), in an image (width, height)."""
    width, height = size
    low, high = places[:, :, 1].min(axis=1), places[:, :, 1].max(axis=1)
    first = np.clip(np.ceil(low - 0.5), 0, height).astype(np.int64)
    rows = np.maximum(np.clip(np.floor(high - 0.5), -1, height - 1).astype(np.int64) - first + 1, 0)
    owner = np.repeat(np.arange(len(places)), rows)
    row = first[owner] + counted(rows)
    left, right = _spans(places[owner], row + 0.5)
    start = np.clip(np.ceil(left - 0.5), 0, width).astype(np.int64)
    count = np.maximum(np.clip(np.floor(right - 0.5), -1, width - 1).astype(np.int64) - start + 1, 0)
    triangle = np.repeat(owner, count)
    column, line = np.repeat(start, count) + counted(count), np.repeat(row, count)
    slope, offset = _planes(places, inverse_depths)
    corner = places[triangle, 0]
    away_x, away_y = column + 0.5 - corner[:, 0], line + 0.5 - corner[:, 1]
    depth = offset[triangle] + slope[triangle, 0] * away_x + slope[triangle, 1] * away_y
    return Fragments(line * width + column, triangle, depth)


def _spans(corners: Array, y: Array) -> tuple[Array, Array]:
    """Left and right end (k,) of the part of each triangle (k, 3, 2) that lies on the line at height y (k,)."""
    left, right = np.full(len(y), np.inf), np.full(len(y), -np.inf)
    for i in range(3):
        a, b = corners[:, i], corners[:, (i + 1) % 3]
        rise = b[:, 1] - a[:, 1]
        crossed = (np.minimum(a[:, 1], b[:, 1]) <= y) & (y <= np.maximum(a[:, 1], b[:, 1])) & (rise != 0.0)
        x = a[:, 0] + (b[:, 0] - a[:, 0]) * (y - a[:, 1]) / np.where(crossed, rise, 1.0)
        left, right = np.where(crossed, np.minimum(left, x), left), np.where(crossed, np.maximum(right, x), right)
    empty = ~(left <= right)
    return np.where(empty, 1.0, left), np.where(empty, 0.0, right)


def _planes(places: Array, values: Array) -> tuple[Array, Array]:
    """Slopes (m, 2) and value at the first corner (m,) of the linear function through the values at the corners."""
    u, w = places[:, 1] - places[:, 0], places[:, 2] - places[:, 0]
    du, dw = values[:, 1] - values[:, 0], values[:, 2] - values[:, 0]
    area = u[:, 0] * w[:, 1] - u[:, 1] * w[:, 0]
    seen = np.abs(area) > 1e-12  # one that is seen from its edge covers no pixel to speak of
    safe = np.where(seen, area, 1.0)
    slopes = np.stack([du * w[:, 1] - dw * u[:, 1], dw * u[:, 0] - du * w[:, 0]], axis=-1) / safe[:, None]
    return np.where(seen[:, None], slopes, 0.0), values[:, 0]


def nearest(found: Fragments, size: tuple[int, int]) -> tuple[Indices, Array]:
    """Triangle, −1 for none, and 1/depth of what is in front at each pixel (height · width,)."""
    depth = np.zeros(size[0] * size[1])
    np.maximum.at(depth, found.pixel, found.inverse_depth)
    front = found.inverse_depth >= depth[found.pixel]
    shown = np.full(len(depth), -1)
    shown[found.pixel[front]] = found.triangle[front]
    return shown, depth


def weights(places: Array, inverse_depths: Array, x: Array, y: Array) -> Array:
    """Shares (k, 3) of the corners of triangles (k, 3, 2) in the points of their planes that are seen at x, y (k,)."""
    a, b, c = places[:, 0], places[:, 1], places[:, 2]
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    safe = np.where(np.abs(area) > 1e-12, area, 1.0)
    second = ((x - a[:, 0]) * (c[:, 1] - a[:, 1]) - (y - a[:, 1]) * (c[:, 0] - a[:, 0])) / safe
    third = ((b[:, 0] - a[:, 0]) * (y - a[:, 1]) - (b[:, 1] - a[:, 1]) * (x - a[:, 0])) / safe
    shares = np.stack([1.0 - second - third, second, third], axis=-1) * inverse_depths  # straight in perspective
    result: Array = shares / shares.sum(axis=-1, keepdims=True)
    return result


def ahead(seen: Array, normals: Array, faces: Indices) -> tuple[Array, Array, Indices, Indices]:
    """Points (n, 3) as the camera sees them, normals and faces with what lies behind the eye cut off.

    The last array tells which face each of the remaining ones is a part of.
    """
    behind = seen[faces, 2] < NEAR
    whole = ~behind.any(axis=1)
    cut = np.flatnonzero(behind.any(axis=1) & ~behind.all(axis=1))
    points, turned, kept, origin = [seen], [normals], [faces[whole]], [np.flatnonzero(whole)]
    count = len(seen)
    for face in cut:
        p, n = _clipped(seen[faces[face]], normals[faces[face]])
        fan = [(count, count + k, count + k + 1) for k in range(1, len(p) - 1)]
        points.append(p)
        turned.append(n)
        kept.append(np.array(fan).reshape(-1, 3))
        origin.append(np.full(len(fan), face))
        count += len(p)
    return np.concatenate(points), np.concatenate(turned), np.concatenate(kept), np.concatenate(origin)


def _clipped(points: Array, normals: Array) -> tuple[Array, Array]:
    """The polygon that is left of a triangle in front of the plane at NEAR."""
    rows = np.hstack([points, normals])
    result = []
    for a, b in zip(rows, np.roll(rows, -1, axis=0), strict=True):
        if a[2] >= NEAR:
            result.append(a)
        if (a[2] >= NEAR) != (b[2] >= NEAR):
            result.append(a + (NEAR - a[2]) / (b[2] - a[2]) * (b - a))
    polygon = np.array(result)
    return polygon[:, :3], polygon[:, 3:]
