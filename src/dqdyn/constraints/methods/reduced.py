"""Kane's reduced equations: independent quasi-velocities u in the null space of A, on arrays.

v = B u + d with A B = 0 and A d = b [Parsa, eq. (8)] [Parsa, eq. (9)]. B is orthonormal, from singular values, and
its rate is chosen along the rows of A: Ḃ = −A⁺ Ȧ B, the least that keeps A B = 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dqdyn.constraints.methods.terms import ROUNDING

_RANK = 1e-9  # singular values below this part of the largest belong to dependent constraints
_ROUNDING = math.sqrt(ROUNDING)


@dataclass(frozen=True, eq=False)
class Reduced:
    """The constrained robot in independent quasi-velocities: ``mass`` u̇ + ``coriolis`` u + ``rest`` = ``basis``ᵀ τ."""

    basis: np.ndarray
    """B (nv, k): v = B u + ``drift``; k is the number of degrees of freedom."""
    drift: np.ndarray
    """d (nv) with A d = b; zero unless constraints move."""
    mass: np.ndarray
    """Bᵀ M B (k, k)."""
    coriolis: np.ndarray
    """Bᵀ (M Ḃ + C B) (k, k); rate of ``mass`` minus twice this is skew-symmetric."""
    rest: np.ndarray
    """Bᵀ of gravity, friction and what the drift asks for (k)."""

    @property
    def freedom(self) -> int:
        """Degrees of freedom."""
        return int(self.basis.shape[1])

    def speeds(self, v: np.ndarray) -> np.ndarray:
        """u (k) of a velocity v (nv) that the constraints admit."""
        return np.asarray(self.basis.T @ (v - self.drift))


def reduced(
    mass: np.ndarray,
    coriolis: np.ndarray,
    static: np.ndarray,
    a: np.ndarray,
    a_rate: np.ndarray,
    b: np.ndarray,
    b_rate: np.ndarray,
) -> Reduced:
    """The reduced M and C of one state; ``static`` holds gravity and friction, b and ḃ are those of A v = b."""
    basis, inverse = null_space(a)
    drift = inverse @ b
    basis_rate = -inverse @ a_rate @ basis
    drift_rate = inverse @ (b_rate - a_rate @ drift)
    rest = basis.T @ (static + mass @ drift_rate + coriolis @ drift)
    return Reduced(basis, drift, basis.T @ mass @ basis, basis.T @ (mass @ basis_rate + coriolis @ basis), rest)


def null_space(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """B (n, k) with A B = 0 and BᵀB = I, and A⁺ (n, m), for one A (m, n)."""
    m, n = a.shape
    if m == 0:
        return np.eye(n), np.zeros((n, 0))
    u, s, vt = np.linalg.svd(a)
    rank = int((s > max(_RANK * s[0], _ROUNDING)).sum()) if s.size else 0
    return vt[rank:].T, (vt[:rank].T / s[:rank]) @ u[:, :rank].T


def by_rank(
    a: np.ndarray,
    compute: Callable[[np.ndarray, np.ndarray, tuple[np.ndarray, ...]], np.ndarray],
    inputs: tuple[np.ndarray, ...],
    size: int,
) -> np.ndarray:
    """``compute(B, A⁺, inputs)`` on the parts of a batch in which A has one rank; a (..., m, n)."""
    batch, (m, n) = a.shape[:-2], a.shape[-2:]
    flat = a.reshape(math.prod(batch), m, n)  # −1 would be undetermined where there are no constraints
    rows = [
        np.broadcast_to(x, (*batch, *x.shape[x.ndim - k :])).reshape(len(flat), *x.shape[x.ndim - k :])
        for x, k in zip(inputs, (2, 1, 1), strict=True)
    ]
    result = np.empty((len(flat), size))
    u, s, vt = (
        np.linalg.svd(flat)
        if m
        else (np.zeros((len(flat), 0, 0)), np.zeros((len(flat), 0)), np.broadcast_to(np.eye(n), (len(flat), n, n)))
    )
    ranks = (s > np.maximum(_RANK * s[:, :1], _ROUNDING)).sum(-1) if s.shape[-1] else np.zeros(len(flat), dtype=int)
    for rank in np.unique(ranks):
        part = ranks == rank
        basis = np.swapaxes(vt[part, rank:], -1, -2)
        inverse = (np.swapaxes(vt[part, :rank], -1, -2) / s[part, None, :rank]) @ np.swapaxes(
            u[part][:, :, :rank], -1, -2
        )
        result[part] = compute(basis, inverse, tuple(x[part] for x in rows))
    return result.reshape(*batch, size)
