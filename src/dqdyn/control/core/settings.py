"""Numbers that users set: gains, weights, limits, and the checks that they pass."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from dqdyn.control.core.errors import refused
from dqdyn.errors import Error

GainPair = tuple[float, float]
"""(k_d, k_p), of the rate and of the value."""
Gains = Literal["auto"] | GainPair
LARGEST = 1e100
"""Of gains, weights and damping: their squares are finite."""
_ROUNDING = 1e-12  # by which k_d² may miss 4 k_p, as for k_d = 2 √k_p


def is_number(value: object) -> bool:
    """Whether a value is one real number; bools are not."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def number(value: Any, what: str, least: float = -math.inf, *, above: bool = False) -> float:
    """The number, from ``least`` on, or only ``above`` it; an error that begins with ``what`` otherwise."""
    if not is_number(value) or not least <= value < math.inf or (above and value == least):
        wanted = "" if least == -math.inf else f" {'above' if above else 'from'} {least:g}"
        raise refused(f"{what} must be a number{wanted}", value)
    if abs(value) > LARGEST:
        raise Error(f"{what} is too large: give a number up to {LARGEST:g}.", found=value)
    return float(value)


def positive(value: Any, what: str) -> float:
    """The number, if it is above zero."""
    return number(value, f"The {what}", 0.0, above=True)


def second_order(gain: float, gains: GainPair | None, name: str, *, critical: bool = False) -> GainPair:
    """(k_d, k_p): as given, with k_d² > 4 k_p, or with the poles −η and −2η, so that η is the rate of decay.

    ``critical`` allows k_d² = 4 k_p too: an error may approach 0 so, but Lemma 4.1 of Quiroz asks zones for more.
    """
    if gains is None:
        return 3.0 * float(gain), 2.0 * float(gain) ** 2
    try:
        d, p = gains
    except (TypeError, ValueError):
        raise refused(f"gains of {name} are two numbers (k_d, k_p)", gains) from None
    d, p = positive(d, f"first of the gains of {name}"), positive(p, f"second of the gains of {name}")
    if d * d < 4.0 * p * (1.0 - _ROUNDING) or (not critical and d * d <= 4.0 * p):
        relation = "must be at least" if critical else "must exceed"
        wanted = f"k_d² = {d * d:.6g} {relation} 4 k_p = {4 * p:.6g}; raise the first or lower the second"
        raise Error(f"gains of {name} oscillate: {wanted}.", found=(d, p))
    return d, p
