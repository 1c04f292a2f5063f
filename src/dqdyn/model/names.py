"""Unused names, and lists of names for messages."""

from __future__ import annotations

from collections.abc import Iterable

SHOWN = 6
"""Names that a message has room for."""


def fresh_name(wanted: str, used: set[str]) -> str:
    """The name, with underscores behind it until it is not in ``used``, where it is noted."""
    while wanted in used:
        wanted += "_"
    used.add(wanted)
    return wanted


def listed(names: Iterable[str], complete: bool = False) -> str:
    """The first few names, or all."""
    names = list(names)
    shown = len(names) if complete else SHOWN
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(repr(name) for name in names[:shown]) + more
