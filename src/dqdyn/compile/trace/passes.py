"""Small transformations of programs; each gives a program that computes the same."""

from __future__ import annotations

from collections.abc import Iterable

from dqdyn.compile.trace.angles import angles
from dqdyn.compile.trace.program import Instruction, Program


def without_dead_code(program: Program) -> Program:
    """Only what the outputs need, renumbered, in the same order."""
    return _kept(program, sorted(needed_for(program, program.outputs)))


def sines_first(program: Program) -> Program:
    """Sines and cosines of coordinates before all else.

    Each is a long chain of dependent operations; side by side the processor works on several of them at a time.
    """
    arguments = {angle.operand for angle in angles(program)}
    sines = [
        i
        for i, (op, operands, _) in enumerate(program.instructions)
        if op in ("sin", "cos") and operands[0] in arguments
    ]
    early = needed_for(program, sines)
    return _kept(program, sorted(range(len(program.instructions)), key=lambda i: i not in early))


def negations_early(program: Program) -> Program:
    """Move results that negate a value to right after that value: tracing settles the signs of results last."""
    results = {i for i in program.outputs if program.instructions[i][0] == "neg"}
    if not results:
        return program

    def turn(i: int) -> tuple[int, int]:
        return (program.instructions[i][1][0], i) if i in results else (i, i)

    return _kept(program, sorted(range(len(program.instructions)), key=turn))


def needed_for(program: Program, results: Iterable[int]) -> set[int]:
    """The instructions that some results depend on, themselves included."""
    needed: set[int] = set()
    pending = list(results)
    while pending:
        i = pending.pop()
        if i in needed:
            continue
        needed.add(i)
        op, operands, _ = program.instructions[i]
        if op != "input":
            pending.extend(operands)
    return needed


def _kept(program: Program, order: list[int]) -> Program:
    place = {old: new for new, old in enumerate(order)}
    instructions: list[Instruction] = []
    for old in order:
        op, operands, constant = program.instructions[old]
        renumbered = operands if op == "input" else tuple(place[k] for k in operands)
        instructions.append((op, renumbered, constant))
    outputs = tuple(place[k] for k in program.outputs)
    return Program(program.name, program.inputs, tuple(instructions), outputs, program.shape)
