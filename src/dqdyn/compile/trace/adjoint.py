"""Reverse mode: the program of all gradients of one weighted sum of results, whatever the function.

Its operations are a small multiple of those of the program itself, however many inputs there are. It is a program like
any other: it is compiled, exported and differentiated again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dqdyn.algebra.scalar import select
from dqdyn.compile.trace.partials import PARTIALS, Units, all_values, tangential
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import trace

COTANGENT = "cotangent"
Guard = tuple[tuple[int, bool], ...]
"""Conditions under which a value counts, as (instruction, which branch), the outermost first."""


def adjoint(program: Program, arguments: Sequence[int] | None = None, units: Units = ()) -> Program:
    """The program (inputs, cotangent) → gradients of Σ cotangentₖ outputₖ, one after the other.

    ``arguments`` are the inputs whose gradients are wanted: all, unless given. Gradients with respect to the unit
    quaternions ``units`` are tangential to the sphere.
    """
    wanted = range(len(program.inputs)) if arguments is None else arguments
    inputs = (*program.inputs, (COTANGENT, len(program.outputs)))

    def algorithm(*given: list[Any]) -> tuple[list[Any], tuple[int, ...]]:
        gradients = tangential(given, _reverse(program, given[:-1], given[-1]), units)
        entries = [g for k in wanted for g in gradients[k]]
        return entries, (len(entries),)

    return trace(f"{program.name} adjoint", inputs, algorithm)


def _reverse(program: Program, inputs: Sequence[list[Any]], cotangent: list[Any]) -> list[list[Any]]:
    """One gradient per argument."""
    values = all_values(program, inputs)
    gradients: list[list[Any]] = [[0.0] * size for _, size in program.inputs]
    parts: list[list[tuple[Guard, Any]]] = [[] for _ in program.instructions]
    for k, weight in zip(program.outputs, cotangent, strict=True):
        parts[k].append(((), weight))
    for i in reversed(range(len(program.instructions))):
        op, operands, _ = program.instructions[i]
        if not parts[i] or op in ("const", "less"):
            continue
        guard, bar = _sum(parts[i], values)
        parts[i] = []
        if op == "input":
            gradients[operands[0]][operands[1]] = _guarded(guard, bar, values)
        elif op == "select":
            condition, chosen, other = operands
            parts[chosen].append(((*guard, (condition, True)), bar))
            parts[other].append(((*guard, (condition, False)), bar))
        else:
            slopes = PARTIALS[op]([values[k] for k in operands], values[i])
            for k, slope in zip(operands, slopes, strict=True):
                if program.instructions[k][0] != "const":
                    parts[k].append((guard, bar * slope))
    return gradients


def _sum(parts: list[tuple[Guard, Any]], values: list[Any]) -> tuple[Guard, Any]:
    """The sum of parts, and the conditions that all of them share.

    A condition is applied as late as possible: behind a slope that is infinite in the branch that is not taken, where
    0 · ∞ would be NaN. Where branches of several selections meet in one value, it is applied there; algorithms keep
    slopes finite in branches that are not taken, as :mod:`dqdyn.algebra.removable` does.
    """
    shared = parts[0][0]
    for guard, _ in parts[1:]:
        n = next((k for k, (a, b) in enumerate(zip(shared, guard, strict=False)) if a != b), len(guard))
        shared = shared[:n]
    total: Any = None
    for guard, value in parts:
        term = _guarded(guard[len(shared) :], value, values)
        total = term if total is None else total + term
    return shared, total


def _guarded(guard: Guard, value: Any, values: list[Any]) -> Any:
    for condition, branch in reversed(guard):
        value = select(values[condition], value, 0.0) if branch else select(values[condition], 0.0, value)
    return value
