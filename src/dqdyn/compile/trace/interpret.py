"""Runs a program without a compiler: on floats, NumPy batches, or any other scalar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dqdyn.algebra import scalar
from dqdyn.compile.trace.program import Program

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": scalar.divide,
    "neg": lambda a: -a,
    "sqrt": scalar.sqrt,
    "sin": scalar.sin,
    "cos": scalar.cos,
    "atan2": scalar.atan2,
    "less": scalar.less,
    "select": scalar.select,
}


def interpret(program: Program, inputs: Sequence[Sequence[Any]]) -> list[Any]:
    """The outputs for inputs given as lists of scalars, one list per argument."""
    last_use = _last_uses(program)
    values: dict[int, Any] = {}
    for i, (op, operands, constant) in enumerate(program.instructions):
        if op == "const":
            values[i] = constant
        elif op == "input":
            values[i] = inputs[operands[0]][operands[1]]
        else:
            values[i] = _OPERATIONS[op](*(values[k] for k in operands))
            for k in set(operands):
                if last_use[k] == i:  # a batch of arrays would otherwise hold the memory of every step
                    del values[k]
    return [values[k] for k in program.outputs]


def _last_uses(program: Program) -> list[int]:
    last = [0] * len(program.instructions)
    for i, (op, operands, _) in enumerate(program.instructions):
        if op != "input":
            for k in operands:
                last[k] = i
    for k in program.outputs:
        last[k] = len(program.instructions)
    return last
