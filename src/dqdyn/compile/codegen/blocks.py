"""How a program is cut into basic blocks, and which values are kept in memory for a later one.

Code generation slows down steeply on long blocks, and values with long lives make register allocation slow and poor.
So each value that a later segment uses is stored where it is computed and loaded in the segments that need it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dqdyn.compile.trace.program import Program

WEIGHT = {"sin": 40, "cos": 0, "const": 0, "input": 0}  # lines of IR; a cosine comes with its sine


def size_of(program: Program) -> int:
    """About how many lines of IR a program takes."""
    return sum(n * WEIGHT.get(op, 1) for op, n in program.operations.items())


@dataclass(frozen=True)
class Plan:
    """Instructions of each segment, and the slot of every value kept in memory; slots are reused after the last reader.

    The sine and cosine of an argument are computed in the same segment. Constants are literals and need no slot.
    """

    segments: tuple[tuple[int, ...], ...]
    slot: dict[int, int]
    slots: int


def plan(
    program: Program,
    length: int,
    elsewhere: Collection[int] = (),
    needed: Collection[int] | None = None,
    stored: Collection[int] = (),
) -> Plan:
    """Cut a program into segments of about ``length`` lines and place what crosses a cut.

    ``needed`` are the instructions to keep, if not all; ``elsewhere`` are values that are computed before, ``stored``
    those that get a place of their own in memory: any segment can read both without a slot. Inputs can be read
    anywhere, and outputs are stored at once.
    """
    made: dict[int, int] = {}  # instruction → segment; −1: before all
    turns: dict[int, int] = {}  # argument of a sine → segment in which sine and cosine are made
    segments: list[list[int]] = []
    weight = length
    for i, (op, operands, _) in enumerate(program.instructions):
        if op == "input" or op == "const":
            made[i] = -1
            continue
        if needed is not None and i not in needed:
            continue
        if weight >= length:
            segments.append([])
            weight = 0
        here = len(segments) - 1
        made[i] = turns.setdefault(operands[0], here) if op in ("sin", "cos") else here
        segments[made[i]].append(i)
        weight += 0 if i in elsewhere else WEIGHT.get(op, 1)
    last = _last_readers(program, segments)
    slot: dict[int, int] = {}
    ending: dict[int, list[int]] = {}  # segment → slots that are not read after it
    free: list[int] = []
    slots = 0
    for s, members in enumerate(segments):
        for i in members:
            if last.get(i, -1) > s and i not in elsewhere and i not in stored:
                if not free:
                    free.append(slots)
                    slots += 1
                slot[i] = free.pop()
                ending.setdefault(last[i], []).append(slot[i])
        free += ending.pop(s, [])
    return Plan(tuple(map(tuple, segments)), slot, slots)


def _last_readers(program: Program, segments: Sequence[Sequence[int]]) -> dict[int, int]:
    """The last segment that uses each value."""
    instructions = program.instructions
    last: dict[int, int] = {}
    for s, members in enumerate(segments):
        last.update(dict.fromkeys([k for i in members for k in instructions[i][1]], s))
    return last
