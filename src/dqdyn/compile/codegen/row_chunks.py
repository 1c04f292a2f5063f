"""Chunks of columns in which vectors over states are brought back to rows, so that stores are aligned.

A processor that stores 32 bytes at a time takes longer where a vector straddles them: a batch that is written from 16
bytes behind such a boundary takes a fifth longer. Allocators align to 16 bytes, so an array starts either way, and code
is emitted for both. Where the length of a row is an odd number of 16 bytes, rows alternate. Then those of even and odd
states are cut at different columns, at no cost: the first round of a transposition separates them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

_BOUNDARY = 4  # numbers in 32 bytes
_STEP = 2  # numbers in 16 bytes


@dataclass(frozen=True)
class Chunk:
    """Columns from ``start`` to before ``end``: as many as a vector has lanes, or fewer at the ends of a row.

    With a ``parity``, only for the states of which the number, modulo two, is that.
    """

    start: int
    end: int
    parity: int | None = None


def has_alignments(size: int, width: int, arrays: int) -> bool:
    """Whether chunks depend on how the array starts: rows of ``size`` numbers that follow each other, in one array."""
    return arrays == 1 and width >= _BOUNDARY and size > width and size % _STEP == 0


def chunks(size: int, width: int, is_behind: bool | None = None) -> list[Chunk]:
    """The chunks of a row, in order.

    ``is_behind``: the array starts 16 bytes behind a boundary. If that is None, the first chunk starts with the row.
    """
    if is_behind is None:
        return list(_chunks(size, width, 0))
    even, odd = (_STEP if is_behind ^ (size % _BOUNDARY != 0 and parity == 1) else 0 for parity in (0, 1))
    if even == odd:
        return list(_chunks(size, width, even))
    pairs = zip_longest(_chunks(size, width, even, 0), _chunks(size, width, odd, 1))
    return [chunk for pair in pairs for chunk in pair if chunk is not None]


def _chunks(size: int, width: int, first: int, parity: int | None = None) -> Iterator[Chunk]:
    """Chunks with borders at the column ``first``, ``width`` after it, and so on."""
    for start in range(first - width if first else 0, size, width):
        yield Chunk(max(0, start), min(size, start + width), parity)
