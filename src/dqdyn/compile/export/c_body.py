"""The statements of a program in C99.

One constant per line. Conditions stand as comparisons in the selections that use them. All inputs are read before the
first output is written, so that outputs may overlap inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from dqdyn.compile.export.c_precision import FLOAT64, Precision
from dqdyn.compile.export.names import OUTPUT
from dqdyn.compile.trace.program import Program

# Register allocation takes more than linear time: gcc -O2 needs 70 s for 77,000 operations in one function, and 25 s in
# parts of this size, which run as fast. Below the limit one function compiles as fast as its parts would.
PART = 2000
WHOLE = 8000
SCRATCH = "w"

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_INDENT = "    "

Statement = tuple[int, str, tuple[int, ...]]
"""(index of the instruction, operation, operands); ``select`` has those of its comparison in front."""


literal = FLOAT64.literal


def statements(program: Program) -> list[Statement]:
    """What is to be computed, in order."""
    result = []
    for i, (op, operands, _) in enumerate(program.instructions):
        if op == "select":
            condition, a, b = operands
            result.append((i, op, (*program.instructions[condition][1], a, b)))
        elif op not in ("const", "input", "less"):
            result.append((i, op, operands))
    return result


def parts(program: Program) -> list[list[Statement]]:
    """The statements in groups of similar size; one group for all but very large programs."""
    everything = statements(program)
    if len(everything) <= WHOLE:
        return [everything]
    count = -(-len(everything) // PART)
    size = -(-len(everything) // count)
    return [everything[start : start + size] for start in range(0, len(everything), size)]


class Writer:
    """Writes the functions of one program, called ``name``, with arguments of the given names."""

    def __init__(
        self,
        program: Program,
        name: str,
        arguments: Sequence[str],
        precision: Precision = FLOAT64,
        is_static: bool = False,
    ) -> None:
        """``is_static``: the function is for the same file alone."""
        self.program, self.name, self.arguments = program, name, arguments
        self.precision, self.is_static, self._type = precision, is_static, precision.c_type
        self.parts = parts(program)
        self.slots = self._slots() if len(self.parts) > 1 else {}

    def signature(self) -> str:
        """The prototype without its semicolon."""
        inputs = [f"const {self._type} *{name}" for name in self.arguments]
        reach = "static " if self.is_static else ""
        return f"{reach}void {self.name}({', '.join([*inputs, f'{self._type} *{OUTPUT}'])})"

    def text(self) -> list[str]:
        """Lines that define the function."""
        body = self._whole() if len(self.parts) == 1 else self._table()
        unused = [name for i, name in enumerate(self.arguments) if not self._is_used(i)]
        unused += [] if self.program.outputs else [OUTPUT]
        silenced = [f"(void){name};" for name in unused]
        before = [line for k in range(len(self.parts)) for line in self._part(k)] if self.slots else []
        return [*before, self.signature(), "{", *(_INDENT + line for line in [*silenced, *body]), "}"]

    def _is_used(self, argument: int) -> bool:
        return any(op == "input" and operands[0] == argument for op, operands, _ in self.program.instructions)

    # --- one function ---

    def _whole(self) -> list[str]:
        program = self.program
        copied = [k for k in dict.fromkeys(program.outputs) if program.instructions[k][0] == "input"]
        lines = [f"const {self._type} t{k} = {self._name(k)};" for k in copied]
        lines += [self._line(statement, self._name) for statement in self.parts[0]]
        kept = set(copied)
        return lines + self._stores(lambda k: f"t{k}" if k in kept else self._name(k))

    def _name(self, k: int) -> str:
        op, operands, _ = self.program.instructions[k]
        return f"{self.arguments[operands[0]]}[{operands[1]}]" if op == "input" else self._local(k)

    def _stores(self, name: Callable[[int], str]) -> list[str]:
        return [f"{OUTPUT}[{place}] = {name(k)};" for place, k in enumerate(self.program.outputs)]

    def _line(self, statement: Statement, name: Callable[[int], str]) -> str:
        i, op, operands = statement
        a = [name(k) for k in operands]
        if op in _INFIX:
            value = f"{a[0]} {_INFIX[op]} {a[1]}"
        elif op == "neg":
            value = f"-{a[0]}"
        elif op == "select":
            value = f"{a[0]} < {a[1]} ? {a[2]} : {a[3]}"
        else:
            value = f"{op}{self.precision.suffix}({', '.join(a)})"
        return f"const {self._type} t{i} = {value};{self._decimals(operands)}"

    def _decimals(self, operands: Sequence[int]) -> str:
        """Hexadecimal constants once more, for people."""
        constants = [c for op, _, c in (self.program.instructions[k] for k in operands) if op == "const"]
        shown = [repr(c) for c in constants if math.isfinite(c) and not self.precision.is_short(c)]
        return f" /* {', '.join(shown)} */" if shown else ""

    # --- in parts, which share the scratch array ---

    def _slots(self) -> dict[int, int]:
        """Places of inputs, of outputs, and of values that a later part uses."""
        instructions = self.program.instructions
        place = {i: k for k, part in enumerate(self.parts) for i, _, _ in part}
        crossing = {
            operand
            for k, part in enumerate(self.parts)
            for _, _, operands in part
            for operand in operands
            if place.get(operand, k) != k
        }
        crossing.update(k for k in self.program.outputs if instructions[k][0] != "const")
        kept = [k for k, (op, _, _) in enumerate(instructions) if op == "input" or k in crossing]
        return {k: slot for slot, k in enumerate(kept)}

    def _part(self, k: int) -> list[str]:
        lines = [f"static void {self.name}_part{k}({self._type} *{SCRATCH})", "{"]
        known: set[int] = set()
        for statement in self.parts[k]:
            i, _, operands = statement
            for operand in operands:
                if operand not in known and self.program.instructions[operand][0] != "const":
                    known.add(operand)
                    lines.append(f"{_INDENT}const {self._type} t{operand} = {SCRATCH}[{self.slots[operand]}];")
            known.add(i)
            lines.append(_INDENT + self._line(statement, self._local))
            if i in self.slots:
                lines.append(f"{_INDENT}{SCRATCH}[{self.slots[i]}] = t{i};")
        return [*lines, "}", ""]

    def _local(self, k: int) -> str:
        op, _, constant = self.program.instructions[k]
        return self.precision.literal(constant) if op == "const" else f"t{k}"

    def _table(self) -> list[str]:
        # Called through a table, the parts are not inlined again.
        names = ", ".join(f"{self.name}_part{k}" for k in range(len(self.parts)))
        lines = [f"static void (*const parts[])({self._type} *) = {{{names}}};"]
        lines += [f"{self._type} {SCRATCH}[{len(self.slots)}];"]
        for k, slot in self.slots.items():
            if self.program.instructions[k][0] == "input":
                lines.append(f"{SCRATCH}[{slot}] = {self._name(k)};")
        lines += [f"for (int k = 0; k < {len(self.parts)}; k++) {{", f"{_INDENT}parts[k]({SCRATCH});", "}"]
        scratch = {k: f"{SCRATCH}[{slot}]" for k, slot in self.slots.items()}
        return lines + self._stores(lambda k: scratch.get(k) or self._local(k))
