"""Farias's formulations over every kind of scalar: batches, counters, SymPy, CasADi, jets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi
import numpy as np
import pytest
import sympy
from trees import assert_close, random_state, tree

import dqdyn as dq
from dqdyn.algebra.counter import Tally, counters
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.quaternion import pure
from dqdyn.dynamics.formulations import closed_form, matrix_form, screw
from dqdyn.model.model import Model
from dqdyn.robot import Robot

State = list[list[Any]]
"""q, v, a, and the components of a wrench on the last body."""


def wrench(model: Model, w: list[Any]) -> dict[int, DQ]:
    return {len(model.bodies) - 1: DQ.of(pure(*w[:3]), pure(*w[3:]))}


def flat(rows: list[list[Any]]) -> list[Any]:
    return [entry for row in rows for entry in row]


FUNCTIONS: dict[str, Callable[..., list[Any]]] = {
    "screw": lambda m, q, v, a, w: screw.inverse_dynamics(m, q, v, a, wrench(m, w)),
    "matrix": lambda m, q, v, a, w: matrix_form.inverse_dynamics(m, q, v, a, wrench(m, w)),
    "closed-form": lambda m, q, v, a, w: closed_form.inverse_dynamics(m, q, v, a, wrench(m, w)),
    "mass_matrix": lambda m, q, v, a, w: flat(closed_form.mass_matrix(m, q)),
    "coriolis_forces": lambda m, q, v, a, w: closed_form.coriolis_forces(m, q, v),
    "gravity_forces": lambda m, q, v, a, w: closed_form.gravity_forces(m, q),
    "wrench_forces": lambda m, q, v, a, w: closed_form.wrench_forces(m, q, wrench(m, w)),
    "jacobian_transpose": lambda m, q, v, a, w: flat(closed_form.jacobian_transpose(m, q, len(m.bodies) - 1)),
}
INVERSE = ("screw", "matrix", "closed-form")


def sizes(robot: Robot) -> list[tuple[str, int]]:
    return [("q", robot.nq), ("v", robot.nv), ("a", robot.nv), ("w", 6)]


def sample(robot: Robot, seed: int = 0) -> State:
    rng = np.random.default_rng(seed)
    return [*(x.tolist() for x in random_state(robot, rng)), rng.normal(size=6).tolist()]


def numbers(entries: list[Any]) -> np.ndarray:
    return np.array([float(e) for e in entries])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_batch_equals_one_by_one(name: str) -> None:
    robot, function = tree("every kind"), FUNCTIONS[name]
    rows = [sample(robot, seed) for seed in range(6)]
    arrays = [np.array([row[i] for row in rows]).reshape(3, 2, -1) for i in range(4)]
    answer = function(robot.model, *([x[..., i] for i in range(x.shape[-1])] for x in arrays))
    found = np.array([np.broadcast_to(e, (3, 2)) for e in answer])
    expected = np.array([numbers(function(robot.model, *row)) for row in rows]).T.reshape(-1, 3, 2)
    assert_close(found, expected, 1e-13)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_counted(name: str) -> None:
    robot, tally = tree("every kind"), Tally()
    FUNCTIONS[name](robot.model, *(counters(n, tally) for _, n in sizes(robot)))
    assert tally.mul > 0
    assert tally.add > 0
    assert tally.other == tally.div == tally.sqrt == 0, "no branch on a value, and nothing to divide by"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_sympy(name: str) -> None:
    robot, function = dq.robots.two_link(), FUNCTIONS[name]
    symbols = [list(sympy.symbols(f"{s}:{n}")) for s, n in sizes(robot)]
    state = sample(robot)
    found = sympy.lambdify(symbols, function(robot.model, *symbols), modules="math", cse=True)(*state)
    assert_close(numbers(found), numbers(function(robot.model, *state)), 1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_casadi(name: str) -> None:
    robot, function = tree("moving subspaces"), FUNCTIONS[name]
    symbols = [casadi.SX.sym(s, n) for s, n in sizes(robot)]
    answer = function(robot.model, *(casadi.vertsplit(s) for s in symbols))
    compiled = casadi.Function("f", symbols, [casadi.vertcat(*answer)])
    state = sample(robot)
    assert_close(np.array(compiled(*state)).ravel(), numbers(function(robot.model, *state)), 1e-12)


@pytest.mark.equation("Farias", "69")
@pytest.mark.parametrize("name", INVERSE)
def test_mass_matrix_is_the_derivative_by_acceleration(name: str) -> None:
    robot = tree("every kind, mimic")
    q, v, a, w = sample(robot)
    M: np.ndarray = np.array(closed_form.mass_matrix(robot.model, q))
    assert_close(M, M.T, 1e-12)
    for k in range(0, robot.nv, 5):
        unit = [float(i == k) for i in range(robot.nv)]
        column = derivative(lambda c: FUNCTIONS[name](robot.model, q, v, c, w), a, unit)
        assert_close(numbers(column), M[:, k], 1e-10)
