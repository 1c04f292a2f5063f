"""Triangles of simple solids, centered at the origin; sizes in m as :class:`dqdyn.Shape` has them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dqdyn.arrays import Array
from dqdyn.view.triangles import Triangles

AROUND = 28
"""Corners of a circle."""


def box(x: float, y: float, z: float) -> Triangles:
    signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=float)
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [face for a, b, c, d in sides for face in ((a, b, c), (a, c, d))]
    return Triangles(signs * np.array([x, y, z]) / 2.0, np.array(faces))


def turned(profile: list[tuple[float, float]], around: int = AROUND) -> Triangles:
    """A solid of revolution about z: (radius, z) from the bottom up; ends with a radius are closed."""
    closed = [(0.0, profile[0][1]), *profile, (0.0, profile[-1][1])]
    angles = np.arange(around) * 2.0 * np.pi / around
    rings = [np.stack([r * np.cos(angles), r * np.sin(angles), np.full(around, z)], axis=-1) for r, z in closed]
    low = np.arange(around)
    high = (low + 1) % around
    faces = []
    for ring in range(len(closed) - 1):
        a, b = low + ring * around, high + ring * around
        faces += [np.stack([a, b, b + around], axis=-1), np.stack([a, b + around, a + around], axis=-1)]
    return Triangles(np.concatenate(rings), np.concatenate(faces))


def cylinder(radius: float, length: float) -> Triangles:
    return turned([(radius, -length / 2.0), (radius, length / 2.0)])


def cone(radius: float, length: float) -> Triangles:
    """Base at z = 0, tip at z = length."""
    return turned([(radius, 0.0), (0.0, length)])


def capsule(radius: float, length: float) -> Triangles:
    """``length`` without the caps."""
    bend = np.linspace(-np.pi / 2.0, 0.0, AROUND // 4 + 1)
    low = [(radius * np.cos(a), radius * np.sin(a) - length / 2.0) for a in bend]
    return turned([*low, *((r, -z) for r, z in reversed(low))])


def sphere(radius: float) -> Triangles:
    return capsule(radius, 0.0)


def ellipsoid(x: float, y: float, z: float) -> Triangles:
    return sphere(1.0).moved(np.diag([x, y, z, 1.0]))


def plane(side: float = 4.0) -> Triangles:
    """A square in the plane z = 0, seen from both sides."""
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], dtype=float) * side / 2.0
    return Triangles(corners, np.array([[0, 1, 2], [0, 2, 3], [0, 2, 1], [0, 3, 2]]))


def along(start: Array, end: Array, radius: float) -> Triangles:
    """A capsule between two points."""
    axis, matrix = end - start, np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = axes_with_z(axis), (start + end) / 2.0
    return capsule(radius, float(np.linalg.norm(axis))).moved(matrix)


def axes_with_z(direction: Array) -> Array:
    """A rotation matrix whose third column points along ``direction``."""
    length = np.linalg.norm(direction)
    z = direction / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    other = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = np.cross(other, z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=-1)


KINDS: dict[str, Callable[..., Triangles]] = {
    "box": box,
    "sphere": sphere,
    "cylinder": cylinder,
    "capsule": capsule,
    "ellipsoid": ellipsoid,
    "plane": plane,
}
