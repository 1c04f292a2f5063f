"""Functions with removable singularities around their switches: values and two derivatives, against 50 digits.

Reached, relative: values 1e-14, first derivatives 1e-12, second derivatives 1e-10. The worst place is right above the
switch of ``sinc_slope_root``, where the closed form takes over.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from algebra_reference import mp

from dqdyn.algebra import removable as singular
from dqdyn.algebra.jet import Jet

TOLERANCES = (1e-14, 1e-12, 1e-10)
THIRD = mp.mpf(1) / 3


def _sine_gap(s: Any) -> Any:
    return (mp.sqrt(s) - mp.sin(mp.sqrt(s))) / mp.sqrt(s) ** 3


def _cotangent_gap(s: Any) -> Any:
    return (1 - mp.sqrt(s) * mp.cot(mp.sqrt(s))) / s


OF_SQUARE: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    # name: closed form of s, and value and derivatives in the limit s = 0
    "cos_root": (lambda s: mp.cos(mp.sqrt(s)), [1, mp.mpf(-1) / 2, mp.mpf(1) / 12]),
    "sinc_root": (lambda s: mp.sin(mp.sqrt(s)) / mp.sqrt(s), [1, mp.mpf(-1) / 6, mp.mpf(1) / 60]),
    "sinc_slope_root": (
        lambda s: (mp.cos(mp.sqrt(s)) - mp.sin(mp.sqrt(s)) / mp.sqrt(s)) / s,
        [-THIRD, mp.mpf(1) / 30, mp.mpf(-1) / 420],
    ),
    "sine_gap_root": (_sine_gap, [mp.mpf(1) / 6, mp.mpf(-1) / 120, mp.mpf(1) / 2520]),
    "sine_gap_slope_root": (
        lambda s: mp.diff(_sine_gap, s),
        [mp.mpf(-1) / 120, mp.mpf(1) / 2520, mp.mpf(-1) / 60480],
    ),
    "cotangent_gap_root": (_cotangent_gap, [THIRD, mp.mpf(1) / 45, mp.mpf(4) / 945]),
    "cotangent_gap_slope_root": (
        lambda s: mp.diff(_cotangent_gap, s),
        [mp.mpf(1) / 45, mp.mpf(4) / 945, mp.mpf(6) / 4725],
    ),
}
SQUARES = [
    0.0,
    1e-300,
    1e-30,
    1e-12,
    1e-3,
    0.2,
    math.nextafter(0.25, 0),
    0.25,
    math.nextafter(0.25, 1),
    0.3,
    math.nextafter(1.5, 0),
    1.5,
    2.0,
    math.nextafter(6.0, 0),
    6.0,
    9.0,
    80.0,
]

OF_ANGLE: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    # name: closed form of α, and value, derivative by α over α, and second derivative in the limit α = 0
    "angle_over_sine": (lambda a: a / mp.sin(a), [1, THIRD, THIRD]),
    "log_slope": (
        lambda a: (a * mp.cos(a) - mp.sin(a)) / mp.sin(a) ** 3,
        [-THIRD, mp.mpf(-4) / 15, mp.mpf(-4) / 15],
    ),
}
SWITCH = math.asin(math.sqrt(0.1))
ALPHAS = [
    *(
        0.0,
        1e-150,
        1e-12,
        1e-4,
        0.1,
        SWITCH - 1e-3,
        SWITCH - 1e-14,
        SWITCH + 1e-14,
        SWITCH + 1e-3,
        1.0,
        1.57,
        math.pi / 2,
    ),
    *(1.6, math.pi - SWITCH, 3.0, math.pi - 1e-3, math.pi - 1e-6, math.pi - 1e-9, math.pi - 1e-12),
]


def two_derivatives(x: Any) -> tuple[float, float, float]:
    """Value, slope and curvature of a jet of jets."""
    return x.value.value, x.value.slope, x.slope.slope


def check(found: tuple[float, ...], expected: list[Any]) -> None:
    for order, (a, b) in enumerate(zip(found, expected, strict=True)):
        error = abs(mp.mpf(a) - b) / (abs(b) if b else 1)
        assert error < TOLERANCES[order], f"derivative {order}: {a} for {mp.nstr(b, 17)}, off by {mp.nstr(error, 3)}"


@pytest.mark.parametrize("s", SQUARES)
@pytest.mark.parametrize("name", OF_SQUARE)
def test_functions_of_a_squared_angle(name: str, s: float) -> None:
    if name.startswith("cotangent") and s > 9.0:  # beyond the pole at π²
        return
    closed, limit = OF_SQUARE[name]
    expected = limit
    if s > 1e-20:
        a, b, c = mp.taylor(closed, mp.mpf(s), 2)
        expected = [a, b, 2 * c]
    function = getattr(singular, name)
    check(two_derivatives(function(Jet(Jet(s, 1.0), Jet(1.0, 0.0)))), expected)
    assert function(s) == pytest.approx(float(expected[0]), rel=1e-14)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", OF_ANGLE)
def test_functions_of_a_cosine_and_a_squared_sine(name: str, alpha: float) -> None:
    closed, limit = OF_ANGLE[name]
    exact = mp.mpf(alpha)
    expected = [limit[0], limit[1] * exact, limit[2]]
    if alpha > 1e-6:
        a, b, c = mp.taylor(closed, exact, 2)
        expected = [a, b, 2 * c]
    # cos α and sin² α with their first and second derivatives by α
    c, s = float(mp.cos(exact)), float(mp.sin(exact))
    cosine = Jet(Jet(c, -s), Jet(-s, -c))
    square = Jet(Jet(s * s, 2 * s * c), Jet(2 * s * c, float(2 * mp.cos(2 * exact))))
    check(two_derivatives(getattr(singular, name)(cosine, square)), expected)


@pytest.mark.parametrize("name", OF_ANGLE)
def test_a_full_turn_stays_finite(name: str) -> None:
    """Batches compute every branch: the unused one must not overflow, which would warn."""
    assert math.isfinite(getattr(singular, name)(-1.0, 0.0))
    assert np.isfinite(getattr(singular, name)(np.array([-1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0]))).all()


@pytest.mark.parametrize(
    ("c", "s", "turn"), [(-1.0, 0.0, True), (-1.0, 1e-20, False), (1.0, 0.0, False), (0.0, 1.0, False)]
)
def test_full_turn(c: float, s: float, turn: bool) -> None:
    assert bool(singular.is_full_turn(c, s)) is turn
    assert bool(singular.is_full_turn(np.array([c]), np.array([s]))[0]) is turn


def test_both_is_a_conjunction() -> None:
    table = [(a, b) for a in (False, True) for b in (False, True)]
    assert [bool(singular.both(a, b)) for a, b in table] == [a and b for a, b in table]
    a, b = np.array(table).T
    assert singular.both(a, b).tolist() == (a & b).tolist()


@pytest.mark.parametrize("scale", [1e-140, 1e-8, 1.0, 1e8, 1e140])
def test_unit_or(scale: float) -> None:
    v = np.array([3.0, -4.0, 12.0])
    assert np.allclose(singular.unit_or(tuple(v * scale), (0.0, 0.0, 1.0)), v / 13, rtol=1e-15)
    assert singular.unit_or((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)) == (0.0, 0.0, 1.0)


def test_safe_ratio() -> None:
    assert singular.safe_ratio(3.0, 2.0) == 1.5
    assert singular.safe_ratio(3.0, 0.0) == 0.0
    assert singular.safe_ratio(3.0, 1e-9, tiny=1e-8) == 0.0
    assert singular.safe_ratio(3.0, -1e-7, tiny=1e-8) == -3e7
    jet = singular.safe_ratio(Jet(3.0, 1.0), Jet(0.0, 1.0))
    assert (jet.value, jet.slope) == (0.0, 0.0)
