"""A program as a table for a loop: one row per instruction, values in registers that are used again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dqdyn.compile.trace.interpret import last_uses
from dqdyn.compile.trace.program import Program

Row = tuple[str, tuple[int, ...], int]
"""(operation, registers read, register written)"""
WITH_CONSTANT = {"add": "add constant", "mul": "mul constant"}


@dataclass(frozen=True)
class RegisterCode:
    """``rows`` with one constant each, over ``count`` registers; the first ones hold the inputs, one after the other.

    Operations are those of programs without ``neg``, and four of one register and the constant: "constant" itself, "add
    constant", "mul constant" and "constant sub". A condition is 1 or 0 in a register.
    """

    rows: tuple[Row, ...]
    constants: tuple[float, ...]
    outputs: tuple[int, ...]
    count: int

    @property
    def operations(self) -> list[str]:
        """Names of the operations that occur, in a fixed order."""
        return sorted({op for op, _, _ in self.rows})


def register_code(program: Program) -> RegisterCode:
    """The table of a program."""
    return _Allocation(program).code()


class _Allocation:
    """Registers are handed out in the order of the program, and come back after their last use."""

    def __init__(self, program: Program) -> None:
        self.program, self.last = program, last_uses(program)
        self.rows: list[Row] = []
        self.constants: list[float] = []
        self.place: dict[int, int] = {}
        sizes = [size for _, size in program.inputs]
        self.starts = [sum(sizes[:k]) for k in range(len(sizes))]
        self.count = sum(sizes)
        self.free: list[int] = []

    def code(self) -> RegisterCode:
        used = {operands for op, operands, _ in self.program.instructions if op == "input"}
        given = [(k, c) for k, (_, size) in enumerate(self.program.inputs) for c in range(size)]
        self.free = [self.starts[k] + c for k, c in given if (k, c) not in used]
        for i, (op, operands, _) in enumerate(self.program.instructions):
            if op == "input":
                self.place[i] = self.starts[operands[0]] + operands[1]
            elif op != "const":
                self._append(i, op, operands)
        outputs = tuple(self._read(k) for k in self.program.outputs)
        return RegisterCode(tuple(self.rows), tuple(self.constants), outputs, max(self.count, 1))

    def _append(self, i: int, op: str, operands: tuple[int, ...]) -> None:
        op, read, constant = self._with_constant(op, operands)
        registers = tuple(self._read(k) for k in read)
        for k in set(operands):
            if self.last[k] == i and k in self.place:
                self.free.append(self.place[k])
        self.place[i] = self._new()
        self._write(op, registers, self.place[i], constant)

    def _with_constant(self, op: str, operands: tuple[int, ...]) -> tuple[str, Sequence[int], float]:
        """An operation, the values that it reads, and its constant."""
        instructions = self.program.instructions
        if op == "neg":
            return "mul constant", operands, -1.0
        known = [k for k in operands if instructions[k][0] == "const"]
        if op in ("add", "sub", "mul") and len(known) == 1:
            (read,) = (k for k in operands if k != known[0])
            constant = instructions[known[0]][2]
            if op == "sub" and known[0] == operands[0]:
                return "constant sub", (read,), constant
            if op == "sub":
                return "add constant", (read,), -constant
            return WITH_CONSTANT[op], (read,), constant
        return op, operands, 0.0

    def _read(self, k: int) -> int:
        """The register of a value; constants get theirs when they are first read as such."""
        if k not in self.place:
            self.place[k] = self._new()
            self._write("constant", (), self.place[k], self.program.instructions[k][2])
        return self.place[k]

    def _new(self) -> int:
        if self.free:
            return self.free.pop()
        self.count += 1
        return self.count - 1

    def _write(self, op: str, registers: tuple[int, ...], target: int, constant: float) -> None:
        self.rows.append((op, registers, target))
        self.constants.append(constant)
