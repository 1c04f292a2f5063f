"""Batches through the built-in function: plain rows go straight to machine code, the rest through Python, alike."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from small_functions import wave

import dqdyn as dq
from dqdyn.compile.codegen import kernels
from dqdyn.compile.runtime import native_code, threads
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace

ROBOT = dq.robots.humanoid()
N = 33


def states(n: int = N) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    q = np.array([ROBOT.random_configuration(rng) for _ in range(n)])
    return q, rng.normal(size=(n, ROBOT.nv)), rng.normal(size=(n, ROBOT.nv))


def warm() -> object:
    """The function after its kernel for batches has been compiled."""
    f = ROBOT.function("inverse_dynamics")
    f(*states(2))
    return f


class Calls:
    """Counts how often Python had to help."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        plain = Function.__call__

        def counted(function: Function, *inputs: object, **options: object) -> np.ndarray:
            self.count += 1
            return plain(function, *inputs, **options)

        monkeypatch.setattr(Function, "__call__", counted)


def test_rows_without_gaps_need_no_python(monkeypatch: pytest.MonkeyPatch) -> None:
    f = warm()
    calls = Calls(monkeypatch)
    q, v, a = states()
    expected = np.array([f(*row) for row in zip(q, v, a, strict=True)])
    found = f(q, v, a)
    out = np.full((N, ROBOT.nv), np.nan)
    assert f(q, v, a, out=out) is out
    assert calls.count == 0
    assert found.shape == (N, ROBOT.nv)
    scale = np.abs(expected).max()
    assert np.abs(found - expected).max() <= 1e-12 * scale
    np.testing.assert_array_equal(out, found)


@pytest.mark.parametrize("odd", ["strided", "integers", "list", "three axes", "one row for all", "none", "threads"])
def test_anything_else_gives_the_same(odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    f = warm()
    q, v, a = states()
    expected = f(q, v, a)
    calls = Calls(monkeypatch)
    if odd == "strided":
        found = f(np.repeat(q, 2, axis=0)[::2], v, a)
    elif odd == "integers":
        found = f(q, v, np.zeros(a.shape, dtype=int))
        expected = f(q, v, np.zeros(a.shape))
    elif odd == "list":
        found = f(q.tolist(), v, a)
    elif odd == "three axes":
        found = f(q[:32].reshape(4, 8, -1), v[:32].reshape(4, 8, -1), a[:32].reshape(4, 8, -1)).reshape(32, -1)
        expected = expected[:32]
    elif odd == "one row for all":
        found = f(q, v, a[0])
        expected = f(q, v, np.repeat(a[:1], N, axis=0))
    elif odd == "none":
        found, expected = f(q[:0], v[:0], a[:0]), np.empty((0, ROBOT.nv))
    else:
        found = f(q, v, a, threads=2)
    assert calls.count >= 1
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max(initial=1.0))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("row", [0, 7, N - 1])
def test_unfit_rows_are_refused_by_name(row: int, threads: int) -> None:
    f = warm()
    options = {"threads": threads} if threads > 1 else {}
    for bad in (np.nan, np.inf, -np.inf):
        q, v, a = states()
        v[row, 9] = bad
        with pytest.raises(dq.Error, match=rf"v\[9\].*at row {row}"):
            f(q, v, a, **options)
        spoiled = f(q, v, a, check=False, **options)
        assert np.isnan(spoiled[row]).any()
        others = np.arange(N) != row
        assert np.isfinite(spoiled[others]).all()
    q, v, a = states()
    q[row, :4] *= 1.001
    with pytest.raises(dq.Error, match=r"unit|norm"):
        f(q, v, a, **options)
    q[row, :4] /= 1.001
    q[row, :4] *= 1.0 + 4e-7  # inside the tolerance
    assert np.isfinite(f(q, v, a, **options)).all()


def test_huge_angles_take_the_batch_to_the_interpreter() -> None:
    f = warm()
    q, v, a = states()
    q[3, 8] = 1e17
    found = f(q, v, a)
    one = f(q[3], v[3], a[3])
    np.testing.assert_allclose(found[3], one, rtol=1e-9, atol=1e-9)


def test_out_may_be_an_input() -> None:
    f = warm()
    q, v, a = states()
    expected = f(q, v, a)
    assert f(q, v, a, out=a) is a
    np.testing.assert_allclose(a, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_wrong_out_is_refused_and_left_alone() -> None:
    f = warm()
    q, v, a = states()
    for out in (np.ones((N, ROBOT.nv + 1)), np.ones((N - 1, ROBOT.nv)), np.ones((N, ROBOT.nv), dtype=np.float32)):
        with pytest.raises(dq.Error, match="out"):
            f(q, v, a, out=out)
        assert (out == 1.0).all()


def test_a_number_beside_rows() -> None:
    q, v, _ = states()
    f = ROBOT.function("integrate")
    f(q[:2], v[:2], 0.1)
    expected = np.array([f(q[i], v[i], 0.25) for i in range(N)])
    np.testing.assert_allclose(f(q, v, 0.25), expected, rtol=0, atol=1e-14)


def test_other_threads_run_meanwhile() -> None:
    """The kernel lets go of the interpreter: a second thread gets on while the first one computes."""
    f = trace_heavy()
    x = np.random.default_rng(0).normal(size=(200_000, 4))
    f(x[:2])
    ticks: list[float] = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(1e-4)

    thread = threading.Thread(target=tick)
    thread.start()
    inside = 0
    try:
        for _ in range(300):  # a busy machine may not let the other thread run for a while
            start = time.perf_counter()
            f(x)
            end = time.perf_counter()
            third = (end - start) / 3.0
            # With the interpreter held, nothing would run in the middle of a call.
            inside += any(start + third < t < end - third for t in list(ticks))
            ticks.clear()
            if inside > 3:
                break
    finally:
        stop.set()
        thread.join()
    assert inside > 3


def trace_heavy() -> object:
    from dqdyn.algebra.scalar import sin

    def slow(x: list) -> tuple[list, tuple[int]]:
        y = list(x)
        for _ in range(12):
            y = [sin(c + d) for c, d in zip(y, y[1:] + y[:1], strict=True)]
        return y, (len(y),)

    return Function(trace("slow", [("x", 4)], slow)).fast


def test_giant_programs_run_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors of states would take too much stack; the answers and the refusals are the same."""
    q, v, a = states()
    expected = ROBOT.inverse_dynamics(q, v, a)
    monkeypatch.setattr(kernels, "_GIANT", 10)
    monkeypatch.setenv("DQDYN_CACHE", "0")  # there the kernel with vectors may lie
    function = ROBOT._functions.get(*ROBOT._functions.named("inverse_dynamics", {}))
    f = Function(function.program, function.convert, units=function.native.units)
    scale = np.abs(expected).max()
    assert np.abs(f(q, v, a) - expected).max() <= 1e-12 * scale
    assert f.native.batch.address("batch_row")
    assert np.abs(f.fast(q, v, a) - expected).max() <= 1e-12 * scale
    v[4, 2] = np.inf
    with pytest.raises(dq.Error, match=r"v\[2\].*at row 4"):
        f.fast(q, v, a)
    v[4, 2] = 0.0
    q[5, :4] *= 1.01
    with pytest.raises(dq.Error, match="norm"):
        f.fast(q, v, a)


@pytest.mark.parametrize("count", [1, 2])
def test_very_large_batches_come_in_pieces(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call of machine code is short, so that signals get through; the answers and the refusals are the same."""
    f = dq.robots.arm7().function("inverse_dynamics")
    q, v, a = np.random.default_rng(0).normal(size=(3, 5003, 7))
    expected = f(q, v, a)
    monkeypatch.setattr(native_code, "_UNINTERRUPTED", 100_000)  # operations: some hundred rows
    cut = dq.robots.arm7().function("inverse_dynamics")
    assert 16 < cut.__self__.native.largest < 1000
    cut(q[:20], v[:20], a[:20])
    pieces: list[tuple[int, int]] = []
    piece = threads._Batch._piece

    def noted(batch: threads._Batch) -> tuple[int, int]:
        pieces.append(piece(batch))
        return pieces[-1]

    monkeypatch.setattr(threads._Batch, "_piece", noted)
    np.testing.assert_array_equal(cut(q, v, a, threads=count), expected)
    assert max(end - start for start, end in pieces) <= cut.__self__.native.largest
    assert sum(end - start for start, end in pieces) == 5003
    q[4000, 3], out = np.nan, np.empty((5003, 7))
    with pytest.raises(dq.StateError, match="4000"):
        cut(q, v, a, threads=count, out=out)
    huge = np.where(np.arange(5003)[:, None] % 1000 == 7, 1e18, 0.1) * np.ones(4)
    np.testing.assert_array_equal(Function(wave().program).fast(huge, threads=count)[7, :, 0], np.sin(huge[7]))
