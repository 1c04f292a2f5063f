"""A motion for experiments: every coordinate swings with its own frequency, from rest and from zero acceleration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Swing:
    """p + A sin³(2πft) for each coordinate; ``amplitude`` in rad or m and ``frequency`` in Hz, each (n,).

    The cube has two harmonics, f and 3f, and its first two derivatives vanish at t = 0: nothing jumps at the start.
    """

    center: np.ndarray
    amplitude: np.ndarray
    frequency: np.ndarray

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, velocity and acceleration (n,) at the time t in s; at rest in the center before t = 0."""
        w = 2.0 * np.pi * self.frequency
        angle, size = w * max(t, 0.0), 0.75 * self.amplitude
        p = self.center + self.amplitude * np.sin(angle) ** 3
        v = size * w * (np.cos(angle) - np.cos(3.0 * angle))
        return p, v, size * w * w * (3.0 * np.sin(3.0 * angle) - np.sin(angle))
