"""Runs a program without a compiler: on floats, NumPy batches, or any other scalar."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dqdyn.algebra import scalar
from dqdyn.compile.trace.program import Program

OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": scalar.divide,
    "neg": operator.neg,
    "sqrt": scalar.sqrt,
    "sin": scalar.sin,
    "cos": scalar.cos,
    "atan2": scalar.atan2,
    "less": scalar.less,
    "select": scalar.select,
}


def interpret(
    program: Program,
    inputs: Sequence[Sequence[Any]],
    operations: Mapping[str, Callable[..., Any]] = OPERATIONS,
    constant: Callable[[float], Any] = float,
    keep: Callable[[int, Any], Any] | None = None,
) -> list[Any]:
    """The outputs for inputs given as lists of scalars, one list per argument.

    ``constant`` turns constants into scalars; ``keep(i, value)`` is what later instructions see of the value of one.
    """
    last_use = last_uses(program)
    values: dict[int, Any] = {}
    for i, (op, operands, value) in enumerate(program.instructions):
        if op == "const":
            values[i] = constant(value)
        elif op == "input":
            values[i] = inputs[operands[0]][operands[1]]
        else:
            result = operations[op](*(values[k] for k in operands))
            values[i] = keep(i, result) if keep else result
            for k in set(operands):
                if last_use[k] == i:  # a batch of arrays would otherwise hold the memory of every step
                    del values[k]
    return [values[k] for k in program.outputs]


def last_uses(program: Program) -> list[int]:
    """The last instruction that reads each value; past the end for outputs."""
    last = [0] * len(program.instructions)
    for i, (op, operands, _) in enumerate(program.instructions):
        if op != "input":
            for k in operands:
                last[k] = i
    for k in program.outputs:
        last[k] = len(program.instructions)
    return last
