"""How much work to hand to machine code at once: Python handles no signal before such a call returns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

CALL = 0.01
"""s that one call is to take: Ctrl-C and alarms shall get through each 0.1 s, also where the machine is busy."""

_GROWTH = 8.0  # from one call to the next, so that one lucky measurement does no harm
_ROWS = 1000  # of a batch: on NumPy, where a call takes its time whatever the rows, fewer would only cost


class Pace:
    """Work per call, in units of the caller's choice, adapted to the time that calls were seen to take.

    ``first`` is for the first call, of which nothing is known: better too little than too much.
    """

    def __init__(self, first: float, least: int = 1) -> None:
        self.least = least
        self.amount = max(least, int(first))

    def parts(self, total: int, each: int = 1) -> Iterator[tuple[int, int]]:
        """Ranges (start, end) that make up ``total`` things of ``each`` units; each range is worked on when given."""
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
            found = np.asarray(function(*rows))
            if result is None:
                result = np.empty((n, count, *found.shape[1:]), found.dtype)
            result[i:j, start:end] = found.reshape(j - i, end - start, *found.shape[1:])
        i = j
    assert result is not None
    return result
