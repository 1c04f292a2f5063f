"""Weighted least squares from factors: estimates, their covariance, the noise of each joint, and what is not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import StateError
from dqdyn.identify.base import BaseParameters
from dqdyn.identify.factors import Factor

_ROUNDS = 20
_EXACT = 1e-9  # of a joint's torques: residuals below are rounding, whatever weight they would give


@dataclass(frozen=True, eq=False)
class Solution:
    """β (b,) with covariance (b, b), the noise (nv,) of each joint in N m or N, and the condition number."""

    estimate: Array
    covariance: Array
    noise: Array
    condition: float

    @property
    def deviations(self) -> Array:
        """Standard deviations (b,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))


def solve(base: BaseParameters, factor: Factor) -> Solution:
    """Least squares in which each joint counts by the variance of its residuals, found along with the estimate."""
    require_enough(base, factor)
    b, joints = len(base), factor.r.shape[0]
    condition = _condition(base, factor, np.ones(joints))
    weights = np.ones(joints)
    estimate, covariance = _weighted(factor, weights)
    noise = np.ones(joints)
    sizes = np.linalg.norm(factor.r[:, :, -1], axis=1) / np.sqrt(factor.rows)
    sizes = np.maximum(sizes, 1e-3 * sizes.max(initial=0.0) + 1e-12)
    for _ in range(_ROUNDS):
        residual = factor.r @ np.append(estimate, -1.0)
        taken = np.array(
            [w * w * np.trace(covariance @ (r.T @ r)) for w, r in zip(weights, factor.r[:, :, :b], strict=True)]
        )
        free = np.maximum(factor.rows - taken, 1.0)
        before, noise = noise, np.sqrt((residual**2).sum(axis=1) / free)
        noise = np.maximum(noise, _EXACT * sizes)
        weights = 1.0 / noise
        estimate, covariance = _weighted(factor, weights)
        if np.abs(noise - before).max() <= 1e-6 * noise.max():
            break
    return Solution(estimate, covariance, noise, condition)


def require_enough(base: BaseParameters, factor: Factor) -> None:
    """An error for fewer torques than parameters."""
    if factor.rows * factor.r.shape[0] <= len(base):
        raise StateError(f"{factor.rows} measurements cannot show {len(base)} base parameters: give more.")


def whitened(factor: Factor, weights: Array) -> Array:
    """One triangle (b + 1, b + 1) of all joints, each with its weight."""
    stacked = (factor.r * weights[:, None, None]).reshape(-1, factor.r.shape[-1])
    return np.asarray(np.linalg.qr(stacked, mode="r"))


def _weighted(factor: Factor, weights: Array) -> tuple[Array, Array]:
    r = whitened(factor, weights)
    b = r.shape[1] - 1
    scale = np.linalg.norm(r[:, :b], axis=0)
    inverse = np.linalg.inv(r[:b, :b] / scale) / scale[:, None]
    return inverse @ r[:b, b], inverse @ inverse.T


def _condition(base: BaseParameters, factor: Factor, weights: Array) -> float:
    """Of the regressor with columns of unit length; an error that names what the motion does not show."""
    r = whitened(factor, weights)[:-1, :-1]
    scale = np.linalg.norm(r, axis=0)
    unseen = np.flatnonzero(scale <= 1e-12 * scale.max(initial=0.0))
    if not unseen.size:
        _, sizes, directions = np.linalg.svd(r / scale)
        if sizes[-1] > 1e-10 * sizes[0]:
            return float(sizes[0] / sizes[-1])
        unseen = np.array([int(np.abs(directions[-1]).argmax())])
    label = base.labels[int(unseen[0])]
    raise StateError(
        f"the motion does not show the base parameter {label!r} ({len(base)} in all): move more joints, and faster, "
        "as along identify.excitation(robot).",
        parameter=label,
    )
