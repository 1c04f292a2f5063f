"""Estimates that a robot can have: pseudo-inertias positive definite, near those of the robot as it is described.

Of all parameters π the ones with least

    ½ ‖L (B π − β)‖² + w Σ [ tr(J J₀⁻¹) − log det(J J₀⁻¹) − 4 ],

in which the first term is what the data say, with L from their factors, and the second the entropic distance of every
body from its description (Wensing, Kim and Slotine 2018; Lee, Wensing and Park 2019). It is convex, and its logarithm
keeps every J positive definite; so does that of friction and armature above zero.
"""

from __future__ import annotations

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import Error
from dqdyn.identify.columns import PER_BODY, Columns
from dqdyn.identify.pseudo_inertia import basis, pseudo_inertia

_STEPS = 100
_DECADES = 6
_LEAST = 0.1  # of the mean square extent of a body: what it has at least in every direction


def consistent(columns: Columns, matrix: Array, triangle: Array, target: Array, weight: float) -> Array:
    """π (p,) for β = ``matrix`` π, ``triangle`` L (b, b) and ``target`` L β."""
    if not weight > 0.0:
        raise Error(f"the weight of the prior is above 0; found {weight!r}.", option="prior")
    problem = _Problem(columns, triangle @ matrix, target, columns.values())
    x = problem.start
    # From the description to the estimate, along minima of ever smaller weights: each is a few Newton steps away.
    weights = [weight * 10.0**k for k in range(_DECADES, -1, -1)]
    for w in weights:
        x = _minimum(problem, x, w)
    return x


def _minimum(problem: _Problem, x: Array, weight: float) -> Array:
    """Newton's method with a line search, from a point that the problem allows."""
    value, slope, curvature = problem(x, weight)
    for _ in range(_STEPS):
        step = np.linalg.solve(curvature, -slope)
        decrement = float(-slope @ step)
        if decrement <= 1e-10 * weight:
            break
        size = 1.0
        while not problem.allows(x + size * step):
            size *= 0.7
        trial, found = x + size * step, problem(x + size * step, weight)
        while found[0] > value - 1e-4 * size * decrement:
            size *= 0.5
            if size < 1e-9:  # rounding is all that is left
                return x
            trial, found = x + size * step, problem(x + size * step, weight)
        x, (value, slope, curvature) = trial, found
    return x


class _Problem:
    """Value, gradient and Hessian of the objective."""

    def __init__(self, columns: Columns, a: Array, target: Array, own: Array) -> None:
        self.a, self.target, self.n = a, target, columns.bodies
        self.square, self.linear = a.T @ a, a.T @ target
        self.prior = _regular(pseudo_inertia(own[: PER_BODY * self.n].reshape(self.n, PER_BODY)))
        self.inverse = np.linalg.inv(self.prior) if self.n else self.prior
        self.positive = np.zeros(len(own), bool)
        for term in columns.terms:
            self.positive[columns.part(term)] = term != "offset"
        # Where the description has no friction or armature, what the data say is as good a scale as any.
        ridge = 1e-9 * np.trace(self.square) / max(len(own), 1) * np.eye(len(own))
        said = own + np.linalg.solve(self.square + ridge, self.linear - self.square @ own)
        self.scale = np.where(self.positive, np.maximum(own, np.abs(said) + 1e-9), 1.0)
        self.start = own.copy()
        self.start[: PER_BODY * self.n] = _parameters(self.prior)
        self.start[self.positive] = self.scale[self.positive]

    def allows(self, x: Array) -> bool:
        """Whether every body and every coefficient is one that exists."""
        if not (x[self.positive] > 0.0).all():
            return False
        try:
            np.linalg.cholesky(self._bodies(x))
        except np.linalg.LinAlgError:
            return False
        return True

    def __call__(self, x: Array, w: float) -> tuple[float, Array, Array]:
        residual = self.a @ x - self.target
        value = 0.5 * float(residual @ residual)
        slope, curvature = self.square @ x - self.linear, self.square.copy()
        e = basis()
        for i, j in enumerate(self._bodies(x)):
            at = slice(PER_BODY * i, PER_BODY * (i + 1))
            inverse = np.linalg.inv(j)
            _, logarithm = np.linalg.slogdet(j)
            value += w * (float((j * self.inverse[i]).sum()) - float(logarithm))
            slope[at] += w * np.einsum("kab,ab->k", e, self.inverse[i] - inverse)
            moved = inverse @ e
            curvature[at, at] += w * np.einsum("kab,lba->kl", moved, moved)
        p, s = x[self.positive], self.scale[self.positive]
        value += w * float((p / s - np.log(p)).sum())
        slope[self.positive] += w * (1.0 / s - 1.0 / p)
        curvature[self.positive, self.positive] += w / p**2
        loose = ~self.positive
        loose[: PER_BODY * self.n] = False
        value += 0.5e-6 * w * float((x[loose] ** 2).sum())
        slope[loose] += 1e-6 * w * x[loose]
        curvature[loose, loose] += 1e-6 * w
        return value, slope, curvature

    def _bodies(self, x: Array) -> Array:
        return pseudo_inertia(x[: PER_BODY * self.n].reshape(self.n, PER_BODY))


def _regular(matrices: Array) -> Array:
    """Pseudo-inertias with some mass, and some extent in every direction: bodies that are drawn as points, rods or
    plates, or that no body can be, are not taken at their word."""
    result = matrices.copy()
    heaviest = matrices[:, 3, 3].max(initial=0.0)
    reach = np.sqrt(np.trace(matrices[:, :3, :3], axis1=1, axis2=2).max(initial=0.0) / max(heaviest, 1e-9)) + 1e-3
    for j in result:
        mass = max(j[3, 3], 1e-4 * heaviest + 1e-9)
        center = j[:3, 3] / mass
        sizes, axes = np.linalg.eigh(j[:3, :3] - mass * np.outer(center, center))
        least = max(_LEAST * sizes.mean(), 1e-6 * mass * reach**2)
        j[3, 3] = mass
        j[:3, :3] = (axes * np.maximum(sizes, least)) @ axes.T + mass * np.outer(center, center)
    return result


def _parameters(matrices: Array) -> Array:
    from dqdyn.identify.pseudo_inertia import parameters_of

    return parameters_of(matrices).ravel()
