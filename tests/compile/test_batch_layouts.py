"""Any memory layout, dtype and batch shape gives the results of plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from array_layouts import LAYOUTS
from numpy.lib.stride_tricks import as_strided
from small_functions import expected, function, mixed_program, wave

from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.program import Program
from dqdyn.errors import StateError

RNG = np.random.default_rng(11)
ROWS = 21


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("batch", [(), (1,), (ROWS,), (3, 7), (2, 1, 5)])
def test_layouts_of_inputs(layout: str, batch: tuple[int, ...], native: bool) -> None:
    x, y = RNG.normal(size=(*batch, 3)), RNG.normal(size=(*batch, 2))
    f = function(native)
    made = LAYOUTS[layout](x)
    for call in (f, f.fast):
        np.testing.assert_array_equal(call(made, y), expected(x, y))
        np.testing.assert_array_equal(call(x, LAYOUTS[layout](y)), expected(x, y))
    np.testing.assert_array_equal(np.asarray(made, dtype=float), x)  # untouched


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64, np.int8, np.uint16, bool])
@pytest.mark.parametrize("batch", [(), (ROWS,)])
def test_other_numbers_are_converted(kind: Any, batch: tuple[int, ...]) -> None:
    x, y = (RNG.uniform(0, 9, (*batch, n)).astype(kind) for n in (3, 2))
    found = function().fast(x, y)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, expected(x, y))


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        ((), (5,), (5,)),
        ((5,), (), (5,)),
        ((1,), (9,), (9,)),
        ((4, 1), (6,), (4, 6)),
        ((4, 1), (1, 6), (4, 6)),
        ((2, 3, 1), (1, 5), (2, 3, 5)),
        ((1, 1), (), (1, 1)),
        ((0,), (1,), (0,)),
        ((3, 0), (0,), (3, 0)),
        ((0,), (), (0,)),
    ],
)
def test_batches_broadcast(
    left: tuple[int, ...], right: tuple[int, ...], common: tuple[int, ...], native: bool
) -> None:
    x, y = RNG.normal(size=(*left, 3)), RNG.normal(size=(*right, 2))
    for call in (function(native), function(native).fast):
        found = call(x, y)
        assert found.shape == (*common, 2, 3)
        np.testing.assert_array_equal(found, np.broadcast_to(expected(x, y), found.shape))


def test_views_that_repeat_rows_are_read_as_they_are() -> None:
    x = as_strided(RNG.normal(size=3 + ROWS), (ROWS, 3), (8, 8), writeable=False)  # overlapping rows
    y = np.broadcast_to(RNG.normal(size=2), (ROWS, 2))
    np.testing.assert_array_equal(function()(x, y), expected(x, y))


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("rows", range(41))
def test_every_batch_size(rows: int, native: bool) -> None:
    x, y = RNG.normal(size=(rows, 3)), RNG.normal(size=(rows, 2))
    np.testing.assert_array_equal(function(native)(x, y), expected(x, y))


@pytest.mark.parametrize("threads", [1, 2, 7, np.int64(3)])
@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 129, 1000])
def test_threads_do_not_change_the_result(threads: int, rows: int) -> None:
    x, y = RNG.normal(size=(rows, 3)), RNG.normal(size=(rows, 2))
    np.testing.assert_array_equal(function().fast(x, y, threads=threads), expected(x, y))


def test_threads_redo_their_own_rows() -> None:
    x = RNG.normal(size=(1000, 4))
    x[777, 2] = 1e200
    np.testing.assert_allclose(wave()(x, threads=7), np.stack([np.sin(x), np.cos(x)], -1), rtol=4e-16)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", None, np.float64(2.0)])
@pytest.mark.parametrize("rows", [None, 0, 1, 200])
@pytest.mark.parametrize("native", [True, False])
def test_bad_threads_are_refused_whatever_the_batch(threads: Any, rows: int | None, native: bool) -> None:
    batch = () if rows is None else (rows,)
    with pytest.raises(StateError, match="threads must be a whole number from 1") as caught:
        function(native).fast(np.zeros((*batch, 3)), np.zeros((*batch, 2)), threads=threads)
    assert caught.value.argument == "threads"


@pytest.mark.parametrize("native", [True, False])
def test_no_inputs_and_no_outputs(native: bool) -> None:
    nothing = Function(Program("nothing", (("x", 2),), (), (), (0, 3)), native=native)
    for call in (nothing, nothing.fast):
        assert call(np.zeros(2)).shape == (0, 3)
        assert call(np.zeros((4, 2))).shape == (4, 0, 3)
        out = np.zeros((4, 0, 3))
        assert call(np.zeros((4, 2)), out=out) is out
    empty = Function(Program("empty", (("x", 0),), (("const", (), 2.5),), (0,), (1,)), native=native)
    for call in (empty, empty.fast):
        np.testing.assert_array_equal(call(np.zeros(0)), [2.5])
        np.testing.assert_array_equal(call(np.zeros((13, 0))), np.full((13, 1), 2.5))
    constant = Function(Program("constant", (), (("const", (), 2.5),), (0,), ()), native=native)
    for call in (constant, constant.fast):
        found = call()
        assert found.shape == ()
        assert found == 2.5


@pytest.mark.parametrize("shape", [(), (1,), (6,), (3, 2), (1, 2, 3), (6, 1, 1), (2, 3, 1, 1)])
def test_results_of_every_shape(shape: tuple[int, ...]) -> None:
    size = int(np.prod(shape))
    code = tuple(("input", (0, k), 0.0) for k in range(size))
    f = Function(Program("shaped", (("x", size),), code, tuple(range(size)), shape)).fast
    x, many = RNG.normal(size=size), RNG.normal(size=(9, size))
    np.testing.assert_array_equal(f(x), x.reshape(shape))
    np.testing.assert_array_equal(f(x, out=np.zeros(shape)), x.reshape(shape))
    np.testing.assert_array_equal(f(many), many.reshape(9, *shape))


def test_same_array_for_all_inputs() -> None:
    program = mixed_program()
    same = Function(
        Program("same", (("x", 3), ("y", 3)), program.instructions, program.outputs, (2, 3)), contract=False
    )
    for batch in ((), (ROWS,)):
        x = RNG.normal(size=(*batch, 3))
        np.testing.assert_array_equal(same.fast(x, x), expected(x, x[..., :2]))


def test_broken_rows_of_a_batch_do_not_spread() -> None:
    x, y = RNG.normal(size=(ROWS, 3)), RNG.normal(size=(ROWS, 2))
    wanted = expected(x, y)
    for row in (0, 7, 8, ROWS - 1):
        bad = x.copy()
        bad[row, 0] = np.nan
        found = function()(bad, y)
        np.testing.assert_array_equal(np.delete(found, row, 0), np.delete(wanted, row, 0))
        assert np.isnan(found[row]).sum() == 2  # the results that x₀ enters
