"""Controllers that go on where another one stopped: last command, limits of change, gains and activations."""

from __future__ import annotations

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import control as ct

ARM = dq.robots.two_link()
Q0 = np.array([2.0, -2.4])
REST = np.zeros(2)
P0 = ARM.pose("tool", Q0).translation


def by_acceleration(ball: ct.Measured, *more: ct.Inequality, gain: float = 1.0) -> ct.Controller:
    zone = ct.KeepOut("tool", ball, 0.2, name="ball")
    return ct.acceleration_controller(ARM, [ct.PostureTask(Q0, gain=gain)], [*more, zone])


def test_gains_that_were_raised_stay_and_come_down_again() -> None:
    """A ball that appears raises the gains; the next controller keeps them, and lets them go when it is far again."""
    ball = ct.Measured(P0 + [0.0, 0.0, 5.0])
    wall = ct.KeepAbove("tool", dq.Plane([-1.0, 0.0, 0.0], distance=-3.0), name="wall")
    first, second = by_acceleration(ball), by_acceleration(ball, wall, gain=2.0)
    first(0.0, Q0, REST)
    base = first.activations[0].eta_d
    ball.update(P0 + [0.0, 0.0, 0.4], [0.0, 0.0, -0.7])
    first(0.01, Q0, REST)
    raised = first.activations[0]
    assert raised.eta_d > 2.0 * base
    second.take_over(first)
    ball.update(P0 + [0.0, 0.0, 0.393], [0.0, 0.0, -0.7])
    second(0.02, Q0, REST)
    found = {a.name: a for a in second.activations}
    assert found["ball"] == raised  # though it is the second of this controller's inequalities
    assert (found["wall"].t, found["wall"].holds) == (0.02, True)
    np.testing.assert_array_equal(
        second.composition.gains[second.composition.guard_gains[1]], [raised.eta_d, raised.eta_p]
    )
    ball.update(P0 + [0.0, 0.0, 5.0])
    second(0.03, Q0, REST)
    assert {a.name: a.eta_d for a in second.activations}["ball"] == base


def test_without_taking_over_an_inequality_is_activated_anew() -> None:
    ball = ct.Measured(P0 + [0.0, 0.0, 0.4])
    first, second = by_acceleration(ball), by_acceleration(ball, gain=2.0)
    first(0.0, Q0, REST)
    second(0.5, Q0, REST)
    assert second.activations[0].t == 0.5
    second.take_over(first)
    second(0.5, Q0, REST)
    assert second.activations[0].t == 0.0


def test_a_controller_that_has_not_begun_leaves_nothing_behind() -> None:
    ball = ct.Measured(P0 + [0.0, 0.0, 0.4])
    first, second = by_acceleration(ball), by_acceleration(ball, gain=2.0)
    second(3.0, Q0, REST)
    second.take_over(first)
    second(0.0, Q0, REST)
    assert second.activations[0].t == 0.0


def test_the_last_command_limits_the_next_one() -> None:
    limits = ct.AccelerationLimits(1.0, dt=0.01)
    go, back = (ct.velocity_controller(ARM, ct.PostureTask(q), limits) for q in ([9.0, 9.0], [-9.0, -9.0]))
    for k in range(50):
        command = go(0.01 * k, REST)
    assert command.min() > 0.4
    back.take_over(go)
    np.testing.assert_allclose(back(0.5, REST), command - 0.01, atol=1e-9)
    back.take_over(go)
    braked = back(0.5, [np.nan, 0.0])  # nothing to go by: it brakes from the command of the other
    np.testing.assert_allclose(braked, command * (1.0 - 0.01 / command.max()), atol=1e-9)


def test_a_robot_that_was_brought_to_rest_stays_there() -> None:
    tasks = ct.PostureTask(Q0)
    first, second = (ct.velocity_controller(ARM, tasks, infeasible="rest", damping=d) for d in (0.1, 0.2))
    first(0.0, REST)
    first(0.01, [np.nan, 0.0])
    second.take_over(first)
    assert not second(0.02, REST).any()
    assert second.report.status == "held"
    second.reset()
    assert second(0.03, REST).any()


def test_it_takes_over_from_its_own_kind() -> None:
    task = ct.PostureTask(Q0)
    first = ct.velocity_controller(ARM, task)
    first(0.0, Q0)
    first.take_over(first)  # nothing changes
    with pytest.raises(dq.Error, match="one of its own robot and level"):
        ct.acceleration_controller(ARM, task).take_over(first)
    other = dq.robots.chain(2)
    with pytest.raises(dq.Error, match="one of its own robot and level; found that of 'two_link' by velocity"):
        ct.velocity_controller(other, task).take_over(first)
