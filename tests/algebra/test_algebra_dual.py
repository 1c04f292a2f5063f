"""The type DQ itself: constructor, operators with other types, equality, printing."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import casadi
import numpy as np
import pytest
import sympy
from algebra_tools import assert_close, random_dq
from hypothesis import given, settings
from hypothesis import strategies as st

from dqdyn.algebra import functions as f
from dqdyn.algebra.dual import DQ, EPSILON, IDENTITY, as_dq
from dqdyn.algebra.jet import Jet
from dqdyn.algebra.quaternion import ONE, Quaternion
from dqdyn.errors import Error

NUMBERS = st.floats(-1e3, 1e3)


@settings(max_examples=50, deadline=None)
@given(st.lists(NUMBERS, max_size=12))
def test_how_many_numbers(numbers: list[float]) -> None:
    places = {1: [0], 3: [1, 2, 3], 4: [0, 1, 2, 3], 6: [1, 2, 3, 5, 6, 7], 8: range(8)}.get(len(numbers))
    if places is None:
        with pytest.raises(Error, match="takes 8 numbers or symbols") as caught:
            DQ(numbers)
        assert caught.value.expected == 8
        return
    expected = np.zeros(8)
    expected[list(places)] = numbers
    for given_as in (numbers, tuple(numbers), np.array(numbers), [np.float64(n) for n in numbers]):
        assert_close(DQ(given_as), DQ(expected), tolerance=0.0)
    assert all(type(c) is float for c in DQ(numbers).components)


@pytest.mark.parametrize("batch", [(1,), (5,), (8,), (3, 2), (0,)])
@pytest.mark.parametrize("size", [1, 3, 4, 6, 8])
def test_batches(batch: tuple[int, ...], size: int) -> None:
    array = np.random.default_rng(100).normal(size=(*batch, size))
    x = DQ(array)
    assert x.vec8().shape == (*batch, 8)
    for index in np.ndindex(batch):
        assert_close(x.vec8()[index], DQ(array[index]).vec8(), tolerance=0.0)
    if array.size:
        assert DQ(array.tolist()) == x  # nested lists are batches too


BAD: list[Any] = [
    *(None, "abc", 3.0, [], {}, object(), ["a"] * 8, [None] * 8, [1j] * 8, [[1, 2], [3]], [1, 2, 3, "x"]),
    *(np.ones((2, 5)), np.ones(8, dtype=complex), np.array(["a"] * 8), np.float64(2.0)),
    *([np.ones(2), 1.0, 2.0, 3.0], sympy.Matrix([1] * 8), casadi.SX.sym("x", 8)),
]


@pytest.mark.parametrize("bad", BAD, ids=lambda b: type(b).__name__)
def test_what_is_no_dual_quaternion(bad: Any) -> None:
    with pytest.raises(Error):
        DQ(bad)


def test_integer_arrays_become_floats() -> None:
    assert type(DQ(np.array([1, 2, 3, 4])).components[0]) is float
    assert type(DQ([1, True, 3, 4]).components[1]) is float


def test_defaults_and_constants() -> None:
    assert DQ() == 0
    assert IDENTITY == 1
    assert DQ([0, 0, 0, 0, 1, 0, 0, 0]) == EPSILON
    assert f.i_ * f.j_ == f.k_
    assert f.E_ * f.E_ == 0


def test_real_numbers_and_quaternions_join_in() -> None:
    x = random_dq(np.random.default_rng(101))
    q = Quaternion(1.0, 2.0, 3.0, 4.0)
    assert x + 2 == 2 + x == x + DQ([2.0])
    assert x - 2 == -(2 - x)
    assert x + q == x + DQ.of(q)
    assert as_dq(q) == DQ.of(q)
    assert as_dq(x) is x
    assert x * np.float64(2.0) == np.float64(2.0) * x == x * 2
    assert_close(x / 2, x * 0.5, tolerance=0.0)
    assert_close(1 / x, f.inv(x))
    assert_close(x / x, IDENTITY)


def test_an_array_scales_into_a_batch() -> None:
    x, s = random_dq(np.random.default_rng(102)), np.array([1.0, 2.0, 3.0])
    assert_close((x * s).vec8(), np.outer(s, x.vec8()), tolerance=0.0)
    assert_close((s * x).vec8(), np.outer(s, x.vec8()), tolerance=0.0)


@pytest.mark.parametrize("other", ["2", None, [1.0, 2.0], {}])
def test_other_types_are_refused(other: Any) -> None:
    for value in (IDENTITY, ONE):
        with pytest.raises(TypeError):
            value * other
        with pytest.raises(TypeError):
            other * value
    for operation in (lambda: IDENTITY + other, lambda: other - IDENTITY):
        with pytest.raises((Error, TypeError)):
            operation()


def test_equality_and_hash() -> None:
    rng = np.random.default_rng(103)
    x = random_dq(rng)
    assert x == DQ(x.vec8())
    assert x != -x
    assert x != "x"
    assert hash(x) == hash(DQ(x.vec8()))
    assert DQ([2.0]) == 2
    assert hash(DQ([2.0])) == hash(2)
    assert hash(DQ([-0.0])) == hash(DQ([0.0]))
    symbols = [casadi.SX.sym("x") for _ in range(8)]
    assert hash(DQ(symbols)) == hash(DQ(symbols))
    assert DQ(np.tile(x.vec8(), (3, 1))) == DQ(np.tile(x.vec8(), (3, 1)))
    assert DQ(np.tile(x.vec8(), (3, 1))) != DQ(rng.normal(size=(3, 8)))
    assert DQ([math.nan]) != DQ([math.nan])
    assert Quaternion(1.0, 0.0, 0.0, 0.0) == ONE
    assert ONE != 1
    assert hash(ONE) == hash(Quaternion(1.0, 0.0, 0.0, 0.0))


def test_isclose() -> None:
    x = random_dq(np.random.default_rng(104))
    assert f.isclose(x, x + 1e-13)
    assert not f.isclose(x, x + 1e-11)
    assert f.isclose(x, x + 1e-11, 1e-10)
    assert not f.isclose(x, -x)
    assert not f.isclose(x, DQ([math.nan]))


def test_pickling_and_copying() -> None:
    x = random_dq(np.random.default_rng(105))
    assert pickle.loads(pickle.dumps(x)) == x
    assert copy.deepcopy(x) == x
    assert pickle.loads(pickle.dumps(x.primary)) == x.primary


def test_printing() -> None:
    assert repr(DQ([1.0, 0.5, 0, 0])) == "DQ([1, 0.5, 0, 0, 0, 0, 0, 0])"
    assert repr(Quaternion(1.0, 2.0, 3.0, 4.0)) == "Quaternion(1.0, 2.0, 3.0, 4.0)"
    x = random_dq(np.random.default_rng(106))
    assert_close(eval(repr(x)), x, tolerance=1e-5)
    a = sympy.Symbol("a")
    assert repr(DQ([a])) == "DQ([a, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])"
    assert repr(DQ([Jet(1.0, 2.0)])).startswith("DQ([Jet(1.0, 2.0), ")


def test_the_inverse_of_nothing_is_no_number() -> None:
    """A dual number without primary part has no inverse: infinity and NaN tell, nothing is repaired."""
    assert not np.isfinite(f.inv(f.E_).vec8()).all()
    assert not np.isfinite(f.normalize(f.E_).vec8()).all()
