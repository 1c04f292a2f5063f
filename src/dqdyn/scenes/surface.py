"""The surface below a point: where a vertical ray meets the shapes of a scene."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array

_PARALLEL = 1e-12


@dataclass(frozen=True)
class Surface:
    """A point of a body's surface: ``height`` in m in the world, unit ``normal`` outwards, ``friction`` μ, ``body``."""

    body: str
    height: float
    normal: tuple[float, float, float]
    friction: float


Hit = tuple[float, Array]
"""How far along the ray in m, and the outward normal there."""


def ray_hit(shape: str, size: tuple[float, ...], pose: Pose, origin: Array, direction: Array) -> Hit | None:
    """Where a ray from outside first enters a shape; normals are in world axes. None where it passes by."""
    turn = pose.rotation_matrix
    hit = _HITS[shape](size, turn.T @ (origin - pose.translation), turn.T @ direction)
    return None if hit is None or hit[0] < 0.0 else (hit[0], turn @ hit[1])


def _plane(size: tuple[float, ...], p: Array, d: Array) -> Hit | None:
    return None if d[2] >= -_PARALLEL else (float(-p[2] / d[2]), np.array([0.0, 0.0, 1.0]))


def _box(size: tuple[float, ...], p: Array, d: Array) -> Hit | None:
    enter, leave, axis = -math.inf, math.inf, 0
    for i in range(3):
        half = size[i] / 2.0
        if abs(d[i]) < _PARALLEL:
            if abs(p[i]) > half:
                return None
            continue
        near, far = sorted(((-half - p[i]) / d[i], (half - p[i]) / d[i]))
        if near > enter:
            enter, axis = near, i
        leave = min(leave, far)
    if enter > leave:
        return None
    normal = np.zeros(3)
    normal[axis] = -math.copysign(1.0, d[axis])
    return float(enter), normal


def _sphere(size: tuple[float, ...], p: Array, d: Array) -> Hit | None:
    s = _first_root(float(d @ d), float(p @ d), float(p @ p) - size[0] ** 2)
    return None if s is None else (s, (p + s * d) / size[0])


def _cylinder(size: tuple[float, ...], p: Array, d: Array) -> Hit | None:
    radius, half = size[0], size[1] / 2.0
    hits: list[Hit] = []
    across = float(d[:2] @ d[:2])
    if across > _PARALLEL:
        s = _first_root(across, float(p[:2] @ d[:2]), float(p[:2] @ p[:2]) - radius**2)
        if s is not None and abs(p[2] + s * d[2]) <= half:
            side = p + s * d
            hits.append((s, np.array([side[0] / radius, side[1] / radius, 0.0])))
    if abs(d[2]) > _PARALLEL:
        end = -math.copysign(half, d[2])
        s = float((end - p[2]) / d[2])
        at = p + s * d
        if float(at[:2] @ at[:2]) <= radius**2:
            hits.append((s, np.array([0.0, 0.0, math.copysign(1.0, end)])))
    return min(hits, key=lambda hit: hit[0], default=None)


def _first_root(a: float, half_b: float, c: float) -> float | None:
    """The smaller root s of a s² + 2 half_b s + c = 0."""
    inside = half_b * half_b - a * c
    return None if inside < 0.0 else (-half_b - math.sqrt(inside)) / a


_HITS = {"plane": _plane, "box": _box, "sphere": _sphere, "cylinder": _cylinder}
