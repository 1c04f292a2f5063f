"""Euler angles without jumps: a rotation has many, and ``from_minimal`` gives the principal ones."""

from __future__ import annotations

import math

import numpy as np

from dqdyn.arrays import Array
from dqdyn.coordinates.euler import Euler
from dqdyn.coordinates.joint_coordinates import RotationCoordinates
from dqdyn.coordinates.tree import TreeCoordinates

_TURN = 2.0 * math.pi


def unwrapped(tree: TreeCoordinates, q: Array) -> Array:
    """A path q (n, ..., nq) whose angles go on where they would jump by 2π between two samples."""
    result = np.array(q)
    for angles in _angles(tree):
        result[..., angles] = np.unwrap(result[..., angles], axis=0)
    return result


def continued(tree: TreeCoordinates, q: Array, before: Array | None) -> Array:
    """The coordinates q (..., nq) with the turns of those ``before``."""
    if before is None or not _angles(tree):
        return q
    result = np.array(q)
    for angles in _angles(tree):
        result[..., angles] += _TURN * np.round((before[..., angles] - result[..., angles]) / _TURN)
    return result


def _angles(tree: TreeCoordinates) -> list[slice]:
    """Where Euler angles are in q."""
    return [
        slice(part.q.start, part.q.start + 3)
        for part in tree.parts
        if isinstance(part.by, RotationCoordinates) and isinstance(part.by.by, Euler)
    ]
