"""Programs of functions of three numbers, traced, taken apart and run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import trace

INPUTS = [("x", 2), ("y", 1)]


def traced(algorithm: Callable[..., Any], *more: Callable[..., Any]) -> Program:
    """The program of functions of x₀, x₁ and y₀."""
    return trace("f", INPUTS, lambda x, y: ([f(x[0], x[1], y[0]) for f in (algorithm, *more)], (1 + len(more),)))


def operations(program: Program) -> list[str]:
    return [op for op, _, _ in program.instructions if op not in ("input", "const")]


def constants(program: Program) -> list[float]:
    return [value for op, _, value in program.instructions if op == "const"]


def run(program: Program, a: float = 2.0, b: float = -3.0, c: float = 0.7) -> list[float]:
    return interpret(program, [[a, b], [c]])
