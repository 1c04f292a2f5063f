"""Inverse dynamics under constraints: which forces of which joints give an acceleration, on arrays."""

from __future__ import annotations

import numpy as np

from dqdyn.constraints.methods.reduced import by_rank

TOLERANCE = 1e-8


def least_torques(need: np.ndarray, a: np.ndarray, actuated: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The smallest τ (..., nv), zero where not actuated, with τ + Aᵀλ = ``need`` for some λ; and what is left.

    ``need`` is M a + bias. Only Bᵀτ = Bᵀ need matters, B the null space of A: what the constraints carry costs
    no torque. ``actuated`` is the list of velocities with a motor. What is left (...,) is the part of
    Bᵀ need that the motors cannot reach, relative.
    """
    n = need.shape[-1]
    chosen = np.zeros((n, len(actuated)))
    chosen[actuated, np.arange(len(actuated))] = 1.0

    def one_rank(basis: np.ndarray, inverse: np.ndarray, rows: tuple[np.ndarray, ...]) -> np.ndarray:
        transposed = np.swapaxes(basis, -1, -2)
        wanted = transposed @ rows[1][..., None]
        reach = transposed @ chosen
        own = np.linalg.pinv(reach, rcond=1e-10) @ wanted
        left = np.linalg.norm((reach @ own - wanted)[..., 0], axis=-1)
        scale = np.maximum(np.linalg.norm(rows[1], axis=-1), 1e-12)
        return np.concatenate([(chosen @ own)[..., 0], (left / scale)[..., None]], axis=-1)

    identity = np.zeros((*need.shape, n))
    found = by_rank(a, one_rank, (identity, need, need), n + 1)
    return found[..., :n], found[..., n]
