"""Jets: every operation against SymPy's derivative, and the helpers built on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

from dqdyn.algebra import scalar
from dqdyn.algebra.jet import Jet, derivative, gradient, gradient_rate, slope_of, value_of

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "add number": lambda a, b: a + 3.0,
    "number add": lambda a, b: 3.0 + a,
    "subtract": lambda a, b: a - b,
    "subtract number": lambda a, b: a - 3.0,
    "number subtract": lambda a, b: 3.0 - a,
    "negate": lambda a, b: -a,
    "multiply": lambda a, b: a * b,
    "multiply number": lambda a, b: a * 3.0,
    "number multiply": lambda a, b: 3.0 * a,
    "divide": lambda a, b: a / b,
    "divide number": lambda a, b: a / 3.0,
    "number divide": lambda a, b: 3.0 / a,
    "scalar divide": lambda a, b: scalar.divide(a, b),
    "scalar divides number": lambda a, b: scalar.divide(3.0, b),
    "sin": lambda a, b: scalar.sin(a * b),
    "cos": lambda a, b: scalar.cos(a * b),
    "sqrt": lambda a, b: scalar.sqrt(a * a + b * b),
    "atan2": lambda a, b: scalar.atan2(a, b),
    "atan2 of a number": lambda a, b: scalar.atan2(2.0, b),
    "atan2 by a number": lambda a, b: scalar.atan2(a, -2.0),
    "square": lambda a, b: a * a * b,
}
A, B, DA, DB = 0.7, 1.9, 0.4, -1.3


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name: str) -> None:
    operation = OPERATIONS[name]
    t = sympy.Symbol("t", real=True)
    expression = sympy.sympify(operation(A + DA * t, B + DB * t))
    orders = [expression.diff(t, k).subs(t, 0) for k in range(3)]
    jet = scalar_jet(operation(Jet(A, DA), Jet(B, DB)))
    assert [jet.value, jet.slope] == pytest.approx([float(o) for o in orders[:2]], abs=1e-14)
    twice = operation(Jet(Jet(A, DA), Jet(DA, 0.0)), Jet(Jet(B, DB), Jet(DB, 0.0)))
    second = slope_of(slope_of(twice))
    assert second == pytest.approx(float(orders[2]), abs=1e-13)


def test_select_takes_value_and_slope_of_one_side() -> None:
    a, b = Jet(1.0, 2.0), Jet(3.0, 4.0)
    for condition, expected in ((scalar.less(a, b), a), (scalar.less(b, a), b), (scalar.less(a, 0.0), b)):
        found = scalar.select(condition, a, b)
        assert (found.value, found.slope) == (expected.value, expected.slope)
    constant = scalar.select(scalar.less(a, b), 5.0, b)
    assert (constant.value, constant.slope) == (5.0, 0.0)
    batch = Jet(np.array([1.0, 4.0]), np.array([1.0, 1.0]))
    assert scalar.select(scalar.less(batch, b), batch, b).slope.tolist() == [1.0, 4.0]


def scalar_jet(x: Any) -> Jet:
    return x if isinstance(x, Jet) else Jet(x)


def test_jets_of_batches() -> None:
    a = Jet(np.array([0.5, 0.7]), np.array([1.0, 2.0]))
    b = np.array([2.0, 3.0]) * a
    assert isinstance(b, Jet)
    assert b.slope.tolist() == [2.0, 6.0]
    assert scalar.sin(a).slope.tolist() == (np.cos(a.value) * a.slope).tolist()


def test_value_and_slope() -> None:
    assert value_of(Jet(2.0, 3.0)) == 2.0
    assert slope_of(Jet(2.0, 3.0)) == 3.0
    assert value_of(2.0) == 2.0
    assert slope_of(2.0) == 0.0
    assert repr(Jet(2.0, 3.0)) == "Jet(2.0, 3.0)"


def energy(x: list[Any]) -> Any:
    return scalar.sin(x[0] * x[1]) + x[2] * x[2] * x[0]


def test_gradient_and_its_rate() -> None:
    at, along = [0.3, 1.2, -0.8], [1.0, -0.5, 2.0]
    symbols = sympy.symbols("x:3", real=True)
    expression = energy(list(symbols))
    values = dict(zip(symbols, at, strict=True))
    slopes = [float(expression.diff(s).subs(values)) for s in symbols]
    hessian = np.array(sympy.hessian(expression, symbols).subs(values), dtype=float)
    np.testing.assert_allclose(gradient(energy, at), slopes, atol=1e-15)
    np.testing.assert_allclose(gradient_rate(energy, at, along), hessian @ along, atol=1e-14)
    np.testing.assert_allclose(
        derivative(lambda x: [energy(x), 4.0], at, along), [np.dot(slopes, along), 0.0], atol=1e-15
    )


def test_directions_of_nested_derivatives_are_not_confused() -> None:
    """d/dx (x · d/dy (x + y)) is 1; a jet without levels takes the outer x for the inner direction and says 2."""

    def outer(x: list[Any]) -> list[Any]:
        inner = derivative(lambda y: [x[0] + y[0]], [3.0], [1.0])
        return [x[0] * inner[0]]

    assert derivative(outer, [2.0], [1.0]) == [1.0]

    def uses_every_operation(x: list[Any], y: list[Any]) -> Any:
        a = scalar.atan2(x[0], y[0]) + scalar.divide(y[0], x[0]) - x[0] / y[0] + (x[0] - y[0]) * (y[0] * x[0])
        return scalar.select(scalar.less(y[0], x[0]), scalar.sqrt(a * a) * y[0], x[0]) - (-y[0]) * x[0]

    mixed = derivative(lambda x: derivative(lambda y: [uses_every_operation(x, y)], [0.8], [1.0]), [1.1], [1.0])
    symbols = sympy.symbols("x y", positive=True)
    x, y = symbols
    a = sympy.atan2(x, y) + y / x - x / y + (x - y) * (y * x)  # positive at this point
    expression = a * y + y * x
    expected = expression.diff(x, y).subs({x: 1.1, y: 0.8})
    assert float(mixed[0]) == pytest.approx(float(expected), abs=1e-14)


def test_a_gradient_that_does_not_depend_is_zero() -> None:
    assert gradient(lambda x: 5.0, [1.0, 2.0]) == [0.0, 0.0]
    assert gradient_rate(lambda x: x[0] * 3.0, [1.0, 2.0], [1.0, 1.0]) == [0.0, 0.0]


def test_infinite_slopes_are_infinite() -> None:
    assert scalar.sqrt(Jet(0.0, 1.0)).slope == math.inf
