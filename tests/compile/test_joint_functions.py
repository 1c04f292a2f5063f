"""Several functions in one program: the same results as one by one, with fewer operations."""

from __future__ import annotations

import inspect
import pickle
import sys
from typing import Any

import numpy as np
import pytest
from trees import MOVING, random_q, random_robot, random_v

import dqdyn as dq
from dqdyn.compile.runtime.function import Function
from dqdyn.errors import Error, StateError

ENTRIES = (
    "mass_matrix",
    ("mass_matrix", {"packed": True}),
    "bias_forces",
    "kinetic_energy",
    "inverse_dynamics_derivatives",
    ("twist_jacobian", {"frame": "tool", "expressed": "aligned"}),
    "pose:tool",
    "integrate",
    "forward_dynamics",
    "frame_forces:tool",
)


def one_by_one(robot: Any, given: dict[str, Any]) -> list[np.ndarray]:
    results = []
    for entry in ENTRIES:
        name, options = entry if isinstance(entry, tuple) else (entry.partition(":")[0], {})
        options = options or ({"frame": "tool"} if ":" in entry else {})
        f = robot.function(name, **options)
        results.append(f(*(given[i] for i, _ in robot.program(name, **options).inputs)))
    return results


@pytest.mark.parametrize("seed", [1, 2])
def test_results_on_random_trees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(seed, 4, MOVING[: 4 * seed : seed], mimics=seed - 1)
    f = robot.function(ENTRIES)
    assert [name for name, _ in f.__self__.program.inputs] == ["q", "v", "a", "tau", "dt", "wrench"]
    slow = Function(f.__self__.program, parts=f.__self__.form.shapes, forms=f.__self__.forms, native=False)
    for batch in ((), (1,), (13,), (2, 3)):
        given: dict[str, Any] = {"q": random_q(robot, rng, batch), "dt": 0.1, "wrench": rng.normal(size=(*batch, 6))}
        given |= {name: random_v(robot, rng, batch) for name in ("v", "a", "tau")}
        inputs = [given[name] for name in ("q", "v", "a", "tau", "dt", "wrench")]
        wanted, found = one_by_one(robot, given), f(*inputs)
        out = tuple(np.empty_like(x) for x in wanted)
        assert f(*inputs, out=out) is out
        ways = [found, f(*inputs), f(*inputs, threads=2), out]
        if not batch:
            ways.append(slow(*inputs[:4], np.array([0.1]), inputs[5]))
        for way in ways:
            for x, y in zip(way, wanted, strict=True):
                assert x.shape == y.shape
                np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-10 * max(1.0, np.abs(y).max()))


def test_together_they_take_fewer_operations() -> None:
    robot = dq.robots.arm7()
    for names, share in (
        (["pose:tool", "twist_jacobian:tool", "twist:tool", "twist_jacobian_derivative:tool"], 0.75),
        (["center_of_mass", "center_of_mass_jacobian", "centroidal_momentum_matrix"], 0.8),
        (["mass_matrix", "bias_forces", "twist_jacobian:tool", "center_of_mass"], 0.99),
    ):
        apart = [robot.count([name]) for name in names]
        together = robot.count(names)
        assert together.total < share * sum(count.total for count in apart)
        assert together.sincos < 0.6 * sum(count.sincos for count in apart)
        assert robot.count(names, simplify=False).total == sum(robot.count([n], simplify=False).total for n in names)
    assert robot.program(["mass_matrix"]).counts == robot.program("mass_matrix").counts


def test_names_of_results() -> None:
    robot = dq.robots.arm7()
    q, v = np.random.default_rng(0).normal(size=(2, 7))
    f = robot.function(["mass_matrix", "bias_forces"])
    assert f is robot.function(("mass_matrix", "bias_forces"))
    for found in (f(q, v), f(q=q, v=v), f(list(q), v)):
        assert found._fields == ("mass_matrix", "bias_forces")
        np.testing.assert_allclose(found.bias_forces, robot.bias_forces(q, v), rtol=1e-12, atol=1e-12)
        again = pickle.loads(pickle.dumps(found))
        assert type(again) is type(found)
        np.testing.assert_array_equal(again.mass_matrix, found.mass_matrix)
        with pytest.raises(TypeError):
            hash(found)
    assert robot.function({"M": "mass_matrix", "J": "pose_jacobian:tool"})(q)._fields == ("M", "J")
    assert robot.function(["pose:tool", "pose:link3"])(q)._fields == ("pose_tool", "pose_link3")
    assert type(robot.function(["pose:tool", "pose:tool"])(q)) is tuple
    assert str(inspect.signature(f)) == "(q, v, *, out=None, check=True, threads=1)"
    assert "bias_forces" in (f.__doc__ or "")


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["mass_matrix", "nonsense"], "no function named 'nonsense'"),
        ([], "list of functions is empty"),
        (3, "list or dict of names"),
        (["mass_matrix:tool"], "no option of mass_matrix named 'frame'"),
        (["pose"], "needs the option 'frame'"),
        (["pose:nowhere"], "no frame"),
        ([("pose", "tool")], "a function is 'name'"),
        ({"1": "pose:tool"}, "identifiers"),
        (["point_jacobian:tool", "point_jacobian:link3"], "different frame"),
        (
            [("inverse_dynamics", {"wrench_frames": ["tool"]}), ("joint_wrenches", {"wrench_frames": ["link3"]})],
            "wrench",
        ),
    ],
)
def test_errors_of_lists(wanted: Any, message: str) -> None:
    with pytest.raises(Error, match=message):
        dq.robots.arm7().function(wanted)


def test_errors_of_calls() -> None:
    robot = dq.robots.arm7()
    q, v = np.random.default_rng(0).normal(size=(2, 7))
    f = robot.function(["mass_matrix", "bias_forces"])
    with pytest.raises(Error, match="options belong to one function"):
        robot.function(["mass_matrix"], frame="tool")  # type: ignore[call-overload]
    square, row = np.empty((7, 7)), np.empty(7)
    for out, message in (
        (square, "tuple of 2 arrays"),
        ((square,), "found 1 of them"),
        ((square, square), "result 1"),
        ((square, square[0]), "share memory"),
    ):
        with pytest.raises(StateError, match=message):
            f(q, v, out=out)
    assert f(q, v, out=[square, row])[0] is square
    mine = q.copy()
    np.testing.assert_allclose(f(mine, v, out=(square, mine))[1], robot.bias_forces(q, v), rtol=1e-12)
    for bad in (q * np.nan, q[:3]):
        with pytest.raises(StateError):
            f(bad, v)
    assert np.isnan(f(q * np.nan, v, check=False).mass_matrix).any()


def test_references_stay() -> None:
    robot = dq.robots.arm7()
    q, v = np.random.default_rng(0).normal(size=(2, 7))
    for f in (robot.function(["mass_matrix", "bias_forces"]), robot.function(["pose:tool", "pose:tool"])):
        inputs = (q, v)[: len(f.__self__.program.inputs)]
        out, many = tuple(np.empty_like(x) for x in f(*inputs)), [np.stack([x] * 9) for x in inputs]
        f(*many)
        watched = [q, v, out, *out, type(f(*inputs)), np.dtype(np.float64)]
        before = [sys.getrefcount(x) for x in watched]
        for _ in range(500):
            f(*inputs)
            f(*inputs, out=out)
            f(*many)
        after = [sys.getrefcount(x) for x in watched]
        assert max(abs(a - b) for a, b in zip(before, after, strict=True)) < 20


def test_states_are_refused_as_by_each_function_alone() -> None:
    """A link without mass makes M singular where its joint's axis passes through what it carries."""
    free = dq.Inertia(1.0, (0.3, 0.0, 0.0), ((0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.01)))
    links = [dq.Link("world"), dq.Link("a"), dq.Link("b", free)]
    joints = [dq.Joint("j1", "revolute", "world", "a"), dq.Joint("j2", "revolute", "a", "b")]
    robot = dq.Robot.from_description(dq.Description("two axes", links, joints), base="fixed")
    with pytest.raises(Error) as alone:
        robot.function("forward_dynamics")(*np.zeros((3, 2)))
    with pytest.raises(Error) as together:
        robot.function(["mass_matrix", "forward_dynamics"])(*np.zeros((3, 2)))
    assert str(alone.value) == str(together.value)


def test_symbols() -> None:
    sympy = pytest.importorskip("sympy")
    robot = dq.robots.two_link()
    q = np.array(sympy.symbols("a b"))
    M, p = robot.function(["mass_matrix", "center_of_mass"])(q)
    assert M.shape == (2, 2)
    assert p.shape == (3,)
    assert M[0, 1].free_symbols <= set(q)
