"""Greedy deletion: a case is made smaller as long as it fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any


def minimised(case: Any, fails: Callable[[Any], bool], seconds: float = 20.0) -> Any:
    """The smallest case found within the time that still ``fails``."""
    stop = time.monotonic() + seconds
    improved = True
    while improved and time.monotonic() < stop:
        improved = False
        for candidate in smaller(case):
            if time.monotonic() > stop:
                break
            if fails(candidate):
                case, improved = candidate, True
                break
    return case


def smaller(value: Any) -> Iterator[Any]:
    """Smaller values, large steps first: parts left out, then parts made smaller."""
    if isinstance(value, dict):
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
        for key in value:
            for part in smaller(value[key]):
                yield {**value, key: part}
    elif isinstance(value, (list, str)):
        for start, stop in _chunks(len(value)):
            yield value[:start] + value[stop:]
        if isinstance(value, list):
            for i, item in enumerate(value):
                for part in smaller(item):
                    yield [*value[:i], part, *value[i + 1 :]]
    elif isinstance(value, int) and not isinstance(value, bool) and value:
        yield from (0, value // 2) if value > 1 else (0,)


def _chunks(size: int) -> Iterator[tuple[int, int]]:
    step = size
    while step:
        for start in range(0, size, step):
            yield start, min(start + step, size)
        step //= 2
