"""Arrays of results serve again where nobody can tell: those that are held, seen or changed are never touched."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from small_functions import expected, mixed, mixed_program

import dqdyn as dq
from dqdyn.compile.codegen import fresh_arrays
from dqdyn.compile.codegen.results import ResultForm
from dqdyn.compile.runtime import python_abi
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace import trace

pytestmark = pytest.mark.skipif(
    not python_abi.references_are_counted(), reason="references cannot be counted in this interpreter"
)
X, Y = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])


def made() -> Any:
    """A function without a past."""
    return Function(mixed_program(), contract=False).fast


def pair() -> Any:
    """A function that gives a tuple of a vector and a matrix."""
    parts = ((2,), (2, 2))
    forms = {"call": ResultForm(parts, is_tuple=True)}
    return Function(mixed_program(), contract=False, parts=parts, forms=forms).fast


def address(result: np.ndarray) -> int:
    return int(result.__array_interface__["data"][0])


def test_a_loop_needs_two_arrays() -> None:
    f, seen = made(), set()
    result = f(X, Y)
    for _ in range(20):
        result = f(X, Y)
        seen.add(address(result))
    assert len(seen) == 2
    assert len({address(f(X, Y)) for _ in range(20)}) == 1


def test_an_array_in_use_is_never_handed_out() -> None:
    """Results are held and let go at random, in several ways; what is held keeps its values."""
    f, rng = made(), np.random.default_rng(0)
    held: list[tuple[Any, np.ndarray]] = []
    ways: list[Callable[[np.ndarray], Any]] = [
        lambda a: a,
        lambda a: a[1:],
        lambda a: a.T,
        lambda a: memoryview(a),
        lambda a: [a],
        lambda a: a.reshape(-1)[::2].reshape(3, 1),
        lambda a: np.asarray(a, dtype=np.float64),
        lambda a: a.flat,
        lambda a: np.nditer(a),
        lambda a: a.ctypes,
    ]
    for _ in range(2000):
        x, y = rng.normal(size=3), rng.normal(size=2)
        result = f(x, y)
        assert not any(np.shares_memory(result, whole) for _, whole in held if whole is not result)
        np.testing.assert_array_equal(result, expected(x, y))
        way = ways[rng.integers(len(ways))]
        held.append((way(result), result.copy()))
        del result
        for value, wanted in held:
            if isinstance(value, np.ndarray) and value.shape == wanted.shape:
                np.testing.assert_array_equal(value, wanted)
            if isinstance(value, memoryview):
                np.testing.assert_array_equal(np.asarray(value), wanted)
        while held and rng.random() < 0.6:
            held.pop(rng.integers(len(held)))


def shrink(a: np.ndarray) -> None:
    a.resize((3,), refcheck=False)


def reshape(a: np.ndarray) -> None:
    a.shape = (3, 2)


CHANGES: dict[str, Callable[[np.ndarray], Any]] = {
    "values": lambda a: a.fill(np.nan),
    "read-only": lambda a: a.setflags(write=False),
    "size": shrink,
    "a view that died": lambda a: a[1:].sum(),
}
if np.lib.NumpyVersion(np.__version__) < "2.5.0":  # from there on assigning a shape warns, and is to go
    CHANGES["shape"] = reshape


@pytest.mark.parametrize("change", CHANGES)
def test_what_the_caller_did_to_an_array_does_not_come_back(change: str) -> None:
    f = made()
    for _ in range(4):
        result = f(X, Y)
        CHANGES[change](result)
        del result
        new = f(X, Y)
        np.testing.assert_array_equal(new, expected(X, Y))
        assert new.flags.writeable
        assert new.flags.owndata
        assert type(new) is np.ndarray
        del new


def test_dead_arrays_die_for_those_who_watch_them() -> None:
    """A weak reference must not see its array in another role."""
    f = made()
    result = f(X, Y)
    watch = weakref.ref(result)
    where = address(result)
    del result
    assert watch() is not None  # remembered, and the last to be seen
    again = f(X, Y)
    assert address(again) != where
    assert again is not watch()


def test_parts_of_a_tuple_are_remembered_one_by_one() -> None:
    f = pair()
    vector, _ = f(X, Y)
    wanted = vector.copy()
    for k in range(6):
        x = X + k
        first, second = f(x, Y)
        flat = expected(x, Y).reshape(-1)
        np.testing.assert_array_equal(first, flat[:2])
        np.testing.assert_array_equal(second, flat[2:].reshape(2, 2))
        assert not np.shares_memory(first, vector)
    np.testing.assert_array_equal(vector, wanted)


def test_results_serve_as_inputs_of_the_same_function() -> None:
    program = trace("next", [("x", 3)], lambda x: ([x[1], x[2], x[0] + 1.0], (3,)))
    f = Function(program).fast
    x, wanted = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    for _ in range(30):
        x = f(f(x))
        for _ in range(2):
            wanted = np.array([wanted[1], wanted[2], wanted[0] + 1.0])
        np.testing.assert_array_equal(x, wanted)


def test_what_is_remembered_dies_with_the_function() -> None:
    f = made()
    results = [f(X, Y), f(X, Y)]
    watched = [weakref.ref(result) for result in results]
    del results
    del f
    gc.collect()
    assert [watch() for watch in watched] == [None, None]


def test_threads_get_arrays_of_their_own() -> None:
    robot = dq.robots.arm7()
    rng = np.random.default_rng(0)
    states = rng.normal(size=(4, 7))
    wanted = [robot.mass_matrix(q).copy() for q in states]
    wrong: list[int] = []

    def work(k: int) -> None:
        for _ in range(3000):
            kept = robot.mass_matrix(states[k])
            robot.mass_matrix(states[(k + 1) % 4])
            if not np.array_equal(kept, wanted[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_large_results_are_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    from dqdyn.compile.codegen import call_path

    monkeypatch.setattr(call_path, "LARGEST", 5)
    other = trace("rather_large", [("x", 3), ("y", 2)], mixed)
    f = Function(other, contract=False).fast
    watch = weakref.ref(f(X, Y))
    assert watch() is None
    assert fresh_arrays.LARGEST > 5


def test_where_references_are_not_counted_arrays_are_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_abi, "references_are_counted", lambda: False)
    f = made()
    watch = weakref.ref(f(X, Y))
    assert watch() is None
    np.testing.assert_array_equal(f(X, Y), expected(X, Y))
