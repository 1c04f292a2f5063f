"""Batches on several threads: pieces, copies of code, and threads that outlive a call but no fork and no program."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter
from typing import Any
from unittest import mock

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.compile.runtime import threads
from dqdyn.compile.runtime.native import Library
from dqdyn.compile.runtime.threads import share

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
        if rows > 100 and count > 1:  # some piece begins beyond row 64 then, however few there are
            assert answer == 3


def test_threads_stay_for_the_next_call(work: Library) -> None:
    """A hundred calls one after the other make no more threads than there are cores, and none of them ends."""
    seen: set[int] = set()
    for k in range(100):
        assert (counted(work, 5000, 3)[0] == 1).all()
        own = {t.ident for t in threading.enumerate() if t.name.startswith("dqdyn")}
        assert seen <= own
        seen = {t for t in own if t is not None}
        if k % 10 == 0:
            time.sleep(2e-3)
    assert 1 <= len(seen) <= threads.WORKERS


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
        caller.join(timeout=240)
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


def test_no_thread_is_needed(work: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where none can be started the caller does all the work."""

    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "_executor", threads.ThreadPoolExecutor(2))
    monkeypatch.setattr(threading.Thread, "start", refused)
    for _ in range(3):
        assert (counted(work, 5000, 4)[0] == 1).all()


def test_arrays_are_let_go_of_where_no_thread_starts(work: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits in the executor for ever holds no memory of a batch."""

    class Memory:
        """Stands for arrays."""

    monkeypatch.setattr(threads, "_executor", threads.ThreadPoolExecutor(2))
    monkeypatch.setattr(threading.Thread, "start", lambda self: None)
    ones, memory = np.zeros(100, dtype=np.int64), Memory()
    gone = weakref.ref(memory)
    share(lambda n: work.addresses("work", n), [ones.ctypes.data, 0], 100, 4, keep=memory)
    del memory
    assert (ones == 1).all()
    assert gone() is None


@pytest.mark.parametrize("threads_", [1, 2])
def test_large_batches_come_in_pieces(work: Library, threads_: int) -> None:
    """No piece is larger than asked for, so that signals get through in between."""
    sizes: list[int] = []
    ones = np.zeros(1000, dtype=np.int64)

    def noted(batch: Any) -> tuple[int, int]:
        start, end = original(batch)
        sizes.append(end - start)
        return start, end

    original = threads._Batch._piece
    with mock.patch.object(threads._Batch, "_piece", noted):
        share(lambda n: work.addresses("work", n), [ones.ctypes.data, 0], 1000, threads_, largest=100)
    assert (ones == 1).all()
    assert max(sizes) == (96 if threads_ == 1 else max(sizes)) <= 96  # a multiple of 16
    assert sum(sizes) == 1000


def test_an_interrupt_waits_for_the_threads_that_still_work(work: Library) -> None:
    """Their memory must be there until they are done; no more pieces are given out."""
    ones = np.zeros(640, dtype=np.int64)
    asked: Counter[int] = Counter()
    original, caller = threads._Batch._piece, threading.get_ident()

    def interrupted(batch: Any) -> tuple[int, int]:
        asked[threading.get_ident()] += 1
        if asked[threading.get_ident()] == 2:
            if threading.get_ident() == caller:
                raise KeyboardInterrupt
            patience = time.monotonic() + 20  # the other thread shall not finish alone, however late the caller is
            while batch._next < batch._rows and time.monotonic() < patience:
                time.sleep(1e-3)
        return original(batch)

    with mock.patch.object(threads._Batch, "_piece", interrupted), pytest.raises(KeyboardInterrupt):
        share(lambda n: work.addresses("work", n), [ones.ctypes.data, 100_000], 640, 2, grain=1)
    done = ones.copy()
    time.sleep(0.05)
    np.testing.assert_array_equal(ones, done)
    assert 0 < ones.sum() < 640
    assert ones.max() == 1


SIGNALS = """
import random, signal
import numpy as np
import dqdyn as dq
robot = dq.robots.arm7()
f, q = robot.function("mass_matrix"), np.zeros((2000, 7))
expected = f(q)
inside = []


def handler(number, frame):
    inside.append((f(q, threads=2) == expected).all())
    signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 5e-4))


signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 1e-4)
from dqdyn.compile.runtime import threads
for k in range(500):
    if k % 2 == 0:
        threads._executor = threads.ThreadPoolExecutor(64, "fresh")  # its threads have to be started
    assert (f(q, threads=2) == expected).all()
signal.signal(signal.SIGALRM, signal.SIG_IGN)
assert inside and all(inside)
print("fine")
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")
def test_signal_handlers_may_call_batches() -> None:
    """Also while what they have interrupted asks the executor for threads."""
    done = subprocess.run([sys.executable, "-c", SIGNALS], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "fine\n"


@pytest.mark.parametrize("wrong", [0, -1, 2**70, -(2**70), 1.0, "2", None, True])
def test_wrong_numbers_of_threads(wrong: Any) -> None:
    f = dq.robots.arm7().function("mass_matrix")
    q = np.zeros((50, 7))
    f(q, threads=2)
    if wrong == 2**70:  # more than anybody has: all that there are
        assert f(q, threads=wrong).shape == (50, 7, 7)
        return
    with pytest.raises(dq.Error, match="threads must be a whole number from 1; found"):
        f(q, threads=wrong)


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


FORK = """
import os, sys, threading, time
import numpy as np
import dqdyn as dq
robot, q = dq.robots.arm7(), np.random.default_rng(1).normal(size=(500, 7))
expected = robot.function("mass_matrix")(q, threads=2)
stop = False


def compile_all_the_time():
    k = 5
    while not stop:
        k += 1
        dq.robots.chain(k).function("inverse_dynamics")


def batches_all_the_time():
    while not stop:
        robot.function("mass_matrix")(q, threads=3)


others = [threading.Thread(target=t) for t in (compile_all_the_time, batches_all_the_time)]
for other in others:
    other.start()
for k in range({forks}):
    time.sleep(0.003 * k)
    child = os.fork()
    if child == 0:
        arm = dq.robots.arm6()
        right = (robot.function("mass_matrix")(q, threads=2) == expected).all()
        os._exit(0 if right and arm.mass_matrix(arm.neutral()).shape == (6, 6) else 1)
    for _ in range(6000):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        time.sleep(0.01)
    else:
        os.kill(child, 9)
        stop = True
        sys.exit("a child hangs")
    assert status == 0, status
stop = True
for other in others:
    other.join()
print("fine")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_children_forked_while_others_compile_and_compute() -> None:
    """They have the locks of threads that they do not have; nothing may wait for one of these."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK.format(forks=12)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "fine\n"


def test_a_caller_may_give_an_empty_tuple_of_keywords() -> None:
    """Python itself gives none at all, but other callers of the C interface may."""
    f = dq.robots.arm7().function("mass_matrix")
    q = np.random.default_rng(0).normal(size=(20, 7))
    expected = f(q)
    call = ctypes.pythonapi.PyObject_Vectorcall
    call.restype = ctypes.py_object
    call.argtypes = [ctypes.py_object, ctypes.POINTER(ctypes.py_object), ctypes.c_size_t, ctypes.py_object]
    np.testing.assert_array_equal(call(f, (ctypes.py_object * 1)(q), 1, ()), expected)
