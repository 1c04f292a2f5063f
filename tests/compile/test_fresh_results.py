"""Tuples and values of results serve again as a whole where nobody can tell; what users hold stays as it is."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest
from small_functions import expected, mixed_program

import dqdyn as dq
from dqdyn.compile.codegen.results import ResultForm
from dqdyn.compile.runtime import python_abi
from dqdyn.compile.runtime.function import Function

pytestmark = pytest.mark.skipif(
    not python_abi.references_are_counted(), reason="references cannot be counted in this interpreter"
)
X, Y = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])
PARTS = ((2,), (2, 2))


def pair(*fields: str) -> Any:
    """A function without a past that gives a tuple of a vector and a matrix."""
    forms = {"call": ResultForm(PARTS, is_tuple=True, fields=fields)}
    return Function(mixed_program(), contract=False, parts=PARTS, forms=forms).fast


def parts(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    flat = expected(x, Y).reshape(-1)
    return flat[:2], flat[2:].reshape(2, 2)


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


@pytest.mark.parametrize("fields", [(), ("first", "second")])
def test_a_tuple_that_nobody_holds_serves_again(fields: tuple[str, ...]) -> None:
    f = pair(*fields)
    assert len({id(f(X, Y)) for _ in range(20)}) == 1
    seen = set()
    for k in range(20):  # the former result is held while the next one is computed
        result = f(X + k, Y)
        seen.add(id(result))
        for found, wanted in zip(result, parts(X + k), strict=True):
            np.testing.assert_array_equal(found, wanted)
        assert getattr(result, "_fields", ()) == fields
    assert len(seen) == 2


def test_a_tuple_that_is_held_keeps_its_values() -> None:
    f, held = pair(), []
    for k in range(8):
        held.append(f(X + k, Y))
        f(X - k, Y)
    for k, result in enumerate(held):
        for found, wanted in zip(result, parts(X + k), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_arrays_that_nobody_holds_serve_on_in_another_tuple() -> None:
    f, vectors, matrices = pair(), [], set()
    for k in range(12):
        vector, matrix = f(X + k, Y)
        vectors.append(vector)
        matrices.add(address(matrix))
        np.testing.assert_array_equal(matrix, parts(X + k)[1])
    assert len({address(vector) for vector in vectors}) == 12
    assert len(matrices) == 2
    for k, vector in enumerate(vectors):
        np.testing.assert_array_equal(vector, parts(X + k)[0])


@pytest.mark.parametrize("part", [0, 1])
def test_a_tuple_with_a_changed_array_does_not_come_back(part: int) -> None:
    f = pair()
    for _ in range(5):
        f(X, Y)[part].setflags(write=False)
        result = f(X, Y)
        assert all(array.flags.writeable for array in result)
        for found, wanted in zip(result, parts(X), strict=True):
            np.testing.assert_array_equal(found, wanted)
        del result


def test_finalizers_may_call_the_function_that_makes_a_tuple() -> None:
    """Making a named tuple may collect garbage; what that runs must not free the arrays that are to serve on in it."""
    f, held = pair("first", "second"), []

    class Garbage:
        """Part of a cycle; the collector finds it at any time."""

        def __init__(self) -> None:
            self.own = self

        def __del__(self) -> None:
            for _ in range(3):
                held.append((X, f(X, Y)[0]))

    before = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        for k in range(300):
            Garbage()
            vector, matrix = f(X + k, Y)
            held.append((X + k, vector))  # so that every call needs another vector, and may keep the matrix
            np.testing.assert_array_equal(matrix, parts(X + k)[1])
            del matrix
    finally:
        gc.set_threshold(*before)
    for x, vector in held:
        np.testing.assert_array_equal(vector, parts(x)[0])


ROBOT = dq.robots.arm7()
Q = np.linspace(-1.0, 1.0, 7)


def test_a_value_that_nobody_holds_serves_again() -> None:
    ROBOT.pose("tool", Q)
    assert len({id(ROBOT.pose("tool", Q)) for _ in range(20)}) == 1
    assert len({id(ROBOT.poses(Q)) for _ in range(20)}) == 1


def test_what_was_made_from_a_value_goes_with_it() -> None:
    f = ROBOT.function("pose", frame="tool")
    for k in range(10):
        q = Q + 0.1 * k
        pose, poses = ROBOT.pose("tool", q), ROBOT.poses(q)
        assert pose._dq is None
        np.testing.assert_array_equal(pose.dq.vec8(), f(q))
        assert poses._made is None
        np.testing.assert_allclose(poses["tool"].vec8(), f(q), rtol=0, atol=1e-14)
    del pose, poses
    for k in range(10):  # and where nothing is held
        q = Q - 0.1 * k
        np.testing.assert_array_equal(ROBOT.pose("tool", q).dq.vec8(), f(q))
        np.testing.assert_allclose(ROBOT.poses(q)["tool"].vec8(), f(q), rtol=0, atol=1e-14)


def test_parts_of_a_value_that_are_held_keep_their_values() -> None:
    f, held = ROBOT.function("pose", frame="tool"), []
    for k in range(8):
        held.append((Q + 0.1 * k, ROBOT.poses(Q + 0.1 * k)["tool"], ROBOT.pose("tool", Q + 0.1 * k).dq))
        ROBOT.poses(Q)
    for q, pose, number in held:
        np.testing.assert_allclose(pose.vec8(), f(q), rtol=0, atol=1e-14)
        np.testing.assert_array_equal(number.vec8(), f(q))


@pytest.mark.parametrize("slot", ["_coefficients", "_dq", "frames"])
def test_values_that_somebody_has_changed_do_not_come_back(slot: str) -> None:
    wanted = ROBOT.pose("tool", Q).vec8()
    for content in (None, ("a", "b"), np.zeros(8), np.zeros(3), 5.0):
        pose = ROBOT.pose("tool", Q)
        object.__setattr__(pose, slot, content)
        del pose
        new = ROBOT.pose("tool", Q)
        assert new.frames == ("tool", "world")
        np.testing.assert_array_equal(new.vec8(), wanted)
        np.testing.assert_array_equal(new.dq.vec8(), wanted)
        object.__delattr__(new, slot)
        del new
        np.testing.assert_array_equal(ROBOT.pose("tool", Q).vec8(), wanted)


def test_a_finalizer_may_call_the_function_whose_value_it_was_part_of() -> None:
    robot, seen = dq.robots.arm7(), []

    class Last:
        """Dies when the value serves again."""

        def __del__(self) -> None:
            seen.append(robot.pose("tool", 0.5 * Q))

    wanted, other = robot.pose("tool", Q).vec8(), robot.pose("tool", 0.5 * Q).vec8()
    for _ in range(6):
        object.__setattr__(robot.pose("tool", Q), "_dq", Last())
        found = robot.pose("tool", Q)
        np.testing.assert_array_equal(found.vec8(), wanted)
        assert all(found is not one for one in seen)
        del found
    assert len(seen) >= 5
    for one in seen:
        np.testing.assert_array_equal(one.vec8(), other)


def test_references_stay_in_every_form() -> None:
    f, none, kinds = pair("first", "second"), None, (dq.Pose, np.dtype(np.float64), ROBOT.frames)

    def run() -> None:
        held = f(X, Y), ROBOT.pose("tool", Q), ROBOT.poses(Q)
        again = f(X, Y), ROBOT.pose("tool", Q).dq, ROBOT.poses(Q)["tool"]
        del held, again

    for _ in range(50):
        run()
    before = [sys.getrefcount(one) for one in (none, *kinds)]
    for _ in range(500):
        run()
    after = [sys.getrefcount(one) for one in (none, *kinds)]
    assert max(abs(a - b) for a, b in zip(before, after, strict=True)) < 20


def test_another_layout_of_tuples_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    python_abi.references_are_counted.cache_clear()
    monkeypatch.setattr(python_abi, "TUPLE_ITEMS", python_abi.TUPLE_ITEMS - 8)
    try:
        assert not python_abi.references_are_counted()
    finally:
        monkeypatch.undo()
        python_abi.references_are_counted.cache_clear()
    assert python_abi.references_are_counted()


def test_debug_builds_count_all_references(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would miss those that emitted code adds itself."""
    python_abi.references_are_counted.cache_clear()
    monkeypatch.setattr(sys, "gettotalrefcount", lambda: 0, raising=False)
    try:
        assert not python_abi.references_are_counted()
    finally:
        monkeypatch.undo()
        python_abi.references_are_counted.cache_clear()
