"""A straight-line program: a plain value that prints, compares and hashes."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from dataclasses import asdict, dataclass
from html import escape

from dqdyn.algebra.counter import Tally
from dqdyn.caching import cached_property

_SHOWN = 12  # lines at the start and at the end of a program in a notebook
Instruction = tuple[str, tuple[int, ...], float]
"""(operation, operands as indices of earlier instructions, constant).

``const`` has no operands, ``input`` has (argument, component). Of two values are ``add``, ``sub``, ``mul``, ``div``,
``atan2`` and ``less``, which gives a condition; of one ``neg``, ``sqrt``, ``sin`` and ``cos``. ``select`` takes a
condition, to which no other operation applies, and two values."""


class Counts(Tally):
    """Operations of a program. A negation is free; a sine and a cosine count one each."""

    def __str__(self) -> str:
        names = ("mul", "add", "div", "sqrt", "sincos", "other")
        return ", ".join(f"{getattr(self, name)} {name}" for name in names if name in names[:2] or getattr(self, name))


@dataclass(frozen=True, eq=False, repr=False)
class Program:
    """``outputs`` as indices of instructions, each of which uses only earlier ones.

    ``inputs`` are (name, size) pairs; ``shape`` is the shape that the outputs fill in row-major order. Programs are
    equal if they have the same name and the same bits, so −0.0 is not 0.0, and NaN is NaN.
    """

    name: str
    inputs: tuple[tuple[str, int], ...]
    instructions: tuple[Instruction, ...]
    outputs: tuple[int, ...]
    shape: tuple[int, ...]

    @cached_property
    def operations(self) -> Counter[str]:
        """How often each operation occurs."""
        return Counter([op for op, _, _ in self.instructions])

    @cached_property
    def counts(self) -> Counts:
        """Operations after simplification."""
        tally = self.operations
        return Counts(
            mul=tally["mul"],
            add=tally["add"] + tally["sub"],
            div=tally["div"],
            sqrt=tally["sqrt"],
            sincos=tally["sin"] + tally["cos"],
            other=tally["atan2"] + tally["less"] + tally["select"],
        )

    @cached_property
    def size(self) -> int:
        """How many numbers it gives."""
        return len(self.outputs)

    def uses(self) -> Counter[int]:
        """How often each instruction is an operand of another."""
        return Counter([k for op, operands, _ in self.instructions if op != "input" for k in operands])

    @cached_property
    def digest(self) -> str:
        """A name that differs whenever any bit of the program differs."""
        h = hashlib.sha256(repr((self.inputs, self.outputs, self.shape)).encode())
        # The operations say how many operands each of them has, and how many constants there are.
        h.update(" ".join([op for op, _, _ in self.instructions]).encode())
        h.update(array("q", [k for _, operands, _ in self.instructions for k in operands]).tobytes())
        h.update(array("d", [c for op, _, c in self.instructions if op == "const"]).tobytes())
        return h.hexdigest()

    def __eq__(self, other: object) -> bool:
        return (self.name, self.digest) == (other.name, other.digest) if isinstance(other, Program) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.name, self.digest))

    def __repr__(self) -> str:
        """In one line; ``str`` has all instructions."""
        inputs = ", ".join(f"{name}[{size}]" for name, size in self.inputs)
        return f"<Program {self.name}({inputs}) → {self.shape}: {self.counts}>"

    def _repr_html_(self) -> str:
        """Counts and the first instructions, in a notebook."""
        lines = str(self).splitlines()
        if len(lines) > 2 * _SHOWN:
            lines[_SHOWN:-_SHOWN] = [f"  … {len(lines) - 2 * _SHOWN} lines, all of them with print(program) …"]
        counts = {"instructions": len(self.instructions), **{name: n for name, n in asdict(self.counts).items() if n}}
        head = "".join(f"<th>{escape(name)}</th>" for name in counts)
        row = "".join(f"<td>{n}</td>" for n in counts.values())
        text = escape("\n".join(lines))
        return (
            f"<p><b>{escape(repr(self).split(': ')[0][1:])}</b></p><table><tr>{head}</tr><tr>{row}</tr></table>"
            f"<details><summary>instructions</summary><pre>{text}</pre></details>"
        )

    def __str__(self) -> str:
        """One line per instruction, e.g. ``%7 = mul %3 %5``."""
        lines = [f"program {self.name}({', '.join(f'{name}[{size}]' for name, size in self.inputs)})"]
        for i, (op, operands, constant) in enumerate(self.instructions):
            if op == "const":
                text = f"const {constant!r}"
            elif op == "input":
                text = f"{self.inputs[operands[0]][0]}[{operands[1]}]"
            else:
                text = f"{op} {' '.join(f'%{k}' for k in operands)}"
            lines.append(f"  %{i} = {text}")
        lines.append(f"  return {' '.join(f'%{k}' for k in self.outputs)} as {self.shape}")
        return "\n".join(lines)
