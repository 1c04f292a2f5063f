"""Where the layout of the interpreter or of NumPy is unknown, machine code is called by ctypes."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from small_functions import expected, mixed_program, wave

import dqdyn as dq
from dqdyn.compile import call
from dqdyn.compile.function import Function
from dqdyn.errors import StateError

X, Y = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])


def test_everything_works_where_the_layout_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call, "layout_is_known", lambda: False)
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


def test_robots_work_where_the_layout_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = dq.robots.arm7()
    q = robot.random_configuration(0)
    wanted = robot.twist_jacobian(robot.joints[-1].name, q)
    monkeypatch.setattr(call, "layout_is_known", lambda: False)
    other = dq.robots.arm7()
    for _ in range(3):
        np.testing.assert_allclose(other.twist_jacobian(robot.joints[-1].name, q), wanted, rtol=1e-13, atol=1e-14)
    with pytest.raises(StateError):
        other.twist_jacobian(robot.joints[-1].name, q[:-1])
