"""Udwadia's and Kalaba's force and projector as in the papers: square roots of M and generalized inverses, on arrays.

They need a regular M: the square root of a singular one has no inverse. All functions take batches (..., n, n). The
acceleration is in :mod:`dqdyn.constraints.methods.udwadia_kalaba`.
"""

from __future__ import annotations

import numpy as np

from dqdyn.arrays import Array
from dqdyn.constraints.methods.reduced import RANK
from dqdyn.constraints.methods.terms import NEEDS_ROOT, ROUNDING
from dqdyn.errors import ModelError

_SINGULAR = 1e-13  # smallest eigenvalue of M against its largest, after its diagonal is scaled to one


def constraint_force(mass: Array, q_force: Array, a: Array, b: Array) -> Array:
    """Q_c = M^(1/2) D⁺ (b − A M⁻¹Q), so that M q̈ = Q + Q_c [Silva, eq. (59)] [Quiroz, eq. (5.45)]."""
    root, inverse_root = roots(mass)
    return _times(root @ _pinv(a, inverse_root), b - _times(a, _times(inverse_root @ inverse_root, q_force)))


def projector(mass: Array, a: Array) -> Array:
    """Ω = I − M^(1/2) D⁺ A M⁻¹, with M q̈ + Ω C q̇ − M^(1/2) D⁺ b = Ω τ̄ [Silva, eq. (60)] [Quiroz, eq. (5.47)].

    Ω takes away what the constraints hold [Quiroz, eq. (5.46)]; Ω C is the projected C.
    """
    root, inverse_root = roots(mass)
    return np.eye(mass.shape[-1]) - root @ _pinv(a, inverse_root) @ a @ inverse_root @ inverse_root


def roots(mass: Array) -> tuple[Array, Array]:
    """M^(1/2) and M^(−1/2), symmetric; an error for a singular M."""
    values, vectors = np.linalg.eigh(mass)
    scale = np.sqrt(np.maximum(np.diagonal(mass, axis1=-2, axis2=-1), 1e-300))
    smallest = np.linalg.eigvalsh(mass / (scale[..., :, None] * scale[..., None, :]))[..., :1]
    if mass.size and (smallest <= _SINGULAR).any():
        least = float(smallest.min())
        here = f"which is singular here (smallest scaled eigenvalue {least:.2g}): use method='kkt'"
        raise ModelError(f"{NEEDS_ROOT}, {here}.", eigenvalue=least)
    transposed = np.swapaxes(vectors, -1, -2)
    root = np.sqrt(values)[..., None, :]
    return (vectors * root) @ transposed, (vectors / root) @ transposed


def _pinv(a: Array, inverse_root: Array) -> Array:
    """(A M^(−1/2))⁺, without the rows of A that are rounding."""
    sound = np.sum(a * a, axis=-1, keepdims=True) > ROUNDING
    return np.asarray(np.linalg.pinv(np.where(sound, a, 0.0) @ inverse_root, rcond=RANK))


def _times(matrix: Array, vector: Array) -> Array:
    return (matrix @ vector[..., None])[..., 0]
