"""``out=``: filled and returned whatever its layout, right where it overlaps an input, refused where it is wrong."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from array_layouts import LAYOUTS, frozen
from small_functions import expected, function

from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.errors import StateError

RNG = np.random.default_rng(12)
ROWS, SIZE = 21, 60


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("batch", [(), (1,), (ROWS,), (0,)])
@pytest.mark.parametrize("layout", ["plain", "fortran", "row gaps", "spread", "rows reversed", "unaligned"])
def test_out_of_any_layout_is_filled_and_returned(layout: str, batch: tuple[int, ...], native: bool) -> None:
    x, y = RNG.normal(size=(*batch, 3)), RNG.normal(size=(*batch, 2))
    for call in (function(native), function(native).fast):
        out = LAYOUTS[layout](np.full((*batch, 2, 3), np.nan))
        assert call(x, y, out=out) is out
        np.testing.assert_array_equal(out, expected(x, y))


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("batch", [(), (1,), (ROWS,)])
@pytest.mark.parametrize("shift", [-SIZE, 1 - SIZE, -9, -1, 0, 1, 9, SIZE - 1, SIZE])
def test_out_may_overlap_the_inputs(shift: int, batch: tuple[int, ...], native: bool) -> None:
    """A program from many to as many numbers whose output lies on its input, exactly or shifted."""
    f = rolled(native)
    count = SIZE * int(np.prod(batch))
    for call in (f, f.fast):
        buffer = RNG.normal(size=count + 2 * SIZE)
        x = buffer[SIZE : SIZE + count].reshape(*batch, SIZE)
        out = buffer[SIZE + shift : SIZE + shift + count].reshape(*batch, SIZE)
        wanted = np.roll(x, 1, axis=-1) * 2.0
        before = buffer.copy()
        assert call(x, out=out) is out
        np.testing.assert_array_equal(out, wanted)
        others = np.ones(len(buffer), dtype=bool)
        others[SIZE + shift : SIZE + shift + count] = False
        np.testing.assert_array_equal(buffer[others], before[others])


@cache
def rolled(native: bool) -> Function:
    """Twice the numbers, moved on by one; too many for registers, so that code reads some after it has written some."""
    program = trace("roll", [("x", SIZE)], lambda x: ([2.0 * a for a in (x[-1], *x[:-1])], (SIZE,)))
    return Function(program, native=native, contract=False)


def test_out_may_overlap_by_other_strides() -> None:
    square = RNG.normal(size=(SIZE, SIZE))
    wanted = np.roll(square.T, 1, axis=-1) * 2.0
    assert rolled(True)(square.T, out=square) is square
    np.testing.assert_array_equal(square, wanted)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize(
    "out",
    [
        np.zeros(6),
        np.zeros((3, 2)),
        np.zeros((1, 2, 3)),
        np.zeros((2, 3), dtype=np.float32),
        np.zeros((2, 3), dtype=int),
        np.zeros((2, 3), dtype=">f8"),
        np.zeros((2, 3), dtype=object),
        [[0.0] * 3] * 2,
        0.0,
        "out",
    ],
)
def test_wrong_out_is_refused(out: Any, native: bool) -> None:
    for call in (function(native), function(native).fast):
        with pytest.raises(StateError, match=r"out of mixed must be a float64 array of shape \(2, 3\)"):
            call(np.zeros(3), np.zeros(2), out=out)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("batch", [(), (5,)])
def test_read_only_out_is_refused(batch: tuple[int, ...], native: bool) -> None:
    out = frozen(np.ones((*batch, 2, 3)))
    for call in (function(native), function(native).fast):
        with pytest.raises(StateError, match="read-only"):
            call(np.zeros((*batch, 3)), np.zeros((*batch, 2)), out=out)
    assert (out == 1.0).all()
