"""The Butterworth filter by its gain, by SciPy, and together with the difference."""

from __future__ import annotations

import numpy as np
import pytest

from dqdyn.analysis.filtering import LowPass, forward_difference
from dqdyn.errors import StateError

ORDERS = (1, 2, 3, 4, 7)


@pytest.mark.parametrize("order", ORDERS)
def test_gain_is_butterworth_s(order: int) -> None:
    """|H|² = 1 / (1 + (tan(πf/r) / tan(πc/r))²ⁿ), from the response to an impulse."""
    low_pass = LowPass(40.0, 500.0, order)
    impulse = np.zeros(4096)
    impulse[0] = 1.0
    gain = np.abs(np.fft.rfft(low_pass(impulse)))
    frequency = np.fft.rfftfreq(len(impulse), 1.0 / 500.0)
    ratio = np.tan(np.pi * frequency[:-1] / 500.0) / np.tan(np.pi * 40.0 / 500.0)
    np.testing.assert_allclose(gain[:-1], 1.0 / np.sqrt(1.0 + ratio ** (2 * order)), atol=1e-10)


@pytest.mark.parametrize("order", ORDERS)
def test_equals_scipy(order: int) -> None:
    signal = pytest.importorskip("scipy.signal")
    noise = np.random.default_rng(2).normal(size=(300, 3))
    expected = signal.sosfilt(signal.butter(order, 12.0, fs=200.0, output="sos"), noise, axis=0)
    np.testing.assert_allclose(LowPass(12.0, 200.0, order)(noise), expected, atol=1e-13)


def test_input_is_kept() -> None:
    noise = np.random.default_rng(3).normal(size=(50, 2))
    before = noise.copy()
    LowPass(5.0, 100.0)(noise)
    np.testing.assert_array_equal(noise, before)


def test_filter_and_difference_change_places() -> None:
    """For signals that start at rest: so the same filter on velocities and on accelerations adds no difference."""
    t = np.arange(1000) / 500.0
    velocity = np.stack([np.sin(3.0 * t) ** 3, t**3], axis=1)
    low_pass = LowPass(10.0, 500.0)
    padded = np.concatenate([np.zeros((2, 2)), velocity])
    first = forward_difference(low_pass(padded), 2e-3)
    second = low_pass(forward_difference(padded, 2e-3))
    np.testing.assert_allclose(first[2:], second[2:], atol=1e-6 * np.abs(first).max())


def test_difference_is_exact_for_parabolas_and_of_second_order() -> None:
    t = np.arange(20) * 0.1
    np.testing.assert_allclose(forward_difference(3.0 * t * t - t, 0.1), (6.0 * t - 1.0)[:-2], atol=1e-12)
    errors = []
    for dt in (0.02, 0.01):
        t = np.arange(0.0, 2.0, dt)
        errors.append(np.abs(forward_difference(np.sin(t), dt) - np.cos(t)[:-2]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("cutoff", [0.0, -1.0, 50.0, 80.0, float("nan")])
def test_cutoff_is_below_half_the_rate(cutoff: float) -> None:
    with pytest.raises(StateError, match="half of the sampling rate"):
        LowPass(cutoff, 100.0)


@pytest.mark.parametrize("order", [0, -2, 1.5, True])
def test_order_is_a_count(order: int) -> None:
    with pytest.raises(StateError, match="order of a filter"):
        LowPass(5.0, 100.0, order)
