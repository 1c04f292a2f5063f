"""Loops that run: obstacles that appear, states that jump, a second run; what Lemma 4.1 promises is asked for anew."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.control.core.lemma import Activation

ARM = dq.robots.arm7()
Q0 = np.array([0.1, 0.4, 0.2, -1.2, 0.3, 0.8, 0.1])
P0 = ARM.pose("tool", Q0).translation
REST = np.zeros(7)
DT = 2e-3
AWAY = [0.0, 0.0, 100.0]
STAY = [[ct.TranslationTask("tool", P0)], [ct.RestTask()]]


def down(speed: float) -> np.ndarray:
    """Velocities that move the tool down."""
    return np.linalg.pinv(ARM.translation_jacobian("tool", Q0)) @ [0.0, 0.0, -speed]


def floor() -> ct.KeepAbove:
    """5 cm below the tool."""
    return ct.KeepAbove("tool", dq.Plane([0.0, 0.0, 1.0], distance=P0[2] - 0.05), gain=0.5, name="floor")


def run(
    c: ct.Controller, v: np.ndarray, duration: float, before: Callable[[float], None] = lambda t: None
) -> tuple[list[float], list[Activation]]:
    """h of the first inequality and its activation at every step."""
    q, h, activations = Q0, [], []
    for k in range(round(duration / DT)):
        before(k * DT)
        a = c(k * DT, q, v)
        h.append(next(iter(c.distances.values())))
        activations.append(c.activations[0])
        q, v = ARM.integrate(q, v + 0.5 * DT * a, DT), v + DT * a
    return h, activations


@pytest.mark.parametrize("speed", [0.7, 1.0])
def test_an_obstacle_that_appears_late(speed: float) -> None:
    """As well kept away from as one that was there from the start, with the same gains; they go back afterwards."""

    def approach(ball: ct.Measured, since: float) -> Callable[[float], None]:
        def update(t: float) -> None:
            if t >= since:
                ball.update(P0 + [0.4 - speed * (t - since), 0.12, 0.0], [-speed, 0.0, 0.0])

        return update

    least = {}
    for since in (0.0, 0.1):
        ball = ct.Measured(AWAY)
        c = ct.acceleration_controller(ARM, STAY, [ct.KeepOut("tool", ball, 0.2, name="ball")])
        h, activations = run(c, REST, 1.2 + since, approach(ball, since))
        least[since] = min(h)
        if since:
            first, second = activations[0], activations[round(since / DT)]
            assert (first.t, second.t) == (0.0, pytest.approx(since))
            assert (first.eta_d, first.eta_p) == (3.0, 2.0)
            assert second.holds
            assert second.eta_d > 6.0
            assert c.activations[0].holds
            assert c.activations[0].eta_d == 3.0
    assert least[0.1] > 0.0
    assert least[0.1] == pytest.approx(least[0.0], rel=0.05)


def test_an_obstacle_that_gains_speed() -> None:
    """No jump at any step, and an acceleration that nobody tells: gains rise before the zone is entered."""

    def update(t: float) -> None:
        ball.update(P0 + [0.6 - t * t, 0.05, 0.0], [-2.0 * t, 0.0, 0.0])

    ball = ct.Measured(P0 + [0.6, 0.05, 0.0])
    c = ct.acceleration_controller(ARM, STAY, [ct.KeepOut("tool", ball, 0.2, name="ball", gain=0.3)])
    _, activations = run(c, REST, 0.7, update)
    raised = [a for a in activations if a.t > 0.0]
    assert raised
    assert all(a.holds and a.h > 0.0 for a in raised)
    assert raised[0].eta_d > 2.0 * activations[0].eta_d


def test_given_gains_that_do_no_longer_do() -> None:
    """A warning, once, when the ball appears; gains stay as given."""
    ball = ct.Measured(AWAY)
    c = ct.acceleration_controller(ARM, STAY, [ct.KeepOut("tool", ball, 0.2, name="ball", gains=(3.0, 2.0))])
    c(0.0, Q0, REST)
    assert c.activations[0].holds
    ball.update(P0 + [0.4, 0.0, 0.0], [-0.7, 0.0, 0.0])
    with pytest.warns(
        ct.ControlWarning, match=r"Lemma 4\.1 does not hold for 'ball' from t = 0\.01 s on: η_d = 3 is below 2\|ḣ"
    ) as told:
        c(0.01, Q0, REST)
    assert told[0].filename == __file__
    assert not c.activations[0].holds
    assert c.activations[0].t == 0.01
    assert c.activations[0].eta_d == 3.0
    c(0.02, Q0, REST)  # another warning would be an error


def test_an_obstacle_that_appears_on_top() -> None:
    ball = ct.Measured(AWAY)
    c = ct.acceleration_controller(ARM, STAY, [ct.KeepOut("tool", ball, 0.2, name="ball")])
    c(0.0, Q0, REST)
    ball.update(P0 + [0.1, 0.0, 0.0])
    with pytest.warns(ct.ControlWarning, match=r"'ball' is violated from t = 0\.01 s on by 0\.03"):
        c(0.01, Q0, REST)
    c(0.02, Q0, REST)
    ball.update(AWAY)
    c(0.03, Q0, REST)
    ball.update(P0 + [0.1, 0.0, 0.0])
    with pytest.warns(ct.ControlWarning, match=r"'ball' is violated from t = 0\.04 s on"):
        c(0.04, Q0, REST)


@pytest.mark.parametrize("make", [ct.acceleration_controller, ct.torque_controller])
def test_a_second_run(make: Callable[..., ct.Controller]) -> None:
    """A simulation starts afresh: the floor holds for a robot that comes down though the first run was at rest."""
    c = make(ARM, [ct.RestTask(gain=0.1)], [floor()])
    dq.simulate(ARM, c, duration=0.05, dt=1e-3, q0=Q0)
    slow = c.activations[0]
    fast = dq.simulate(ARM, c, duration=0.6, dt=1e-3, q0=Q0, v0=down(0.4), start=1.0)
    assert c.activations[0].t == 1.0
    assert c.activations[0].holds
    assert c.activations[0].eta_d > 10.0 > slow.eta_d
    assert fast.extra["h: floor"].min() > 0.0


def test_time_that_goes_back_is_a_new_run() -> None:
    """All inequalities become active anew, in a loop of the user's own too."""
    c = ct.acceleration_controller(ARM, STAY, [floor()], infeasible="hold")
    run(c, REST, 0.1)
    assert c.activations[0].rate == 0.0
    h, activations = run(c, down(0.4), 0.6)
    assert activations[0].rate == pytest.approx(-0.4)
    assert activations[0].holds
    assert min(h) > 0.0
    below = ct.velocity_controller(ARM, [ct.RestTask()], [floor()])
    below(1.0, Q0)
    with pytest.warns(ct.ControlWarning, match="'floor' is violated at the start"):
        below(0.0, Q0 + [0.0, 0.0, 0.0, -0.5, 0.0, 0.0, 0.0])


def test_a_loop_that_paused() -> None:
    """A state that jumped while nobody asked counts by the loop's own step."""
    c = ct.acceleration_controller(ARM, STAY, [floor()])
    for k in range(5):
        c(k * DT, Q0, REST)
    c(1.0, Q0, down(0.4))
    assert c.activations[0].t == 1.0
    assert c.activations[0].holds


def test_smooth_runs_have_one_activation() -> None:
    """A task that presses against the floor: neither warnings nor other gains, at any step."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.ControlWarning)  # of the target below the floor
        c = ct.acceleration_controller(ARM, [ct.TranslationTask("tool", P0 - [0.0, 0.0, 0.2], gain=3.0)], [floor()])
    h, activations = run(c, REST, 3.0)
    assert min(h) < 0.02
    assert all(a == activations[0] for a in activations)


def test_a_start_that_is_too_fast() -> None:
    limits = [ct.VelocityLimits(0.3), ct.JointLimits()]
    c = ct.acceleration_controller(ARM, [ct.RestTask()], limits)
    fast = REST.copy()
    fast[2] = -1.0
    with pytest.warns(
        ct.ControlWarning, match=r"'velocity limits: joint3' is violated at the start by 0\.7; .* has to slow down"
    ) as told:
        c(0.0, Q0, fast)
    assert told[0].filename == __file__
    c.reset()
    c(0.0, Q0, np.full(7, 0.3))  # at the limit
    ct.velocity_controller(ARM, [ct.RestTask()], limits)(0.0, Q0, fast)  # v is no part of that problem
