"""The built-in function and the Python object behind it: same results, same errors, same signature."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import numpy as np
import pytest
import sympy
from small_functions import expected, function, mixed_program

import dqdyn as dq
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.runtime.python_abi import layout_problem
from dqdyn.compile.trace.tracer import trace
from dqdyn.errors import Error, StateError

X, Y = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])


def calls() -> list[Any]:
    """Built-in, object behind it, interpreter."""
    return [function().fast, function(), function(False)]


def test_the_layout_is_known_here() -> None:
    assert layout_problem() is None
    assert inspect.isbuiltin(function().fast)


def test_what_it_says_about_itself() -> None:
    f = function().fast
    assert f.__self__ is function()
    assert f.__self__.program == mixed_program()
    assert f.__name__ == "mixed"
    assert f.__doc__ == "Six numbers of x and y."
    assert f.__text_signature__ == "(x, y, *, out=None, check=True, threads=1)"
    assert repr(function()) == "<mixed(x, y): 4 mul, 2 add>"
    assert "mixed" in repr(f)


def test_signatures_are_the_same() -> None:
    built_in, behind, interpreted = (inspect.signature(f) for f in calls())
    assert built_in == behind == interpreted
    assert list(built_in.parameters) == ["x", "y", "out", "check", "threads"]
    assert built_in.parameters["x"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert built_in.parameters["out"].kind is inspect.Parameter.KEYWORD_ONLY
    assert function(False).fast.__doc__ == function().fast.__doc__


@pytest.mark.parametrize("index", range(3))
def test_every_way_to_pass_arguments(index: int) -> None:
    f, wanted = calls()[index], expected(X, Y)
    out = np.empty((2, 3))
    for found in (
        f(X, Y),
        f(X, y=Y),
        f(x=X, y=Y),
        f(y=Y, x=X),
        f(X, Y, out=None),
        f(X, Y, check=True),
        f(X, Y, check=False, out=None, threads=2),
        f(*(X, Y), out=out),
        f(x=X, y=Y, out=out),
        f(X, Y, threads=3, out=out),
        f(X, Y, **{"".join(["o", "ut"]): out}),  # a name that is not interned
    ):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), {}),
        ((X,), {}),
        ((X, Y, X), {}),
        ((X, Y, None), {}),
        ((X,), {"x": X}),
        ((X, Y), {"y": Y}),
        ((X, Y), {"z": Y}),
        ((X,), {"z": Y}),
        ((X, Y), {"output": None}),
        ((), {"x": X}),
        ((), {"x": X, "y": Y, "z": X}),
    ],
)
def test_wrong_arguments_raise_the_same(arguments: tuple[Any, ...], words: dict[str, Any]) -> None:
    messages = set()
    for f in calls():
        with pytest.raises(Error, match="mixed takes x, y; found") as caught:
            f(*arguments, **words)
        messages.add(str(caught.value))
    assert len(messages) == 1


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros(2), r"x of mixed has shape \(3,\) or \(\.\.\., 3\); found \(2,\)"),
        (np.zeros(4), "found"),
        (np.zeros((3, 1)), "found"),
        (np.array(1.0), "found"),
        (1.0, "found"),
        ([], "found"),
        (np.zeros(3, dtype=complex), "must be real numbers; found the type complex128"),
        (["a", "b", "c"], "must be real numbers"),
        (np.zeros(3, dtype="M8[s]"), "must be real numbers"),
    ],
)
def test_bad_values_raise_the_same(x: Any, message: str) -> None:
    messages = set()
    for f in calls():
        with pytest.raises(StateError, match=message) as caught:
            f(x, Y)
        assert caught.value.argument == "x"
        messages.add(str(caught.value))
    assert len(messages) == 1


def test_batches_that_do_not_fit_raise_the_same() -> None:
    for f in calls():
        with pytest.raises(StateError, match=r"batches that do not fit together: x \(4, 3\), y \(5, 2\)"):
            f(np.zeros((4, 3)), np.zeros((5, 2)))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_plain_functions_propagate_what_is_not_finite(bad: float) -> None:
    x = np.array([1.0, bad, 3.0])
    with np.errstate(invalid="ignore"):
        wanted = expected(x, Y)
    for f in calls():
        np.testing.assert_array_equal(f(x, Y), wanted)


def test_symbols_and_their_limits() -> None:
    x, y = np.array(sympy.symbols("x:3")), np.array(sympy.symbols("y:2"))
    for f in calls():
        found = f(x, y)
        assert found.shape == (2, 3)
        assert found[0, 0] == x[0] * y[0]
        assert f(x, Y)[0, 1] == x[1] - 5.0
        with pytest.raises(StateError, match="pass no batch"):
            f(x, np.zeros((3, 2)))
        with pytest.raises(StateError, match="pass no batch"):
            f(np.array([x, x]), y)
        with pytest.raises(StateError, match="pass no out"):
            f(x, y, out=np.zeros((2, 3)))
        np.testing.assert_array_equal(f(X.astype(object), Y), expected(X, Y))


def test_pickling_says_what_to_do_instead() -> None:
    for f in calls():
        with pytest.raises(Error, match="mixed cannot be pickled: pickle the robot or the program"):
            pickle.dumps(f)
    assert copy.copy(function().fast) is function().fast
    assert pickle.loads(pickle.dumps(function().fast.__self__.program)) == mixed_program()


def test_unit_quaternions_are_checked_by_python_only_where_they_are_off() -> None:
    program = trace("turned", [("q", 5)], lambda q: ([q[0] + q[4]], (1,)))
    asked = []

    def door(argument: int, value: Any, check: bool) -> np.ndarray:
        asked.append(check)
        return np.asarray(value)

    f = Function(program, door, units=[(0, 1)]).fast
    good = np.array([2.0, 0.5, -0.5, 0.5, 0.5])
    np.testing.assert_array_equal(f(good), [2.5])
    f(good * (1.0, *([1.0 + 0.9e-6] * 4)))
    assert asked == []
    for bad in (good * 1.001, good * 0.0, good * np.nan, -2.0 * good):
        f(bad)
    assert asked == [False, True] * 4  # converted first, then looked at
    f(good, check=False)
    assert asked[8:] == []  # nothing to look at
    f(-2.0 * good, check=False)
    assert asked[8:] == [False]


def test_numbers_come_as_floats_and_arrays_of_them_are_batches() -> None:
    robot = dq.robots.arm7()
    f = robot.function("integrate")
    q, v = robot.random_configuration(1), np.arange(7.0)
    wanted = q + 0.5 * v
    for dt in (0.5, np.float64(0.5), np.array(0.5), np.float32(0.5)):
        np.testing.assert_allclose(f(q, v, dt), wanted, rtol=1e-15)
        np.testing.assert_allclose(f(q, v, dt, out=np.empty(7)), wanted, rtol=1e-15)
    np.testing.assert_allclose(f(q, v, 1), q + v, rtol=1e-15)
    for check in (True, False):
        assert f(q, v, np.array([0.5]), check=check).shape == (1, 7)
        assert f(q, v, np.array([0.5])).shape == (1, 7)
        assert f(q, v, [0.5, 1.0], check=check).shape == (2, 7)
    with pytest.raises(StateError, match="dt"):
        f(q, v, np.nan)
    np.testing.assert_array_equal(np.isnan(f(q, v, np.nan, check=False)), True)
