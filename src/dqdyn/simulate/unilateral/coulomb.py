"""Impulses of unilateral contacts with Coulomb's friction.

With the relative velocity u = W p + b of the contacts, its normal part shifted by gap/h, and the impulses p, each
contact obeys Signorini's condition and Coulomb's law with the round cone:

    0 ≤ u_n ⟂ p_n ≥ 0,   |p_t| ≤ μ p_n,   p_t = −μ p_n u_t/|u_t| where u_t ≠ 0.

No convexification: a contact that slides stays closed (Anitescu's convex model would open a gap of h μ |u_t|). Both
conditions are one equation, F(p) = 0, by projections [Alart and Curnier, A mixed formulation for frictional contact
problems, Comput. Methods Appl. Mech. Eng. 92 (1991)], which Newton's method solves from the impulses of the last step.
Where that fails, the same is done with W + ηI and b − ηp₀ from Gauss-Seidel sweeps, in which every contact in turn is
solved exactly; the result is the next p₀ (a proximal point method), until the problem itself is solved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dqdyn.arrays import Array
from dqdyn.simulate.unilateral.single_contact import single_contact

OPEN, STICK, SLIP = 0, 1, 2
_COMPLIANCE = 1e-7
"""Part of its own diagonal that W is raised by: it shares the load of corners that rigid bodies leave undetermined."""
_SLOW = 1e-5
"""Part of the largest speed in b below which a contact is said to stick."""
_TOLERANCE = 1e-9
"""Error of u, as a part of the largest speed in b, at which the impulses are called found."""
_NEWTON, _HALVINGS, _SWEEPS = 20, 6, 10
_PROXIMITIES = (1e-4, 1e-2, 0.3)
"""η as a part of the diagonal of W, tried in this order."""
_ROUNDS = 30
Whole = npt.NDArray[np.intp]


@dataclass(frozen=True)
class ContactProblem:
    """W (3k + s, 3k + s) and b: rows [t1, t2, n] of each of k contacts, then s rows of spin about a normal.

    ``friction`` μ (k,); ``spinning`` (s,) is the contact to which each row of spin belongs, and ``torsion`` (s,) its
    torsional friction in m: |p_spin| ≤ torsion · p_n.
    """

    w: Array
    b: Array
    friction: Array
    spinning: Whole
    torsion: Array

    @property
    def count(self) -> int:
        """Number of contacts k."""
        return len(self.friction)


@dataclass(frozen=True)
class Impulses:
    """p (k, 3) as [t1, t2, n] in N s, spins (s,) about the normal in N m s, and the largest error of u in m/s."""

    p: Array
    spin: Array
    error: float
    converged: bool


def solve(problem: ContactProblem, guess: Array) -> Impulses:
    """The impulses, from a guess (3k + s,), e.g. those of the last step."""
    k, own = problem.count, _own_mobility(problem)
    scale = max(float(np.abs(problem.b).max(initial=0.0)), 1e-9)
    equation = ContactEquation(problem, problem.w, problem.b, _COMPLIANCE * own)
    tolerance = _TOLERANCE * scale
    p, error = newton(equation, guess, tolerance)
    for proximity in _PROXIMITIES:
        if error <= tolerance:
            break
        center = p
        for _ in range(_ROUNDS):
            near = ContactEquation(problem, equation.w, problem.b - proximity * own * center, proximity * own)
            trial, left = newton(near, center, tolerance)
            if left > tolerance:
                trial, left = newton(near, swept(near, center), tolerance)
            moved, center = float((own * np.abs(trial - center)).max()), trial
            found, new = newton(equation, center, tolerance)
            if new < error:
                p, error = found, new
            if error <= tolerance or proximity * moved <= 1e-3 * tolerance:
                break
    return Impulses(p[: 3 * k].reshape(k, 3), p[3 * k :], error, error <= tolerance)


def _own_mobility(problem: ContactProblem) -> Array:
    """(3k + s,): the mean diagonal of each contact's own block of W, and that of each row of spin.

    Contacts and end stops of joints, with mobilities in 1/kg and 1/(kg m²), are not to be mixed.
    """
    diagonal, k = np.diagonal(problem.w), problem.count
    return np.concatenate([np.repeat(diagonal[: 3 * k].reshape(k, 3).mean(axis=1), 3), diagonal[3 * k :]])


class ContactEquation:
    """F(p) = p − projection of y(p), y = p − ρ (W p + b): zero at the impulses.

    The diagonal of W is raised by ``compliance`` (3k + s,).
    """

    def __init__(self, problem: ContactProblem, w: Array, b: Array, compliance: Array) -> None:
        k = problem.count
        self.problem, self.b = problem, b
        self.w = w + np.diag(compliance)
        diagonal = np.diagonal(self.w)
        # One factor per contact: the projection on a disc needs the same metric in both of its directions.
        rho = 1.0 / diagonal[: 3 * k].reshape(k, 3).sum(axis=1)
        self.rho = np.concatenate([np.repeat(rho, 3), 1.0 / diagonal[3 * k :]])
        self.normal = np.arange(2, 3 * k, 3)

    def speed_error(self, f: Array) -> float:
        """How far u and p are from Signorini's and Coulomb's law, in m/s, given F."""
        return float((np.abs(f) / self.rho).max(initial=0.0))

    def value(self, p: Array) -> Array:
        """F(p)."""
        y, radius, spin_radius = self._arguments(p)
        k = self.problem.count
        result = p.copy()
        result[self.normal] -= np.maximum(y[self.normal], 0.0)
        t = y[: 3 * k].reshape(k, 3)[:, :2]
        within = np.minimum(1.0, radius / np.maximum(np.hypot(t[:, 0], t[:, 1]), 1e-300))
        result[: 3 * k].reshape(k, 3)[:, :2] -= within[:, None] * t
        result[3 * k :] -= np.clip(y[3 * k :], -spin_radius, spin_radius)
        return result

    def _arguments(self, p: Array) -> tuple[Array, Array, Array]:
        """y, and the radii of the discs of friction."""
        problem = self.problem
        y = p - self.rho * (self.w @ p + self.b)
        pressed = np.maximum(y[self.normal], 0.0)
        return y, problem.friction * pressed, problem.torsion * pressed[problem.spinning]

    def jacobian(self, p: Array) -> Array:
        """An element of the generalized Jacobian of F: 1 − P + P ρ W with P that of the projection."""
        problem, k = self.problem, self.problem.count
        y, radius, spin_radius = self._arguments(p)
        size = len(p)
        blocks = np.zeros((k, 3, 3))
        local = y[: 3 * k].reshape(k, 3)
        closed = local[:, 2] > 0.0
        blocks[closed, 2, 2] = 1.0
        length = np.hypot(local[:, 0], local[:, 1])
        stick = closed & (length <= radius)
        blocks[stick, 0, 0] = blocks[stick, 1, 1] = 1.0
        slip = closed & ~stick
        d = local[slip, :2] / length[slip, None]
        shrink = (radius[slip] / length[slip])[:, None, None]
        blocks[slip, :2, :2] = shrink * (np.eye(2) - d[:, :, None] * d[:, None, :])
        blocks[slip, :2, 2] = problem.friction[slip, None] * d
        projection = np.zeros((size, size))
        at = np.arange(k)
        projection[: 3 * k, : 3 * k].reshape(k, 3, k, 3)[at, :, at] = blocks
        for s, i in enumerate(problem.spinning):
            row = 3 * k + s
            if closed[i] and abs(y[row]) <= spin_radius[s]:
                projection[row, row] = 1.0
            elif closed[i]:
                projection[row, 3 * i + 2] = problem.torsion[s] * np.sign(y[row])
        return np.asarray(np.eye(size) - projection + projection @ (self.rho[:, None] * self.w))


def newton(equation: ContactEquation, p: Array, tolerance: float) -> tuple[Array, float]:
    """The best impulses that Newton's method finds from p, and their error in m/s."""
    f = equation.value(p)
    best, least = p, equation.speed_error(f)
    for _ in range(_NEWTON):
        if least <= 1e-3 * tolerance:
            break
        try:
            step = np.linalg.solve(equation.jacobian(p), f)
        except np.linalg.LinAlgError:
            break
        size, length = float(f @ f), 1.0
        for _ in range(_HALVINGS):
            trial = p - length * step
            f = equation.value(trial)
            if f @ f < size:
                break
            length *= 0.5
        else:
            trial = p - step  # a full step leaves the corner of a nonsmooth function
            f = equation.value(trial)
        if not np.isfinite(f).all():
            break
        p, error = trial, equation.speed_error(f)
        if error < least:
            stalled = least <= tolerance and error > 0.1 * least
            best, least = p, error
            if stalled:  # at the level of rounding
                break
        elif least <= tolerance:
            break
    return best, least


def swept(equation: ContactEquation, p: Array) -> Array:
    """p after sweeps over the contacts, each solved exactly with the others held."""
    problem, w, b, p = equation.problem, equation.w, equation.b, p.copy()
    k = problem.count
    for _ in range(_SWEEPS):
        for i in range(k):
            at = slice(3 * i, 3 * i + 3)
            own = w[at, at]
            p[at] = single_contact(own, b[at] + w[at] @ p - own @ p[at], float(problem.friction[i]))
        for s, i in enumerate(problem.spinning):
            row, most = 3 * k + s, problem.torsion[s] * p[3 * i + 2]
            p[row] = np.clip(p[row] - (b[row] + w[row] @ p) / w[row, row], -most, most)
    return p


def modes(problem: ContactProblem, p: Array, u: Array) -> Whole:
    """OPEN, STICK or SLIP (k,) of impulses p and velocities u (k, 3): a contact slips where it uses up its friction.

    Below the speed that the compliance of W gives to contacts that stick, they are said to stick.
    """
    used, most = np.hypot(p[:, 0], p[:, 1]), problem.friction * p[:, 2]
    slow = _SLOW * np.abs(problem.b).max(initial=0.0)
    slips = (used >= most * (1.0 - 1e-6)) & (np.hypot(u[:, 0], u[:, 1]) > slow)
    presses = p[:, 2] > 1e-9 * np.abs(p[:, 2]).max(initial=0.0)
    return np.where(presses, np.where(slips, SLIP, STICK), OPEN)
