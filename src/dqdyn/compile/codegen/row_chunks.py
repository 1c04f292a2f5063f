"""Chunks of columns in which vectors over states are brought back to rows, so that stores are aligned.

A store that straddles two lines of the caches occupies both: results that begin 16 bytes behind a line took up to 40 %
longer to write. Allocators align to 16 bytes, so an array starts at any of four places in a line, and code is emitted
for two of them: 16 bytes behind a multiple of 32, or at one.

Where rows are an odd number of half lines long, they alternate. Those of even and odd states are cut at different
columns then, at no cost: the first round of a transposition separates them; and what begins half a line further on is
the same, with even and odd states exchanged. Rows of whole lines are cut as if the array began in the first half of a
line. Other rows are cut at halves of a line, which vectors of eight numbers may straddle: a processor that stores 32
bytes at a time takes longer only within a half.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

_HALF = 4  # numbers in half a line of the caches, 32 bytes
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
    return arrays == 1 and width >= _HALF and size > width and size % _STEP == 0


def boundary(size: int, width: int) -> int:
    """Numbers between two boundaries for rows of that size: a vector, or half a line where rows start anywhere."""
    return max(_HALF, width) if size % _HALF == 0 else _HALF


def alternates(size: int, width: int) -> bool:
    """Whether rows of even and odd states start at different halves of a line that is one vector."""
    return boundary(size, width) > _HALF and size % width == _HALF


def chunks(size: int, width: int, is_behind: bool | None = None) -> list[Chunk]:
    """The chunks of a row, in order.

    ``is_behind``: the array starts 16 bytes behind a boundary. If that is None, or makes no difference, the first chunk
    starts with the row.
    """
    if is_behind is None or not has_alignments(size, width, 1):
        return list(_chunks(size, width, 0))
    start = _STEP if is_behind else 0
    even, odd = (-(start + parity * size) % boundary(size, width) for parity in (0, 1))
    if even == odd:
        return list(_chunks(size, width, even))
    pairs = zip_longest(_chunks(size, width, even, 0), _chunks(size, width, odd, 1))
    return [chunk for pair in pairs for chunk in pair if chunk is not None]


def _chunks(size: int, width: int, first: int, parity: int | None = None) -> Iterator[Chunk]:
    """Chunks with borders at the column ``first``, ``width`` after it, and so on."""
    for start in range(first - width if first else 0, size, width):
        yield Chunk(max(0, start), min(size, start + width), parity)
