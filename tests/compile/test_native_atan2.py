"""Arctangents of batches: within 2 ulp, with all special cases of the C library, for every vector width."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from compile_tools import FUSED, MACHINE, batch_code

from dqdyn.algebra.scalar import atan2
from dqdyn.compile.runtime import compiler
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace import trace
from dqdyn.compile.trace.interpret import interpret

PROGRAM = trace("angle", [("y", 1), ("x", 1)], lambda y, x: ([atan2(y[0], x[0])], (1,)))
WIDTHS = [width for width in (2, 4, 8) if width <= MACHINE.width]
SPECIAL = [0.0, 1.0, math.inf, 5e-324, 1e-310, 1e308, 1.7e308, 1e-300, 0.5, math.tan(math.pi / 8), 1e16]


def points() -> np.ndarray:
    rng = np.random.default_rng(0)
    signed = [*SPECIAL, *(-x for x in SPECIAL), math.nan]
    near = rng.normal(size=(20_000, 2)) * 10.0 ** rng.uniform(-3, 3, (20_000, 2))
    far = rng.normal(size=(5_000, 2)) * 10.0 ** rng.uniform(-150, 150, (5_000, 2))
    return np.concatenate([list(itertools.product(signed, signed)), near, far])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("fma", FUSED)
def test_every_octant_and_special_case(width: int, fma: bool) -> None:
    y, x = (np.ascontiguousarray(column[:, None]) for column in points().T)
    found = np.empty_like(y)
    assert batch_code(PROGRAM, width, fma, True)([y, x], found) == 0
    wanted = np.arctan2(y, x)
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    there = ~np.isnan(wanted)
    assert np.array_equal(np.signbit(found[there]), np.signbit(wanted[there]))
    assert (np.abs(found - wanted)[there] <= 2.0 * np.spacing(np.abs(wanted[there]))).all()


@pytest.mark.parametrize("gaps", [True, False])
def test_stages_in_several_modules_know_the_c_library(gaps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long program is compiled as several modules, each of which has the address of the function."""
    monkeypatch.setenv("DQDYN_CACHE", "0")
    if not gaps:
        monkeypatch.setattr(compiler, "_admits_gaps", lambda: False)

    def many(y: list[Any], x: list[Any]) -> tuple[list[Any], tuple[int, ...]]:
        results = []
        for k in range(40):
            angle = atan2(y[0] + k, x[0])
            for n in range(300):
                angle = angle * y[0] + n
            results.append(angle)
        return results, (40,)

    function = Function(trace("angles", [("y", 1), ("x", 1)], many), contract=False)
    y, x = np.array([0.3]), np.array([-0.7])
    found = function.fast(y, x)
    assert function.native is not None
    assert sum(b"atan2_at" in code for code in function.native.single._objects) > 1
    assert np.array_equal(found, interpret(function.program, [[0.3], [-0.7]]))
