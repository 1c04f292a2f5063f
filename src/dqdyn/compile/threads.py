"""Pieces of a batch on several threads, which wait for work between calls.

To start a thread takes as long as a thousand states of an arm, and to wake a sleeping one still as long as a hundred.
So workers stay, look out for the next batch for half a millisecond (:mod:`~dqdyn.compile.mailbox`), and only then
sleep. Whoever is free takes the next piece: a thread that wakes up late, or a busy core, delays nobody.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dqdyn.compile import mailbox as m
from dqdyn.errors import StateError

Piece = tuple[int, int]
"""Rows from … to."""

_MOST = 200  # pieces per thread, about
_FEWEST = 64  # rows of a piece, a multiple of all vector widths
_MOST_THREADS = 256
_LOOK_OUT = 5e-4  # s for which a worker looks out for more before it sleeps

_lock = threading.Lock()
_free: list[_Worker] = []  # those without a task
_all: list[_Worker] = []
_closed = False  # at the end of the program


def whole(threads: Any) -> int:
    """How many threads somebody asks for; an error where that is no number of threads."""
    if not isinstance(threads, (int, np.integer)) or threads < 1:
        raise StateError(f"threads must be a whole number from 1; found {threads!r}.", argument="threads")
    return int(threads)


def pieces(rows: int, threads: int) -> list[Piece]:
    """Rows cut at multiples of 64 into pieces, each a part of what is left, so that all threads end together."""
    found, start = [], 0
    least = max(_FEWEST, rows // (_MOST * threads))
    while start < rows:
        size = max(least, (rows - start) // (2 * threads))
        end = min(start + -(-size // _FEWEST) * _FEWEST, rows)
        found.append((start, end))
        start = end
    return found


def share(
    code: Callable[[int], list[int]], arguments: Sequence[int], cut: Sequence[Piece], threads: int, keep: Any = None
) -> list[int]:
    """What the code answers for each piece, worked on by this thread and up to ``threads − 1`` others.

    ``code(n)`` gives n addresses of ``i64 f(ptr arguments, i64 start, i64 end)``, one per thread; ``arguments`` are
    words that the code understands. ``keep`` lives on as long as any thread may use it, whatever happens to the caller.
    """
    codes = code(max(1, min(threads, len(cut), _MOST_THREADS)))
    # All in one array: the job, a task per thread, the arguments, the pieces.
    tasks, given = m.JOB_SIZE, m.JOB_SIZE + m.TASK_SIZE * len(codes)
    table = given + len(arguments)
    words = (ctypes.c_int64 * (table + m.PIECE_SIZE * len(cut)))()
    job = ctypes.addressof(words)
    words[m.COUNT], words[m.TABLE], words[m.ARGUMENTS] = len(cut), job + 8 * table, job + 8 * given
    words[tasks:] = [
        *(word for c in codes for word in (c, job)),
        *arguments,
        *(word for start, end in cut for word in (start, end, 0)),
    ]
    at = [job + 8 * (tasks + m.TASK_SIZE * k) for k in range(len(codes))]
    workers = _reserve(len(codes) - 1)
    try:
        for worker, task in zip(workers, at[1:], strict=False):
            worker.begin(task, (words, keep))
        m.mail().take(at[0])
    finally:
        for worker, task in zip(workers, at[1:], strict=False):
            worker.finish(task)
        with _lock:
            _free.extend(reversed(workers))
    return list(words[table + m.ANSWER :: m.PIECE_SIZE])


class _Worker:
    """A thread and its mailbox."""

    def __init__(self, number: int) -> None:
        # A line of the cache for itself: others write close by.
        self._memory = (ctypes.c_int64 * 24)()
        self._mailbox = ctypes.addressof(self._memory) + -ctypes.addressof(self._memory) % 64
        self._wake = threading.Lock()
        self._wake.acquire()
        self._keep: Any = None
        # More workers than cores would only take time from those that work.
        self._patience = _looks(_LOOK_OUT) if number < _cores() - 1 else 0
        self.thread = threading.Thread(target=self._run, name=f"dqdyn-{number}", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        serve = m.mail().serve
        while serve(self._mailbox, self._patience):
            self._wake.acquire()

    def begin(self, task: int, keep: Any) -> None:
        self._keep = keep
        self._send(task)

    def _send(self, what: int) -> None:
        if m.mail().post(self._mailbox, what) == m.ASLEEP:
            self._wake.release()

    def finish(self, task: int) -> None:
        """Return once the worker does not use the task any more."""
        while not m.mail().finish(self._mailbox, task, _looks(_LOOK_OUT)):
            time.sleep(0.0)  # perhaps it needs this core
        self._keep = None

    def stop(self) -> None:
        self._send(m.STOP)


def _reserve(count: int) -> list[_Worker]:
    """So many workers for this caller alone; fewer at the end of the program, when no more can be had."""
    with _lock:
        found = [_free.pop() for _ in range(min(count, len(_free)))]
        while len(found) < count and len(_all) < _MOST_THREADS and not _closed:
            try:
                worker = _Worker(len(_all))
            except RuntimeError:  # "can't start new thread"
                break
            _all.append(worker)
            found.append(worker)
    return found


_measured: list[float] = []  # s per look into a mailbox


def _looks(seconds: float) -> int:
    """How often a waiting loop looks in this time, about."""
    if not _measured:
        mailbox = ctypes.c_int64(m.BUSY)
        start = time.perf_counter()
        m.mail().finish(ctypes.addressof(mailbox), m.STOP, 1000)
        _measured.append((time.perf_counter() - start) / 1000)
    return int(seconds / _measured[0])


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _stop() -> None:
    """At the end of the program: no thread may be in machine code while memory is taken down."""
    global _closed
    with _lock:
        _closed, workers = True, list(_all)
        _free.clear()
    for worker in workers:
        worker.stop()
    for worker in workers:
        worker.thread.join(timeout=1.0)


def _forget() -> None:
    """After a fork the child has none of the threads."""
    global _lock
    _lock = threading.Lock()
    _all.clear()
    _free.clear()


atexit.register(_stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
