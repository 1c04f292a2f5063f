"""Piecewise polynomials against SciPy, and the fastest profiles against Ruckig."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.interpolate import BPoly, PPoly

from dqdyn.splines import Piecewise, Quintic, profile, quintic_coefficients
from dqdyn.splines.profiles import refined


def random_piecewise(seed: int) -> Piecewise:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.2, 1.5, 5)) - 1.0
    degree = int(rng.integers(0, 6))
    return Piecewise(times, rng.normal(size=(4, 6, 3)) * (np.arange(6) <= degree)[:, None])


@pytest.mark.parametrize("seed", range(12))
def test_values_and_extremes_are_those_of_scipy(seed: int) -> None:
    p = random_piecewise(seed)
    peer = PPoly(p.coefficients.transpose(1, 0, 2)[::-1], p.times)
    t = np.linspace(p.times[0], p.times[-1], 20001)
    inner = t[1:-1]
    for order, found in enumerate(p.sample(inner)):
        np.testing.assert_allclose(found, peer(inner, order), rtol=1e-12, atol=1e-12)
    for k in (17, 4000, 15000):
        for one, many in zip(p.at(inner[k]), p.sample(inner), strict=True):
            np.testing.assert_array_equal(one, many[k])
    for order in range(4):
        low, high = p.range(order)
        # from both sides at breaks, where derivatives may jump
        ends = np.concatenate([peer.derivative(order)(p.times[:-1]), peer.derivative(order)(p.times[1:] - 1e-13)])
        dense = np.concatenate([peer(inner, order), ends])
        assert (dense >= low - 1e-9 * (1.0 + abs(low))).all()
        assert (dense <= high + 1e-9 * (1.0 + abs(high))).all()
        np.testing.assert_allclose(low, dense.min(axis=0), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(high, dense.max(axis=0), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("order", range(3))
def test_quintic_meets_its_ends(order: int) -> None:
    rng = np.random.default_rng(3)
    first, last, duration = rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), 1.7
    c = quintic_coefficients(duration, tuple(first), tuple(last))
    peer = BPoly.from_derivatives([0.0, duration], [first, last])
    t = np.linspace(0.0, duration, 7)
    np.testing.assert_allclose(
        Piecewise.of_one(0.0, duration, c).sample(t)[order], peer.derivative(order)(t) if order else peer(t), atol=1e-11
    )
    rest = Quintic.between(0.5, 2.0, first[0], last[0], first[1], first[2])
    for found, expected in zip(rest.at(0.5), first, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(rest.at(3.0)[0], last[0], atol=1e-12)
    assert not np.any(rest.at(3.0)[1:])


def ruckig_duration(distance: float, *limits: float) -> float:
    import ruckig

    given, found = ruckig.InputParameter(1), ruckig.Trajectory(1)
    given.target_position = [distance]
    given.max_velocity, given.max_acceleration, given.max_jerk = ([limit] for limit in limits)
    assert ruckig.Ruckig(1).calculate(given, found) == ruckig.Result.Working
    return float(found.duration)


@pytest.mark.parametrize("jerk", [True, False])
def test_profiles_take_the_time_of_ruckig(jerk: bool) -> None:
    """All cases: with and without a phase of constant velocity, and of constant acceleration."""
    rng, phases = np.random.default_rng(5), set()
    for _ in range(300):
        # A phase 10⁸ times shorter than the way would be lost in the rounding of the time itself.
        distance, velocity, acceleration = 10.0 ** rng.uniform(-2, 1, 3)
        top = 10.0 ** rng.uniform(-1, 2) if jerk else math.inf
        found = profile(distance, velocity, acceleration, top)
        phases.add(len(found.coefficients))
        assert found.times[-1] == pytest.approx(ruckig_duration(distance, velocity, acceleration, top), rel=1e-12)
        assert found.at(found.times[-1])[0] == pytest.approx(distance, rel=1e-12)
        for order, limit in enumerate((velocity, acceleration, top), start=1):
            if math.isfinite(limit):
                assert found.largest(order) <= limit * (1.0 + 1e-9)
    assert phases == ({4, 5, 6, 7} if jerk else {2, 3})


def test_profiles_without_a_limit_of_velocity() -> None:
    assert profile(1.0, math.inf, math.inf, 2.0).times[-1] == pytest.approx(4.0 * (1.0 / 4.0) ** (1.0 / 3.0))
    assert profile(1.0, math.inf, 4.0).times[-1] == pytest.approx(1.0)


def test_refined_profiles_arrive_together() -> None:
    pieces = [profile(d, 1.0, 2.0, 9.0) for d in (1.0, 0.3, 0.0, 4.0)]
    both = refined(pieces, 6.0)
    np.testing.assert_allclose(both.at(6.0)[0], [1.0, 0.3, 0.0, 4.0], atol=1e-12)
    t = np.linspace(0.0, 6.0, 50)
    for k, piece in enumerate(pieces[:2]):
        slow = piece.stretched(6.0 / float(piece.times[-1]))
        np.testing.assert_allclose(both.sample(t)[0][:, k], slow.sample(t)[0][:, 0], atol=1e-12)
