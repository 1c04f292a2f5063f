"""Every kind of constraint: A is the rate of the residual, b of A a = b the rate of A v = b, on any scalar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
import pytest
from constraint_robots import ROBOTS, TIMED, robot_of, state, states
from trees import MOVING, assert_close, moving_state, random_robot, random_state, rate

import dqdyn as dq
from dqdyn import constraints as kinds
from dqdyn.algebra.scalar import Scalar, cos, sin
from dqdyn.constraints import assembled
from dqdyn.model.model import Model
from dqdyn.robot import Robot

ALL = [*ROBOTS, *TIMED]
H = 1e-6


def anywhere(robot: Robot, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """A state that obeys nothing."""
    rng = np.random.default_rng(seed)
    q = robot.integrate(robot.neutral(), 0.4 * rng.normal(size=robot.nv), 1.0)
    return q, rng.normal(size=robot.nv), 0.7


@pytest.mark.equation("Parsa", "5")
@pytest.mark.equation("Parsa", "6")
@pytest.mark.parametrize("name", ALL)
def test_rate_of_the_residual(name: str) -> None:
    """ė = A v − b: everywhere, or for rotation vectors where they vanish."""
    robot = robot_of(name)
    if not any(c.holonomic for c in robot.constraints):
        pytest.skip("nonholonomic")
    for seed in range(3):
        q, v, t = anywhere(robot, seed)
        if name == "weld":
            q, _, _ = state(robot, seed)
        ahead, behind = robot.integrate(q, v, H), robot.integrate(q, v, -H)
        slope = (robot.constraint_residual(ahead, t + H) - robot.constraint_residual(behind, t - H)) / (2 * H)
        assert_close(robot.constraint_velocity(q, v, t), slope, 1e-7)


@pytest.mark.parametrize("name", ALL)
def test_rate_of_the_velocity_rows(name: str) -> None:
    """d/dt (A v − b) = A a − b' for any a, also away from the constraints."""
    robot = robot_of(name)
    for seed in range(3):
        q, v, t = anywhere(robot, seed)
        a = np.random.default_rng(seed).normal(size=robot.nv)
        ahead, behind = robot.integrate(q, v, H), robot.integrate(q, v, -H)
        change = robot.constraint_velocity(ahead, v + H * a, t + H) - robot.constraint_velocity(
            behind, v - H * a, t - H
        )
        matrix = robot.constraint_matrix(q, v, t)
        assert_close(matrix @ a - robot.constraint_bias(q, v, t), change / (2 * H), 1e-7)
        difference = (robot.constraint_matrix(ahead, None, t + H) - robot.constraint_matrix(behind, None, t - H)) / (
            2 * H
        )
        assert_close(robot.constraint_matrix_rate(q, v, t), difference, 1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_of_all_joint_kinds(seed: int) -> None:
    """Both frames on branches with every kind of joint, mimics too: rates of residuals and of rows everywhere."""
    tree = random_robot(40 + seed, 9, (*MOVING, "revolute"), mimics=1)
    rng = np.random.default_rng(seed)
    first, second = (
        str(n) for n in rng.choice([f.name for f in tree.frames.values() if f.body >= 0], 2, replace=False)
    )
    single = [j.name for j in tree.joints if j.motion.nv == 1][:3]
    robot = tree.with_constraints(
        kinds.PointClosure(first, second),
        kinds.AxisClosure(first, second, (0.3, -0.5, 0.8), slide=False),
        kinds.DistanceClosure(first, "world", 0.7),
        kinds.DistanceClosure(second, first, 0.7, name="rod"),
        kinds.KnifeEdge(second, (0.1, 0.2, 0.9)),
        kinds.FaceContact(first),
        kinds.PointContact(second),
        kinds.PoseClosure("world", second),
        kinds.JointCoupling(tuple(single), tuple(rng.normal(size=len(single)))),
        check=False,
    )
    q, v, a = random_state(robot, rng)
    matrix, moving = robot.constraint_matrix(q), moving_state(robot, q, v, a)
    exact = lambda only: [  # of the rows: whose residual has the rate A v everywhere
        c.holonomic and not isinstance(c, kinds.PoseClosure)
        for c in robot.constraints
        if c.holonomic or not only
        for _ in range(c.rows(robot.model))
    ]
    residual_rate = rate(lambda t: robot.constraint_residual(moving(t)[0]))
    assert_close((matrix @ v)[exact(False)], residual_rate[exact(True)], 1e-9)
    violation_rate = rate(lambda t: robot.constraint_velocity(*moving(t)))
    assert_close(matrix @ a - robot.constraint_bias(q, v), violation_rate, 1e-8)


@pytest.mark.parametrize("name", ALL)
def test_rows_have_names_and_a_shape(name: str) -> None:
    robot = robot_of(name)
    q, v, t = anywhere(robot, 0)
    m = len(robot.constraint_rows)
    assert robot.constraint_matrix(q, v, t).shape == (m, robot.nv)
    assert robot.constraint_bias(q, v, t).shape == robot.constraint_velocity(q, v, t).shape == (m,)
    assert robot.constraint_residual(q, t).shape == (
        sum(c.rows(robot.model) for c in robot.constraints if c.holonomic),
    )
    assert set(robot.constraint_rows) == {c.name for c in robot.constraints}


@pytest.mark.parametrize("name", ALL)
def test_batches_are_rows(name: str) -> None:
    robot = robot_of(name)
    q, v, tau = states(robot, 3, 0.2)
    cases: list[tuple[Any, tuple[np.ndarray, ...]]] = [
        (robot.forward_dynamics, (q, v, tau)),
        (robot.constraint_forces, (q, v, tau)),
        (robot.constraint_multipliers, (q, v, tau)),
        (robot.constraint_matrix, (q, v)),
        (robot.constraint_bias, (q, v)),
        (robot.constraint_residual, (q,)),
    ]
    for function, given in cases:
        many = function(*given, t=0.2)
        for row in range(3):
            assert_close(many[row], function(*(x[row] for x in given), t=0.2), 1e-9)


@pytest.mark.parametrize("name", ["four-bar", "wheels", "weld", "sphere", "pfaffian"])
def test_symbols(name: str) -> None:
    """Constrained forward dynamics on symbols of CasADi, evaluated."""
    robot = robot_of(name)
    q, v, tau = state(robot)
    symbols = [casadi.SX.sym(n, len(x)) for n, x in (("q", q), ("v", v), ("tau", tau))]
    found = robot.function("forward_dynamics")(*symbols)
    function = casadi.Function("f", symbols, [casadi.vertcat(*found)])
    assert_close(np.array(function(q, v, tau))[:, 0], robot.forward_dynamics(q, v, tau), 1e-9)


@pytest.mark.parametrize("name", ROBOTS)
def test_compiled_equals_the_plain_algorithm(name: str) -> None:
    robot = robot_of(name)
    q, v, _ = state(robot)
    model = robot.model
    a, b = assembled.acceleration(model, list(q), list(v))
    assert_close(robot.constraint_matrix(q), np.array(a), 1e-12)
    assert_close(robot.constraint_bias(q, v), np.array(b), 1e-12)


@dataclass(frozen=True)
class OwnRolling(kinds.Constraint):
    """A kind as a user writes it: A and b of A v = b, and nothing else."""

    name: str = "own"
    holonomic = False
    count = 1

    def velocity(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> Any:
        return [[-sin(q[2]), cos(q[2]), *[0.0] * (model.nv - 2)]], [0.0]


def test_rates_of_a_kind_without_a_formula_come_from_jets() -> None:
    robot = dq.robots.holonomic_manipulator()
    own, known = (robot.with_constraints(c, check=False) for c in (OwnRolling(), kinds.Rolling()))
    q, v, _ = anywhere(robot, 5)
    assert_close(own.constraint_matrix(q), known.constraint_matrix(q), 1e-15)
    assert abs(known.constraint_bias(q, v)[0]) > 1e-3
    assert_close(own.constraint_bias(q, v), known.constraint_bias(q, v), 1e-13)
    assert own.constraint_residual(q).shape == (0,)
