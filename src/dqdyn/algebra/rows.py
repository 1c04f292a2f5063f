"""Which row of a batch is at fault, for messages and the data of errors."""

from __future__ import annotations

from typing import Any

import numpy as np

Row = tuple[int, ...]
"""Index of one element of a batch; () where there is no batch."""


def first_row(bad: Any) -> Row | None:
    """Index of the first True, () for a single one, or None."""
    return tuple(int(i) for i in np.argwhere(bad)[0]) if np.any(bad) else None


def row_number(row: Row) -> int | Row | None:
    """The row as users count: one number where the batch has one axis, None where there is no batch."""
    return None if not row else row[0] if len(row) == 1 else row


def at_row(row: Row, before: str = " at row ") -> str:
    """The row in words; nothing where there is no batch."""
    return f"{before}{row_number(row)}" if row else ""


def at_state(row: Row) -> str:
    """The configuration of a row in words."""
    return at_row(row, "the q of state ") or "this q"
