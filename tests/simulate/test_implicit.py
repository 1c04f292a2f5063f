"""The implicit integrator against closed forms, SciPy's Radau method and MuJoCo's implicit integrators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from simulated import distance, orders, start_of
from trees import random_robot

import dqdyn as dq
from dqdyn.algebra.scalar import cos, sin
from dqdyn.robot import Robot
from dqdyn.simulate import ControlLaw
from dqdyn.simulate.integrators.implicit import GAMMA

QUIET: dict[str, Any] = {"limits": False, "efforts": "ignore"}


def slider(mass: float = 2.0, **joint: Any) -> Robot:
    """A mass on a horizontal rail."""
    link = dq.Link("cart", dq.Inertia(mass, (0.0, 0.0, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))))
    rail = dq.Joint("rail", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0), **joint)
    return Robot.from_description(dq.Description("slider", (dq.Link("world"), link), (rail,)))


def with_joints(robot: Robot, **values: Any) -> Robot:
    """The same robot with these values in all joints with one axis."""
    joints = tuple(replace(j, **values) if j.kind in ("revolute", "prismatic") else j for j in robot.description.joints)
    return Robot.from_description(robot.description.with_changes(joints=joints))


@pytest.mark.parametrize("h", [1e-3, 0.1, 10.0])
def test_a_linear_joint_gets_the_steps_of_the_method(h: float) -> None:
    m, d, k = 2.0, 3e4, 5e6
    run = dq.simulate(
        slider(m, damping=d, stiffness=k), None, 5 * h, h, q0=[0.1], v0=[-4.0], integrator="implicit", **QUIET
    )
    a = np.array([[0.0, 1.0], [-k / m, -d / m]])
    left, x = np.linalg.inv(np.eye(2) - GAMMA * h * a), np.array([0.1, -4.0])
    for q, v in zip(run.q[1:, 0], run.v[1:, 0], strict=True):
        k1 = left @ (h * a @ x)
        k2 = left @ (h * a @ (x + k1) - 2.0 * k1)
        x = x + 1.5 * k1 + 0.5 * k2
        assert np.allclose([q, v], x, rtol=1e-6, atol=1e-10)


def test_stiff_motions_die_out_in_steps_that_do_not_resolve_them() -> None:
    run = dq.simulate(slider(damping=1.0, stiffness=1e12), None, 1.0, 0.1, q0=[0.1], integrator="implicit", **QUIET)
    assert abs(run.q[-1, 0]) < 1e-12
    assert run.status == "finished"


def test_a_stiff_law_against_radau() -> None:
    robot = dq.robots.two_link()

    def law(t: Any, q: Any, v: Any) -> list[Any]:
        return [-3e4 * q[0] - 5e2 * q[1] - 2e3 * v[0], -2e4 * q[1] + 3e2 * q[0] - 1e3 * v[1] - 50.0 * v[0]]

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[2:], robot.forward_dynamics(x[:2], x[2:], np.array(law(t, x[:2], x[2:])))])

    start = np.array([0.3, -0.2, 0.5, 1.0])
    exact = solve_ivp(rate, (0.0, 0.2), start, "Radau", rtol=1e-12, atol=1e-15).y[:, -1]
    errors = []
    for n in (40, 8000, 16000, 32000):  # rkmk4 diverges with the first
        run = dq.simulate(
            robot, ControlLaw(law), 0.2, 0.2 / n, q0=start[:2], v0=start[2:], integrator="implicit", **QUIET
        )
        errors.append(float(np.abs(run.q[-1] - exact[:2]).max()))
    assert errors[0] < 1e-6
    assert np.abs(orders(errors[1:]) - 2.0).max() < 0.2


def test_a_stiff_law_that_follows_a_motion_is_of_order_2_and_not_doubted() -> None:
    """Steps that resolve the motion and not the law, whose rate is 1.5e4 1/s; their forces are no measure of work."""
    robot = dq.robots.two_link()

    def law(t: Any, q: Any, v: Any) -> list[Any]:
        goal, speed = [0.3 * sin(3.0 * t), 0.2 * sin(2.0 * t)], [0.9 * cos(3.0 * t), 0.4 * cos(2.0 * t)]
        stiffness, damping = (3e4, 2e4), (2e3, 1e3)
        return [damping[i] * (speed[i] - v[i]) + stiffness[i] * (goal[i] - q[i]) for i in range(2)]

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[2:], robot.forward_dynamics(x[:2], x[2:], np.array(law(t, x[:2], x[2:]), float))])

    start = np.array([0.0, 0.0, 0.9, 0.4])
    exact = solve_ivp(rate, (0.0, 0.5), start, "Radau", rtol=1e-10, atol=1e-13).y[:, -1]
    errors = []
    for n in (50, 100, 200):
        run = dq.simulate(
            robot, ControlLaw(law), 0.5, 0.5 / n, q0=start[:2], v0=start[2:], integrator="implicit", **QUIET
        )
        assert run.status == "finished"
        errors.append(float(np.abs(run.q[-1] - exact[:2]).max()))
    assert errors[-1] < 1e-5
    assert orders(errors).min() > 1.8


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("method", ["implicit", "implicitfast"])
def test_damped_robots_against_mujoco(method: str, base: str) -> None:
    pytest.importorskip("mujoco")
    kinds = ("revolute", "prismatic")
    robot = with_joints(random_robot(11, 5, kinds, base=base), damping=300.0, stiffness=200.0, friction=0.0)
    q0, v0 = start_of(robot, speed=0.5)
    options: dict[str, Any] = {"q0": q0, "v0": v0, "limits": False, "every": 10**6}
    theirs = [
        dq.simulate(robot, None, 0.1, h, plant="mujoco", method=method, **options).q[-1] for h in (1e-3, 5e-4, 2.5e-4)
    ]
    ours = dq.simulate(robot, None, 0.1, 1e-3, integrator="implicit", **options).q[-1]
    errors = [distance(robot, q, ours) for q in theirs]
    assert np.abs(orders(errors) - 1.0).max() < 0.25  # MuJoCo's order is 1; at its limit is our run
    assert distance(robot, 2.0 * theirs[2] - theirs[1], ours) < 0.1 * errors[-1] or base == "free"


@pytest.mark.parametrize("seed", range(4))
def test_stiff_laws_on_random_robots_against_small_steps(seed: int) -> None:
    robot = random_robot(20 + seed, 4, ("revolute", "spherical", "universal", "planar", "helical"))
    robot = robot.without_friction()  # friction jumps, which costs any method its order
    robot = robot.with_motors({joint.name: dq.Motor() for joint in robot.joints})
    law = ControlLaw(lambda t, q, v: [-40.0 * x for x in v])
    q0, v0 = start_of(robot, seed, 1.0)
    exact = dq.simulate(robot, law, 0.05, 2e-6, q0=q0, v0=v0, every=10**6, **QUIET).q[-1]
    runs = [
        dq.simulate(robot, law, 0.05, h, q0=q0, v0=v0, integrator="implicit", every=10**6, **QUIET).q[-1]
        for h in (5e-4, 2.5e-4, 1.25e-4)
    ]
    errors = [distance(robot, q, exact) for q in runs]
    assert errors[0] < 2e-2
    assert errors[-1] < errors[0] / 6.0


def test_batches_and_constraints() -> None:
    robot = slider(stiffness=1e6, damping=10.0)
    q0 = np.array([[0.1], [0.2], [-0.3]])
    many = dq.simulate(robot, None, 0.1, 1e-2, q0=q0, integrator="implicit", **QUIET)
    one = dq.simulate(robot, None, 0.1, 1e-2, q0=q0[2], integrator="implicit", **QUIET)
    assert np.allclose(many.q[:, 2], one.q, rtol=1e-12, atol=1e-15)
    bar = dq.robots.four_bar()
    q, v = bar.project(bar.neutral())
    with pytest.raises(dq.Error, match="the integrator 'implicit' takes no constraints"):
        dq.simulate(bar, None, 0.1, q0=q, v0=v, integrator="implicit")
