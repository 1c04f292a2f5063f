"""Calls keep no reference and lose none, whatever way they take; functions die when nobody holds them."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compile_tools import own_size
from small_functions import expected, function, mixed_program, wave

from dqdyn.compile.runtime.function import Function
from dqdyn.compile.runtime.python_abi import references_are_counted
from dqdyn.errors import Error

X, Y = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])
MANY_X, MANY_Y = np.tile(X, (9, 1)), np.tile(Y, (9, 1))
OUT, MANY_OUT = np.empty((2, 3)), np.empty((9, 2, 3))
FROZEN = np.zeros((2, 3))
FROZEN.setflags(write=False)
WAVE, WAVE_OUT, HUGE = np.arange(4.0), np.empty((4, 2)), np.full(4, 1e18)
WORDS = {"out": OUT}
WATCHED: list[Any] = [X, Y, MANY_X, MANY_Y, OUT, MANY_OUT, FROZEN, WAVE, WAVE_OUT, HUGE]
WATCHED += ["out", "check", "threads", np.ndarray, np.dtype(np.float64), None, True, 1, 2, float]
FAST = ("new array", "out", "out in a dictionary")


def refused(*arguments: Any, **words: Any) -> None:
    with pytest.raises(Error):
        function().fast(*arguments, **words)


PATHS: dict[str, Callable[[], Any]] = {
    "new array": lambda: function().fast(X, Y),
    "out": lambda: function().fast(X, Y, out=OUT),
    "out in a dictionary": lambda: function().fast(X, Y, **WORDS),
    "out is None": lambda: function().fast(X, Y, out=None),
    "keywords": lambda: function().fast(y=Y, x=X),
    "no checks": lambda: function().fast(X, Y, check=False),
    "lists": lambda: function().fast([1.0, 2.0, 3.0], Y),
    "batch": lambda: function().fast(MANY_X, MANY_Y),
    "batch, out": lambda: function().fast(MANY_X, MANY_Y, out=MANY_OUT),
    "batch, threads": lambda: function().fast(MANY_X, MANY_Y, threads=2),
    "batch, out, threads": lambda: function().fast(MANY_X, MANY_Y, out=MANY_OUT, threads=1),
    "batch, threads, out": lambda: function().fast(MANY_X, MANY_Y, threads=2, out=MANY_OUT),
    "overlap": lambda: wave().fast(WAVE_OUT.reshape(-1)[:4], out=WAVE_OUT),
    "redo": lambda: wave().fast(HUGE),
    "redo, out": lambda: wave().fast(HUGE, out=WAVE_OUT),
    "wrong size": lambda: refused(Y, X),
    "wrong count": lambda: refused(X),
    "wrong word": lambda: refused(X, Y, z=X),
    "wrong out": lambda: refused(X, Y, out=WAVE_OUT),
    "read-only out": lambda: refused(X, Y, out=FROZEN),
    "not a number": lambda: refused(X, None),
}


def references() -> list[int]:
    gc.collect()
    return [sys.getrefcount(thing) for thing in WATCHED]


def drift(run: Callable[[], Any], rounds: int) -> np.ndarray:
    """How far the counts of the watched objects move in that many rounds."""
    before = references()
    for _ in range(rounds):
        run()
    return np.array(references()) - before


@pytest.mark.parametrize("path", PATHS)
def test_reference_counts_stay(path: str) -> None:
    run, rounds = PATHS[path], 3000 if path in FAST else 300
    drift(run, 1000)  # free lists fill first
    objects = [sys.getrefcount(f) for f in (function(), function().fast, wave(), wave().fast)]
    grown = []
    for _ in range(3):  # other threads of a test run allocate, too, but a leak is there every time
        blocks = sys.getallocatedblocks()
        moved = drift(run, rounds)
        grown.append(sys.getallocatedblocks() - blocks)
    # np.empty of some versions of NumPy keeps a reference to its default dtype, which never dies anyway.
    allowed = np.zeros(len(WATCHED)) if path in FAST else np.maximum(drift(lambda: np.empty((2, 3)), rounds), 0)
    assert (np.abs(moved) <= allowed + rounds // 20).all(), moved  # shared objects breathe by a few
    assert [sys.getrefcount(f) for f in (function(), function().fast, wave(), wave().fast)] == objects
    assert min(grown) < rounds // 4


def test_results_belong_to_the_caller() -> None:
    other = np.empty(3)
    alone = sys.getrefcount(other)  # 2, or 1 where the interpreter borrows the reference of a local variable
    result = function().fast(X, Y)
    assert sys.getrefcount(result) == alone + references_are_counted()  # the function remembers what it made
    assert result.flags.owndata
    assert result.flags.writeable
    assert result.flags.c_contiguous
    out = np.empty((2, 3))
    assert sys.getrefcount(out) == alone
    assert function().fast(X, Y, out=out) is out
    assert sys.getrefcount(out) == alone
    first, second = function().fast(X, Y), function().fast(X, Y)
    assert not np.shares_memory(first, second)


def test_works_while_the_collector_runs_all_the_time() -> None:
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(50):
            np.testing.assert_array_equal(function().fast(X, Y), expected(X, Y))
            np.testing.assert_array_equal(function().fast(MANY_X, Y), expected(MANY_X, Y))
            wave().fast(HUGE)
            refused(X)
    finally:
        gc.set_threshold(*before)


def test_functions_die_with_their_last_holder() -> None:
    made = Function(mixed_program())
    f = made.fast
    dead = weakref.ref(made), weakref.ref(f), weakref.ref(made.native)
    del made
    gc.collect()
    np.testing.assert_array_equal(f(X, Y), expected(X, Y))  # the built-in alone keeps everything alive
    del f
    gc.collect()
    assert [ref() for ref in dead] == [None] * 3


def test_functions_die_within_any_cycle() -> None:
    """Python reads the definition of a built-in after the object that it belongs to: it outlives all."""

    class Holder:
        """A controller, say, that knows itself."""

    for _ in range(8):
        holder = Holder()
        holder.me, holder.made = holder, Function(mixed_program())  # type: ignore[attr-defined]
        holder.f = holder.made.fast  # type: ignore[attr-defined]
        np.testing.assert_array_equal(holder.f(X, Y), expected(X, Y))  # type: ignore[attr-defined]
        dead = weakref.ref(holder)
        del holder
        gc.collect()
        assert dead() is None


def test_exceptions_of_the_door_pass_through() -> None:
    class Odd(Exception):
        pass

    def door(argument: int, value: Any, check: bool) -> np.ndarray:
        raise Odd(argument)

    f = Function(mixed_program(), door).fast
    np.testing.assert_array_equal(f(X, Y), expected(X, Y))  # plain arrays need no door
    for _ in range(100):
        with pytest.raises(Odd):
            f([1.0, 2.0, 3.0], Y)


def test_no_memory_is_an_exception() -> None:
    """A result too large for any machine: NumPy's error arrives, nothing is computed."""
    program = mixed_program()
    f = Function(type(program)("big", program.inputs, program.instructions, program.outputs[:1], (1 << 46,))).fast
    for _ in range(3):
        with pytest.raises(MemoryError):
            f(X, Y)


def test_thousands_of_calls_take_no_memory() -> None:
    f = function().fast
    for _ in range(2000):
        f(X, Y)
    before = own_size()
    for _ in range(50_000):
        f(X, Y)
    for _ in range(500):
        f(MANY_X, Y)
    assert own_size() - before < 2_000_000
