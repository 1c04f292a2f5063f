"""Threads that race for the first use: one compilation each, equal results, no deadlock."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from small_functions import expected, mixed_program

import dqdyn as dq
from dqdyn.compile.runtime import compiler, native
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import trace

THREADS = 8


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Keys of the libraries that are created."""
    keys: list[str] = []
    original = native.Library.__init__

    def counting(self: Any, ir: str, key: str, *width: int) -> None:
        keys.append(key)
        original(self, ir, key, *width)

    monkeypatch.setattr(native.Library, "__init__", counting)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield keys
    sys.setswitchinterval(before)


def at_once(task: Callable[[int], Any]) -> list[Any]:
    """Results of ``task(0…7)``, all started together."""
    gate = threading.Barrier(THREADS, timeout=240)

    def run(index: int) -> Any:
        gate.wait()
        return task(index)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS), timeout=120))


def fresh(index: int = 0) -> Program:
    return trace(f"p{index}", [("x", 2)], lambda x: ([x[0] * x[1] + (1.5 + index), x[0] - x[1]], (2,)))


def test_one_function_is_compiled_once_per_kind_of_call(made: list[str]) -> None:
    f = Function(mixed_program(), contract=False)
    x, y = np.arange(3.0), np.arange(2.0)
    many = np.tile(x, (50, 1))
    results = at_once(lambda i: (f.fast(x, y), f(many, y), f(x, y)))
    assert sorted(key.split()[0] for key in made) == ["batch", "single"]
    for one, batch, slow in results:
        np.testing.assert_array_equal(one, expected(x, y))
        np.testing.assert_array_equal(slow, expected(x, y))
        np.testing.assert_array_equal(batch, expected(many, y))
    assert len({id(f.fast) for _ in range(3)}) == 1


def test_different_functions_compile_side_by_side(made: list[str]) -> None:
    functions = [Function(fresh(i)) for i in range(THREADS)]
    x = np.array([2.0, 3.0])
    results = at_once(lambda i: [functions[(i + k) % THREADS].fast(x) for k in range(THREADS)])
    assert len(made) == len(set(made)) == THREADS
    for i, row in enumerate(results):
        for k, found in enumerate(row):
            np.testing.assert_array_equal(found, [7.5 + (i + k) % THREADS, -1.0])


def test_batches_with_threads_of_their_own(made: list[str]) -> None:
    f = Function(fresh())
    x = np.random.default_rng(0).normal(size=(1000, 2))
    results = at_once(lambda i: f(x, threads=1 + i))
    assert [key.split()[0] for key in made] == ["batch"]
    for found in results:
        np.testing.assert_array_equal(found, results[0])
    np.testing.assert_allclose(results[0][:, 0], x[:, 0] * x[:, 1] + 1.5, rtol=0, atol=1e-14)


def test_robots_trace_and_compile_once(made: list[str]) -> None:
    robot = dq.robots.arm7()
    frame, q = robot.joints[-1].name, robot.neutral()
    results = at_once(lambda i: (robot.twist_jacobian(frame, q), robot.function("pose", frame=frame)(q)))
    assert sorted(key.split()[0] for key in made if not key.startswith("methods")) == ["single", "single"]
    for jacobian, pose in results:
        np.testing.assert_array_equal(jacobian, results[0][0])
        np.testing.assert_array_equal(pose, results[0][1])
    assert len({id(robot.function("pose", frame=frame)) for _ in range(3)}) == 1


def test_a_failure_reaches_every_thread_as_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> bytes:
        raise OSError("no compiler today")

    monkeypatch.setattr(compiler, "_compiled", fail)
    f = Function(fresh())
    x = np.array([2.0, 3.0])
    with pytest.warns(UserWarning, match="no compiler today") as caught:
        results = at_once(lambda i: f.fast(x) if i % 2 else f(np.stack([x, x]))[0])
    assert len(caught) == 1
    for found in results:
        np.testing.assert_array_equal(found, [7.5, -1.0])


STAGES = ["define i64 @stage0() {\n  ret i64 1\n}\n", "define i64 @stage1() {\n  ret i64 2\n}\n"]


@pytest.mark.parametrize("text", ["define i64 @f() {\n  ret i64 0\n}\n", "define nothing"])
def test_threads_have_their_usual_turns_after_a_compilation(text: str) -> None:
    """It shortens them, and sets them back, also where LLVM fails."""
    before = sys.getswitchinterval()
    host = native.machine()
    compilation = compiler.Compilation(host, host.features_for(1))
    for stage in STAGES:
        compilation.add(stage)
    assert sys.getswitchinterval() < before
    if text == "define nothing":
        with pytest.raises(RuntimeError):
            compilation.objects(text)
    else:
        assert len(compilation.objects(text)) == 3
    assert sys.getswitchinterval() == before
