"""A small program whose code goes through the cache, and whether it came from there."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace

PROGRAM = trace("tiny", [("x", 2)], lambda x: ([x[0] * x[1] + 0.25, x[0] - x[1]], (2,)))
X, RESULT = np.array([3.0, 5.0]), np.array([15.25, -2.0])


def used_cache() -> bool:
    """Make the function, check its results, say whether its code came from the cache."""
    function = Function(PROGRAM)
    np.testing.assert_array_equal(function.fast(X), RESULT)
    assert function.native is not None
    return bool(function.native.single.from_cache)


def entry(folder: Path) -> Path:
    (found,) = folder.glob("*.o")
    return found
