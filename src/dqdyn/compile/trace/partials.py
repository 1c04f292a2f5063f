"""Derivatives of the operations of programs, over any scalar: what tangent and adjoint programs are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dqdyn.algebra.scalar import cos, divide, sin
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Program

Units = Sequence[tuple[int, int]]
"""(argument, first component) of the unit quaternions among the inputs."""


def _divide(x: Sequence[Any], y: Any) -> list[Any]:
    inverse = divide(1.0, x[1])
    return [inverse, -(y * inverse)]


def _atan2(x: Sequence[Any], y: Any) -> list[Any]:
    inverse = divide(1.0, x[0] * x[0] + x[1] * x[1])
    return [x[1] * inverse, -(x[0] * inverse)]


PARTIALS: dict[str, Callable[[Sequence[Any], Any], list[Any]]] = {
    "add": lambda x, y: [1.0, 1.0],
    "sub": lambda x, y: [1.0, -1.0],
    "mul": lambda x, y: [x[1], x[0]],
    "div": _divide,
    "neg": lambda x, y: [-1.0],
    "sqrt": lambda x, y: [divide(0.5, y)],
    "sin": lambda x, y: [cos(x[0])],
    "cos": lambda x, y: [-sin(x[0])],
    "atan2": _atan2,
}
"""``partials(operands, result)`` of the operations that have some; ``select`` passes on what it chooses."""


def all_values(program: Program, inputs: Sequence[Sequence[Any]]) -> list[Any]:
    """The value of every instruction, on scalars of any kind."""
    values: list[Any] = [None] * len(program.instructions)
    for i, (op, operands, constant) in enumerate(program.instructions):
        if op in ("const", "input"):
            values[i] = constant if op == "const" else inputs[operands[0]][operands[1]]

    def keep(i: int, value: Any) -> Any:
        values[i] = value
        return value

    interpret(program, inputs, keep=keep)
    return values


def tangential(inputs: Sequence[Sequence[Any]], given: Sequence[list[Any]], units: Units) -> list[list[Any]]:
    """Directions, one list per argument, without their components along the unit quaternions of the inputs.

    A function of a unit quaternion is defined on the sphere alone; this is what is left of its derivative there.
    """
    result = [list(direction) for direction in given]
    for argument, start in units:
        r, d = inputs[argument][start : start + 4], result[argument][start : start + 4]
        along = r[0] * d[0] + r[1] * d[1] + r[2] * d[2] + r[3] * d[3]
        result[argument][start : start + 4] = [x - y * along for x, y in zip(d, r, strict=True)]
    return result
