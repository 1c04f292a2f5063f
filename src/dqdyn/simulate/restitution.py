"""A coefficient of restitution for MuJoCo, whose contacts are springs with dampers."""

from __future__ import annotations

import math

FREQUENCY = 200.0
"""rad/s of a contact that bounces: it takes about 16 ms, many steps of 1 ms."""
IMPEDANCE = 0.999
_HALVINGS = 60


def restitution_of(ratio: float) -> float:
    """Speed after a bounce by the speed before, for a spring with the damping ratio ζ < 1 that cannot pull.

    e = exp(−ζ/√(1 − ζ²) (π − atan2(2ζ√(1 − ζ²), 1 − 2ζ²))): Schwager and Pöschel, Coefficient of restitution and
    linear-dashpot model revisited, Granular Matter 2007.
    """
    w = math.sqrt(1.0 - ratio * ratio)
    return math.exp(-ratio / w * (math.pi - math.atan2(2.0 * ratio * w, 1.0 - 2.0 * ratio * ratio)))


def damping_ratio(restitution: float) -> float:
    """ζ of a coefficient of restitution between those of ζ → 1 (0.135) and ζ = 0 (1), by halving."""
    low, high = 0.0, 1.0 - 1e-12
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if restitution_of(middle) > restitution else (low, middle)
    return low


def solref(restitution: float) -> tuple[float, float]:
    """MuJoCo's time constant in s and damping ratio."""
    ratio = damping_ratio(restitution)
    return 1.0 / (IMPEDANCE * ratio * FREQUENCY), ratio
