"""Every public function on every kind of scalar: one table of functions, one test for each kind."""

from __future__ import annotations

import inspect
from typing import Any

import casadi
import numpy as np
import pytest
import sympy
from algebra_cases import CASES, MODULES, Case, flatten

from dqdyn.algebra.counter import Counted, Tally
from dqdyn.algebra.jet import Jet

BATCH = (3, 2)
WITHOUT_SCALARS = {"shortest_rotation", "quaternion_from_matrix", "quaternions_from_matrices"}  # they take numbers only


def cases(kind: str) -> Any:
    return pytest.mark.parametrize("case", [c for c in CASES if kind in c.scalars], ids=lambda c: c.name)


def parameters(case: Case, seed: int = 60, batch: tuple[int, ...] = ()) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(*batch, a.parameters)) for a in case.arguments]


def coefficients(case: Case, chosen: list[np.ndarray]) -> list[list[Any]]:
    """For every argument, its coefficients: floats, or arrays of the shape of the batch."""
    result = []
    for argument, p in zip(case.arguments, chosen, strict=True):
        c = argument.coefficients(p)
        result.append([float(c[i]) if c.ndim == 1 else c[..., i] for i in range(c.shape[-1])])
    return result


def call(case: Case, values: list[list[Any]], batch: tuple[int, ...] = ()) -> list[Any]:
    arguments = [a.build(v) for a, v in zip(case.arguments, values, strict=True)]
    return flatten(case.function(*arguments), batch)


def numbers(case: Case, chosen: list[np.ndarray]) -> np.ndarray:
    return np.array(call(case, coefficients(case, chosen)), dtype=float)


def test_the_table_is_complete() -> None:
    """A new public function without a row fails here."""
    listed = {c.name for c in CASES} | WITHOUT_SCALARS
    for module in MODULES:
        for name, thing in vars(module).items():
            public = not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__
            if public and inspect.isfunction(thing):
                assert name in listed, f"{module.__name__}.{name} has no row in algebra_cases.CASES"


@cases("numbers")
def test_a_batch_is_its_elements(case: Case) -> None:
    chosen = parameters(case, batch=BATCH)
    found = call(case, coefficients(case, chosen), BATCH)
    if all(isinstance(value, bool) for value in found):  # a predicate speaks for the whole batch
        singles = [call(case, coefficients(case, [p[i] for p in chosen]))[0] for i in np.ndindex(BATCH)]
        assert found == [all(singles)]
        return
    for index in np.ndindex(BATCH):
        expected = numbers(case, [p[index] for p in chosen])
        here = [float(np.broadcast_to(value, BATCH)[index]) for value in found]
        np.testing.assert_allclose(here, expected, rtol=1e-14, atol=1e-14)


@cases("numbers")
def test_floats_give_floats(case: Case) -> None:
    """No stray arrays or NumPy numbers from Python floats."""
    found = call(case, coefficients(case, parameters(case)))
    assert {type(value) for value in found} <= {float, bool, np.float64}
    assert np.isfinite(np.array(found, dtype=float)).all()


@cases("sympy")
def test_symbols_of_sympy(case: Case) -> None:
    values = coefficients(case, parameters(case))
    expected = np.array(call(case, values), dtype=float)
    everything = {(i, j) for i, group in enumerate(values) for j in range(len(group))}
    places = sorted(everything if case.symbolic is None else case.symbolic)
    symbols = {(i, j): sympy.Symbol(f"s{i}_{j}", real=True) for i, j in places}
    found = call(case, [[symbols.get((i, j), v) for j, v in enumerate(group)] for i, group in enumerate(values)])
    names, given = list(symbols.values()), [values[i][j] for i, j in places]
    substituted = sympy.lambdify(names, [sympy.sympify(e) for e in found], "math", cse=True)(*given)
    np.testing.assert_allclose(np.array(substituted, dtype=float), expected, rtol=1e-12, atol=1e-13)


@cases("casadi")
def test_symbols_of_casadi(case: Case) -> None:
    values = coefficients(case, parameters(case))
    expected = np.array(call(case, values), dtype=float)
    symbols = [[casadi.SX.sym(f"s{i}_{j}") for j in range(len(v))] for i, v in enumerate(values)]
    outputs = casadi.vertcat(*call(case, symbols))
    function = casadi.Function("f", [s for group in symbols for s in group], [outputs])
    found = np.array(function.call([v for group in values for v in group])[0]).ravel()
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


@cases("jet")
def test_jets_against_differences(case: Case) -> None:
    start, direction = parameters(case, 61), parameters(case, 62)
    h, weights = 0.002, (4 / 5, -1 / 5, 4 / 105, -1 / 280)

    def moved(t: float) -> list[np.ndarray]:
        return [p + t * d for p, d in zip(start, direction, strict=True)]

    def slope(function: Any) -> np.ndarray:
        return sum(w * (function(moved(k * h)) - function(moved(-k * h))) for k, w in enumerate(weights, 1)) / h

    values = coefficients(case, start)
    jets = []
    for argument, group, i in zip(case.arguments, values, range(len(values)), strict=True):
        rates = slope(lambda chosen, a=argument, i=i: a.coefficients(chosen[i]))
        jets.append([Jet(v, float(r)) for v, r in zip(group, rates, strict=True)])
    found = call(case, jets)
    expected = slope(lambda chosen: numbers(case, chosen)) if values else np.zeros(len(found))
    np.testing.assert_allclose([_value(x) for x in found], numbers(case, start), rtol=1e-14, atol=1e-14)
    slopes = [x.slope if isinstance(x, Jet) else 0.0 for x in found]
    np.testing.assert_allclose(slopes, expected, rtol=1e-9, atol=1e-9)


def _value(x: Any) -> float:
    return x.value if isinstance(x, Jet) else x


@cases("counted")
def test_counters(case: Case) -> None:
    """Counting runs the same source: it gives as many scalars, all counters or constants, and always the same tally."""
    values = coefficients(case, parameters(case))
    expected = call(case, values)
    tallies = [Tally(), Tally()]
    for tally in tallies:
        found = call(case, [[Counted(tally) for _ in v] for v in values])
        assert len(found) == len(expected)
        assert all(isinstance(x, (Counted, float, int)) for x in found)
    assert tallies[0] == tallies[1]
