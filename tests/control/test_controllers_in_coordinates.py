"""Controllers of robots in other coordinates: asked with q and q̇, commanding q̇, q̈, or torques of joints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from trees import assert_close, random_robot

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.errors import Error, StateError

CHOICES = ("euler-zyx", "quaternion", "rotation-matrix")
BUILDERS = {
    "velocity": ct.velocity_controller,
    "acceleration": ct.acceleration_controller,
    "torque": ct.torque_controller,
}


def arm() -> Any:
    return random_robot(32, 4, ("spherical", "revolute"))


def tasks(robot: Any) -> list[Any]:
    pose = robot.pose("tool", robot.integrate(robot.neutral(), 0.2 * np.ones(robot.nv)))
    return [ct.PoseTask("tool", pose, gain=2.0), ct.RestTask(weight=0.1)]


@pytest.mark.long
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("level", BUILDERS)
def test_commands_are_those_of_the_robot(choice: str, level: str) -> None:
    own = arm()
    robot = own.in_coordinates(choice)
    rng = np.random.default_rng(3)
    limits = [ct.VelocityLimits(3.0)] if level == "velocity" else []
    expected, found = (BUILDERS[level](r, tasks(own), limits) for r in (own, robot))
    assert found.level == level
    for k in range(5):
        own_q, v = own.random_configuration(rng), 0.5 * rng.normal(size=own.nv)
        q, qd = robot.from_minimal(own_q, v)
        command, other = expected(0.1 * k, own_q, v), found(0.1 * k, q, qd)
        if level == "velocity":
            assert_close(other, robot.rate_matrix(q) @ command, 1e-9)
        elif level == "acceleration":
            assert_close(robot.to_minimal(q, qd, other)[2], command, 1e-9)
        else:
            assert_close(other, command, 1e-9)
        assert found.report.status == expected.report.status == "solved"
        for name, error in expected.errors.items():
            assert_close(found.errors[name], error, 1e-9)
    assert found.record().keys() == expected.record().keys()
    found.reset()
    assert found.report.status == "not started"


@pytest.mark.long
@pytest.mark.parametrize("level", BUILDERS)
def test_closed_loop(level: str) -> None:
    """The tool reaches its target in a simulation in coordinates."""
    own = arm().without_friction()
    robot = own.in_coordinates("quaternion")
    controller = BUILDERS[level](robot, tasks(own)[:1])
    run = dq.simulate(robot, controller, 3.0, 1e-2, q0=robot.from_minimal(own.neutral()))
    error = next(np.abs(x).max(axis=-1) for name, x in run.extra.items() if name.startswith("error"))
    assert error[-1] < 0.05 * error[0]
    assert error[0] > 0.05


@pytest.mark.long
def test_computed_torque() -> None:
    own = arm()
    robot = own.in_coordinates("rotation-matrix")
    target = own.integrate(own.neutral(), 0.3 * np.ones(own.nv))
    rng = np.random.default_rng(5)
    own_q, v = own.random_configuration(rng), rng.normal(size=own.nv)
    expected = ct.computed_torque(own, target)(0.0, own_q, v)
    assert_close(ct.computed_torque(robot, target)(0.0, *robot.from_minimal(own_q, v)), expected, 1e-9)


@pytest.mark.long
def test_free_base() -> None:
    """A dual-quaternion base at the level of velocities: the rates keep its conditions."""
    own = dq.robots.humanoid()
    robot = own.in_coordinates("dual-quaternion")
    controller = ct.velocity_controller(robot, [ct.PoseTask("left_hand", own.pose("left_hand", own.neutral()))])
    q = robot.from_minimal(own.integrate(own.neutral(), 0.1 * np.ones(own.nv)))
    rates = controller(0.0, q)
    assert rates.shape == (robot.nq,)
    assert np.abs(robot.constraint_matrix(q) @ rates).max() < 1e-12


@pytest.mark.parametrize("level", BUILDERS)
@pytest.mark.parametrize("infeasible", ["raise", "relax", "hold"])
def test_bad_states_are_left_to_the_policy(level: str, infeasible: Any) -> None:
    own = arm()
    robot = own.in_coordinates("rotation-matrix")
    controller = BUILDERS[level](robot, tasks(own), infeasible=infeasible)
    q, qd = robot.from_minimal(own.neutral(), 0.1 * np.ones(own.nv))
    stretched, nan = q.copy(), q.copy()
    stretched[robot.slices[next(n for n in robot.coordinates)]] *= 1.1
    nan[0] = np.nan
    for good_first in (False, True):
        controller.reset()
        if good_first:
            controller(0.0, q, qd)
        for bad, reason in ((nan, "not finite"), (stretched, "orthogonal")):
            if infeasible == "raise":
                with pytest.raises(ct.ControlError, match=reason):
                    controller(0.01, bad, qd)
                continue
            command = controller(0.01, bad, qd)
            assert np.isfinite(command).all()
            assert reason in controller.report.reason
            assert controller.report.status == "held"
    assert controller(0.02, q, qd).shape == (own.nv if level == "torque" else robot.nq,)


def test_door() -> None:
    own = arm()
    robot = own.in_coordinates("euler-zyx")
    controller = ct.acceleration_controller(robot, tasks(own))
    q, qd = np.full(robot.nq, 0.1), np.zeros(robot.nq)
    controller(0.0, q, qd)
    for bad in (q[:-1], own.neutral(), np.array([q, q]), "q", None):
        with pytest.raises(Error):
            controller(0.0, bad, qd)
    with pytest.raises(StateError):
        controller(0.0, q, np.zeros(own.nv + 1))
    with pytest.raises(Error, match="needs q̇"):
        controller(0.0, q)
    with pytest.raises(Error, match="made for a Robot"):
        ct.velocity_controller("arm.urdf", tasks(own))  # type: ignore[arg-type]
    lock = q.copy()
    lock[robot.slices[next(iter(robot.coordinates))]] = 0.0, np.pi / 2, 0.0
    controller(0.01, lock, qd)
    assert "gimbal lock" in controller.report.reason
    with pytest.raises(AttributeError):
        controller.unknown  # noqa: B018
