"""Where the layout of the interpreter or NumPy is unknown, machine code is called by ctypes, with one warning."""

from __future__ import annotations

import inspect
import subprocess
import sys
import warnings

import numpy as np
import pytest
from small_functions import expected, mixed_program, wave

import dqdyn as dq
from dqdyn.compile.runtime import python_abi as layout
from dqdyn.compile.runtime.function import Function
from dqdyn.errors import CompileWarning, StateError

X, Y = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])


@pytest.fixture
def _unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "layout_problem", lambda: "a tuple has another layout")


@pytest.mark.usefixtures("_unknown")
@pytest.mark.filterwarnings("ignore:a tuple has another layout")
def test_everything_works_where_the_layout_is_unknown() -> None:
    f = Function(mixed_program(), contract=False).fast
    assert isinstance(f, Function)
    assert f.native is not None
    np.testing.assert_array_equal(f(X, Y), expected(X, Y))
    assert set(f.native.__dict__) >= {"one", "single"}  # machine code by ctypes
    many = np.tile(X, (20, 1))
    np.testing.assert_array_equal(f(many, Y), expected(many, Y))
    assert "many" in f.native.__dict__
    out = np.empty((2, 3))
    assert f(X, y=Y, out=out) is out
    assert str(inspect.signature(f)) == "(x, y, *, out=None, check=True, threads=1)"
    with pytest.raises(StateError):
        f(Y, X)
    turn = Function(wave().program).fast
    np.testing.assert_array_equal(turn(np.full(4, 1e20)), np.stack([np.sin([1e20] * 4), np.cos([1e20] * 4)], -1))


@pytest.mark.usefixtures("_unknown")
def test_robots_work_and_say_once_what_it_costs() -> None:
    robot = dq.robots.arm7()
    frame, q = robot.joints[-1].name, robot.random_configuration(0)
    with pytest.warns(CompileWarning) as caught:
        calls = [robot.twist_jacobian(frame, q), robot.twist_jacobian(frame, q), robot.mass_matrix(q)]
    assert [str(w.message) for w in caught] == [
        "a tuple has another layout: every call goes through ctypes and takes some 10 µs longer."
    ]
    np.testing.assert_allclose(calls[1], dq.robots.arm7().twist_jacobian(frame, q[None])[0], rtol=1e-13, atol=1e-14)
    with pytest.raises(StateError):
        robot.twist_jacobian(frame, q[:-1])


@pytest.mark.parametrize("name", ["TYPE", "FLOAT", "SLOT", "DATA", "NDIM", "DIMS", "DESCR", "FLAGS"])
def test_every_offset_is_proven(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong one is noticed, whichever it is; the neighbouring word is always inside of the object."""
    assert layout.layout_problem() is None
    shift = 8 if name in ("DATA", "NDIM", "DIMS", "DESCR") else -8
    monkeypatch.setattr(layout, name, getattr(layout, name) + shift)
    layout.layout_problem.cache_clear()
    try:
        problem = layout.layout_problem()
        assert problem is not None
        assert "has another layout in Python" in problem
    finally:
        layout.layout_problem.cache_clear()


def test_missing_functions_of_cpython_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(layout._FUNCTIONS, "vectorcall", "PyObject_NoSuchCall")
    layout.layout_problem.cache_clear()
    try:
        assert layout.layout_problem() == "CPython has no PyObject_NoSuchCall"
    finally:
        layout.layout_problem.cache_clear()


PROGRAM = """
import sys
import warnings
import numpy
sys.byteorder = "big"
import dqdyn as dq
robot = dq.robots.arm7()
q = robot.neutral()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(3):
        assert robot.mass_matrix(q).shape == (7, 7)
    assert robot.mass_matrix(q[None]).shape == (1, 7, 7)
assert type(dq.Robot.mass_matrix).__name__ == "function"
print([str(w.message) for w in caught])
"""


def test_a_process_in_which_nothing_is_known() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("every call goes through ctypes") == 1


def test_known_layouts_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f = Function(mixed_program(), contract=False).fast
        np.testing.assert_array_equal(f(X, Y), expected(X, Y))
    assert not isinstance(f, Function)
