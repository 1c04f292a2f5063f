"""No command is NaN or beyond its limits: where nothing can be computed a controller brakes, then holds still."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from trees import random_robot

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.control.core.lemma import STEEPEST, Activation, automatic_gains
from dqdyn.errors import Error

ARM = dq.robots.arm7()
Q0 = np.array([0.1, 0.4, 0.2, -1.2, 0.3, 0.8, 0.1])
P0 = ARM.pose("tool", Q0).translation
NAN, REST = np.full(7, math.nan), np.zeros(7)
AWAY = ct.TranslationTask("tool", P0 + [0.3, 0.3, 0.0], gain=5.0)
MAKERS = pytest.mark.parametrize("make", [ct.velocity_controller, ct.acceleration_controller, ct.torque_controller])


def test_a_velocity_is_not_repeated() -> None:
    """It shrinks on its path, no axis faster than it may, and ends at zero; then the loop goes on from there."""
    c = ct.velocity_controller(ARM, [AWAY], [ct.AccelerationLimits(5.0, dt=0.01), ct.VelocityLimits(1.0)])
    for k in range(20):
        v = c(0.01 * k, Q0)
    assert np.abs(v).max() > 0.5
    motions = []
    for k in range(30):
        last, v = v, c(0.2 + 0.01 * k, NAN)
        assert c.report.status == "held"
        assert np.abs(v - last).max() <= 0.05 + 1e-12
        if v.any():
            np.testing.assert_allclose(v / np.abs(v).max(), last / np.abs(last).max(), atol=1e-9)
        motions.append(c.report.motion)
    assert motions[0] == "braking"
    assert motions[-1] == "still"
    np.testing.assert_array_equal(v, 0.0)
    assert np.abs(c(0.5, Q0)).max() <= 0.05 + 1e-12  # from rest again
    assert c.report.status == "solved"


def test_without_limits_of_acceleration_a_velocity_is_zero_at_once() -> None:
    c = ct.velocity_controller(ARM, [AWAY], [ct.VelocityLimits(1.0)])
    c(0.0, Q0)
    np.testing.assert_array_equal(c(0.01, NAN), 0.0)
    assert (c.report.status, c.report.motion) == ("held", "still")


@pytest.mark.parametrize("lost", ["q", "v", "both", "ball"])
@pytest.mark.parametrize("make", [ct.acceleration_controller, ct.torque_controller])
def test_a_moving_robot_comes_to_rest(make: Callable[..., ct.Controller], lost: str) -> None:
    """Within its limits, whatever is not measured any more; and it stays where it stopped."""
    ball = ct.Measured([2.0, 0.0, 0.0])
    limits: list[Any] = [ct.AccelerationLimits(4.0), ct.KeepOut("tool", ball, 0.1)]
    if make is ct.torque_controller:
        limits.append(ct.TorqueLimits())
    c = make(ARM, [AWAY], limits)
    q, v, dt, motions = Q0, 0.5 * np.linspace(-1.0, 1.0, 7), 0.002, []
    for k in range(450 if lost == "both" else 800):  # torques alone do not keep an unseen arm in place for long
        if k == 3 and lost == "ball":
            ball.update(None)
        seen_q, seen_v = (NAN if k >= 3 and lost in (name, "both") else x for name, x in (("q", q), ("v", v)))
        u = c(k * dt, seen_q, seen_v)
        a = u if make is ct.acceleration_controller else ARM.forward_dynamics(q, v, u)
        if k >= 3:
            assert c.report.status == "held"
            motions.append(c.report.motion)
            if make is ct.acceleration_controller:
                assert np.abs(u).max() <= 4.0
        q, v = ARM.integrate(q, v + 0.5 * dt * a, dt), v + dt * a
    assert motions[0] == "braking"
    assert motions[-1] == "still"
    assert np.abs(v).max() < 0.05


@MAKERS
@pytest.mark.parametrize("size", [1e3, 1e20, 1e160, 1e200, 1e308])
def test_states_beyond_all_scales(make: Callable[..., ct.Controller], size: float) -> None:
    """Finite commands, also afterwards, and never NaN as "solved" or "held"."""
    c = make(ARM, [ct.RestTask()], [])
    for t, (q, v) in enumerate([(Q0, np.full(7, size)), (Q0 * size, REST), (NAN, REST), (Q0, NAN), (Q0, REST)]):
        assert np.isfinite(c(0.01 * t, q, v)).all()
    assert c.report.status == "solved"


def test_held_torques_are_within_their_limits() -> None:
    """At the first step too, where gravity alone asks for more."""
    ball = ct.Measured([2.0, 0.0, 0.0])
    c = ct.torque_controller(ARM, [ct.RestTask()], [ct.TorqueLimits(5.0), ct.KeepOut("tool", ball, 0.1)])
    assert np.abs(ARM.gravity_forces(Q0)).max() > 10.0
    ball.update([math.nan, 0.0, 0.0])
    for k in range(3):
        assert np.abs(c(0.01 * k, Q0, REST)).max() == 5.0
        assert c.report.status == "held"


@MAKERS
def test_limits_of_the_command_do_not_give_way(make: Callable[..., ct.Controller]) -> None:
    """Under "relax" the zones do, by what is reported; with relaxable=True the limit does."""
    wall = ct.KeepAbove("tool", dq.Plane([0.0, 0.0, 1.0], distance=P0[2] + 0.5), gain=20.0, name="wall")
    limits = {"velocity": ct.VelocityLimits, "acceleration": ct.AccelerationLimits, "torque": ct.TorqueLimits}
    kind = limits[make.__name__.split("_")[0]]
    size = 15.0 if kind is ct.TorqueLimits else 0.2
    for relaxable in (None, True):
        c = make(ARM, [ct.RestTask()], [wall, kind(size, relaxable=relaxable)])
        with pytest.warns(ct.ControlWarning, match="violated at the start"):
            u = c(0.0, Q0, REST)
        assert c.report.status == "relaxed"
        assert "wall" in c.report.violation
        if relaxable is None:
            assert np.abs(u).max() <= size
            assert set(c.report.violation) == {"wall"}
        else:
            assert np.abs(u).max() > size


def test_a_limit_that_gravity_exceeds_is_still_a_limit() -> None:
    """Torques of 5 N m do not hold this arm: it sinks, and the limits of acceleration give way."""
    c = ct.torque_controller(ARM, [ct.RestTask()], [ct.TorqueLimits(5.0), ct.AccelerationLimits(0.5)])
    tau = c(0.0, Q0, REST)
    assert c.report.status == "relaxed"
    assert np.abs(tau).max() <= 5.0


@pytest.mark.parametrize("time", [math.nan, math.inf])
def test_a_time_that_is_none(time: float) -> None:
    c = ct.acceleration_controller(ARM, [AWAY], [ct.KeepAbove("tool", dq.Plane([0.0, 0.0, 1.0], distance=0.1))])
    c(0.0, Q0, REST)
    np.testing.assert_array_equal(c(time, Q0, REST), 0.0)
    assert c.report.reason.startswith("the time is not finite")
    c(0.01, Q0, REST)
    assert c.report.status == "solved"


# --- numbers that overflow ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("h", [1e-320, 1e-200, 1e-9, 1.0])
@pytest.mark.parametrize("rate", [-1e-3, -1e100, -1e300])
def test_automatic_gains_stay_finite(h: float, rate: float) -> None:
    """They end where no loop follows; the activation says that the lemma does not hold then."""
    eta_d, eta_p = automatic_gains((3.0, 2.0), h, rate)
    assert 3.0 <= eta_d <= STEEPEST
    assert eta_p == pytest.approx(2.0 * (eta_d / 3.0) ** 2)
    activation = Activation("zone", h, rate, eta_d, eta_p)
    assert activation.holds == (2.0 * abs(rate) <= STEEPEST * h)
    assert activation.holds or "η_d" in activation.failing[0]


@pytest.mark.parametrize("number", [1e155, 1e200, 10**400])
@pytest.mark.parametrize(
    "make",
    [
        lambda x: ct.RestTask(gain=x),
        lambda x: ct.RestTask(weight=x),
        lambda x: ct.KeepOut("tool", [2.0, 0.0, 0.0], 0.1, gain=x),
        lambda x: ct.JointLimits(gains=(x, 1.0)),
        lambda x: ct.JointLimits(margin=x),
        lambda x: ct.velocity_controller(ARM, [ct.RestTask()], damping=x),
    ],
)
def test_settings_whose_square_is_infinite(make: Callable[[Any], Any], number: float) -> None:
    with pytest.raises(Error, match=r"is too large: give a number up to 1e\+100"):
        make(number)


def test_states_that_were_never_measured_are_not_remembered() -> None:
    """A robot whose q and v have different sizes: two steps of NaN before anything is known, then a sound one."""
    robot = random_robot(32, 4, ("spherical", "revolute"))
    controller = ct.torque_controller(robot, [ct.PostureTask(robot.neutral())])
    nothing = np.full(robot.nq, np.nan), np.full(robot.nv, np.nan)
    for t in (0.0, 0.01, 0.02):
        assert not controller(t, *nothing).any()
        assert controller.report.status == "held"
    assert np.isfinite(controller(0.03, robot.neutral(), np.zeros(robot.nv))).all()
