"""Pieces of a batch on several threads, which wait for work between calls.

To start a thread takes as long as a thousand states of an arm. Whoever is free takes the next piece, so that a thread
that wakes up late, or a busy core, delays nobody.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it takes time to import, and most never need it
    from concurrent.futures import Future, ThreadPoolExecutor

Piece = tuple[int, int]
"""Rows from … to."""

_MOST = 50  # pieces per thread, about
_FEWEST = 64  # rows of a piece, a multiple of all vector widths

_MOST_THREADS = 256

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None


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


def share(work: Callable[[Piece], None], rows: int, threads: int) -> None:
    """``work`` on all pieces, by this thread and up to ``threads − 1`` others; an error of any is raised here."""
    waiting = deque(pieces(rows, threads))

    def take() -> None:
        while True:
            try:
                piece = waiting.popleft()
            except IndexError:  # nothing is left
                return
            try:
                work(piece)
            except BaseException:
                waiting.clear()
                raise

    futures = _helpers(min(threads, len(waiting), _MOST_THREADS) - 1, take)
    try:
        take()
    finally:
        started = [future for future in futures if not future.cancel()]
        problems = [problem for future in started if (problem := future.exception()) is not None]
    if problems:
        raise problems[0]


def _helpers(count: int, take: Callable[[], None]) -> list[Future[None]]:
    """So many threads told to help; none at the end of the program, when no more can be had."""
    global _pool
    with _lock:
        if _pool is None:
            from concurrent.futures import ThreadPoolExecutor

            _pool = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="dqdyn")  # which are made as they are needed
        try:
            return [_pool.submit(take) for _ in range(count)]
        except RuntimeError:
            return []


def _forget() -> None:
    """After a fork the child has none of the threads."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
