"""Which values of a program wait in registers and which in memory, where there are more of them than registers.

Of the values that wait, the one that is used last leaves its register first, as Belady found to be best for pages of
memory. Compilers decide by other rules, in pieces of a program, and store and load a quarter more.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dqdyn.compile.trace.program import Program


@dataclass(frozen=True)
class RegisterPlan:
    """Where values wait: ``slot`` in memory of each that is stored when it is made, and the ``reloads``.

    A reload is (instruction, operand): the operand is loaded for this instruction, and stays in a register from then on
    until its next reload.
    """

    slot: dict[int, int]
    slots: int
    reloads: frozenset[tuple[int, int]]


def register_plan(
    program: Program, order: Sequence[int], registers: int, fused: Mapping[int, int], kept: Collection[int]
) -> RegisterPlan:
    """The plan for instructions in their ``order``, with ``fused`` products inside of the sums that take them.

    Inputs are in memory from the start; the values in ``kept`` are stored and stay in memory until the end.
    """
    reads = _reads(program, order, fused)
    uses: dict[int, list[int]] = {}  # turns at which a value is read, the next one last
    for turn in reversed(range(len(reads))):
        for k in reads[turn][1]:
            uses.setdefault(k, []).append(turn)
    last = {k: turns[0] for k, turns in uses.items()}
    made = {i: turn for turn, (i, _) in enumerate(reads)}
    stored = {k for k in [*uses, *kept] if k not in made or k in kept}
    held: set[int] = set()
    furthest: list[tuple[int, int]] = []  # −turn of the next use, value; some are out of date
    reloads: set[tuple[int, int]] = set()

    def hold(k: int) -> None:
        held.add(k)
        heapq.heappush(furthest, (-uses[k][-1], k))

    for i, operands in reads:
        for k in operands:
            if k not in held:
                reloads.add((i, k))
            uses[k].pop()
            held.discard(k)
            if uses[k]:
                hold(k)
        if uses.get(i):
            hold(i)
        while len(held) > registers:
            next_use, k = heapq.heappop(furthest)
            if k in held and uses[k][-1] == -next_use:
                held.discard(k)
                stored.add(k)
    slot, slots = _placed(stored, made, {k: len(reads) if k in kept else last.get(k, 0) for k in stored})
    return RegisterPlan(slot, slots, frozenset(reloads))


def _reads(program: Program, order: Sequence[int], fused: Mapping[int, int]) -> list[tuple[int, list[int]]]:
    """The operations that are emitted, and the values that each of them reads."""
    instructions, inside = program.instructions, set(fused.values())
    found = []
    for i in order:
        if i in inside:
            continue
        operands = [k for k in instructions[i][1] if k != fused.get(i)]
        if i in fused:
            operands += instructions[fused[i]][1]
        found.append((i, [k for k in dict.fromkeys(operands) if instructions[k][0] != "const"]))
    return found


def _placed(stored: Collection[int], made: Mapping[int, int], last: Mapping[int, int]) -> tuple[dict[int, int], int]:
    """A slot in memory for each value that is stored; slots serve again after the last use."""
    slot: dict[int, int] = {}
    slots = 0
    ending: list[tuple[int, int]] = []  # turn, slot
    free: list[int] = []
    for k in sorted(stored, key=lambda k: (made.get(k, -1), k)):
        while ending and ending[0][0] < made.get(k, -1):
            free.append(heapq.heappop(ending)[1])
        if not free:
            free.append(slots)
            slots += 1
        slot[k] = free.pop()
        heapq.heappush(ending, (last[k], slot[k]))
    return slot, slots
