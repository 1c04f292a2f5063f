"""Where the methods of an object find its compiled functions: a dictionary, and what each of them found there last.

A row per method holds the keys of its last call (two frames and an option, as far as it has them) and what to call for
them: the address of machine code, and its first argument. Methods whose arguments are the same objects again read
nothing else, one line of the cache. Entries of the dictionary are only ever added, so that a row stays right as long as
the dictionary exists, with which it dies. The references to what stands in rows are kept in a list, beside them.
"""

from __future__ import annotations

import ctypes
import itertools
from functools import lru_cache
from typing import Any

from dqdyn.compile.runtime import python_abi as abi

KEYS = 3
"""Keys in a row; behind them are the address of the code and its first argument."""
ROW = 64
"""Bytes of a row: a line of the cache."""
HELD_ROW = 8 * (KEYS + 1)
"""Bytes in the list for each row: references to the keys and to the function."""
HELD = dict.__basicsize__
"""Where a table has the list, which the garbage collector looks into."""
ROWS = HELD + 8
"""Where it has the rows: in the content of bytes that nobody else sees, from the first full line on."""
ITEMS = abi.HEADER + 8
"""Where a list has the address of its first item's reference."""
CONTENT = bytes.__basicsize__ - 1
"""Where bytes have their content."""
_CAPACITY = 128  # methods; a class with more would be a mistake
_numbers = itertools.count()


def next_row() -> int:
    """The number of another method's row."""
    number = next(_numbers)
    assert number < _CAPACITY, "there are more compiled methods than rows of a table"
    return number


class MethodTable(dict[str, Any]):
    """Compiled functions by name, then by frames, then by the one option that a method may have."""

    __slots__ = ("held", "rows")  # which Python sorts
    held: list[Any]
    rows: bytes

    def __init__(self) -> None:
        super().__init__()
        if _rows_can_be_kept():
            self.held = [None] * (_CAPACITY * (KEYS + 1))
            self.rows = bytes(ROW * (_CAPACITY + 1))


@lru_cache(maxsize=1)
def _rows_can_be_kept() -> bool:
    """Not so in free-threaded builds, where others might read a row while it changes."""
    if not abi.references_are_counted():
        return False
    probe = dict.__new__(MethodTable)
    probe.held, probe.rows = [probe, None, abi], bytes(range(100))
    if [_word(id(probe) + HELD), _word(id(probe) + ROWS)] != [id(probe.held), id(probe.rows)]:
        return False
    if ctypes.string_at(id(probe.rows) + CONTENT, len(probe.rows)) != probe.rows:
        return False
    first = _word(id(probe.held) + ITEMS)
    return first is not None and [_word(first + 8 * i) for i in range(3)] == [id(item) for item in probe.held]


def _word(address: int) -> int | None:
    return ctypes.c_void_p.from_address(address).value
