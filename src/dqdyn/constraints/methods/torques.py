"""Inverse dynamics under constraints: which forces of which joints give an acceleration, on arrays."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from dqdyn.arrays import Array
from dqdyn.constraints.methods.reduced import ranks

TOLERANCE = 1e-8


def least_torques(need: Array, a: Array, actuated: npt.NDArray[np.intp]) -> tuple[Array, Array]:
    """The smallest τ (..., nv), zero where not actuated, with τ + Aᵀλ = ``need`` for some λ; and what is left.

    ``need`` is M a + bias. Only Bᵀτ = Bᵀ need matters, B the null space of A: what the constraints carry costs
    no torque. ``actuated`` is the list of velocities with a motor. What is left (...,) is the part of
    Bᵀ need that the motors cannot reach, relative.
    """
    n = need.shape[-1]
    chosen = np.zeros((n, len(actuated)))
    chosen[actuated, np.arange(len(actuated))] = 1.0
    batch = a.shape[:-2]
    rows = np.broadcast_to(need, (*batch, n)).reshape(math.prod(batch), n)
    _, s, vt = np.linalg.svd(a.reshape(len(rows), *a.shape[-2:]))
    tau, left, rank = np.empty((len(rows), n)), np.empty(len(rows)), ranks(s)
    for r in np.unique(rank):
        part = rank == r
        transposed, wanted = vt[part, r:], rows[part]
        reach, target = transposed @ chosen, transposed @ wanted[..., None]
        own = np.linalg.pinv(reach, rcond=1e-10) @ target
        tau[part] = (chosen @ own)[..., 0]
        missed = np.linalg.norm((reach @ own - target)[..., 0], axis=-1)
        left[part] = missed / np.maximum(np.linalg.norm(wanted, axis=-1), 1e-12)
    return tau.reshape(*batch, n), left.reshape(batch)
