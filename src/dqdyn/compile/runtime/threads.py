"""Batches on several threads: the standard library's executor around machine code that releases the GIL.

The caller works, too: it takes pieces of the batch like all others, so a thread that cannot be started, wakes up late
or runs on a busy core delays no other. The threads stay for the next batch; the executor ends them with the program.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from dqdyn.errors import StateError

GRAIN = 16
"""Rows that stay together, a multiple of all vector widths."""

WORKERS = max(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
"""Threads that help callers, for all batches at a time: more threads than cores would only slow each other down."""

_SPIN = 5e-4  # s for which a caller polls for the last piece before it sleeps
_SHARES, _LAST = 2, 16  # per thread: shares of the remaining rows, and of all rows in the last, shortest pieces


def whole(threads: Any) -> int:
    """The requested number of threads; an error where it is not a positive whole number."""
    if isinstance(threads, (bool, np.bool_)) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise StateError(f"threads must be a whole number from 1; found {threads!r}.", argument="threads")
    return int(threads)


def share(
    code: Callable[[int], list[int]],
    arguments: Sequence[int],
    rows: int,
    threads: int,
    grain: int = GRAIN,
    largest: int | None = None,
    keep: Any = None,
) -> int:
    """The bits that the code answers for some rows, worked on by this thread and up to ``threads − 1`` others.

    ``code(n)`` gives n addresses of ``i64 f(ptr arguments, i64 start, i64 end)``, one per thread; ``arguments`` are
    words that the code understands. A piece is a multiple of ``grain`` rows and has ``largest`` at most, so that Python
    handles signals in between. ``keep`` holds the memory that the words point to.
    """
    count = max(1, min(threads, 1 + WORKERS, -(-rows // grain)))
    codes = code(count)
    batch = _Batch(arguments, rows, count, grain, largest or rows, keep)
    helpers = _helpers(batch, codes[1:])
    try:
        return batch.work(codes[0]) | batch.end(helpers)
    except BaseException:  # an interrupt
        batch.end(helpers)
        raise


class _Batch:
    """The rows of one call that no thread has taken yet."""

    def __init__(
        self, arguments: Sequence[int], rows: int, threads: int, grain: int, largest: int, keep: Any = None
    ) -> None:
        self._words = (ctypes.c_int64 * len(arguments))(*arguments)
        self._next, self._rows = 0, rows
        self._grain, self._shares = grain, _SHARES * threads
        self._largest = max(grain, largest // grain * grain)
        # Each piece costs some microseconds, and takes the GIL twice.
        self._least = self._largest if threads == 1 else max(grain, rows // (_LAST * threads * grain) * grain)
        self._keep = keep  # should the caller be interrupted twice, helpers may outlive its frame
        self._lock = threading.Lock()

    def _piece(self) -> tuple[int, int]:
        """First and last row of the next piece; equal where none are left."""
        with self._lock:
            start = self._next
            share = (self._rows - start) // (self._shares * self._grain) * self._grain
            size = min(max(share, self._least), self._largest)
            self._next = end = min(start + size, self._rows)
        return start, end

    def work(self, code: int) -> int:
        """Work on pieces until there are none left; the bits of all answers."""
        function, answer = _FUNCTION(code), 0
        while True:
            start, end = self._piece()
            if start >= end:
                return answer
            answer |= function(self._words, start, end)

    def end(self, helpers: list[Future[int]]) -> int:
        """Hand out no more pieces and wait for those in progress; the bits of their answers."""
        self._next = self._rows
        answer = 0
        soon = time.perf_counter() + _SPIN
        for helper in helpers:
            if helper.cancel():  # it has not begun
                continue
            while not helper.done() and time.perf_counter() < soon:
                time.sleep(0.0)  # waking up takes longer than the last piece
            answer |= helper.result()
        self._keep = None
        return answer


_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)

_executor = ThreadPoolExecutor(WORKERS, "dqdyn")
_requesting: set[int] = set()  # threads that request helpers from the executor now


def _helpers(batch: _Batch, codes: list[int]) -> list[Future[int]]:
    """Other threads that work on the batch: as many as there are codes, or fewer."""
    helpers: list[Future[int]] = []
    caller = threading.get_ident()
    if caller in _requesting:  # a signal handler: the executor's lock is held by what it has interrupted
        return helpers
    _requesting.add(caller)
    try:
        for code in codes:
            helpers.append(_executor.submit(batch.work, code))
    except RuntimeError:  # no thread can be started, or the program is about to end: fewer helpers suffice
        pass
    finally:
        _requesting.discard(caller)
    return helpers


def _forget() -> None:
    """After a fork the child has none of the threads; nothing here may wait for a lock."""
    global _executor
    _executor = ThreadPoolExecutor(WORKERS, "dqdyn")
    _requesting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
