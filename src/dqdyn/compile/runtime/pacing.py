"""How much work to give machine code at once: Python handles no signal before such a call returns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

CALL = 0.01
"""s that one call should take: Ctrl-C and alarms are to be handled within 0.1 s, even on a busy machine."""

_GROWTH = 8.0  # from one call to the next, so that one lucky measurement does no harm
_ROWS = 1000  # of a batch: fewer would only add overhead on NumPy, where a call has a fixed cost


class Pace:
    """Work per call, in units of the caller's choice, adapted to the time that calls were seen to take.

    ``first`` is for the first call, before any measurement: better too little than too much.
    """

    def __init__(self, first: float, least: int = 1) -> None:
        self.least = least
        self.amount = max(least, int(first))

    def parts(self, total: int, each: int = 1) -> Iterator[tuple[int, int]]:
        """Ranges (start, end) of ``total`` items of ``each`` units; the work on a range sets the length of the next."""
        start = 0
        while start < total:
            end = min(total, start + max(1, self.amount // each))
            begin = time.perf_counter()
            yield start, end
            faster = CALL / max(time.perf_counter() - begin, 1e-9)
            possible = max(self.least, int((end - start) * each * min(faster, _GROWTH)))
            self.amount = possible if faster < 1.0 else max(self.amount, possible)
            start = end


def in_parts(function: Callable[..., np.ndarray], *arrays: np.ndarray) -> np.ndarray:
    """``function`` of arrays (n, B, …) as (n, B, …), some rows at a time; it is called with arrays (rows, …)."""
    n, count = np.broadcast_shapes(*(a.shape[:2] for a in arrays))
    whole = [np.broadcast_to(a, (n, count, *a.shape[2:])) for a in arrays]
    pace, result, i = Pace(_ROWS, _ROWS), None, 0
    while i < n:
        j = min(n, i + max(1, pace.amount // count))
        for start, end in pace.parts(count, j - i):
            rows = [a[i:j, start:end].reshape(-1, *a.shape[2:]) for a in whole]
            values = np.asarray(function(*rows))
            if result is None:
                result = np.empty((n, count, *values.shape[1:]), values.dtype)
            result[i:j, start:end] = values.reshape(j - i, end - start, *values.shape[1:])
        i = j
    assert result is not None
    return result
