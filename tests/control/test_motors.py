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
        ("humanoid", "its free joint 'root_joint' has no motor"),
        ("holonomic_manipulator", "its planar joint 'root_joint' has no motor"),
        ("nonholonomic_manipulator", r"the forces of its constraints \('rolling'\) would be left out"),
        ("four_bar", r"the forces of its constraints \('pin'\) would be left out"),
        ("stewart_platform", r"the forces of its constraints \('ball_1', .*\) would be left out"),
    ],
)
def test_refused(name: str, text: str, make: Callable[[Robot], object] | None) -> None:
    robot = getattr(dq.robots, name)()
    make = make or (lambda robot: ct.computed_torque(robot, robot.neutral()))
    with pytest.raises(ct.ControlError, match=f"'{name}' cannot be controlled by torque yet, as {text}.*whole-body"):
        make(robot)


def test_a_base_that_would_fall() -> None:
    """Declared without motors: 575 N of weight have no bearer, and "solved" would be free fall."""
    robot = dq.robots.humanoid()
    limits = np.full(robot.nv, 200.0)
    limits[:6] = 0.0
    for relaxable in (None, False, True):
        with pytest.raises(ct.ControlError, match=r"'humanoid' would fall: .* gravity pulls at it by 574\.866 N"):
            ct.torque_controller(robot, REST, [ct.TorqueLimits(limits, relaxable=relaxable)])
    with pytest.raises(ct.ControlError, match="has no motor"):  # one number for all declares nothing of the base
        ct.torque_controller(robot, REST, ct.TorqueLimits(200.0))


def test_a_robot_that_floats() -> None:
    """Without gravity a base without motors is physics: its momentum stays what it is."""
    robot = random_robot(5, 4, ("revolute",), base="free").with_gravity([0.0, 0.0, 0.0])
    limits = np.full(robot.nv, 50.0)
    limits[:6] = 0.0
    goal = robot.integrate(robot.neutral(), np.r_[np.zeros(6), np.full(robot.nv - 6, 0.3)], 1.0)
    c = ct.torque_controller(robot, [ct.PostureTask(goal)], [ct.TorqueLimits(limits)])
    tau = c(0.0, robot.neutral(), np.zeros(robot.nv))
    assert c.report.status == "solved"
    np.testing.assert_array_equal(tau[:6], 0.0)
    assert np.abs(tau[6:]).max() > 1e-3


def test_a_base_with_wheels_of_its_own() -> None:
    """Omnidirectional wheels push and turn a planar base, up to what is declared."""
    robot = dq.robots.holonomic_manipulator()
    limits = np.full(robot.nv, 100.0)
    q = robot.neutral()
    goal = robot.pose("tool", q).translation + [0.1, 0.2, 0.0]
    c = ct.torque_controller(robot, [[ct.TranslationTask("tool", goal)], REST], [ct.TorqueLimits(limits)])
    tau = c(0.0, q, np.zeros(robot.nv))
    assert c.report.status == "solved"
    assert np.abs(tau[:2]).max() > 0.0


@pytest.mark.parametrize("make", [ct.velocity_controller, ct.acceleration_controller])
@pytest.mark.parametrize("name", ["nonholonomic_manipulator", "four_bar", "humanoid"])
def test_other_levels_take_them(name: str, make: Callable[..., ct.Controller]) -> None:
    """Velocities and accelerations obey the constraints as equalities; who bears the forces is not asked."""
    robot = getattr(dq.robots, name)()
    c = make(robot, REST)
    c(0.0, robot.neutral(), np.zeros(robot.nv))
    assert c.report.status == "solved"
