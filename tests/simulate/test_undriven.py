"""No plant applies a force of a controller where the robot has no motor; wrenches from outside act as ever."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from simulated import floating_chain, start_of

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.robot import Robot
from dqdyn.simulate import SimulationError
from dqdyn.simulate.controllers import ControlLaw

PLANTS: list[dict[str, Any]] = [
    {"integrator": "rkmk4"},
    {"integrator": "semi-implicit-euler"},
    {"integrator": "variational"},
    {"integrator": "adaptive"},
    {"plant": "mujoco"},
]
DT = 1e-3


def pushed(robot: Robot, axis: int, force: float = 0.5) -> np.ndarray:
    tau = np.zeros(robot.nv)
    tau[axis], tau[-1] = force, 0.1
    return tau


@pytest.mark.parametrize("plant", PLANTS, ids=str)
def test_a_force_without_a_motor_is_refused(plant: dict[str, Any]) -> None:
    robot = floating_chain(2)
    tau = pushed(robot, 4)
    ways: dict[str, Any] = {
        "tau, given as controller, has": tau,
        "at t = 0 s the controller commands": lambda t, q, v: tau,
        "the control law gives": ControlLaw(lambda t, q, v: tau.tolist()),
    }
    for text, controller in ways.items():
        sentence = rf"{text} .*'root_joint\.vy' of .*, which has no motor: give .*with_motors"
        with pytest.raises(dq.Error, match=sentence) as e:
            dq.simulate(robot, controller, 2 * DT, DT, progress=False, **plant)
        assert (e.value.joint, e.value.axis) == ("root_joint", "root_joint.vy")
    driven = robot.with_motors({"root_joint": dq.Motor()})
    for controller in ways.values():
        assert dq.simulate(driven, controller, 2 * DT, DT, progress=False, **plant).tau[0] == pytest.approx(tau)


@pytest.mark.parametrize("plant", PLANTS, ids=str)
def test_exact_zeros_there_are_taken(plant: dict[str, Any]) -> None:
    robot = floating_chain(2)
    tau = pushed(robot, 0, 0.0)
    runs = [
        dq.simulate(robot, controller, 5 * DT, DT, progress=False, **plant)
        for controller in (tau, lambda t, q, v: tau, ControlLaw(lambda t, q, v: tau.tolist()))
    ]
    for run in runs:
        np.testing.assert_allclose(run.q, runs[0].q, atol=1e-12)
        np.testing.assert_array_equal(run.tau[:, :6], 0.0)


def test_it_is_found_when_it_happens() -> None:
    robot = floating_chain(2)
    sentence = r"at t = 0\.003 s the controller commands 1 N m on 'root_joint\.wz'"
    with pytest.raises(SimulationError, match=sentence) as caught:
        dq.simulate(robot, lambda t, q, v: pushed(robot, 2, float(t > 0.0025)), 0.01, DT)
    assert caught.value.time == pytest.approx(0.003)
    assert len(caught.value.trajectory) == 3
    steps = np.zeros((10, robot.nv))
    steps[7, 3] = -2.0
    with pytest.raises(dq.StateError, match=r"tau, given as controller, has 2 N on 'root_joint.vx'"):
        dq.simulate(robot, steps, 0.01, DT)


def test_of_a_batch_too() -> None:
    robot = floating_chain(2)
    q0, v0 = start_of(robot)
    tau = np.zeros((3, robot.nv))
    tau[1, 5] = 1.0
    q0 = np.tile(q0, (3, 1))
    for controller in (tau, lambda t, q, v: tau):
        with pytest.raises(dq.Error, match=r"1 N on 'root_joint.vz'"):
            dq.simulate(robot, controller, 2 * DT, DT, q0=q0, v0=np.tile(v0, (3, 1)))


def test_a_law_must_have_the_number_zero_there() -> None:
    """A traced force is refused even where it happens to vanish: the step would contain it."""
    robot = floating_chain(1)
    with pytest.raises(
        dq.Error, match=r"the control law gives a force on 'root_joint\.wx' .*: give the number 0\.0 there"
    ):
        dq.simulate(robot, ControlLaw(lambda t, q, v: [-x for x in v]), 2 * DT, DT)
    law = ControlLaw(lambda t, q, v: [0.0] * 6 + [-x for x in v[6:]])
    assert not dq.simulate(robot, law, 2 * DT, DT, v0=np.ones(robot.nv)).tau[:, :6].any()


@pytest.mark.parametrize("plant", PLANTS[:1] + PLANTS[4:], ids=str)
def test_wrenches_from_outside_push_a_base(plant: dict[str, Any]) -> None:
    robot = floating_chain(2).with_gravity([0.0, 0.0, 0.0])
    wrench = {"tool": [1.0, -2.0, 3.0, 0.1, 0.2, -0.3]}
    run = dq.simulate(robot, None, 3 * DT, DT, wrenches=wrench, progress=False, **plant)
    zero = np.zeros(robot.nv)
    np.testing.assert_allclose(run.a[0], robot.forward_dynamics(run.q[0], zero, zero, wrench), rtol=1e-6, atol=1e-9)
    assert np.abs(run.a[0, :6]).max() > 1e-3


def test_velocities_are_followed_without_motors() -> None:
    """At the level of velocities the motion is given, and forces are not asked for."""
    robot = floating_chain(2)
    c = ct.velocity_controller(robot, [ct.PostureTask(robot.integrate(robot.neutral(), np.ones(robot.nv), 0.1))])
    assert np.abs(dq.simulate(robot, c, 5 * DT, DT).v[:, :6]).max() > 0.0


@pytest.mark.parametrize("name", ["four_bar", "five_bar"])
def test_accelerations_of_a_linkage_come_from_its_motors(name: str) -> None:
    """The torques of the driven joints alone give what a controller by acceleration asks for."""
    robot = getattr(dq.robots, name)()
    q0, _ = robot.project(robot.neutral())
    c = ct.acceleration_controller(robot, [ct.RestTask(), ct.PostureTask(q0)])
    v0 = robot.project(q0, np.ones(robot.nv))[1]
    asked = c(0.0, q0, v0)
    c.reset()
    run = dq.simulate(robot, c, 5 * DT, DT, q0=q0, v0=v0)
    np.testing.assert_array_equal(run.tau[:, ~robot.actuated], 0.0)
    assert np.abs(run.tau[:, robot.actuated]).min() > 1e-3
    np.testing.assert_allclose(run.a[0], asked, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(run.tau[0], robot.inverse_dynamics(q0, v0, asked, actuated="motors"), atol=1e-9)


def test_accelerations_that_no_motor_gives_are_refused() -> None:
    robot = floating_chain(2)
    c = ct.acceleration_controller(robot, [ct.RestTask()])
    text = r"the motors of '.*' cannot give the acceleration .* at t = 0 s: .* lie on axes without a motor"
    with pytest.raises(SimulationError, match=text):
        dq.simulate(robot, c, 2 * DT, DT)
    floats = robot.with_gravity([0.0, 0.0, 0.0])
    still = dq.simulate(floats, ct.acceleration_controller(floats, [ct.RestTask()]), 2 * DT, DT)
    assert not still.tau[:, :6].any()


def test_gravity_of_the_command_line_leaves_bases_alone() -> None:
    from dqdyn.cli.commands.simulate import CONTROLLERS

    for robot in (dq.robots.humanoid(), dq.robots.four_bar(), dq.robots.two_link()):
        q = robot.neutral()
        tau = CONTROLLERS["gravity"](robot, q)(0.0, q, np.zeros(robot.nv))
        np.testing.assert_array_equal(tau[~robot.actuated], 0.0)
        np.testing.assert_array_equal(tau[robot.actuated], robot.gravity_forces(q)[robot.actuated])
    dq.simulate(robot, CONTROLLERS["gravity"](robot, q), 2 * DT, DT)
