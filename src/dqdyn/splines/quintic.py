"""Polynomials of fifth degree between two states: positions, velocities and accelerations at both ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.caching import cached_property
from dqdyn.splines.piecewise import Piecewise

State = tuple[Any, Any, Any]
"""Position, velocity and acceleration."""


def quintic_coefficients(duration: Any, first: State, last: State) -> Array:
    """Coefficients (..., 6, n) of powers of the time since the start, from one state to another in ``duration`` s.

    Positions, velocities and accelerations are (..., n), the duration a number or (...,).
    """
    T = np.asarray(duration, float)[..., None]
    (p0, v0, a0), (p1, v1, a1) = ([np.asarray(x, float) for x in state] for state in (first, last))
    d, v, w, a, b = p1 - p0, v0 * T, v1 * T, a0 * T * T, a1 * T * T
    c = [
        p0 + 0.0 * d,
        v + 0.0 * d,
        0.5 * a + 0.0 * d,
        10.0 * d - 6.0 * v - 4.0 * w - 1.5 * a + 0.5 * b,
        -15.0 * d + 8.0 * v + 7.0 * w + 1.5 * a - b,
        6.0 * d - 3.0 * v - 3.0 * w - 0.5 * a + 0.5 * b,
    ]
    return np.stack([ck / T**k for k, ck in enumerate(c)], axis=-2)


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
        return cls(begin, end, quintic_coefficients(end - begin, (p0, velocity, acceleration), (p1, 0.0, 0.0)))

    def at(self, t: float) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration (n,) each."""
        return self._piece.at(t)

    @cached_property
    def _piece(self) -> Piecewise:
        return Piecewise.of_one(self.begin, self.end, self.coefficients)
