"""Batches on several threads, which wait for work between calls.

To start a thread takes as long as a thousand states of an arm, and to wake a sleeping one still as long as a thousand.
So workers stay, look out for the next batch for half a millisecond (:mod:`~dqdyn.compile.mailbox`), and only then
sleep. A thread that is done takes what others have left: one that wakes up late, or a busy core, delays nobody. In the
next batch each begins with the same part of the rows, which may still lie in its cache.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from dqdyn.compile import mailbox as m
from dqdyn.errors import CompileWarning, StateError

GRAIN = 16
"""Rows that stay together, a multiple of all vector widths."""

_LOOK_OUT = 5e-4  # s for which a worker looks out for more before it sleeps

_lock = threading.Lock()
_all: list[_Worker] = []


def whole(threads: Any) -> int:
    """How many threads somebody asks for; an error where that is no number of threads."""
    if not isinstance(threads, (int, np.integer)) or threads < 1:
        raise StateError(f"threads must be a whole number from 1; found {threads!r}.", argument="threads")
    return int(threads)


def share(
    code: Callable[[int], list[int]], arguments: Sequence[int], rows: int, threads: int, grain: int = GRAIN
) -> int:
    """The bits that the code answers for some rows, worked on by this thread and up to ``threads − 1`` others.

    ``code(n)`` gives n addresses of ``i64 f(ptr arguments, i64 start, i64 end)``, one per thread; ``arguments`` are
    words that the code understands.
    """
    mail = _mail()
    if mail is None:
        return piece(code(1)[0], arguments, 0, rows)
    words = (ctypes.c_int64 * len(arguments))(*arguments)
    count = max(1, min(threads, m.MOST, -(-rows // grain)))
    codes = (ctypes.c_int64 * count)(*code(count))
    prepare(mail, count)
    return int(mail.share(codes, count, words, rows, grain)) & ~m.GROW


def piece(code: int, arguments: Sequence[int], start: int, end: int) -> int:
    """What the code at this address answers for some rows, on this thread."""
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(code)
    return int(function((ctypes.c_int64 * len(arguments))(*arguments), start, end))


@lru_cache(maxsize=1)
def _mail() -> m.Mail | None:
    """What shares a batch; None, with a warning, where it cannot be had."""
    try:
        return m.mail()
    except Exception as problem:  # whatever LLVM or the loader may raise
        text = f"no threads ({type(problem).__name__}: {problem}); batches run on one of them, more slowly."
        warnings.warn(text, CompileWarning, stacklevel=5)
        return None


def prepare(mail: m.Mail, threads: int) -> None:
    """Have enough workers that are free now for so many threads, the caller among them, if more can be had."""
    with _lock:
        pool = mail.pool
        pool[m.PATIENCE] = int(_LOOK_OUT / _look())
        missing = threads - 1 - sum(worker.state <= m.ASLEEP for worker in _all)
        while missing > 0 and len(_all) < pool[m.LIMIT]:
            try:
                _all.append(_Worker(len(_all)))
            except RuntimeError:  # "can't start new thread"
                pool[m.LIMIT] = len(_all)
            pool[m.COUNT] = len(_all)
            missing -= 1


class _Worker:
    """A thread and its mailbox."""

    def __init__(self, number: int) -> None:
        mail = m.mail()
        self._mailbox = mail.mailboxes + 8 * m.LINE * number
        self._words = (ctypes.c_int64 * m.LINE).from_address(self._mailbox)
        self._words[0], self._words[m.LOCK] = m.IDLE, m.new_lock()
        # More workers than cores would only take time from those that work.
        self._patience = int(_LOOK_OUT / _look()) if number < _cores() - 1 else 0
        self.thread = threading.Thread(target=self._run, name=f"dqdyn-{number}", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        m.mail().serve(self._mailbox, self._patience)

    @property
    def state(self) -> int:
        """What is in its mailbox."""
        return int(self._words[0])

    def stop(self) -> bool:
        """Tell it to end; False where it works for somebody."""
        return bool(m.mail().post(self._mailbox, m.STOP))


@lru_cache(maxsize=1)
def _look() -> float:
    """Seconds that one look into a mailbox takes."""
    spin, word, times, looks = m.mail().spin, ctypes.c_int64(0), [], 2000
    for _ in range(5):  # the least of some: the first one finds cold caches, any may be interrupted
        start = time.perf_counter()
        spin(ctypes.addressof(word), looks)
        times.append((time.perf_counter() - start) / looks)
    return min(times)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _stop() -> None:
    """At the end of the program: no thread may be in machine code while memory is taken down."""
    with _lock:
        if not _all:
            return
        pool = m.mail().pool
        pool[m.COUNT] = pool[m.LIMIT] = 0
    deadline = time.perf_counter() + 1.0
    for worker in _all:
        while not worker.stop() and time.perf_counter() < deadline:
            time.sleep(1e-4)
        worker.thread.join(timeout=max(0.0, deadline - time.perf_counter()))


def _forget() -> None:
    """After a fork the child has none of the threads."""
    global _lock
    _lock = threading.Lock()
    if _all:
        m.mail().pool[m.COUNT] = 0
        _all.clear()


atexit.register(_stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
