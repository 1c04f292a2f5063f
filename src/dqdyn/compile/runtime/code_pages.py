"""Machine code in pages that are neighbours in physical memory, on Linux with x86-64.

The innermost cache of instructions of a processor seems to tell lines apart by a few bits made of their physical
addresses. Two pages of a function that happen to agree in these push each other out at every call: of 660 copies of a
function of 28 kB, loaded by LLVM, 26 took up to three times as long on a Zen 5; of 660 in neighbouring pages 8 did, on
a virtual machine, whose neighbours may be far apart in the memory of its host. The kernel gives neighbouring pages
where it may give a large one, so code is copied into a large page, of which the copy then replaces the original at its
address.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

_LARGE = 2 << 20  # bytes of a large page of x86-64
_HUGE = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_READ, _WRITE, _EXECUTE = mmap.PROT_READ, mmap.PROT_WRITE, mmap.PROT_EXEC
_PRIVATE, _FIXED = 0x22, 0x10  # MAP_PRIVATE | MAP_ANONYMOUS, MAP_FIXED
_ADVICE, _MOVE = 14, 3  # MADV_HUGEPAGE, MREMAP_MAYMOVE | MREMAP_FIXED
_FAILED = ctypes.c_void_p(-1).value


def bring_together(ranges: Sequence[tuple[int, int]]) -> None:
    """Move the pages of some ranges of code to neighbouring ones; for those who call it, it stays where it is.

    Nobody may run it meanwhile. Where that is impossible, nothing happens.
    """
    if not is_supported():
        return
    for first, last in ranges:
        start, end = first & -mmap.PAGESIZE, (last & -mmap.PAGESIZE) + mmap.PAGESIZE
        if mmap.PAGESIZE < end - start < _LARGE:
            _move(start, end - start)


@lru_cache(maxsize=1)
def is_supported() -> bool:
    """Whether this system has large pages for those who ask for them."""
    if not sys.platform.startswith("linux") or platform.machine() not in ("x86_64", "AMD64"):
        return False
    try:
        return "[never]" not in _HUGE.read_text(encoding="ascii") and _libc() is not None
    except OSError:
        return False


class _Arena:
    """What is left of a large page, from ``start`` on; it belongs to the process ``owner``, and a child has its own."""

    def __init__(self) -> None:
        self.start = self.left = self.owner = 0

    def take(self, size: int) -> int | None:
        """The address of memory to write to; None where there is none."""
        if self.left < size or self.owner != os.getpid():
            self._renew(-(-size // _LARGE) * _LARGE)
        if self.left < size:
            return None
        self.start, self.left = self.start + size, self.left - size
        return self.start - size

    def _renew(self, size: int) -> None:
        libc = _libc()
        if self.left and self.owner == os.getpid():
            libc.munmap(self.start, self.left)
        self.start = self.left = 0
        memory = libc.mmap(None, size + _LARGE, _READ | _WRITE, _PRIVATE, -1, 0)
        if memory == _FAILED:
            return
        start = -(-memory // _LARGE) * _LARGE
        for rest, length in ((memory, start - memory), (start + size, memory + _LARGE - start)):
            if length:
                libc.munmap(rest, length)
        libc.madvise(start, size, _ADVICE)
        self.start, self.left, self.owner = start, size, os.getpid()


_ARENA = _Arena()


def _move(address: int, size: int) -> None:
    """Replace memory by a copy of it in a large page."""
    libc, copy = _libc(), _ARENA.take(size)
    if copy is None:
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
