"""Poses and reference motions for the tests of DH tables and screws."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.model.description import Description
from dqdyn.model.inertia import Inertia, as_vector, box
from dqdyn.model.model import Model


def frame_pose(model: Model, frame: str, q: Any) -> DQ:
    """Pose of a frame in the world, walking from the root: x = parent · placement · motion."""
    target = model.frames[frame]
    x = IDENTITY
    for index in model.path(target.body):
        joint = model.joints[index]
        x = x * joint.placement * joint.motion.pose(joint.coordinates(list(q)))
    return x * target.placement


def distance(x: DQ, vec8: np.ndarray) -> float:
    """Largest difference of coefficients; x and −x are the same pose."""
    return float(min(np.abs(x.vec8() - vec8).max(), np.abs(x.vec8() + vec8).max()))


def random_box(rng: np.random.Generator) -> Inertia:
    return box(rng.uniform(1, 2), as_vector(rng.uniform(0.1, 0.5, 3)), as_vector(rng.uniform(-1, 1, 3)))


def kinds(description: Description) -> list[str]:
    return [joint.kind for joint in description.joints]


def screw_matrix(screw: np.ndarray) -> np.ndarray:
    """The 4×4 matrix of the twist [l, m]."""
    (x, y, z), m = screw[:3], screw[3:]
    result = np.zeros((4, 4))
    result[:3, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    result[:3, 3] = m
    return result


def matrix_exponential(a: np.ndarray) -> np.ndarray:
    """exp(a) by its series; for norms below about five."""
    result = term = np.eye(len(a))
    for k in range(1, 60):
        term = term @ a / k
        result = result + term
    return result
