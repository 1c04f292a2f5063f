"""Functions made, compiled or loaded, used and dropped by the thousand leave no memory behind."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import numpy as np
import pytest
from compile_tools import own_size

from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def make_and_drop(numbers: range) -> None:
    """One program per number, compiled or loaded, called by both paths, and dropped."""
    x, rows = np.array([2.0, 3.0]), np.tile([2.0, 3.0], (3, 1))
    for k in numbers:
        function = Function(trace("tiny", [("x", 2)], lambda x, k=k: ([x[0] * x[1] + (0.1 + k)], (1,))))
        assert abs(function.fast(x)[0] - (6.1 + k)) < 1e-9
        if k % 10 == 0:
            assert function(rows).shape == (3, 1)
        del function
    gc.collect()


def growth(rounds: int, cached: bool) -> int:
    """Bytes that the process grows by in that many rounds, after some to warm up."""
    make_and_drop(range(100))
    before = own_size()
    for part in range(rounds // 100):
        make_and_drop(range(100) if cached else range(1000 + 100 * part, 1100 + 100 * part))
    return own_size() - before


@pytest.mark.parametrize(("rounds", "cached"), [(200, False), (1000, True)])
@pytest.mark.long
def test_functions_leave_no_memory_behind(
    rounds: int, cached: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A leaked engine takes some 100 kB; what stays per function is a definition of a few hundred bytes."""
    if cached:
        monkeypatch.setenv("DQDYN_CACHE", "1")
        monkeypatch.setenv("DQDYN_CACHE_DIR", str(tmp_path / "cache"))
    assert growth(rounds, cached) < 5_000 * rounds
