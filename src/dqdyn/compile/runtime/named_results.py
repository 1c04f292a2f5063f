"""Named tuples of results, which can be pickled although their classes are made while the program runs."""

from __future__ import annotations

from collections import namedtuple
from functools import lru_cache
from keyword import iskeyword
from typing import Any, cast


@lru_cache(maxsize=256)
def named_results(fields: tuple[str, ...]) -> Any:
    """``make(values)`` of a class of named tuples with these fields; the class itself is ``make.__self__``."""
    kind: Any = cast(Any, namedtuple)("Results", fields)
    kind.__reduce__ = lambda self: (_restored, (fields, tuple(self)))
    kind.__module__ = __name__
    kind.__hash__ = (
        None  # arrays have none, and CPython keeps that of a tuple in a field that emitted code leaves alone
    )
    return kind._make


def _restored(fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return named_results(fields)(values)


def are_fields(names: list[str]) -> bool:
    """Whether names can be those of a named tuple."""
    fit = all(name.isidentifier() and not iskeyword(name) and not name.startswith("_") for name in names)
    return fit and len(set(names)) == len(names) and not {"count", "index"} & set(names)
