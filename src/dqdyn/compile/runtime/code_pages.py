"""Machine code in pages that do not push each other out of the caches, on Linux with x86-64.

The cache of instructions of a processor tells lines apart by a few bits made of their physical addresses. Two pages
that agree in these cannot be in it together: on a Zen 5, one pair of some 650 is executed twenty times as long. Code of
six pages has such a pair in one process of forty, code of twenty in one of four, and takes up to three times as long
there. What the bits are made of is not known, and a virtual machine does not see physical addresses. So each page that
is to get code is executed in turns with those before it, filled with jumps from line to line; where that takes long,
another page is taken. Pages come two megabytes at a time, and copies of the code in them replace the original at its
address.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import sys
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

_LARGE = 2 << 20  # bytes of a large page of x86-64, which costs less to get than many small ones
_READ, _WRITE, _EXECUTE = 1, 2, 4  # PROT_READ, PROT_WRITE, PROT_EXEC, which the module mmap lacks on Windows
_PRIVATE, _FIXED = 0x22, 0x10  # MAP_PRIVATE | MAP_ANONYMOUS, MAP_FIXED
_ADVICE, _MOVE = 14, 3  # MADV_HUGEPAGE, MREMAP_MAYMOVE | MREMAP_FIXED
_FAILED = ctypes.c_void_p(-1).value
_PAGE = mmap.PAGESIZE
_LINE = 64  # bytes
_TOGETHER = 16  # pages that are in the cache at the same time, or in that of decoded instructions
_TURNS = 16  # through two pages, in about a microsecond
_SLOW = 4  # times as long as through one and the same page
_TRIES = 3  # of a test, before it is believed that pages push each other out
_MOST_LEFT_OUT = 8  # pages in a row; more than that is not chance, and does not help

# From line to line of a page, and back to the caller.
_JUMPS = b"".join([*[b"\xeb\x3e".ljust(_LINE, b"\x90")] * (_PAGE // _LINE - 1), b"\xc3".ljust(_LINE, b"\x90")])
# void turns(page, other, count): calls both, so many times.
_CALLS = bytes.fromhex("53 4154 4155 4889fb 4989f4 4189d5 ffd3 41ffd4 41ffcd 75f6 415d 415c 5b c3")


def bring_together(ranges: Sequence[tuple[int, int]]) -> None:
    """Move some ranges of code to pages that bear each other; for those who call it, it stays where it is.

    Nobody may run it meanwhile. Where that is impossible, nothing happens.
    """
    if not is_supported():
        return
    places: list[int] = []
    for first, last in ranges:
        start, end = first & -_PAGE, (last & -_PAGE) + _PAGE
        if _PAGE < end - start < _LARGE:
            places += range(start, end, _PAGE)
    pages: list[int] = []
    for _ in places:
        page = _ARENA.page(pages[-_TOGETHER:])
        if page is None:
            break
        pages.append(page)
    first = 0
    for k in range(1, len(pages) + 1):
        if k == len(pages) or (places[k] - places[k - 1], pages[k] - pages[k - 1]) != (_PAGE, _PAGE):
            _move(places[first], pages[first], (k - first) * _PAGE)
            first = k


@lru_cache(maxsize=1)
def is_supported() -> bool:
    """Whether this is a system on which pages of code are moved."""
    is_linux = sys.platform.startswith("linux") and platform.machine() in ("x86_64", "AMD64")
    return is_linux and _libc() is not None


class _Arena:
    """Pages for code, from ``start`` on; they belong to the process ``owner``, and a child has its own.

    All of it is executable and full of jumps, but for the first page, which calls the others.
    """

    def __init__(self) -> None:
        self.start = self.left = self.owner = self._first = 0
        self._turns: Any = None
        self._usual = 0  # ns that pages which bear each other take

    def page(self, before: Sequence[int]) -> int | None:
        """A page that none of those in ``before`` pushes out; None where there is no memory."""
        for attempt in range(_MOST_LEFT_OUT):
            if self.left < _PAGE or self.owner != os.getpid():
                self._renew()
            if self.left < _PAGE:
                return None
            self.start, self.left = self.start + _PAGE, self.left - _PAGE
            page = self.start - _PAGE
            if attempt == _MOST_LEFT_OUT - 1 or not any(self._push_out(page, other) for other in before):
                return page
            _libc().munmap(page, _PAGE)
        return None

    def _push_out(self, page: int, other: int) -> bool:
        return all(self._time(page, other) > _SLOW * self._usual for _ in range(_TRIES))

    def _time(self, page: int, other: int) -> int:
        start = time.perf_counter_ns()
        self._turns(page, other, _TURNS)
        return time.perf_counter_ns() - start

    def _renew(self) -> None:
        libc = _libc()
        if self.owner == os.getpid():
            for start, size in ((self._first, _PAGE), (self.start, self.left)):
                if size:
                    libc.munmap(start, size)
        self.start = self.left = self.owner = 0
        memory = libc.mmap(None, 2 * _LARGE, _READ | _WRITE, _PRIVATE, -1, 0)
        if memory == _FAILED:
            return
        start = -(-memory // _LARGE) * _LARGE
        for rest, length in ((memory, start - memory), (start + _LARGE, memory + _LARGE - start)):
            if length:
                libc.munmap(rest, length)
        libc.madvise(start, _LARGE, _ADVICE)
        ctypes.memmove(start, _CALLS.ljust(_PAGE, b"\x90") + _JUMPS * (_LARGE // _PAGE - 1), _LARGE)
        if libc.mprotect(start, _LARGE, _READ | _EXECUTE):
            libc.munmap(start, _LARGE)
            return
        self._first, self.start, self.left, self.owner = start, start + _PAGE, _LARGE - _PAGE, os.getpid()
        self._turns = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(start)
        self._usual = min(self._time(self.start, self.start) for _ in range(5))


_ARENA = _Arena()


def _move(address: int, copy: int, size: int) -> None:
    """Replace memory by a copy of it in other pages."""
    libc = _libc()
    if libc.mprotect(copy, size, _READ | _WRITE):
        libc.munmap(copy, size)
        return
    ctypes.memmove(copy, address, size)
    if libc.mprotect(copy, size, _READ | _EXECUTE):
        libc.munmap(copy, size)
    elif libc.mremap(copy, size, size, _MOVE, address) == _FAILED:
        _restore(address, copy, size)


def _restore(address: int, copy: int, size: int) -> None:
    """Put a copy where the original was: the kernel may have taken that away before it failed to move the copy."""
    libc = _libc()
    if libc.mmap(address, size, _READ | _WRITE, _PRIVATE | _FIXED, -1, 0) == _FAILED:
        raise MemoryError("there is no memory for compiled code")
    ctypes.memmove(address, copy, size)
    libc.munmap(copy, size)
    if libc.mprotect(address, size, _READ | _EXECUTE):
        raise MemoryError("there is no memory for compiled code")


@lru_cache(maxsize=1)
def _libc() -> Any:
    """The functions of C that give and take memory; None where one is missing."""
    try:
        libc = ctypes.CDLL(None)
        pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        for function, arguments, result in (
            (libc.mmap, (pointer, size, number, number, number, ctypes.c_long), pointer),
            (libc.mremap, (pointer, size, size, number, pointer), pointer),
            (libc.munmap, (pointer, size), number),
            (libc.mprotect, (pointer, size, number), number),
            (libc.madvise, (pointer, size, number), number),
        ):
            function.argtypes, function.restype = arguments, result
    except (AttributeError, OSError):
        return None
    return libc
