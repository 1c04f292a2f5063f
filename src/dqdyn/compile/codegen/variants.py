"""Variants of the code for a block of rows: for arrays that start in one of two ways, through the caches and past them.

How chunks are cut where an array starts is in :mod:`dqdyn.compile.codegen.row_chunks`. Arrays that start elsewhere than
planned, such as at odd multiples of 8 bytes, are written through the caches, by chunks that are not aligned.
"""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.compile.codegen.result_columns import ResultColumns
from dqdyn.compile.codegen.row_chunks import alternates
from dqdyn.compile.codegen.rows import RowLoop

_LINE = 64  # bytes
_FEWEST = 64  # numbers in a row: the ends of rows, which go through the caches, take longer


@dataclass(frozen=True)
class Variant:
    """Code for an array that starts 16 bytes behind a boundary, or not; of which chunks go past the caches, or not."""

    is_behind: bool | None
    is_past: bool


def may_go_past(rows: RowLoop) -> bool:
    """Whether there is one array, of which all rows start at lines or halves of them if it does."""
    sizes, width = rows.arrays.sizes, rows.width
    return len(sizes) == 1 and 8 * width == _LINE and sizes[0] >= _FEWEST and sizes[0] % (width // 2) == 0


def variants(rows: RowLoop) -> list[Variant]:
    """All variants, in the order of their numbers."""
    ways = (True, False) if rows.has_alignments else (None,)
    return [Variant(way, is_past) for way in ways for is_past in ((False, True) if may_go_past(rows) else (False,))]


def chosen(rows: RowLoop, row: str) -> str:
    """An i64, the number of the variant for the block that begins with a row.

    Whole blocks of rows that start as planned go past the caches if results exceed these.
    """
    body, number = rows.body, "0"
    if rows.has_alignments:
        number = body.op(f"zext i1 {rows.is_aligned()} to i64")
    if not may_go_past(rows):
        return number
    is_whole = body.op(f"icmp ule i64 {body.op(f'add i64 {row}, {rows.width - 1}')}, %last")
    # Rows of whole lines are cut as if the array began in the first half of one.
    misplaced = 15 if alternates(rows.arrays.sizes[0], rows.width) else 15 + 32
    rest = body.op(f"and i64 {body.op('ptrtoint ptr %out to i64')}, {misplaced}")
    goes_past = body.op(f"and i1 {is_whole}, {body.op(f'icmp eq i64 {rest}, 0')}")
    goes_past = body.op(f"and i1 {goes_past}, {ResultColumns.beyond(rows)}")
    return body.op(f"add i64 {body.op(f'shl i64 {number}, 1')}, {body.op(f'zext i1 {goes_past} to i64')}")
