"""Simulations of robots in other coordinates: q0, controllers and events in q and q̇, the same motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from trees import assert_close, random_robot

import dqdyn as dq
from dqdyn.constraints import PointContact
from dqdyn.errors import Error
from dqdyn.robot import Robot
from dqdyn.robot.coordinates import RobotInCoordinates
from dqdyn.simulate import SimulationError

CHOICES = ("euler-zyx", "quaternion", "rotation-matrix", "dual-quaternion")


def flyer(constrained: bool = False) -> Robot:
    bare = random_robot(33, 2, ("spherical", "revolute"), base="free").without_friction()
    robot = bare.with_motors({"root_joint": dq.Motor()})
    return robot.with_constraints(PointContact("tool"), stabilisation=False) if constrained else robot


def begun(robot: RobotInCoordinates, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    own_q, v = robot.robot.project(robot.robot.random_configuration(rng), rng.normal(size=robot.nv))
    q, qd = robot.from_minimal(own_q, v)
    return q, qd


def by_hand(robot: RobotInCoordinates, q: Any, qd: Any, tau: Any, steps: int, h: float) -> np.ndarray:
    """q and q̇ by the classical method of order four on plain numbers, with joint torques τ(q, q̇)."""
    n = robot.nq

    def slope(y: np.ndarray) -> np.ndarray:
        forces = robot.forces(y[:n], tau(y[:n], y[n:]), check=False)
        return np.r_[y[n:], robot.forward_dynamics(y[:n], y[n:], forces, check=False)[0]]

    y = np.r_[q, qd]
    for _ in range(steps):
        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.5 * h * k2)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + slope(y + h * k3))
    return y


@pytest.mark.long
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("constrained", [False, True], ids=["free", "contact"])
def test_motion_is_that_of_the_equation_in_the_coordinates(choice: str, constrained: bool) -> None:
    """The integrator works in minimal variables; q̈ integrated as plain numbers gives the same coordinates."""
    robot = flyer(constrained).in_coordinates(choice)
    q, qd = begun(robot)
    tau = np.random.default_rng(3).normal(size=robot.nv)
    trajectory = dq.simulate(robot, tau, 0.1, 1e-3, q0=q, v0=qd)
    path = trajectory.in_coordinates(robot)
    expected = by_hand(robot, q, qd, lambda q, qd: tau, 100, 1e-3)
    assert path.q.shape == path.qd.shape == path.qdd.shape == (101, robot.nq)
    assert_close(path.q[-1], expected[: robot.nq], 1e-8)
    assert_close(path.qd[-1], expected[robot.nq :], 1e-7)
    assert_close(path.qdd[-1], robot.forward_dynamics(path.q[-1], path.qd[-1], robot.forces(path.q[-1], tau))[0], 1e-8)
    own_q, v = robot.to_minimal(q, qd)
    assert_close(trajectory.q, dq.simulate(robot.robot, tau, 0.1, 1e-3, q0=own_q, v0=v).q, 1e-12)


@pytest.mark.long
@pytest.mark.parametrize("choice", CHOICES)
def test_controllers_see_the_coordinates(choice: str) -> None:
    """A law over scalars, a function and an object are asked with q and q̇ and give torques of joints."""
    robot = flyer().in_coordinates(choice)
    q, qd = begun(robot)
    gain = -2.0 * np.eye(robot.nv, robot.nq)
    law = dq.simulate.ControlLaw(lambda t, q, qd: [-2.0 * (x + r) for x, r in zip(q, qd, strict=True)][: robot.nv])
    compiled = dq.simulate(robot, law, 0.05, 1e-3, q0=q, v0=qd).in_coordinates(choice)
    expected = by_hand(robot, q, qd, lambda q, qd: gain @ (q + qd), 50, 1e-3)
    assert_close(compiled.q[-1], expected[: robot.nq], 1e-8)

    class Asked:
        level = "torque"

        def __init__(self) -> None:
            self.resets, self.shapes = 0, set()

        def reset(self) -> None:
            self.resets += 1

        def step(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
            self.shapes.add((q.shape, qd.shape))
            return gain @ (q + qd)

        def record(self) -> dict[str, Any]:
            return {"seen": len(self.shapes)}

    asked = Asked()
    run = dq.simulate(robot, asked, 0.05, 1e-3, q0=q, v0=qd)
    assert asked.resets == 1
    assert asked.shapes == {((robot.nq,), (robot.nq,))}
    assert run.extra["seen"].shape == (51,)
    assert_close(run.in_coordinates(robot).q[-1], compiled.q[-1], 1e-2)  # held over each step
    assert_close(dq.simulate(robot, asked.step, 0.05, 1e-3, q0=q, v0=qd).q, run.q, 0.0)


def commanding(level: str, command: Any) -> Any:
    return type("Commanding", (), {"level": level, "step": staticmethod(command)})()


@pytest.mark.long
def test_levels_and_batches() -> None:
    """q̈ and q̇ as commands: a quaternion turns as asked; rows of a batch are single runs."""
    robot = flyer().in_coordinates("euler-zyx")
    q, _ = begun(robot)
    rates = 0.3 * np.arange(1.0, robot.nq + 1.0) / robot.nq
    run = dq.simulate(robot, commanding("velocity", lambda t, q, qd: rates), 0.2, 1e-3, q0=q)
    assert_close(run.in_coordinates(robot).qd[-1], rates, 1e-9)
    assert_close(run.in_coordinates(robot).q[-1], q + 0.2 * rates, 1e-3)
    second = np.linspace(-1.0, 1.0, robot.nq)
    run = dq.simulate(robot, commanding("acceleration", lambda t, q, qd: second), 0.1, 1e-3, q0=q, v0=rates)
    assert_close(run.in_coordinates(robot).qdd[0], second, 1e-9)
    assert_close(run.in_coordinates(robot).q[-1], q + 0.1 * rates + 0.005 * second, 1e-3)
    both = np.array([q, q + 0.1])
    many = dq.simulate(robot, lambda t, q, qd: -qd[..., : robot.nv], 0.02, 1e-3, q0=both, v0=rates)
    one = dq.simulate(robot, lambda t, q, qd: -qd[: robot.nv], 0.02, 1e-3, q0=both[1], v0=rates)
    assert many.in_coordinates(robot).q.shape == (21, 2, robot.nq)
    assert_close(many.member(1).q, one.q, 1e-12)


def test_angles_go_on_beyond_a_turn() -> None:
    robot = flyer().in_coordinates("euler-zyx")
    q, rates = np.zeros(robot.nq), np.zeros(robot.nq)
    rates[0] = 20.0
    seen: list[float] = []

    def turning(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        seen.append(float(q[0]))
        return rates

    run = dq.simulate(robot, commanding("velocity", turning), 1.0, 1e-3, q0=q)
    assert run.in_coordinates(robot).q[-1, 0] == pytest.approx(20.0, abs=1e-6)
    assert seen[-1] == pytest.approx(20.0, abs=1e-6)


@pytest.mark.long
def test_events_and_defaults() -> None:
    robot = flyer().in_coordinates("dual-quaternion")

    def falls(t: float, q: np.ndarray, qd: np.ndarray) -> float:
        assert q.shape == qd.shape == (robot.nq,)
        return float(robot.robot.center_of_mass(robot.to_minimal(q))[2] - start + 0.05)

    start = float(robot.robot.center_of_mass(robot.robot.neutral())[2])
    falls.terminal = True  # type: ignore[attr-defined]
    run = dq.simulate(robot, None, 1.0, integrator="adaptive", events=[falls])
    assert run.time[-1] == pytest.approx(np.sqrt(2.0 * 0.05 / 9.81), abs=1e-6)
    assert list(run.events) == ["falls"]
    pushed = dq.simulate(robot, None, 0.01, v0=0.0 * np.ones(robot.nq))
    assert_close(pushed.q[0], robot.robot.neutral(), 1e-14)


def test_bad_input() -> None:
    robot = flyer().in_coordinates("rotation-matrix")
    q, qd = begun(robot)
    off = q.copy()
    off[0] += 0.1
    with pytest.raises(Error, match="orthogonal"):
        dq.simulate(robot, None, 0.1, q0=off)
    with pytest.raises(Error, match="rates of joint"):
        dq.simulate(robot, None, 0.1, q0=q, v0=np.ones(robot.nq))
    for bad in (np.zeros(3), None, "fast"):
        with pytest.raises(SimulationError, match="rates"):
            dq.simulate(robot, commanding("velocity", lambda t, q, qd, bad=bad: bad), 0.1, q0=q)
    with pytest.raises(SimulationError, match="needs"):
        dq.simulate(robot, lambda t, q, qd: qd, 0.1, q0=q, v0=qd)
    run = dq.simulate(robot, None, 0.01, q0=q)
    with pytest.raises(Error, match="not of the robot"):
        run.in_coordinates(dq.robots.humanoid().in_coordinates("quaternion"))
    for bad in (None, 3, "quaternions"):
        with pytest.raises(Error):
            run.in_coordinates(bad)
