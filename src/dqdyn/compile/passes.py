"""Small transformations of programs; each gives a program that computes the same."""

from __future__ import annotations

from dqdyn.compile.program import Instruction, Program


def without_dead_code(program: Program) -> Program:
    """Only what the outputs need, renumbered, in the same order."""
    needed = [False] * len(program.instructions)
    pending = list(program.outputs)
    while pending:
        i = pending.pop()
        if needed[i]:
            continue
        needed[i] = True
        op, operands, _ = program.instructions[i]
        if op != "input":
            pending.extend(operands)
    return _kept(program, [i for i, keep in enumerate(needed) if keep])


def _kept(program: Program, order: list[int]) -> Program:
    place = {old: new for new, old in enumerate(order)}
    instructions: list[Instruction] = []
    for old in order:
        op, operands, constant = program.instructions[old]
        renumbered = operands if op == "input" else tuple(place[k] for k in operands)
        instructions.append((op, renumbered, constant))
    outputs = tuple(place[k] for k in program.outputs)
    return Program(program.name, program.inputs, tuple(instructions), outputs, program.shape)
