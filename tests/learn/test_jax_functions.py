"""Robots in JAX, exported and on native code: values, derivatives, transformations and refusals."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest
from catalog_cases import NAMES, function_of
from export_cases import ROBOTS, assert_same, case, robot_named

import dqdyn as dq
from dqdyn.compile.export.jax import to_jax
from dqdyn.compile.trace.interpret import OPERATIONS, interpret
from dqdyn.errors import install_command

jax = pytest.importorskip("jax")
jnp = jax.numpy
KINDS = ("export", "native")


@pytest.fixture(autouse=True)
def double_precision() -> Any:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def made(kind: str, robot: dq.Robot, name: str, **options: Any) -> Any:
    return robot.export("jax", name, **options) if kind == "export" else dq.jax.function(robot, name, **options)


def draw(robot: dq.Robot, count: int | None = None, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    lead = () if count is None else (count,)
    q = np.array([robot.random_configuration(rng) for _ in range(count or 1)]).reshape(*lead, robot.nq)
    v, a = rng.normal(size=(2, *lead, robot.nv))
    return jnp.asarray(q), jnp.asarray(v), jnp.asarray(a)


@pytest.mark.long
@pytest.mark.parametrize("robot", ROBOTS)
def test_exported_functions_agree_with_numpy(robot: str) -> None:
    for name in np.random.default_rng(len(robot)).permutation(NAMES)[:6].tolist():
        one = case(robot, name)
        function = to_jax(one.program)
        assert function.__name__ == function_of(name).name
        assert_same(np.asarray(function(*one.inputs)), one.expected, of=name)


@pytest.mark.parametrize("kind", KINDS)
def test_values_and_shapes(kind: str) -> None:
    robot = robot_named("ball")
    function = made(kind, robot, "mass_matrix")
    q = draw(robot, 6)[0]
    expected = robot.mass_matrix(np.asarray(q))
    assert_same(function(q), expected)
    assert_same(function(q.reshape(2, 3, -1)), expected.reshape(2, 3, *expected.shape[1:]))
    assert_same(function(q[4]), expected[4])
    assert function(q[:0]).shape == (0, *expected.shape[1:])
    assert_same(jax.jit(function)(q), expected)
    assert_same(jax.vmap(function)(q), expected)
    assert_same(jax.vmap(function, in_axes=1)(q.T), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_leading_axes_are_broadcast(kind: str) -> None:
    robot = dq.robots.two_link()
    q, v, a = draw(robot, 5)
    function = made(kind, robot, "inverse_dynamics")
    expected = robot.inverse_dynamics(np.asarray(q)[:, None], np.asarray(v), np.asarray(a[0]))
    assert_same(function(q[:, None], v, a[0]), expected)
    assert_same(jax.vmap(jax.vmap(function, (None, 0, None)), (0, None, None))(q, v, a[0]), expected)
    gradient = jax.grad(lambda a: function(q[:, None], v, a).sum())(a[0])
    assert gradient.shape == (2,)
    assert_same(gradient, robot.mass_matrix(np.asarray(q)).sum(axis=(0, 1)) * 5, 1e-12)


def test_blocks_do_not_show() -> None:
    robot = dq.robots.two_link()
    states = draw(robot, 23)
    expected = robot.inverse_dynamics(*(np.asarray(x) for x in states))
    for block in (1, 4, 22, 23, 24):
        assert_same(robot.export("jax", "inverse_dynamics", block=block)(*states), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_are_the_analytic_ones(kind: str) -> None:
    robot = dq.robots.two_link()
    function, states = made(kind, robot, "forward_dynamics"), draw(robot)
    expected = robot.forward_dynamics_derivatives(*(np.asarray(x) for x in states))
    for jacobian in (jax.jacrev, jax.jacfwd):
        for found, analytic in zip(jacobian(function, (0, 1, 2))(*states), expected, strict=True):
            assert_same(found, analytic, 1e-9)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_with_respect_to_quaternions_are_those_of_motions(kind: str) -> None:
    robot = robot_named("ball")
    function, (q, v, a) = made(kind, robot, "inverse_dynamics"), draw(robot)
    gradient = np.asarray(jax.jit(jax.grad(lambda q: function(q, v, a).sum()))(q))
    columns = robot.inverse_dynamics_derivatives(*(np.asarray(x) for x in (q, v, a)))[0].sum(axis=0)
    along = robot.configuration_rate(np.tile(q, (robot.nv, 1)), np.eye(robot.nv))
    assert_same(along @ gradient, columns, 1e-9)
    for _, start in function.units:
        assert abs(np.asarray(q)[start : start + 4] @ gradient[start : start + 4]) < 1e-12


@pytest.mark.long
def test_gradients_are_those_of_jax_itself() -> None:
    """Which differentiates the program, operation by operation, in all nq numbers; the sphere's normal is left out."""
    robot = robot_named("ball")
    q, v, a = draw(robot)
    function = robot.export("jax", "inverse_dynamics")
    plain = OPERATIONS | {"sin": jnp.sin, "cos": jnp.cos, "sqrt": jnp.sqrt, "div": jnp.divide, "atan2": jnp.arctan2}
    plain |= {"less": jnp.less, "select": jnp.where}

    def straight(q: Any) -> Any:
        return sum(interpret(function.program, [q, v, a], plain)) ** 2

    expected = np.array(jax.grad(straight)(q))
    for _, start in function.units:
        part = slice(start, start + 4)
        expected[part] -= np.asarray(q)[part] * (np.asarray(q)[part] @ expected[part])
    for kind in KINDS:
        made_here = made(kind, robot, "inverse_dynamics")
        assert_same(jax.grad(lambda q, f=made_here: f(q, v, a).sum() ** 2)(q), expected, 1e-9)


@pytest.mark.long
def test_second_derivatives_of_both_kinds_agree() -> None:
    robot = dq.robots.two_link()
    q, v, a = draw(robot)
    hessians = []
    for kind in KINDS:
        function = made(kind, robot, "inverse_dynamics")
        square = lambda q, f=function: (f(q, v, a) ** 2).sum()
        hessians += [jax.hessian(square)(q), jax.jacrev(jax.grad(square))(q)]
    for hessian in hessians:
        assert_same(hessian, np.asarray(hessians[0]), 1e-10)
    assert_same(hessians[0], np.asarray(hessians[0]).T, 1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_single_precision(kind: str) -> None:
    robot = dq.robots.two_link()
    states = [x.astype(jnp.float32) for x in draw(robot, 4)]
    found = made(kind, robot, "inverse_dynamics")(*states)
    assert found.dtype == jnp.float32
    assert_same(found, robot.inverse_dynamics(*(np.asarray(x, dtype=float) for x in states)), 1e-5)


def test_nan_stays_in_its_row() -> None:
    robot = dq.robots.two_link()
    q, v, a = draw(robot, 3)
    for kind in KINDS:
        found = np.asarray(made(kind, robot, "inverse_dynamics")(q.at[1, 0].set(jnp.nan), v, a))
        assert np.isnan(found[1]).any()
        assert np.isfinite(found[[0, 2]]).all()


def test_refusals() -> None:
    robot = dq.robots.two_link()
    q, v, a = draw(robot)
    for kind in KINDS:
        function = made(kind, robot, "inverse_dynamics")
        with pytest.raises(
            dq.StateError, match=re.escape("q of inverse_dynamics has shape (2,) or (..., 2); found (3,)")
        ):
            function(jnp.zeros(3), v, a)
        with pytest.raises(dq.StateError, match="takes q, v, a; found 2 arguments"):
            function(q, v)
        with pytest.raises(dq.StateError, match="complex"):
            function(q + 1j, v, a)
    with pytest.raises(dq.Error, match="block is the number of states"):
        robot.export("jax", "inverse_dynamics", block=0)
    with pytest.raises(dq.UnknownNameError, match="blocks"):
        robot.export("jax", "inverse_dynamics", blocks=3)
    with pytest.raises(dq.Error, match="threads"):
        dq.jax.function(robot, "inverse_dynamics", threads=0)


def test_native_code_refuses_other_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = dq.robots.two_link()
    function = dq.jax.function(robot, "gravity_forces")
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    with pytest.raises(dq.StateError, match="computes on 'gpu'"):
        function(jnp.zeros(2))


def test_without_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    for make in (dq.jax.function, lambda robot, name: robot.export("jax", name)):
        with pytest.raises(dq.MissingExtraError, match=re.escape(install_command("jax", "jax"))):
            make(dq.robots.two_link(), "inverse_dynamics")
