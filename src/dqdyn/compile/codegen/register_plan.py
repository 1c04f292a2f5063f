"""Which values of a program wait in registers and which in memory, where there are more of them than registers.

Of the values that wait, the one whose next use is furthest away leaves its register first, as Belady found to be best
for pages of memory. Compilers decide by other rules, in pieces of a program, and load a fifth more.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
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


Operation = tuple[int, Sequence[int]]
"""The number of an instruction, or of something else that reads values, and those values."""


def operations(program: Program, order: Sequence[int], fused: Mapping[int, int]) -> list[Operation]:
    """Instructions in their ``order``, and what they read.

    A product that is ``fused`` with the sum that takes it is not computed, and its sum reads more.
    """
    instructions, inside = program.instructions, set(fused.values())
    found: list[Operation] = []
    for i in order:
        operands = [] if i in inside else [k for k in instructions[i][1] if k != fused.get(i)]
        if i in fused:
            operands += instructions[fused[i]][1]
        found.append((i, [k for k in dict.fromkeys(operands) if instructions[k][0] != "const"]))
    return found


def from_inputs(program: Program, order: Sequence[Operation]) -> list[Operation]:
    """Operations after the inputs that they read, which are in registers when a block has been read."""
    read = {k for _, operands in order for k in operands if program.instructions[k][0] == "input"}
    return [*((k, ()) for k in sorted(read)), *order]


def register_plan(
    order: Sequence[Operation],
    registers: int,
    kept: Mapping[int, int],
    elsewhere: Collection[int] = (),
    cuts: Collection[int] = (),
) -> RegisterPlan:
    """The plan for operations in their order.

    What none of them makes is in memory from the start. The values in ``kept`` are stored, and stay in memory until
    after the turn that it names; turns are places in the order. Values that are stored ``elsewhere`` get no slot.
    At ``cuts``, turns at which another function goes on, all registers are empty.
    """
    uses: dict[int, list[int]] = {}  # turns at which a value is read, the next one last
    for turn, (_, operands) in reversed(list(enumerate(order))):
        for k in operands:
            uses.setdefault(k, []).append(turn)
    last = {k: turns[0] for k, turns in uses.items()}
    made = {i: turn for turn, (i, _) in enumerate(order)}
    stored = {k for k in [*uses, *kept] if k not in made or k in kept}
    held: set[int] = set()
    furthest: list[tuple[int, int]] = []  # −turn of the next use, value; some are out of date
    reloads: set[tuple[int, int]] = set()

    def hold(k: int) -> None:
        held.add(k)
        heapq.heappush(furthest, (-uses[k][-1], k))

    for turn, (i, operands) in enumerate(order):
        if turn in cuts:
            stored |= held
            held.clear()
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
    until = {k: max(last.get(k, 0), kept.get(k, 0)) for k in stored.difference(elsewhere)}
    return RegisterPlan(*_placed(until, made), frozenset(reloads))


def crossing(order: Sequence[Operation], cuts: Collection[int]) -> tuple[dict[int, int], int]:
    """A place in memory for each value that is used behind a cut after which it is not made, and their number."""
    ends = sorted(cuts)
    made = {i: turn for turn, (i, _) in enumerate(order)}
    last = {k: turn for turn, (_, operands) in enumerate(order) for k in operands}
    until = {k: turn for k, turn in last.items() if bisect_right(ends, made[k]) < bisect_right(ends, turn)}
    return _placed(until, made)


def _placed(until: Mapping[int, int], made: Mapping[int, int]) -> tuple[dict[int, int], int]:
    """A slot in memory for each value that is stored ``until`` a turn, and their number; slots serve again after it."""
    slot: dict[int, int] = {}
    slots = 0
    ending: list[tuple[int, int]] = []  # turn, slot
    free: list[int] = []
    for k in sorted(until, key=lambda k: (made.get(k, -1), k)):
        while ending and ending[0][0] < made.get(k, -1):
            free.append(heapq.heappop(ending)[1])
        if not free:
            free.append(slots)
            slots += 1
        slot[k] = free.pop()
        heapq.heappush(ending, (until[k], slot[k]))
    return slot, slots
