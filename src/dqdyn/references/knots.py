"""Velocities and accelerations at way points that make the acceleration of a spline continuous, on the manifold.

On the interval k of length h the spline is q_k ⊞ w(s) with w(0) = 0 and w(h) = d, the way to the next point. At its
end v = J(d) ẇ, where J is the derivative of ⊞; J(d) d = d. With w a cubic, equal accelerations on both sides mean

    2/h₀ J₀ v₋ + 4 (1/h₀ + 1/h₁) v + 2/h₁ J₁⁻¹ v₊ = 6 d₀/h₀² + 6 d₁/h₁² − J̇₀ ẇ.

The last term, which is zero for angles and lengths, is of second order in the turn between way points: it is computed
with the velocities found before, until they no longer change (as SciPy's RotationSpline does for rotations).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import Error
from dqdyn.references.space import Space
from dqdyn.splines import quintic_coefficients

_MOST = 200  # iterations
_SAME = 1e-13  # relative change of velocities at which they count as found


@dataclass(frozen=True, eq=False)
class Knots:
    """Way points (N, nq) at times (N,), and the ways between them."""

    space: Space
    points: Array
    times: Array
    ways: Array
    """(N − 1, nv), from each point to the next."""

    @property
    def steps(self) -> Array:
        """Durations (N − 1,) in s."""
        return np.diff(self.times)

    def slopes(self) -> Array:
        """J(d) (N − 1, nv, nv): v at the end of each interval for ẇ there."""
        eye = np.eye(self.space.nv)
        if not self.space.parts:
            return np.broadcast_to(eye, (len(self.ways), *eye.shape))
        return np.stack([self._at_end(k, eye, 0.0 * eye)[0].T for k in range(len(self.ways))])

    def _at_end(self, k: int, rate: Array, second: Array) -> tuple[Array, Array]:
        """v and v̇ (..., nv) at the end of an interval for ẇ and ẅ there."""
        base, way = (np.broadcast_to(x, (*rate.shape[:-1], len(x))) for x in (self.points[k], self.ways[k]))
        motion = self.space.motion(base, way, rate, second)
        return motion.velocity, motion.acceleration

    def turning(self, slopes: Array, velocities: Array) -> Array:
        """J̇ ẇ (N − 1, nv): what v̇ has at the end of each interval beside J ẅ."""
        if not self.space.parts:
            return np.zeros_like(self.ways)
        rates = np.linalg.solve(slopes, velocities[1:, :, None])[..., 0]
        return np.stack([self._at_end(k, rate, 0.0 * rate)[1] for k, rate in enumerate(rates)])

    def smooth_velocities(self, first: Array, last: Array) -> Array:
        """v (N, nv) at all way points, given at both ends, so that the acceleration is continuous."""
        v = np.zeros((len(self.points), self.space.nv))
        v[0], v[-1] = first, last
        if len(v) == 2:
            return v
        J, h, eye = self.slopes(), self.steps[:, None, None], np.eye(self.space.nv)
        below, above = 2.0 / h * J, 2.0 / h * np.linalg.inv(J)
        middle = 4.0 * (1.0 / h[:-1] + 1.0 / h[1:]) * eye
        pull = 6.0 * self.ways / self.steps[:, None] ** 2
        for _ in range(_MOST):
            right = pull[:-1] + pull[1:] - self.turning(J, v)[:-1]
            right[0] -= below[0] @ v[0]
            right[-1] -= above[-1] @ v[-1]
            found = _block_tridiagonal(below[1:-1], middle, above[1:-1], right)
            change = np.abs(found - v[1:-1]).max()
            v[1:-1] = found
            if not self.space.parts or change <= _SAME * np.abs(v).max():
                return v
        remedy = "add way points between those that are far apart"
        raise Error(f"no smooth velocities through the way points of {self.space.name} were found: {remedy}.")

    def cubic_accelerations(self, v: Array) -> Array:
        """v̇ (N, nv) of the cubic at way points with velocities v."""
        J, h = self.slopes(), self.steps[:, None]
        ends = np.linalg.solve(J, v[1:, :, None])[..., 0]
        start = 6.0 * self.ways / h**2 - (4.0 * v[:-1] + 2.0 * ends) / h
        last = -6.0 * self.ways[-1:] / h[-1:] ** 2 + (2.0 * v[-2:-1] + 4.0 * ends[-1:]) / h[-1:]
        end = (J[-1:] @ last[..., None])[..., 0] + self.turning(J, v)[-1:]
        return np.concatenate([start, end])

    def cubic(self, v: Array) -> Array:
        """Coefficients (N − 1, 6, nv) of w for velocities v (N, nv) at the way points."""
        h, d = self.steps[:, None], self.ways
        ends = np.linalg.solve(self.slopes(), v[1:, :, None])[..., 0]
        zero = np.zeros_like(d)
        second = (3.0 * d - h * (2.0 * v[:-1] + ends)) / h**2
        third = (-2.0 * d + h * (v[:-1] + ends)) / h**3
        return np.stack([zero, v[:-1], second, third, zero, zero], axis=1)

    def quintic(self, v: Array, a: Array) -> Array:
        """Coefficients (N − 1, 6, nv) of w for velocities and accelerations (N, nv) at the way points."""
        J = self.slopes()
        rates = np.linalg.solve(J, v[1:, :, None])[..., 0]
        seconds = np.linalg.solve(J, (a[1:] - self.turning(J, v))[..., None])[..., 0]
        zero = np.zeros_like(self.ways)
        return quintic_coefficients(self.steps, (zero, v[:-1], a[:-1]), (self.ways, rates, seconds))


def _block_tridiagonal(below: Array, middle: Array, above: Array, right: Array) -> Array:
    """x (m, n) with below[i−1] x[i−1] + middle[i] x[i] + above[i] x[i+1] = right[i]; elimination by blocks."""
    middle, right = middle.copy(), right.copy()
    for i in range(1, len(middle)):
        factor = np.linalg.solve(middle[i - 1].T, below[i - 1].T).T
        middle[i] -= factor @ above[i - 1]
        right[i] -= factor @ right[i - 1]
    x = np.zeros_like(right)
    for i in range(len(middle) - 1, -1, -1):
        rest = right[i] if i == len(middle) - 1 else right[i] - above[i] @ x[i + 1]
        x[i] = np.linalg.solve(middle[i], rest)
    return x
