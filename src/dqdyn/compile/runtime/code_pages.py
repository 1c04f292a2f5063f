"""Machine code in pages that are neighbours in physical memory, on Linux with x86-64.

The innermost cache of instructions of a processor tells lines apart by a few bits made of their physical addresses. Two
pages of a function that happen to agree in these push each other out at every call: of 180 copies of a function of 28
kB, loaded by LLVM, ten took twice to three times as long on a Zen 5, and of 180 in neighbouring pages none. Neighbours
never agree. The kernel gives neighbouring pages where it may give a large one, so code is copied into a large page, of
which the copy then replaces the original at its address.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

_LARGE = 2 << 20  # bytes of a large page of x86-64
_HUGE = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_CODE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) r-xp 0+ 00:00 0\s*$", re.MULTILINE)
"""Memory of a process that holds code and belongs to no file."""
_READ, _WRITE, _EXECUTE = mmap.PROT_READ, mmap.PROT_WRITE, mmap.PROT_EXEC
_PRIVATE, _ADVICE, _MOVE = 0x22, 14, 3  # MAP_PRIVATE | MAP_ANONYMOUS, MADV_HUGEPAGE, MREMAP_MAYMOVE | MREMAP_FIXED
_FAILED = ctypes.c_void_p(-1).value


def bring_together(addresses: Sequence[int]) -> None:
    """Move the code around some addresses, which stays where it is for those who call it, to neighbouring pages.

    Nobody may run it meanwhile. Where that is impossible, nothing happens.
    """
    if not is_supported():
        return
    for start, end in _ranges(addresses):
        if end - start > mmap.PAGESIZE:
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


def _ranges(addresses: Sequence[int]) -> list[tuple[int, int]]:
    """The stretches of memory with code that these addresses are in."""
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    found = ((int(a, 16), int(b, 16)) for a, b in _CODE.findall(maps))
    return [(start, end) for start, end in found if any(start <= address < end for address in addresses)]


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
    if libc.mprotect(copy, size, _READ | _EXECUTE) or libc.mremap(copy, size, size, _MOVE, address) == _FAILED:
        libc.munmap(copy, size)


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
