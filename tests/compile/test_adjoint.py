"""Gradients and rates of every program: against finite differences, analytic derivatives and each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from catalog_cases import NAMES
from compile_tools import program_of
from export_cases import ROBOTS, case, robot_named
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import ALL, programs, rows
from trees import random_robot

import dqdyn as dq
from dqdyn.algebra.scalar import unstack
from dqdyn.compile.export.registers import register_code
from dqdyn.compile.runtime.differentiable import Differentiable
from dqdyn.compile.trace.adjoint import adjoint
from dqdyn.compile.trace.interpret import OPERATIONS, interpret
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tangent import tangent
from dqdyn.robot.differentiable import differentiable

STEP = 1e-6


def run(program: Program, *inputs: np.ndarray) -> np.ndarray:
    """The outputs (rows, n) for inputs (rows, size)."""
    rows = len(inputs[0]) if inputs else 1
    with np.errstate(all="ignore"):
        found = interpret(program, [unstack(a, a.shape[1]) if a.shape[1] else [] for a in inputs])
    return np.stack([np.broadcast_to(x, (rows,)) for x in found], axis=-1) if found else np.zeros((rows, 0))


@pytest.mark.parametrize("robot", sorted(ROBOTS, reverse=True, key=lambda name: name == "free base"))
def test_rates_are_those_of_finite_differences_and_gradients_their_transposes(robot: str) -> None:
    rng = np.random.default_rng(len(robot))
    for name in NAMES[list(ROBOTS).index(robot) :: len(ROBOTS)]:  # each function on one of the robots
        one = case(robot, name)
        x = one.inputs
        d = [rng.normal(size=a.shape) for a in x]
        w = rng.normal(size=(len(x[0]), len(one.program.outputs)))
        rate = run(tangent(one.program), *x, *d)
        sides = [run(one.program, *(a + s * STEP * b for a, b in zip(x, d, strict=True))) for s in (1.0, -1.0)]
        numeric = (sides[0] - sides[1]) / (2.0 * STEP)
        scale = 1.0 + np.abs(rate).max(initial=0.0) + np.abs(sides[0]).max(initial=0.0)
        assert np.abs(rate - numeric).max(initial=0.0) < 1e-6 * scale, name
        gradients = run(adjoint(one.program), *x, w)
        one_way, other_way = (w * rate).sum(axis=1), (gradients * np.concatenate(d, axis=1)).sum(axis=1)
        size = np.abs(w * rate).sum(axis=1) + np.abs(gradients).sum(axis=1) + 1.0
        assert (np.abs(one_way - other_way) < 1e-11 * size).all(), name


def test_gradients_of_some_inputs_are_parts_of_all() -> None:
    one = case("tree", "inverse_dynamics")
    w = np.ones((len(one.inputs[0]), len(one.program.outputs)))
    every, some = run(adjoint(one.program), *one.inputs, w), run(adjoint(one.program, (0, 2)), *one.inputs, w)
    sizes = [size for _, size in one.program.inputs]
    q, _, a = np.split(every, np.cumsum(sizes)[:-1], axis=1)
    assert np.array_equal(some, np.concatenate([q, a], axis=1))
    assert adjoint(one.program, (2,)).counts.total < adjoint(one.program).counts.total


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("seed", range(3))
def test_derivatives_of_dynamics_are_the_analytic_ones(seed: int, name: str) -> None:
    """Along q̇ of each velocity, which is what a column of an analytic derivative stands for."""
    bases = ("fixed", "free", "planar")
    robot = random_robot(50 + seed, 3, base=bases[seed % 3], mimics=seed % 2)
    rng = np.random.default_rng(seed)
    x = (robot.random_configuration(rng), *rng.normal(size=(2, robot.nv)))
    function = differentiable(robot, name, 1, {})
    n = robot.nv
    rows = [np.tile(a, (n, 1)) for a in x]
    along = [robot.configuration_rate(np.tile(x[0], (n, 1)), np.eye(n)), np.eye(n), np.eye(n)]
    derivatives = getattr(robot, f"{name}_derivatives")(*x)
    pulled_back = run(adjoint(function.program, units=function.units), *rows, np.eye(n))
    gradients, pushed = np.split(pulled_back, [robot.nq, robot.nq + n], axis=1), tangent(function.program)
    for k, analytic in enumerate(derivatives):
        rates = [along[k] if i == k else np.zeros_like(r) for i, r in enumerate(along)]
        scale = 1.0 + np.abs(analytic).max()
        assert np.abs(run(pushed, *rows, *rates).T - analytic).max() < 1e-9 * scale
        assert np.abs(gradients[k] @ along[k].T - analytic).max() < 1e-9 * scale


@pytest.mark.parametrize("name", ["ball", "free base"])
def test_gradients_along_quaternions_are_tangential_and_those_of_motions(name: str) -> None:
    robot = robot_named(name)
    function = differentiable(robot, "kinetic_energy", 1, {})
    rng = np.random.default_rng(3)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    w = rng.normal(size=len(function.program.outputs))
    gradient = function.adjoint((0,))(q, v, w)
    for _, start in function.units:
        assert abs(q[start : start + 4] @ gradient[start : start + 4]) < 1e-12
    for k in range(robot.nv):
        move = np.eye(robot.nv)[k]
        near = [w @ function(robot.integrate(q, s * move, STEP), v) for s in (1.0, -1.0)]
        numeric = (near[0] - near[1]) / (2.0 * STEP)
        assert abs(gradient @ robot.configuration_rate(q, move) - numeric) < 1e-6 * (1.0 + abs(numeric))


def test_gradients_do_not_see_the_branch_that_is_not_taken() -> None:
    """√x and 1/x have no slope at 0, where another value is selected."""
    code = [("input", (0, 0), 0.0), ("const", (), 0.0), ("const", (), 1.0), ("sqrt", (0,), 0.0), ("div", (2, 3), 0.0)]
    code += [("less", (1, 0), 0.0), ("mul", (0, 0), 0.0), ("select", (5, 4, 6), 0.0), ("mul", (7, 0), 0.0)]
    program = program_of(code, [8], [1])
    x = np.array([[0.0], [-2.0], [4.0]])
    expected = [[0.0], [12.0], [0.25]]  # of x³ up to 0 and √x beyond
    assert np.allclose(run(adjoint(program), x, np.ones((3, 1))), expected)
    assert np.allclose(run(tangent(program), x, np.ones((3, 1))), expected)


@pytest.mark.parametrize("name", ["ball", "free base"])
def test_gradients_at_removable_singularities(name: str) -> None:
    """No rotation from q to q, and none along v = 0."""
    robot = robot_named(name)
    q = robot.random_configuration(np.random.default_rng(5))
    apart, moved = robot.program("difference"), robot.program("integrate")
    inputs = {"q": q, "q1": q, "v": np.zeros(robot.nv), "dt": np.ones(1)}
    for program in (apart, moved):
        x = [np.tile(inputs[name], (len(program.outputs), 1)) for name, _ in program.inputs]
        gradients = run(adjoint(program), *x, np.eye(len(program.outputs)))
        for k in range(gradients.shape[1]):
            d = [np.zeros_like(a) for a in x]
            row = np.eye(gradients.shape[1])[k]
            for target, part in zip(d, np.split(row, np.cumsum([a.shape[1] for a in x])[:-1]), strict=True):
                target[:] = part
            sides = [run(program, *(a + s * STEP * b for a, b in zip(x, d, strict=True)))[0] for s in (1.0, -1.0)]
            numeric = (sides[0] - sides[1]) / (2.0 * STEP)
            assert np.abs(gradients[:, k] - numeric).max() < 1e-6


@settings(settings.get_profile("compile"), max_examples=60)
@given(st.data())
def test_random_programs(data: st.DataObject) -> None:
    program = data.draw(programs(ALL, wild=False))
    x, d = data.draw(rows(program, 4, wild=False)), data.draw(rows(program, 4, wild=False))
    w = np.random.default_rng(1).normal(size=(4, len(program.outputs)))
    with np.errstate(all="ignore"):
        rate, gradients = run(tangent(program), *x, *d), run(adjoint(program), *x, w)
        terms, others = w * rate, gradients * np.concatenate(d, axis=1)
        size = np.abs(terms).sum(axis=1) + np.abs(others).sum(axis=1) + np.abs(gradients).max(axis=1, initial=0.0)
        fine = size < 1e4  # far from poles, where rounding grows without bound
        assert (np.abs(terms.sum(axis=1) - others.sum(axis=1))[fine] < 1e-6 * (1.0 + size[fine])).all()


def test_derivatives_of_derivatives() -> None:
    robot = dq.robots.two_link()
    one = Differentiable(robot.program("kinetic_energy"))
    q, v = np.array([0.3, -0.7]), np.array([0.5, 0.2])
    w = np.ones(len(one.program.outputs))
    hessian = one.adjoint((1,)).tangent
    zero = np.zeros(2)
    columns = [hessian(q, v, w, zero, e, np.zeros_like(w)) for e in np.eye(2)]
    assert np.abs(np.stack(columns, axis=1) - robot.mass_matrix(q)).max() < 1e-12


def test_registers_hold_what_the_program_computes() -> None:
    operations = OPERATIONS | {
        "constant": lambda c: c,
        "add constant": lambda x, c: x + c,
        "mul constant": lambda x, c: x * c,
        "constant sub": lambda x, c: c - x,
        "less": lambda x, y: np.where(x < y, 1.0, 0.0),
        "select": lambda x, y, z: np.where(x != 0.0, y, z),
    }
    for robot, name in itertools.product(("free base",), NAMES):
        one = case(robot, name)
        code = register_code(one.program)
        states = len(one.inputs[0])
        registers = np.full((code.count, states), np.nan)
        given = np.concatenate([a.T for a in one.inputs])
        registers[: len(given)] = given
        with np.errstate(all="ignore"):
            for (op, read, to), constant in zip(code.rows, code.constants, strict=True):
                more = [constant] if "constant" in op else []
                registers[to] = operations[op](*(registers[k] for k in read), *more)
        found = registers[list(code.outputs)].T.reshape(one.expected.shape)
        assert np.allclose(found, one.expected, rtol=1e-13, atol=1e-13), name
        assert code.count < len(one.program.instructions) + len(given) + 1
