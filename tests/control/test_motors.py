"""Robots that torque control refuses, since it would leave out physics, and those next to them that it takes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from trees import random_robot

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.robot import Robot

REST = [ct.RestTask()]


@pytest.mark.parametrize("make", [lambda robot: ct.torque_controller(robot, REST), None])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nonholonomic_manipulator", r"the forces of its constraints \('rolling'\) would be left out"),
        ("four_bar", r"the forces of its constraints \('pin'\) would be left out"),
        ("stewart_platform", r"the forces of its constraints \('ball_1', .*\) would be left out"),
    ],
)
def test_refused(name: str, text: str, make: Callable[[Robot], object] | None) -> None:
    robot = getattr(dq.robots, name)()
    make = make or (lambda robot: ct.computed_torque(robot, robot.neutral()))
    what = f"'{name}' cannot be controlled by torque alone, as {text}: use whole_body_controller"
    with pytest.raises(ct.ControlError, match=what):
        make(robot)


@pytest.mark.parametrize("name", ["two_link", "holonomic_manipulator", "humanoid"])
def test_computed_torque_needs_every_motor(name: str) -> None:
    robot = getattr(dq.robots, name)()
    joint = robot.joints[0].name
    without = robot.with_motors({joint: None})
    with pytest.raises(ct.ControlError, match=f"its .* joint '{joint}' has no motor: .*robot.with_motors") as caught:
        ct.computed_torque(without, robot.neutral())
    assert caught.value.joint == joint
    driven = without.with_motors({joint: dq.Motor()})
    tau = ct.computed_torque(driven, robot.neutral())(0.0, robot.neutral(), np.zeros(robot.nv))
    np.testing.assert_allclose(tau, robot.gravity_forces(robot.neutral()), atol=1e-9)


@pytest.mark.parametrize("make", [lambda robot: ct.torque_controller(robot, REST), None])
def test_no_motor_at_all(make: Callable[[Robot], object] | None) -> None:
    make = make or (lambda robot: ct.computed_torque(robot, robot.neutral()))
    with pytest.raises(ct.ControlError, match="'two_link' cannot be controlled by torque, as it has no motor: give"):
        make(dq.robots.two_link().with_motors([]))


@pytest.mark.parametrize("limit", [None, 200.0, 0.0, "per axis"])
def test_a_base_that_would_fall(limit: object) -> None:
    """575 N of weight have no bearer, and "solved" would be free fall; limits of torques say nothing of motors."""
    robot = dq.robots.humanoid()
    given = np.r_[np.zeros(6), np.full(robot.nv - 6, 200.0)] if limit == "per axis" else limit
    for relaxable in (None, False, True):
        with pytest.raises(ct.ControlError, match=r"'humanoid' would fall: .* gravity pulls at it by 574\.866 N"):
            ct.torque_controller(robot, REST, [ct.TorqueLimits(given, relaxable=relaxable)])
    with pytest.raises(ct.ControlError, match=r"would fall: .*: use whole_body_controller"):
        ct.torque_controller(robot, REST)


@pytest.mark.parametrize("own", [False, True])
def test_a_robot_that_floats(own: bool) -> None:
    """Without gravity a base without motors is physics: its momentum stays what it is."""
    robot = random_robot(5, 2, ("revolute",), base="free").with_gravity([0.0, 0.0, 0.0])
    limits = [ct.TorqueLimits(np.r_[np.zeros(6), np.full(robot.nv - 6, 50.0)])] if own else []
    goal = robot.integrate(robot.neutral(), np.r_[np.zeros(6), np.full(robot.nv - 6, 0.3)], 1.0)
    c = ct.torque_controller(robot, [ct.PostureTask(goal)], limits)
    tau = c(0.0, robot.neutral(), np.zeros(robot.nv))
    assert c.report.status == "solved"
    np.testing.assert_array_equal(tau[:6], 0.0)
    assert np.abs(tau[6:]).max() > 1e-3
    run = dq.simulate(robot, c, 0.5, 1e-3, every=500)
    np.testing.assert_array_equal(run.tau[:, :6], 0.0)
    momentum = robot.centroidal_momentum(run.q, run.v)
    np.testing.assert_allclose(momentum[-1], 0.0, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_passive_joints_get_exact_zeros(seed: int) -> None:
    """M v̇ + n = 0 on every axis without a motor, in any state, and where braking has to do without a solution."""
    rng = np.random.default_rng(seed)
    robot = random_robot(seed, 6, ("revolute", "prismatic", "spherical", "universal"))
    names = [joint.name for joint in robot.joints]
    robot = robot.with_motors(dict.fromkeys(rng.choice(names, 2, replace=False)))
    passive = ~robot.actuated
    c = ct.torque_controller(robot, REST)
    for _ in range(5):
        q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
        tau = c(0.0, q, v)
        assert c.report.status == "solved"
        np.testing.assert_array_equal(tau[passive], 0.0)
        a = robot.forward_dynamics(q, v, tau)
        np.testing.assert_allclose(robot.inverse_dynamics(q, v, a)[passive], 0.0, atol=1e-7)
    held = c(0.1, np.full(robot.nq, np.nan), v)
    assert c.report.status != "solved"
    np.testing.assert_array_equal(held[passive], 0.0)


def test_a_base_with_wheels_of_its_own() -> None:
    """Omnidirectional wheels push and turn a planar base; without motors it slides as the arm lets it."""
    robot = dq.robots.holonomic_manipulator()
    q = robot.neutral()
    goal = robot.pose("tool", q).translation + [0.1, 0.2, 0.0]
    tasks = [[ct.TranslationTask("tool", goal)], REST]
    for driven in (True, False):
        c = ct.torque_controller(robot if driven else robot.with_motors({"root_joint": None}), tasks)
        tau = c(0.0, q, np.zeros(robot.nv))
        assert c.report.status == "solved"
        assert bool(tau[:3].any()) is driven


def test_limits_of_torques_and_velocities_are_those_of_the_motors() -> None:
    robot = dq.robots.two_link()
    first, second = (joint.name for joint in robot.joints)
    motored = robot.with_motors({first: dq.Motor(3.0, 0.5), second: dq.Motor(velocity=0.25)})
    torque, speed = ct.TorqueLimits().bound_to(motored.model).limit, ct.VelocityLimits().bound_to(motored.model).limit
    np.testing.assert_array_equal(torque, [3.0, robot.limits.effort[1]])
    np.testing.assert_array_equal(speed, [0.5, 0.25])
    far = ct.PostureTask(robot.neutral() + 2.0, gain=100.0)
    c = ct.torque_controller(motored, [far], [ct.TorqueLimits()])
    tau = c(0.0, robot.neutral(), np.zeros(2))
    assert abs(tau[0]) == pytest.approx(3.0, abs=1e-9)


@pytest.mark.parametrize("make", [ct.velocity_controller, ct.acceleration_controller])
@pytest.mark.parametrize("name", ["nonholonomic_manipulator", "four_bar", "humanoid"])
def test_other_levels_take_them(name: str, make: Callable[..., ct.Controller]) -> None:
    """Velocities and accelerations obey the constraints as equalities; who bears the forces is not asked."""
    robot = getattr(dq.robots, name)()
    c = make(robot, REST)
    c(0.0, robot.neutral(), np.zeros(robot.nv))
    assert c.report.status == "solved"
