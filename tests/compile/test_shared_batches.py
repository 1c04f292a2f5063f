"""Batches on several threads: pieces, errors, and threads that outlive a call but not a fork."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.compile import threads
from dqdyn.compile.threads import pieces, share


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 1000, 4096, 100_000, 1_000_003])
@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_pieces_cover_all_rows_once(rows: int, count: int) -> None:
    found = pieces(rows, count)
    assert [start for start, _ in found] == [0, *(end for _, end in found[:-1])][: len(found)]
    assert all(start < end and start % 64 == 0 for start, end in found)
    assert (found[-1][1] if found else 0) == rows
    assert len(found) <= 60 * count


@pytest.mark.parametrize("count", [2, 3, 5])
def test_every_piece_is_worked_on_once(count: int) -> None:
    done = np.zeros(10_000, dtype=int)
    workers = set()

    def work(piece: tuple[int, int]) -> None:
        workers.add(threading.get_ident())
        time.sleep(1e-3)
        done[slice(*piece)] += 1

    share(work, len(done), count)
    assert (done == 1).all()
    assert 1 < len(workers) <= count


def test_threads_stay_for_the_next_call() -> None:
    """A hundred calls one after the other make no hundred threads."""
    living = lambda: {t.ident for t in threading.enumerate() if t.name.startswith("dqdyn")}
    before, seen = living(), set()
    for _ in range(100):
        share(lambda piece: seen.add(threading.get_ident()), 5000, 2)
    assert len(living() - before) < 20
    assert len(seen) < 20


@pytest.mark.parametrize("where", ["first", "some", "last"])
def test_an_error_is_raised_and_the_rest_left(where: str) -> None:
    cut = pieces(100_000, 2)
    bad = {"first": cut[0], "some": cut[len(cut) // 2], "last": cut[-1]}[where]

    def work(piece: tuple[int, int]) -> None:
        if piece == bad:
            raise IndexError(piece)
        time.sleep(1e-3)

    with pytest.raises(IndexError):
        share(work, 100_000, 2)
    share(lambda piece: None, 100_000, 2)  # and the threads go on


def test_callers_at_a_time_do_not_wait_for_each_other_in_a_circle() -> None:
    robot = dq.robots.arm7()
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 3001, 7))
    f = robot.function("inverse_dynamics")
    expected = f(q, v, a)
    found: list[np.ndarray] = []
    callers = [threading.Thread(target=lambda: found.append(f(q, v, a, threads=3))) for _ in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(timeout=60)
    assert len(found) == 6
    for tau in found:
        np.testing.assert_array_equal(tau, expected)


def test_no_thread_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of the program Python makes none any more: the caller does all the work."""

    class Closed:
        def submit(self, work: object) -> None:
            raise RuntimeError("cannot schedule new futures after interpreter shutdown")

    monkeypatch.setattr(threads, "_pool", Closed())
    done: list[tuple[int, int]] = []
    share(done.append, 1000, 4)
    assert done == pieces(1000, 4)


def _in_child(queue: object) -> None:
    robot = dq.robots.arm7()
    q = np.random.default_rng(1).normal(size=(500, 7))
    queue.put(robot.function("mass_matrix")(q, threads=2).sum())  # type: ignore[attr-defined]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_makes_threads_of_its_own() -> None:
    robot = dq.robots.arm7()
    q = np.random.default_rng(1).normal(size=(500, 7))
    expected = robot.function("mass_matrix")(q, threads=2).sum()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == pytest.approx(expected, rel=1e-14)
    child.join(timeout=60)
    assert child.exitcode == 0
