"""What scalar.py promises: the same functions for every kind of scalar, and arrays from and to scalars."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import casadi
import numpy as np
import pytest
import sympy

from dqdyn.algebra import scalar
from dqdyn.algebra.counter import Counted, Tally
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import Jet
from dqdyn.algebra.scalar import Functions, divide, is_numeric, is_scalar, less, register, select, stack, total, unstack

SCALARS: list[Any] = [1, 1.0, True, np.float64(1), np.float32(1), np.int64(1), np.ones(3)]
SYMBOLS: list[Any] = [sympy.Symbol("a"), sympy.Float(1), sympy.pi, casadi.SX.sym("a"), casadi.MX.sym("a")]
OTHERS: list[Any] = [Jet(1.0), Counted(Tally())]


def number(value: Any) -> float:
    return float(value)


@pytest.mark.parametrize("make", [float, np.float64, sympy.Float, casadi.DM, lambda v: np.array([v])])
@pytest.mark.parametrize(("y", "x"), [(0.3, 0.9), (0.9, -0.3), (-0.2, -0.5), (0.0, -1.0)])
def test_functions_agree(make: Any, y: float, x: float) -> None:
    a, b = make(y), make(x)
    first = lambda v: float(v[0]) if isinstance(v, np.ndarray) else number(v)
    assert first(scalar.sin(a)) == pytest.approx(math.sin(y), abs=1e-15)
    assert first(scalar.cos(a)) == pytest.approx(math.cos(y), abs=1e-15)
    assert first(scalar.sqrt(a * a + b * b)) == pytest.approx(math.hypot(x, y), abs=1e-15)
    assert first(scalar.atan2(a, b)) == pytest.approx(math.atan2(y, x), abs=1e-15)
    assert first(scalar.atan2(a, x)) == pytest.approx(math.atan2(y, x), abs=1e-15)
    assert first(divide(a, b)) == pytest.approx(y / x, abs=1e-15)
    assert first(divide(1.0, b)) == pytest.approx(1 / x, abs=1e-15)
    assert first(select(less(a, b), a, b)) == min(x, y)
    assert first(select(less(a, 0.1), 5.0, b)) == (5.0 if y < 0.1 else x)
    assert type(select(less(a, b), a, b)) is type(a)


@pytest.mark.parametrize(("a", "b", "expected"), [(1.0, 0.0, math.inf), (-1.0, 0.0, -math.inf), (1.0, -0.0, -math.inf)])
def test_division_by_zero(a: float, b: float, expected: float) -> None:
    assert divide(a, b) == expected
    assert divide(np.array([a]), np.array([b]))[0] == expected
    assert divide(a, np.float64(b)) == expected
    assert math.isnan(divide(0.0, b))
    assert np.isnan(divide(np.zeros(1), np.array([b]))[0])
    assert math.isnan(divide(math.nan, b))


def test_floats_outside_of_the_domain_give_nan() -> None:
    assert math.isnan(scalar.sqrt(-1.0))
    assert math.isnan(scalar.sin(math.inf))
    assert math.isnan(scalar.cos(math.inf))
    assert math.isnan(scalar.sqrt(math.nan))


@pytest.mark.parametrize("value", SCALARS)
def test_numbers(value: Any) -> None:
    assert is_numeric(value)
    assert is_scalar(value)


@pytest.mark.parametrize("value", SYMBOLS + OTHERS, ids=repr)
def test_scalars_that_are_no_numbers(value: Any) -> None:
    assert not is_numeric(value)
    assert is_scalar(value)


@pytest.mark.parametrize("value", ["a", None, [1.0], DQ(), Fraction(1, 2), 1j, object], ids=repr)
def test_what_is_no_scalar(value: Any) -> None:
    assert not is_scalar(value)
    with pytest.raises(TypeError, match=r"is not a scalar that dqdyn knows"):
        scalar.sin(value)


def test_a_class_registers_itself() -> None:
    class Mine(float):
        pass

    assert scalar.sin(Mine(0.5)) == math.sin(0.5)  # found as the float that it is

    class Other:
        pass

    nothing = lambda *a: "mine"
    register(Other, Functions(7, nothing, nothing, nothing, nothing, nothing, nothing, nothing))
    assert scalar.sin(Other()) == "mine"
    assert divide(1.0, Other()) == "mine"  # among mixed arguments the higher rank decides
    assert select(True, Other(), np.ones(2)) == "mine"


def test_conditions_of_sympy() -> None:
    a = sympy.Symbol("a", real=True)
    assert select(less(sympy.Integer(1), 2.0), a, 0.0) == a
    assert select(less(sympy.Integer(3), 2.0), a, 0.0) == 0.0
    piecewise = select(less(a, 2.0), a, -a)
    assert piecewise.subs(a, 1.0) == 1.0
    assert piecewise.subs(a, 3.0) == -3.0
    # SymPy does not end when it simplifies conditions with such floats.
    assert select(less(0.7 + 0.4 * a, 1.9 - 1.3 * a), a, 0.0).subs(a, 0.1) == 0.1


def test_stack() -> None:
    assert stack([1.0, 2.0]).tolist() == [1.0, 2.0]
    assert stack([1.0, 2.0, 3.0, 4.0], (2, 2)).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    batch = stack([np.array([1.0, 2.0]), 0.0])
    assert batch.tolist() == [[1.0, 0.0], [2.0, 0.0]]
    assert stack([1.0, 2.0], batch=(3,)).shape == (3, 2)
    assert stack([np.ones((3, 1)), np.ones(2)], (2, 1)).shape == (3, 2, 2, 1)
    a = sympy.Symbol("a")
    assert stack([a, 1.0, 2.0, 3.0], (2, 2)).tolist() == [[a, 1.0], [2.0, 3.0]]
    assert stack([casadi.SX.sym("x"), 1.0]).shape == (2,)


def test_unstack() -> None:
    parts = unstack(np.array([1, 2, 3]), 3)
    assert parts == [1.0, 2.0, 3.0]
    assert all(type(p) is float for p in parts)
    batch = np.arange(6.0).reshape(2, 3)
    assert [p.tolist() for p in unstack(batch, 3)] == batch.T.tolist()
    assert all(p.flags.c_contiguous for p in unstack(batch, 3))
    a = sympy.Symbol("a")
    assert unstack(np.array([a, 1.0], dtype=object), 2) == [a, 1.0]
    assert unstack([a, 1.0], 2) == [a, 1.0]


def test_total() -> None:
    assert total(iter([1.0, 2.0, 3.0])) == 6.0
    tally = Tally()
    total([Counted(tally)] * 4)
    assert tally.add == 3  # no sum with an initial zero
