"""How a program is cut into basic blocks: code generation slows down steeply on long ones."""

from __future__ import annotations

from collections.abc import Collection

from dqdyn.compile.trace.program import Program

WEIGHT = {"sin": 40, "cos": 0, "const": 0, "input": 0}  # lines of IR; a cosine comes with its sine


def size_of(program: Program) -> int:
    """About how many lines of IR a program takes."""
    return sum(n * WEIGHT.get(op, 1) for op, n in program.operations.items())


def segments(
    program: Program, length: int, elsewhere: Collection[int] = (), needed: Collection[int] | None = None
) -> list[list[int]]:
    """The instructions of each segment of about ``length`` lines, in order, without constants and inputs.

    ``needed`` are the instructions to keep, if not all; those computed ``elsewhere`` are left out. The sine and cosine
    of an argument are computed in the same segment.
    """
    turns: dict[int, int] = {}  # argument of a sine → segment in which sine and cosine are made
    found: list[list[int]] = []
    weight = length
    for i, (op, operands, _) in enumerate(program.instructions):
        if op in ("input", "const") or i in elsewhere or (needed is not None and i not in needed):
            continue
        if weight >= length:
            found.append([])
            weight = 0
        here = len(found) - 1
        found[turns.setdefault(operands[0], here) if op in ("sin", "cos") else here].append(i)
        weight += WEIGHT.get(op, 1)
    return found
