"""Arrays that end or begin at a page which may not be touched: a stray read or write ends the process."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np

_PAGE = mmap.PAGESIZE
_NO_ACCESS = 0


class Guarded:
    """Memory between two forbidden pages; arrays come flush with the end (or the start)."""

    def __init__(self, pages: int = 64) -> None:
        self.size = pages * _PAGE
        self._map = mmap.mmap(-1, self.size + 2 * _PAGE)
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        libc: Any = ctypes.CDLL(None, use_errno=True)
        for at in (self._start, self._start + _PAGE + self.size):
            assert libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(_PAGE), _NO_ACCESS) == 0, ctypes.get_errno()

    def array(self, shape: tuple[int, ...], at_end: bool) -> np.ndarray:
        """Doubles of that shape right against the forbidden page at the end, or at the start."""
        count = int(np.prod(shape))
        assert 8 * count <= self.size
        offset = _PAGE + (self.size - 8 * count if at_end else 0)
        return np.frombuffer(self._map, dtype=np.float64, count=count, offset=offset).reshape(shape)
