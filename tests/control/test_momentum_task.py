"""The task on centroidal momentum: rows against differences and Pinocchio, and decay at the rate of its gain."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio
import pytest
from control_tools import accelerate, rows_of
from pinocchio_tools import comparable, pinocchio_model
from trees import TREES, assert_close, moving_state, random_description, random_robot, random_state, rate, run, tree

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.algebra.scalar import cos, sin
from dqdyn.robot import Robot

PARTS = {"both": slice(0, 6), "linear": slice(0, 3), "angular": slice(3, 6)}


@cache
def floating() -> Robot:
    """A few joints on a free base, so that controllers of it compile quickly."""
    return random_robot(11, 3, ("revolute", "universal", "prismatic"), base="free")


def moving_momentum(t: object) -> list[object]:
    return [0.3 * sin(t), 0.2 * t, 0.1 * cos(2.0 * t), 0.05 * t * t, -0.1 * sin(t), 0.2]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", TREES)
def test_rows_against_differences(name: str, part: str) -> None:
    """h − h_d and d/dt (h − h_d) = J a + drift along a random motion with a moving target; J v + ζ = h − h_d."""
    robot, of, t = tree(name), PARTS[part], 0.4
    q, v, a = random_state(robot, np.random.default_rng(3))
    task = ct.MomentumTask(lambda t: moving_momentum(t)[of], part=part)  # type: ignore[arg-type]
    at = rows_of(robot, task, t, q, v)
    error = lambda s, state: run(robot, "centroidal_momentum", *state)[of] - [float(c) for c in moving_momentum(s)[of]]
    assert_close(at["value"], error(t, (q, v)))
    assert_close(at["jacobian"] @ v + at["residual"], at["value"])
    motion = moving_state(robot, q, v, a)
    assert_close(at["jacobian"] @ a + at["drift"], rate(lambda s: error(t + s, motion(s)), 1e-3), 1e-9)


@pytest.mark.long
def test_compiled_rows() -> None:
    """The same as on plain numbers, and drift = J̇ v + ζ̇."""
    robot = floating()
    q, v, _ = random_state(robot, np.random.default_rng(3))
    task = ct.MomentumTask(moving_momentum)
    found, expected = ct.linearise(robot, task)(0.4, q, v), rows_of(robot, task, 0.4, q, v)
    for name in ("value", "jacobian", "residual", "drift"):
        assert_close(getattr(found, name), expected[name])
    assert_close(found.drift, found.jacobian_derivative @ v + found.residual_derivative)


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("seed", range(3))
def test_rows_against_pinocchio(seed: int, base: str) -> None:
    """A by ccrba, A a + Ȧ v by computeCentroidalMomentumTimeVariation."""
    kinds = ("revolute", "prismatic", "helical", "universal", "spherical")
    robot = Robot.from_description(comparable(random_description(seed, 7, kinds, base=base)), strict=True)
    model = pinocchio_model(robot)
    data, layout = model.createData(), robot.to_pinocchio(model)
    q, v, a = random_state(robot, np.random.default_rng(seed))
    pin_q, pin_v, t = layout.q(q), layout.v(q, v), layout.transform(q)
    found = rows_of(robot, ct.MomentumTask(), 0.0, q, v)
    pinocchio.ccrba(model, data, pin_q, pin_v)
    assert_close(found["jacobian"], np.array(data.Ag) @ t)
    assert_close(found["value"], np.array(data.hg.vector))
    pinocchio.computeCentroidalMomentumTimeVariation(model, data, pin_q, pin_v, t @ a + layout.transform_rate(q, v) @ v)
    assert_close(found["jacobian"] @ a + found["drift"], np.array(data.dhg.vector))


@pytest.mark.parametrize("gain", [4.0, (2.0, 3.0, 4.0)])
def test_angular_momentum_decays_at_its_gain(gain: float | tuple[float, ...]) -> None:
    """A robot that floats: L − L_d falls as e^{−kt}, per component."""
    robot = floating()
    q, v, _ = random_state(robot, np.random.default_rng(1))
    target, duration = np.array([0.1, -0.2, 0.3]), 0.5
    task = ct.MomentumTask(target, part="angular", gain=gain)
    controller = ct.acceleration_controller(robot, [task], damping=1e-6)
    before = robot.centroidal_momentum(q, v)[3:] - target
    after = robot.centroidal_momentum(*accelerate(robot, controller, q, v, duration, 1e-3))[3:] - target
    np.testing.assert_allclose(after, before * np.exp(-np.array(gain) * duration), atol=0.005 * np.abs(before).max())


@pytest.mark.long
def test_momentum_by_velocity_is_at_the_target() -> None:
    robot = floating()
    q = robot.random_configuration(2)
    target = np.array([1.0, 0.5, -0.3, 0.1, 0.0, 0.2])
    v = ct.velocity_controller(robot, [ct.MomentumTask(target)], damping=1e-6)(0.0, q)
    assert_close(robot.centroidal_momentum(q, v), target, 1e-8)


def test_targets_agree_however_they_are_given() -> None:
    robot = dq.robots.arm6()
    q, v = robot.random_configuration(1), np.full(6, 0.2)
    now = np.array([float(c) for c in moving_momentum(0.3)])
    rates = np.array([0.3 * np.cos(0.3), 0.2, -0.2 * np.sin(0.6), 0.03, -0.1 * np.cos(0.3), 0.0])
    given = [moving_momentum, ct.Moving(moving_momentum), ct.Measured(now, rates)]
    rows = [rows_of(robot, ct.MomentumTask(g), 0.3, q, v) for g in given]
    for other in rows[1:]:
        assert_close(other["value"], rows[0]["value"], 1e-12)
        assert_close(other["drift"], rows[0]["drift"], 1e-12)
