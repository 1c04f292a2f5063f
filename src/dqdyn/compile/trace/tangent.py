"""Forward mode: the program of the rate of all results, for given rates of all inputs."""

from __future__ import annotations

from typing import Any

from dqdyn.algebra.scalar import select
from dqdyn.compile.trace.partials import PARTIALS, Units, all_values, tangential
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import trace


def tangent(program: Program, units: Units = ()) -> Program:
    """The program (inputs, their rates) → rate of the outputs, in their shape.

    Of the rates of the unit quaternions ``units``, what is tangential to the sphere counts.
    """
    inputs = (*program.inputs, *((f"{name}_rate", size) for name, size in program.inputs))

    def algorithm(*given: list[Any]) -> tuple[list[Any], tuple[int, ...]]:
        n = len(program.inputs)
        rates = tangential(given[:n], given[n:], units)
        return _forward(program, given[:n], rates), program.shape

    return trace(f"{program.name} tangent", inputs, algorithm)


def _forward(program: Program, inputs: Any, given: list[list[Any]]) -> list[Any]:
    values = all_values(program, inputs)
    rates: list[Any] = [0.0] * len(values)
    for i, (op, operands, _) in enumerate(program.instructions):
        if op == "input":
            rates[i] = given[operands[0]][operands[1]]
        elif op == "select":
            rates[i] = select(values[operands[0]], rates[operands[1]], rates[operands[2]])
        elif op in PARTIALS:
            slopes = PARTIALS[op]([values[k] for k in operands], values[i])
            terms = [rates[k] * slope for k, slope in zip(operands, slopes, strict=True)]
            rates[i] = terms[0] if len(terms) == 1 else terms[0] + terms[1]
    return [rates[k] for k in program.outputs]
