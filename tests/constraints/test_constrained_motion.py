"""Motions over time: energy, drift, no slip, stabilisation, projection."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from constraint_robots import robot_of, state
from trees import assert_close

import dqdyn as dq
from dqdyn import constraints as kinds
from dqdyn.robot import Robot

Torque = Callable[[float, np.ndarray, np.ndarray], np.ndarray]


def moved(
    robot: Robot,
    q: np.ndarray,
    v: np.ndarray,
    duration: float,
    step: float,
    torque: Torque,
    each: Callable[[float, np.ndarray, np.ndarray], None] | None = None,
    project: bool = False,
    every: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """Classical Runge-Kutta on joints whose q̇ is v."""
    assert robot.nq == robot.nv
    forward = robot.function("forward_dynamics")
    t = 0.0
    for k in range(round(duration / step)):
        t = k * step
        a1 = forward(q, v, torque(t, q, v))
        q2, v2 = q + 0.5 * step * v, v + 0.5 * step * a1
        a2 = forward(q2, v2, torque(t + 0.5 * step, q2, v2))
        q3, v3 = q + 0.5 * step * v2, v + 0.5 * step * a2
        a3 = forward(q3, v3, torque(t + 0.5 * step, q3, v3))
        q4, v4 = q + step * v3, v + step * a3
        a4 = forward(q4, v4, torque(t + step, q4, v4))
        q = q + step / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4)
        v = v + step / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        if project:
            q, v = robot.project(q, v)
        if each is not None and k % every == 0:
            each(t + step, q, v)
    return q, v


def nothing(robot: Robot) -> Torque:
    zero = np.zeros(robot.nv)
    return lambda t, q, v: zero


def test_unforced_four_bar_keeps_its_energy() -> None:
    """Ten seconds and twenty turns of the crank: the energy stays within 1e-6 of the kinetic one."""
    robot = dq.robots.four_bar()
    q, v = robot.project(robot.neutral(), np.array([5.0, 0.0, 0.0]))
    start = robot.energy(q, v)
    energies, kinetic, gaps = [], [], []

    def watch(t: float, q: np.ndarray, v: np.ndarray) -> None:
        energies.append(abs(robot.energy(q, v) - start))
        kinetic.append(robot.kinetic_energy(q, v))
        gaps.append(np.abs(robot.constraint_residual(q)).max())

    end, _ = moved(robot, q, v, 10.0, 2e-4, nothing(robot), watch, every=20)
    assert abs(end[0]) > 40 * np.pi
    assert max(energies) < 1e-6 * max(kinetic)
    assert max(energies) < 1e-6 * start
    assert max(gaps) < 1e-6
    assert max(kinetic) > 4.0 * min(kinetic)


def test_loop_stays_closed_with_a_coarse_step() -> None:
    """With a step at which the loop drifts apart, Baumgarte holds it together, and projection to rounding."""
    plain = dq.robots.four_bar()
    q, v = plain.project(plain.neutral(), np.array([5.0, 0.0, 0.0]))

    def gap(robot: Robot, project: bool = False) -> float:
        gaps: list[float] = []
        watch = lambda t, q, v: gaps.append(float(np.abs(robot.constraint_residual(q)).max()))
        moved(robot, q, v, 3.0, 4e-3, nothing(robot), watch, project)
        return max(gaps)

    free = gap(plain)
    assert free > 5e-4
    assert gap(plain.with_constraints(stabilisation=kinds.Baumgarte(50.0))) < 0.1 * free
    assert gap(plain, project=True) < 1e-10


def test_differential_drive_never_slips() -> None:
    """A minute of driving with a swinging arm: |A v| stays below 1e-9 with stabilisation."""
    robot = dq.robots.nonholonomic_manipulator().with_constraints(stabilisation="baumgarte")
    q, v = robot.project(robot.neutral(), 0.1 * np.ones(9))
    worst = [0.0, 0.0]
    inertia = np.diag(robot.mass_matrix(q))

    def torque(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        tau = -inertia * v
        tau[3:] -= inertia[3:] * (10.0 * v[3:] + 60.0 * (q[3:] - 0.3 * np.sin(t + np.arange(6))))
        push, turn = 100.0 * np.sin(0.3 * t), 10.0 * np.cos(0.7 * t)
        tau[:3] += np.array([push * np.cos(q[2]), push * np.sin(q[2]), turn])
        return tau

    def watch(t: float, q: np.ndarray, v: np.ndarray) -> None:
        slip = -np.sin(q[2]) * v[0] + np.cos(q[2]) * v[1]
        worst[0] = max(worst[0], abs(float(slip)))
        worst[1] = max(worst[1], abs(float(v[0])))

    moved(robot, q, v, 60.0, 2e-3, torque, watch)
    assert worst[1] > 0.1  # it drives
    assert worst[0] <= 1e-9


def test_baumgarte_draws_errors_in() -> None:
    """From a state off the constraint, position and velocity errors decay at the rate."""
    robot = dq.robots.four_bar().with_constraints(stabilisation=kinds.Baumgarte(10.0))
    q, v = robot.project(robot.neutral())
    q = q + np.array([0.0, 0.01, 0.0])
    before = np.linalg.norm(robot.constraint_residual(q))
    q, v = moved(robot, q, v, 1.0, 1e-3, nothing(robot))
    after = np.linalg.norm(robot.constraint_residual(q))
    assert before > 1e-3
    assert after < 20.0 * np.exp(-10.0) * before
    assert np.linalg.norm(robot.constraint_velocity(q, v)) < 1e-3


def test_clock_is_followed() -> None:
    """A constraint that depends on the time drives the joint."""
    robot = robot_of("clock")
    q, v = robot.project(robot.neutral(), np.zeros(6), 0.0)
    assert_close(v[0], 0.6, 1e-10)
    step = 1e-3
    for k in range(500):
        t = k * step
        a = robot.forward_dynamics(q, v, np.zeros(6), t=t)
        middle = robot.forward_dynamics(q + 0.5 * step * v, v + 0.5 * step * a, np.zeros(6), t=t + 0.5 * step)
        q, v = q + step * (v + 0.5 * step * a), v + step * middle
    assert_close(q[0], 0.3 * np.sin(1.0), 1e-5)
    assert_close(q[1], 2.0 * q[2], 1e-5)


@pytest.mark.parametrize("name", ["four-bar", "stewart platform", "hinge", "weld", "sphere", "rod"])
def test_projection_finds_the_nearest(name: str) -> None:
    """q on the constraints; v admissible, and no admissible one is nearer by kinetic energy; batches as rows."""
    robot = robot_of(name)
    rng = np.random.default_rng(1)
    base, _, _ = state(robot)
    near = robot.integrate(base, 0.05 * rng.normal(size=(4, robot.nv)), 1.0)
    wanted = rng.normal(size=(4, robot.nv))
    q, v = robot.project(near, wanted)
    assert np.abs(robot.constraint_residual(q)).max() < 1e-10
    assert np.abs(robot.constraint_velocity(q, v)).max() < 1e-9
    for row in range(4):
        one_q, one_v = robot.project(near[row], wanted[row])
        assert_close(one_q, q[row], 1e-9)
        assert_close(one_v, v[row], 1e-8)
        mass, a = robot.mass_matrix(q[row]), robot.constraint_matrix(q[row])
        momentum = mass @ (wanted[row] - v[row])  # must be a combination of the rows of A
        left = momentum - a.T @ np.linalg.lstsq(a.T, momentum, rcond=None)[0]
        assert np.abs(left).max() < 1e-8 * max(1.0, np.abs(momentum).max())
    again_q, again_v = robot.project(q, v)
    assert_close(again_q, q, 1e-10)
    assert_close(again_v, v, 1e-9)
    robot.require_consistent(q, v)


def test_projection_without_constraints_and_at_rest() -> None:
    tree = dq.robots.arm6()
    q, v = tree.project(tree.neutral() + 0.1)
    assert_close(q, tree.neutral() + 0.1, 0)
    assert_close(v, np.zeros(6), 0)
    bar = dq.robots.four_bar()
    assert_close(bar.project(bar.neutral())[1], np.zeros(3), 0)


@pytest.mark.parametrize("name", ["weld", "hinge", "wheels", "knife edge", "rod", "clock"])
def test_baumgarte_asks_for_decay(name: str) -> None:
    """Off the constraints, A a − b is −2ρ(A v − b) − ρ²e for positions and −ρ(A v − b) for velocities; three ways."""
    plain = robot_of(name)
    robot, rate, t = plain.with_constraints(stabilisation=kinds.Baumgarte(7.0)), 7.0, 0.3
    q, v, tau = state(plain, 3, t)
    q, v = robot.integrate(q, 0.02 * np.ones(robot.nv), 1.0), v + 0.1
    a = robot.forward_dynamics(q, v, tau, t=t)
    left = plain.constraint_matrix(q, v, t) @ a - plain.constraint_bias(q, v, t)
    speed = plain.constraint_velocity(q, v, t)
    if plain.constraints[0].holonomic:
        expected = -2.0 * rate * speed - rate**2 * plain.constraint_residual(q, t)
    else:
        expected = -rate * speed
    assert np.abs(expected).max() > 1e-3
    assert_close(left, expected, 1e-8, scale=np.abs(a).max())
    for method in ("udwadia-kalaba", "kane"):
        assert_close(robot.forward_dynamics(q, v, tau, method=method, t=t), a, 1e-8)
    assert robot.with_constraints(stabilisation=False) == plain
