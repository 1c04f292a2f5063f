"""When a task counts as stalled: blocked, oscillating and noisy errors do, slow ones and those at their goal do not."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from seeds import generator

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.control.machine.stall import StallWatch

DT = 5e-3


def noticed(
    error: Callable[[float], float], stall: ct.Stall, duration: float, dt: float = DT, grows: bool = False
) -> float:
    """When the watch first says that an error over time has stalled; infinity where it does not."""
    watch = StallWatch(stall, grows)
    times = (k * dt for k in range(round(duration / dt) + 1))
    return next((t for t in times if watch(t, error(t))), math.inf)


def falls_until(stop: float, rate: float = 1.0, start: float = 0.5) -> Callable[[float], float]:
    return lambda t: start * math.exp(-rate * min(t, stop))


@pytest.mark.parametrize("stop", [0.0, 0.3, 1.0, 2.7])
@pytest.mark.parametrize("dt", [1e-3, 5e-3, 0.02])
def test_a_blocked_error_is_noticed_within_a_second(stop: float, dt: float) -> None:
    at = noticed(falls_until(stop), ct.Stall(), 10.0, dt)
    assert stop < at <= stop + ct.Stall().window + dt
    assert at - stop < 1.0


def test_one_that_nears_a_bound_is_noticed_once_it_is_slow() -> None:
    """e = a + b e^{−t}: in the window it last fell by less than the share, and not long before."""
    a, b, stall = 0.1, 0.4, ct.Stall()
    error = lambda t: a + b * math.exp(-t)
    at = noticed(error, stall, 60.0)
    assert error(at - stall.window) - error(at) <= stall.fall * error(at - stall.window)
    slow = -math.log(a * stall.fall / (b * (1.0 - math.exp(-stall.window))))  # from when on every window is too slow
    assert at <= slow + 2.0 * stall.window


@pytest.mark.parametrize("rate", [0.01, 0.1, 2.0])
def test_a_slow_error_that_moves_has_not_stalled(rate: float) -> None:
    assert noticed(falls_until(math.inf, rate), ct.Stall(), 30.0) == math.inf


def test_a_constant_speed_from_far_needs_a_least_fall() -> None:
    """1 mm/s from 1 m is a tenth of a per cent in the window: little as a share, not as a distance."""
    error = lambda t: 1.0 - 1e-3 * t
    assert noticed(error, ct.Stall(), 20.0) < 1.0
    assert noticed(error, ct.Stall(least=5e-4), 20.0) == math.inf


@pytest.mark.parametrize("period", [0.05, 0.3, 0.7])
def test_an_oscillation_that_gets_no_smaller_has_stalled(period: float) -> None:
    swings = lambda t: 0.2 + 0.1 * math.cos(2.0 * math.pi * t / period)
    assert (
        noticed(swings, ct.Stall(), 10.0) <= 0.5 * period + ct.Stall().window + DT
    )  # the least comes half a period in


@pytest.mark.parametrize("period", [0.05, 0.3, 0.7])
def test_an_oscillation_that_falls_has_not(period: float) -> None:
    swings = lambda t: math.exp(-t) * (0.2 + 0.1 * math.cos(2.0 * math.pi * t / period))
    assert noticed(swings, ct.Stall(), 10.0) == math.inf


def test_noise_does_not_hide_a_stall() -> None:
    draw = generator("noisy stall")
    noisy = lambda t: falls_until(1.0)(t) * (1.0 + 1e-4 * draw.standard_normal())
    assert 1.0 < noticed(noisy, ct.Stall(), 10.0) < 2.0


@pytest.mark.parametrize("size", [0.0, 1e-7])
def test_one_at_its_goal_has_not_stalled(size: float) -> None:
    assert noticed(lambda t: size, ct.Stall(), 10.0) == math.inf


def test_one_that_rests_just_above_its_tolerance_has() -> None:
    assert noticed(lambda t: 1e-7, ct.Stall(tolerance=0.9e-7), 10.0) == pytest.approx(ct.Stall().window)


def test_one_that_falls_below_the_tolerance_and_comes_back_has_stalled_there() -> None:
    error = lambda t: 1e-3 if t < 1.0 else 0.02
    at = noticed(error, ct.Stall(tolerance=0.01), 10.0)
    assert 1.0 <= at < 1.01


def test_a_growing_error_stalls_where_it_no_longer_grows() -> None:
    grows = lambda t: 0.1 * math.exp(0.5 * min(t, 2.0))
    at = noticed(grows, ct.Stall(), 10.0, grows=True)
    assert 2.0 < at <= 2.0 + ct.Stall().window + DT
    assert noticed(grows, ct.Stall(), 2.0) < 1.0  # as an error to fall it has


def test_an_error_that_is_not_known_stalls_and_a_number_starts_anew() -> None:
    assert noticed(lambda t: math.nan, ct.Stall(), 10.0) == pytest.approx(0.8)
    assert noticed(lambda t: math.nan if t < 0.5 else math.exp(-t), ct.Stall(), 5.0) == math.inf


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"window": 0.0}, "window"),
        ({"window": None}, "window"),
        ({"fall": 1.0}, "below 1"),
        ({"fall": 0.0}, "fall"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"tolerance": math.nan}, "tolerance"),
        ({"least": 0.0}, "least"),
        ({"grows": "yes"}, "grows"),
    ],
)
def test_bad_settings_are_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(dq.Error, match=words):
        ct.Stall(**options)  # type: ignore[arg-type]
