"""A few small programs as functions, made once for all tests of calls."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from dqdyn.algebra.scalar import cos, sin
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import trace


def mixed(x: list[Any], y: list[Any]) -> tuple[list[Any], tuple[int, ...]]:
    """Six results in two rows of three numbers and a pair."""
    return [x[0] * y[0], x[1] - y[1], x[2] + y[0] * 2.0, x[0] * x[1], y[1] * y[1], x[2] * 0.0 + 4.0], (2, 3)


@cache
def mixed_program() -> Program:
    return trace("mixed", [("x", 3), ("y", 2)], mixed)


@cache
def function(native: bool = True) -> Function:
    """``mixed`` with x (3) and y (2)."""
    return Function(mixed_program(), summary="Six numbers of x and y.", native=native, contract=False)


@cache
def wave(native: bool = True) -> Function:
    """sin and cos of each of four numbers, shape (4, 2)."""
    program = trace("wave", [("x", 4)], lambda x: ([f(a) for a in x for f in (sin, cos)], (4, 2)))
    return Function(program, native=native)


def expected(x: Any, y: Any) -> np.ndarray:
    """What ``mixed`` gives, written in NumPy for any batch."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    x0, x1, x2, y0, y1 = np.broadcast_arrays(*(x[..., i] for i in range(3)), *(y[..., i] for i in range(2)))
    flat = np.stack([x0 * y0, x1 - y1, x2 + y0 * 2.0, x0 * x1, y1 * y1, 0.0 * x2 + 4.0], axis=-1)
    return flat.reshape(*flat.shape[:-1], 2, 3)
