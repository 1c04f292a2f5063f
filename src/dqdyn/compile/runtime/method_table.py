"""Where the methods of an object find its compiled functions: a dictionary, and what each of them found there last.

A row per method holds the keys of its last call (two frames and an option, as far as it has them) and the function
that was found. Methods whose arguments are the same objects again need not look them up. Entries of the dictionary are
only ever added, so that a row stays right as long as the dictionary exists, with which it dies.
"""

from __future__ import annotations

import ctypes
import itertools
from functools import lru_cache
from typing import Any

from dqdyn.compile.runtime import python_abi as abi

KEYS = 3
"""Keys in a row; the function is behind them."""
ROW = 8 * (KEYS + 1)
"""Bytes of a row."""
RECENT = dict.__basicsize__
"""Where a table has its rows: in a list, which the garbage collector looks into."""
ITEMS = abi.HEADER + 8
"""Where a list has the address of its first item's reference."""
_CAPACITY = 128  # methods; a class with more would be a mistake
_numbers = itertools.count()


def next_row() -> int:
    """Where the row of another method starts."""
    number = next(_numbers)
    assert number < _CAPACITY, "there are more compiled methods than rows of a table"
    return ROW * number


class MethodTable(dict[str, Any]):
    """Compiled functions by name, then by frames, then by the one option that a method may have."""

    __slots__ = ("recent",)
    recent: list[Any]

    def __init__(self) -> None:
        super().__init__()
        if _rows_can_be_kept():
            self.recent = [None] * (_CAPACITY * (KEYS + 1))


@lru_cache(maxsize=1)
def _rows_can_be_kept() -> bool:
    """Not so in free-threaded builds, where others might read a row while it changes."""
    if not abi.references_are_counted():
        return False
    probe = dict.__new__(MethodTable)
    probe.recent = [probe, None, abi]
    if _word(id(probe) + RECENT) != id(probe.recent):
        return False
    first = _word(id(probe.recent) + ITEMS)
    return first is not None and [_word(first + 8 * i) for i in range(3)] == [id(item) for item in probe.recent]


def _word(address: int) -> int | None:
    return ctypes.c_void_p.from_address(address).value
