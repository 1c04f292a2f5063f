"""Kane's reduced equations: independent quasi-velocities u in the null space of A, on arrays.

v = B u + d with A B = 0 and A d = b [Parsa, eq. (8)] [Parsa, eq. (9)]. B is orthonormal, from singular values, and
its rate is chosen along the rows of A: Ḃ = −A⁺ Ȧ B, the least that keeps A B = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array
from dqdyn.constraints.methods.terms import ROUNDING

RANK = 1e-9  # singular values below this part of the largest belong to dependent constraints
_ROUNDING = math.sqrt(ROUNDING)


@dataclass(frozen=True, eq=False)
class Reduced:
    """The constrained robot in independent quasi-velocities: ``mass`` u̇ + ``coriolis`` u + ``rest`` = ``basis``ᵀ τ."""

    basis: Array
    """B (nv, k): v = B u + ``drift``; k is the number of degrees of freedom."""
    drift: Array
    """d (nv) with A d = b; zero unless constraints move."""
    mass: Array
    """Bᵀ M B (k, k)."""
    coriolis: Array
    """Bᵀ (M Ḃ + C B) (k, k); rate of ``mass`` minus twice this is skew-symmetric."""
    rest: Array
    """Bᵀ of gravity, friction and the drift's contribution (k)."""

    @property
    def freedom(self) -> int:
        """Degrees of freedom."""
        return int(self.basis.shape[1])

    def speeds(self, v: Array) -> Array:
        """u (k) of a velocity v (nv) that the constraints admit."""
        return np.asarray(self.basis.T @ (v - self.drift))


def reduced(mass: Array, coriolis: Array, static: Array, a: Array, a_rate: Array, b: Array, b_rate: Array) -> Reduced:
    """The reduced M and C of one state; ``static`` holds gravity and friction, b and ḃ are those of A v = b."""
    basis, inverse = null_space(a)
    drift = inverse @ b
    basis_rate = -inverse @ a_rate @ basis
    drift_rate = inverse @ (b_rate - a_rate @ drift)
    rest = basis.T @ (static + mass @ drift_rate + coriolis @ drift)
    return Reduced(basis, drift, basis.T @ mass @ basis, basis.T @ (mass @ basis_rate + coriolis @ basis), rest)


def null_space(a: Array) -> tuple[Array, Array]:
    """B (n, k) with A B = 0 and BᵀB = I, and A⁺ (n, m), for one A (m, n)."""
    u, s, vt = np.linalg.svd(a)
    rank = int(ranks(s))
    return vt[rank:].T, (vt[:rank].T / s[:rank]) @ u[:, :rank].T


def ranks(singular_values: Array) -> Array:
    """How many of the singular values (..., k) do not belong to dependent constraints."""
    largest = singular_values.max(axis=-1, keepdims=True, initial=0.0)
    return np.asarray((singular_values > np.maximum(RANK * largest, _ROUNDING)).sum(-1))
