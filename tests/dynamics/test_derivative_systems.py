"""Derivatives of forward dynamics of large robots, whose linear systems loops solve: here of all robots."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import numpy as np
import pytest
from trees import TREES, assert_close, random_robot, random_state, run, tree

import dqdyn as dq
from dqdyn.compile.trace.linear_system import DeferredProgram
from dqdyn.dynamics.gravity.fields import Central
from dqdyn.robot import Robot
from dqdyn.robot.functions import dynamics

NAME = "forward_dynamics_derivatives"


@pytest.fixture
def all_robots(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(dynamics, "_LONG_SOLUTION", 0)
    return None


def fresh(ours: Robot) -> Robot:
    """The robot without what it has compiled."""
    return pickle.loads(pickle.dumps(ours))


def solves_a_system(ours: Robot, **options: object) -> bool:
    function = ours.function(NAME, **options)
    return getattr(function, "__self__", function).system is not None


@pytest.mark.parametrize("name", TREES)
@pytest.mark.usefixtures("all_robots")
def test_every_joint_kind(name: str) -> None:
    """One state, a batch, and the algorithm on plain numbers, which solves by the factors of articulated bodies."""
    ours = fresh(tree(name))
    q, v, tau = random_state(ours, np.random.default_rng(1), (5,))
    assert solves_a_system(ours)
    expected = run(ours, NAME, q, v, tau)
    assert_close(np.stack(ours.forward_dynamics_derivatives(q, v, tau), axis=-3), expected, 1e-8)
    single = ours.forward_dynamics_derivatives(q[2], v[2], tau[2])
    assert_close(np.stack(single), expected[2], 1e-8)


@pytest.mark.usefixtures("all_robots")
def test_a_floating_base_keeps_its_zeros() -> None:
    ours = random_robot(8, 8, ("revolute",), base="free")
    q, v, tau = random_state(ours, np.random.default_rng(4), (3,))
    by_q, _, _ = ours.forward_dynamics_derivatives(q, v, tau)
    assert solves_a_system(ours)
    assert np.count_nonzero(by_q[:, :, 3:6]) == np.count_nonzero(by_q[:, 6:, :3]) == 0


@pytest.mark.usefixtures("all_robots")
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_gravity_fields(base: str) -> None:
    field = Central(150.0)
    ours = random_robot(5, 6, ("revolute", "prismatic"), base=base).with_gravity(field)
    q, v, tau = random_state(ours, np.random.default_rng(4), (3,))
    assert solves_a_system(ours)
    expected = run(ours, NAME, q, v, tau)
    assert_close(np.stack(ours.forward_dynamics_derivatives(q, v, tau), axis=-3), expected, 1e-8)


@pytest.mark.usefixtures("all_robots")
def test_parameters_as_inputs() -> None:
    ours = random_robot(6, 6, ("revolute", "spherical"))
    q, v, tau = random_state(ours, np.random.default_rng(4))
    assert solves_a_system(ours, parameters=["inertia"])
    function = ours.function(NAME, parameters=["inertia"])
    found = function(q, v, tau, 1.5 * ours.inertial_parameters())
    other = ours.with_parameters({"inertia": 1.5 * ours.inertial_parameters()})
    assert_close(found, run(other, NAME, q, v, tau), 1e-8)


@pytest.mark.usefixtures("all_robots")
def test_without_native_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DQDYN_NATIVE", "0")
    ours = fresh(tree("free base"))
    q, v, tau = random_state(ours, np.random.default_rng(4), (2, 2))
    expected = run(ours, NAME, q, v, tau)
    assert_close(np.stack(ours.forward_dynamics_derivatives(q, v, tau), axis=-3), expected, 1e-8)


@pytest.mark.usefixtures("all_robots")
def test_the_program_is_straight_line_code() -> None:
    """What is exported, printed, counted or given symbols is the whole program, traced when it is asked for."""
    ours = fresh(dq.robots.two_link())
    program = ours.program(NAME)
    assert isinstance(program, DeferredProgram)
    assert "instructions" not in program.__dict__
    state = random_state(ours, np.random.default_rng(4))
    from dqdyn.compile.trace.interpret import interpret

    flat = interpret(program, [list(x) for x in state])
    assert_close(np.array(flat).reshape(3, 2, 2), np.stack(ours.forward_dynamics_derivatives(*state)), 1e-12)
    assert ours.count(NAME).total == sum(program.counts.__dict__.values())
    assert "forward_dynamics_derivatives" in ours.export("c", NAME)


def test_small_robots_have_straight_line_code() -> None:
    assert not solves_a_system(dq.robots.arm7())
    assert solves_a_system(dq.robots.chain(48))


@pytest.mark.long
def test_a_chain_of_a_hundred_joints() -> None:
    """Against inverse dynamics: M ∂a/∂q = −∂τ/∂q at the acceleration."""
    ours = dq.robots.chain(100, seed=2)
    q, v, tau = random_state(ours, np.random.default_rng(4))
    by_q, by_v, by_tau = ours.forward_dynamics_derivatives(q, v, tau)
    d_dq, d_dv, mass = ours.inverse_dynamics_derivatives(q, v, ours.forward_dynamics(q, v, tau))
    for found, expected in ((mass @ by_q, -d_dq), (mass @ by_v, -d_dv), (mass @ by_tau, np.eye(100))):
        assert_close(found, expected, 1e-9)
