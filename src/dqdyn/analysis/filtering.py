"""What Quiroz does to velocities before they are compared: a Butterworth low-pass, then a difference in time."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sin, tan

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import StateError
from dqdyn.simulate.problem import is_whole


@dataclass(frozen=True)
class LowPass:
    """A discrete Butterworth filter of some ``order``; ``cutoff`` and sampling ``rate`` in Hz.

    The analog filter through the bilinear transform, prewarped so that the gain at the cutoff is 1/√2, as a cascade of
    sections of second order (and one of first order where the order is odd). It runs forward in time from rest, so a
    filter and a difference may change places for signals that start at 0.
    """

    cutoff: float
    rate: float
    order: int = 4

    def __post_init__(self) -> None:
        if not 0.0 < self.cutoff < 0.5 * self.rate:
            wanted = f"between 0 and half of the sampling rate of {self.rate:g} Hz"
            raise StateError(f"the cutoff of a low-pass lies {wanted}; found {self.cutoff:g} Hz.", argument="cutoff")
        if not is_whole(self.order):
            raise StateError(
                f"the order of a filter is a whole number from 1 on; found {self.order!r}.", argument="order"
            )

    def sections(self) -> list[tuple[float, float, float, float, float]]:
        """(b₀, b₁, b₂, a₁, a₂) of each section (b₀ + b₁z⁻¹ + b₂z⁻²) / (1 + a₁z⁻¹ + a₂z⁻²)."""
        k, n = tan(pi * self.cutoff / self.rate), self.order
        result = []
        for pair in range(1, n // 2 + 1):
            damping = 2.0 * sin(pi * (2 * pair - 1) / (2 * n))
            scale = 1.0 / (1.0 + damping * k + k * k)
            b = k * k * scale
            result.append((b, 2.0 * b, b, 2.0 * (k * k - 1.0) * scale, (1.0 - damping * k + k * k) * scale))
        if n % 2:
            b = k / (1.0 + k)
            result.append((b, b, 0.0, (k - 1.0) / (k + 1.0), 0.0))
        return result

    def __call__(self, signal: Array) -> Array:
        """The filtered signal, along the first axis; all columns at once."""
        y = np.array(signal, dtype=float)
        for b0, b1, b2, a1, a2 in self.sections():
            first, second = np.zeros(y.shape[1:]), np.zeros(y.shape[1:])
            for i, x in enumerate(y.copy()):
                y[i] = b0 * x + first
                first, second = b1 * x - a1 * y[i] + second, b2 * x - a2 * y[i]
        return y


def forward_difference(signal: Array, dt: float) -> Array:
    """(−3 f₀ + 4 f₁ − f₂) / 2dt along the first axis: the rate to second order; two samples shorter."""
    return np.asarray((4.0 * signal[1:-1] - 3.0 * signal[:-2] - signal[2:]) / (2.0 * dt))
