"""Polynomials of fifth degree between two states: positions, velocities and accelerations at both ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.arrays import Array


@dataclass(frozen=True, eq=False)
class Quintic:
    """A vector (n,) from t = ``begin`` to ``end`` in s; before and after it stays where it is, at rest."""

    begin: float
    end: float
    coefficients: Array
    """(6, n), of powers of t − ``begin``."""

    @classmethod
    def between(
        cls,
        begin: float,
        end: float,
        first: Any,
        last: Any,
        velocity: Any = 0.0,
        acceleration: Any = 0.0,
    ) -> Quintic:
        """From ``first`` with a velocity and an acceleration to ``last``, where it rests with no acceleration."""
        p0, p1 = np.atleast_1d(np.asarray(first, float)), np.atleast_1d(np.asarray(last, float))
        v0, a0 = np.broadcast_to(velocity, p0.shape), np.broadcast_to(acceleration, p0.shape)
        T = end - begin
        d, v, a = p1 - p0, v0 * T, a0 * T * T
        c = np.stack(
            [
                p0,
                v,
                0.5 * a,
                10.0 * d - 6.0 * v - 1.5 * a,
                -15.0 * d + 8.0 * v + 1.5 * a,
                6.0 * d - 3.0 * v - 0.5 * a,
            ]
        )
        return cls(begin, end, c / T ** np.arange(6.0)[:, None])

    def at(self, t: float) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration (n,) each."""
        s = min(max(t, self.begin), self.end) - self.begin
        c0, c1, c2, c3, c4, c5 = self.coefficients
        position = c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
        if not self.begin <= t <= self.end:
            return position, np.zeros_like(c0), np.zeros_like(c0)
        velocity = c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * (5.0 * c5))))
        return position, velocity, 2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * (20.0 * c5)))
