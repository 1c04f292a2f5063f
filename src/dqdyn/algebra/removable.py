"""Every function with a removable singularity, in one place.

Each takes the *square* of an angle or a sine, so that no square root is differentiated at zero, and joins a series to
the closed form by :func:`select`. The series reaches far from zero, so that first and second derivatives of the
closed form lose few digits where it takes over.
"""

from __future__ import annotations

import math
from typing import Any

from dqdyn.algebra.scalar import Scalar, atan2, cos, divide, less, select, sin, sqrt, total

_SMALL_ANGLE = 0.25  # on the squared angle
_SMALL_SINE_GAP, _SMALL_COTANGENT_GAP = 6.0, 1.5  # on the squared angle, where closed forms lose more digits
_SMALL_SINE = 0.1  # on the squared sine
_TINY = 1e-300  # a square whose root can still be divided by
_TINY_SINE = 1e-200  # a squared sine whose cube of the root can still be divided by

_COS = tuple((-1) ** k / math.factorial(2 * k) for k in range(9))
_SINC = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(9))
_SINC_SLOPE = tuple((-1) ** (k + 1) * (2 * k + 2) / math.factorial(2 * k + 3) for k in range(9))
_ARCSINE = tuple(math.comb(2 * k, k) / (4**k * (2 * k + 1)) for k in range(18))
_RATIO = tuple(4**k * math.factorial(k) ** 2 / math.factorial(2 * k + 1) for k in range(20))
_LOG_SLOPE = tuple(_RATIO[k + 1] - _RATIO[k] for k in range(18))
_SINE_GAP = tuple((-1) ** k / math.factorial(2 * k + 3) for k in range(20))
_SINE_GAP_SLOPE = tuple((k + 1) * c for k, c in enumerate(_SINE_GAP[1:]))


def _cotangents(terms: int) -> tuple[float, ...]:
    """Taylor coefficients of (1 − y cot y)/y² in y², from sin y = (y cos y)/(y cot y)."""
    sine, cosine = ([(-1) ** k / math.factorial(2 * k + odd) for k in range(terms + 1)] for odd in (1, 0))
    cotangent: list[float] = []
    for k in range(terms + 1):
        cotangent.append(cosine[k] - math.fsum(sine[k - i] * c for i, c in enumerate(cotangent)))
    return tuple(-c for c in cotangent[1:])


_COTANGENT_GAP = _cotangents(24)
_COTANGENT_GAP_SLOPE = tuple((k + 1) * c for k, c in enumerate(_COTANGENT_GAP[1:]))


def _series(coefficients: tuple[float, ...], s: Scalar) -> Scalar:
    result: Scalar = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        result = result * s + c
    return result


def cos_root(s: Scalar) -> Scalar:
    """cos √s, smooth at s = 0."""
    small = less(s, _SMALL_ANGLE)
    return select(small, _series(_COS, select(small, s, 0.0)), cos(sqrt(select(small, 1.0, s))))


def sinc_root(s: Scalar) -> Scalar:
    """sin(√s)/√s; 1 at s = 0."""
    small = less(s, _SMALL_ANGLE)
    x = sqrt(select(small, 1.0, s))
    return select(small, _series(_SINC, select(small, s, 0.0)), divide(sin(x), x))


def sinc_slope_root(s: Scalar) -> Scalar:
    """(cos x − sin(x)/x)/x² with x = √s; −1/3 at s = 0."""
    small = less(s, _SMALL_ANGLE)
    square = select(small, 1.0, s)
    x = sqrt(square)
    closed = divide(cos(x) - divide(sin(x), x), square)
    return select(small, _series(_SINC_SLOPE, select(small, s, 0.0)), closed)


def sine_gap_root(s: Scalar) -> Scalar:
    """(x − sin x)/x³ with x = √s; 1/6 at s = 0."""
    small = less(s, _SMALL_SINE_GAP)
    square = select(small, 1.0, s)
    x = sqrt(square)
    closed = divide(1.0 - divide(sin(x), x), square)
    return select(small, _series(_SINE_GAP, select(small, s, 0.0)), closed)


def sine_gap_slope_root(s: Scalar) -> Scalar:
    """d/ds of :func:`sine_gap_root`; −1/120 at s = 0."""
    small = less(s, _SMALL_SINE_GAP)
    square = select(small, 1.0, s)
    x = sqrt(square)
    closed = divide(1.5 * divide(sin(x), x) - 0.5 * cos(x) - 1.0, square * square)
    return select(small, _series(_SINE_GAP_SLOPE, select(small, s, 0.0)), closed)


def cotangent_gap_root(s: Scalar) -> Scalar:
    """(1 − y cot y)/y² with y = √s < π; 1/3 at s = 0."""
    small = less(s, _SMALL_COTANGENT_GAP)
    square = select(small, 1.0, s)
    y = sqrt(square)
    closed = divide(1.0 - divide(y * cos(y), sin(y)), square)
    return select(small, _series(_COTANGENT_GAP, select(small, s, 0.0)), closed)


def cotangent_gap_slope_root(s: Scalar) -> Scalar:
    """d/ds of :func:`cotangent_gap_root`; 1/45 at s = 0."""
    small = less(s, _SMALL_COTANGENT_GAP)
    square = select(small, 1.0, s)
    y = sqrt(square)
    ratio = divide(y, sin(y))
    closed = divide(0.5 * (ratio * (cos(y) + ratio)) - 1.0, square * square)
    return select(small, _series(_COTANGENT_GAP_SLOPE, select(small, s, 0.0)), closed)


def angle_over_sine(c: Scalar, s: Scalar) -> Scalar:
    """α/sin α for c = cos α, s = sin² α, α in [0, π]; 1 at α = 0, huge but finite at α = π."""
    small = _near_zero(c, s)
    sine = sqrt(select(small, 1.0, _not_below_tiny(s)))
    closed = divide(atan2(sine, c), sine)
    return select(small, _series(_ARCSINE, select(small, s, 0.0)), closed)


def log_slope(c: Scalar, s: Scalar) -> Scalar:
    """(α cos α − sin α)/sin³ α for c = cos α, s = sin² α, α in [0, π]; −1/3 at α = 0, huge but finite at α = π."""
    small = _near_zero(c, s)
    square = select(small, 1.0, _not_below_tiny(s))
    sine = sqrt(square)
    closed = divide(divide(atan2(sine, c) * c, sine) - 1.0, square)
    return select(small, _series(_LOG_SLOPE, select(small, s, 0.0)), closed)


def is_full_turn(c: Scalar, s: Scalar) -> Any:
    """True at α = π (a rotation by 2π), where the axis is undefined."""
    return both(less(c, 0.0), less(s, _TINY_SINE))


def unit_or(v: tuple[Scalar, ...], default: tuple[float, ...]) -> tuple[Scalar, ...]:
    """v/‖v‖, or the default where v vanishes."""
    s = total(c * c for c in v)
    zero = less(s, _TINY)
    scale = divide(1.0, sqrt(select(zero, 1.0, s)))
    return tuple(select(zero, d, a * scale) for a, d in zip(v, default, strict=True))


def safe_ratio(a: Scalar, b: Scalar, tiny: float = _TINY) -> Scalar:
    """a/b, or 0 where |b| is below ``tiny``."""
    small = less(b * b, tiny * tiny if tiny > 1e-150 else _TINY)
    return select(small, 0.0, divide(a, select(small, 1.0, b)))


def both(a: Any, b: Any) -> Any:
    """The conjunction of two conditions, over any scalar."""
    return less(0.5, select(a, select(b, 1.0, 0.0), 0.0))


def _near_zero(c: Scalar, s: Scalar) -> Any:
    return both(less(s, _SMALL_SINE), less(0.0, c))


def _not_below_tiny(s: Scalar) -> Scalar:
    return select(less(s, _TINY_SINE), _TINY_SINE, s)
