"""Batches on several threads: pieces, copies of code, and threads that outlive a call but no fork and no program."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.compile import mailbox, threads
from dqdyn.compile.function import Function
from dqdyn.compile.native import Library
from dqdyn.compile.threads import share
from dqdyn.compile.trace import trace

WAIT = """
define i64 @work(ptr %arguments, i64 %start, i64 %end) {
entry:
  %ones_word = load i64, ptr %arguments, align 8
  %ones = inttoptr i64 %ones_word to ptr
  %enough_at = getelementptr i64, ptr %arguments, i64 1
  %enough = load i64, ptr %enough_at, align 8
  br label %row
row:
  %i = phi i64 [ %start, %entry ], [ %next, %turned ]
  br label %turn
turn:
  %k = phi i64 [ 0, %row ], [ %more, %turn ]
  %more = add i64 %k, 1
  store volatile i64 %more, ptr %at, align 8
  %again = icmp ult i64 %more, %enough
  br i1 %again, label %turn, label %turned
turned:
  %row_at = getelementptr i64, ptr %ones, i64 %i
  %old = load i64, ptr %row_at, align 8
  %new = add i64 %old, 1
  store i64 %new, ptr %row_at, align 8
  %next = add i64 %i, 1
  %left = icmp ult i64 %next, %end
  br i1 %left, label %row, label %exit
exit:
  %second = icmp uge i64 %start, 64
  %answer = select i1 %second, i64 2, i64 1
  ret i64 %answer
}
""".replace("entry:\n", "entry:\n  %at = alloca i64, align 8\n", 1)
"""Adds one to each of its rows, some turns of an empty loop per row, and answers 1 for a first piece, 2 for others."""


@pytest.fixture(scope="module")
def work() -> Library:
    return Library(WAIT, "a test of threads")


def counted(work: Library, rows: int, count: int, turns: int = 0, grain: int = 16) -> tuple[np.ndarray, int]:
    """How often each row was worked on, and the answers of all pieces together."""
    ones = np.zeros(rows, dtype=np.int64)
    answer = share(lambda n: work.addresses("work", n), [ones.ctypes.data, turns], rows, count, grain)
    return ones, answer


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 63, 64, 65, 1000, 4096, 100_003])
@pytest.mark.parametrize("count", [1, 2, 3, 8, 10_000])
def test_every_row_is_worked_on_once(work: Library, rows: int, count: int) -> None:
    for turns, grain in ((0, 16), (3, 1)):
        done, answer = counted(work, rows, count, turns, grain)
        assert (done == 1).all()
        assert answer & 1
        if rows > 100:  # some piece begins beyond row 64 then, however few there are
            assert answer == 3


def test_threads_stay_for_the_next_call(work: Library) -> None:
    """A hundred calls one after the other, at once and after pauses in which workers fall asleep, make no new ones."""
    counted(work, 1000, 3)
    before = {t.ident for t in threading.enumerate()}
    for k in range(100):
        assert (counted(work, 5000, 3)[0] == 1).all()
        if k % 10 == 0:
            time.sleep(2e-3)
    assert {t.ident for t in threading.enumerate()} == before


def test_workers_fall_asleep(work: Library) -> None:
    counted(work, 5000, 3)
    time.sleep(0.1)
    for _ in range(100):
        if all(worker.state == mailbox.ASLEEP for worker in threads._all):
            break
        time.sleep(0.1)
    else:
        pytest.fail("a worker is awake though there is nothing to do")
    assert (counted(work, 5000, 3)[0] == 1).all()


def test_others_take_part(work: Library) -> None:
    """Where the caller cannot do it all before they wake up, other threads work, too."""
    used = []
    for _ in range(20):  # a busy machine may not let them
        clock = time.thread_time(), time.process_time()
        counted(work, 64, 2, 2_000_000, grain=1)
        own, all_of_us = time.thread_time() - clock[0], time.process_time() - clock[1]
        used.append(all_of_us / own)
        if used[-1] > 1.3:
            break
    assert max(used) > 1.3


def test_callers_at_a_time_do_not_wait_for_each_other_in_a_circle() -> None:
    robot = dq.robots.arm7()
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 3001, 7))
    f = robot.function("inverse_dynamics")
    expected = f(q, v, a)
    found: list[np.ndarray] = []
    callers = [
        threading.Thread(target=lambda: found.extend(f(q, v, a, threads=3) for _ in range(50))) for _ in range(6)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(timeout=60)
    assert len(found) == 300
    for tau in found:
        np.testing.assert_array_equal(tau, expected)


def test_arrays_are_let_go_of() -> None:
    """Workers hold the arrays of a batch while they may use them, and no longer."""
    f = dq.robots.arm7().function("mass_matrix")
    q, out = np.zeros((5000, 7)), np.empty((5000, 7, 7))
    f(q, out=out, threads=2)
    gone = weakref.ref(q), weakref.ref(out)
    del q, out
    gc.collect()
    assert [g() for g in gone] == [None, None]


@pytest.fixture
def _no_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    pool = mailbox.mail().pool
    before = list(pool)
    monkeypatch.setattr(threads, "_all", [])
    monkeypatch.setattr(threading.Thread, "start", refused)
    pool[mailbox.COUNT], pool[mailbox.LIMIT] = 0, mailbox.MOST
    yield
    pool[:] = before


@pytest.mark.usefixtures("_no_thread")
def test_no_thread_is_needed(work: Library) -> None:
    """Where none can be had the caller does all the work."""
    assert (counted(work, 5000, 4)[0] == 1).all()
    assert mailbox.mail().pool[mailbox.LIMIT] == 0  # nobody asks again


def test_threads_that_cannot_be_had(work: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> mailbox.Mail:
        raise OSError("no mail today")

    threads._mail.cache_clear()
    monkeypatch.setattr(mailbox, "mail", fail)
    try:
        with pytest.warns(dq.errors.CompileWarning, match="no threads .OSError: no mail today.; batches run on one"):
            done, answer = counted(work, 1000, 4)
        assert (done == 1).all()
        assert answer == 1
        f = Function(trace("f", [("x", 2)], lambda x: ([x[0] * x[1]], (1,))))
        x = np.random.default_rng(0).normal(size=(500, 2))
        np.testing.assert_array_equal(f(x, threads=3)[:, 0], x[:, 0] * x[:, 1])
    finally:
        threads._mail.cache_clear()


def test_workers_look_out_as_long_as_they_should() -> None:
    """Long enough for the next batch, and not so long that it costs anybody; a look takes some nanoseconds."""
    assert 1e-10 < threads._look() < 1e-6


@pytest.mark.parametrize("order", [("out", "threads"), ("threads", "out")])
@pytest.mark.parametrize("count", [1, 2, 3, 300])
def test_threads_in_machine_code(order: tuple[str, str], count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """When workers and copies of the code are there, a call does not pass through Python; 300 are too many for that."""
    f = dq.robots.arm7().function("inverse_dynamics")
    q, v, a = np.random.default_rng(0).normal(size=(3, 1001, 7))
    expected, out = f(q, v, a), np.empty((1001, 7))
    options = {"out": out, "threads": count}
    f(q, v, a, threads=count)

    def in_python(*_: Any, **__: Any) -> None:
        pytest.fail("the call came to Python")

    if count < 300:
        monkeypatch.setattr(Function, "__call__", in_python)
    for _ in range(3):
        out[...] = np.nan
        found = f(q, v, a, **{name: options[name] for name in order})
        assert found is out
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(f(q, v, a, threads=count), expected)


@pytest.mark.parametrize("wrong", [0, -1, 2**70, -(2**70), 1.0, "2", None])
def test_wrong_numbers_of_threads(wrong: Any) -> None:
    f = dq.robots.arm7().function("mass_matrix")
    q = np.zeros((50, 7))
    f(q, threads=2)
    if wrong == 2**70:  # more than anybody has: all that there are
        assert f(q, threads=wrong).shape == (50, 7, 7)
        return
    with pytest.raises(dq.Error, match="threads must be a whole number from 1; found"):
        f(q, threads=wrong)


def test_callers_at_a_time_get_workers_of_their_own(work: Library) -> None:
    """A caller that finds all workers busy asks for more."""
    counted(work, 64, 2)
    before = len(threads._all)
    long = threading.Thread(target=lambda: counted(work, 64, before + 1, 5_000_000, grain=1))
    long.start()
    time.sleep(0.01)
    assert (counted(work, 64, 2)[0] == 1).all()
    long.join(timeout=60)
    assert before <= len(threads._all) <= before + 1


def test_long_code_is_copied_for_each_core(work: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert len(set(work.addresses("work", 5))) == 1
    library = dq.robots.chain(50).function("inverse_dynamics").__self__.native
    found = library.pieces(7)
    assert len(found) == 7
    assert len(set(found)) == 3
    assert found[:3] == found[3:6]
    with pytest.raises(RuntimeError, match="no symbol 'nothing'"):
        work.addresses("nothing", 2)


PROGRAM = """
import atexit
{registered_first}
import numpy as np
import dqdyn as dq
f, q = dq.robots.arm7().function("mass_matrix"), np.zeros((3000, 7))
print(f(q, threads=3).shape)
"""


@pytest.mark.parametrize("late", [False, True])
def test_a_program_ends_with_workers_awake(late: bool) -> None:
    """Also where a batch comes when they have ended already: what is registered first runs last."""
    first = "atexit.register(lambda: print(f(q, threads=3).shape))" if late else ""
    command = [sys.executable, "-c", PROGRAM.format(registered_first=first)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["(3000, 7, 7)"] * (2 if late else 1)
    assert done.stderr == ""


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


def test_a_caller_may_give_an_empty_tuple_of_keywords() -> None:
    """Python itself gives none at all, but other callers of the C interface may."""
    f = dq.robots.arm7().function("mass_matrix")
    q = np.random.default_rng(0).normal(size=(20, 7))
    expected = f(q)
    call = ctypes.pythonapi.PyObject_Vectorcall
    call.restype = ctypes.py_object
    call.argtypes = [ctypes.py_object, ctypes.POINTER(ctypes.py_object), ctypes.c_size_t, ctypes.py_object]
    np.testing.assert_array_equal(call(f, (ctypes.py_object * 1)(q), 1, ()), expected)
