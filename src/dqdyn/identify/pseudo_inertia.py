"""Pseudo-inertias: the ten parameters of a body as a symmetric 4×4 matrix, positive definite for every real body.

J = ∫ [r; 1] [r; 1]ᵀ dm has the second moments Σ, the first moment m c and the mass; seen from another frame it is
T J Tᵀ with the homogeneous matrix T (Wensing, Kim and Slotine 2018).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from dqdyn.arrays import Array

_TENSOR = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))


def pseudo_inertia(parameters: Array) -> Array:
    """J (..., 4, 4) of parameters (..., 10) in the order of ``Robot.inertial_parameters``."""
    return np.tensordot(np.asarray(parameters, float), basis(), axes=1)


def parameters_of(matrix: Array) -> Array:
    """The ten parameters of J (..., 4, 4)."""
    second = matrix[..., :3, :3]
    trace = np.trace(second, axis1=-2, axis2=-1)
    tensor = trace[..., None, None] * np.eye(3) - second
    entries = [tensor[..., i, j] for i, j in _TENSOR]
    return np.stack([matrix[..., 3, 3], *(matrix[..., k, 3] for k in range(3)), *entries], axis=-1)


@cache
def basis() -> Array:
    """J per unit of each parameter (10, 4, 4)."""
    result = np.zeros((10, 4, 4))
    result[0, 3, 3] = 1.0
    for k in range(3):
        result[1 + k, k, 3] = result[1 + k, 3, k] = 1.0
    for n, (i, j) in enumerate(_TENSOR):
        tensor = np.zeros((3, 3))
        tensor[i, j] = tensor[j, i] = 1.0
        result[4 + n, :3, :3] = 0.5 * np.trace(tensor) * np.eye(3) - tensor
    result.setflags(write=False)
    return result


def carried(pose: Array) -> Array:
    """The map (10, 10) of parameters into the frame in which theirs stands at a pose (4, 4)."""
    return parameters_of(pose @ basis() @ pose.T).T


def momentum(twist: Array) -> Array:
    """[m v − h × ω, I ω + h × v] (6, 10) of a twist [ω, v] per unit of each parameter."""
    omega, v = twist[:3], twist[3:]
    result = np.zeros((6, 10))
    result[:3, 0] = v
    for k in range(3):
        unit = np.eye(3)[k]
        result[:3, 1 + k], result[3:, 1 + k] = np.cross(omega, unit), np.cross(unit, v)
    for n, (i, j) in enumerate(_TENSOR):
        tensor = np.zeros((3, 3))
        tensor[i, j] = tensor[j, i] = 1.0
        result[3:, 4 + n] = tensor @ omega
    return result
