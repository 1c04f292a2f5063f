"""The order of operations in which fewer values wait for their use than the registers of a processor hold.

A value that finds no register is stored and loaded again, and a store of a vector takes as long as one or two
multiplications. Programs come in the order in which their algorithm was written; compilers keep that order, more or
less. Here operations are put in order from the last one back to the first: next comes the one that adds the fewest
operands to those that wait already.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from dqdyn.compile.codegen.register_plan import register_plan
from dqdyn.compile.trace.program import Instruction, Program

_OF_A_STORE = 1.5  # loads
_WORTHWHILE = 0.9  # of the traffic in the order as written

_Key = Callable[[int, int, int], tuple[int, ...]]
_KEYS: tuple[_Key, ...] = (
    lambda more, since, place: (more, -place),  # ties as in the program
    lambda more, since, place: (more, -since, -place),  # or what was asked for last
)


def in_registers(
    program: Program, members: Sequence[int], registers: int, writes: Sequence[Sequence[int]] = ()
) -> Sequence[int]:
    """Some instructions of a program in an order with less traffic to memory, if there is one.

    Sines of inputs remain first: side by side, a processor works on several of them at a time. ``writes`` are further
    operations, each on some results; in the order they have the numbers that follow those of the instructions.
    """
    instructions = _with(program, writes)
    every = [*members, *range(len(program.instructions), len(instructions))]
    first = _first(instructions, every)
    before = set(first)
    rest = [i for i in every if i not in before]
    orders = [[*first, *_ordered(instructions, rest, key)] for key in _KEYS]
    own = [*first, *(i for i in members if i not in before)]
    least, best = min((_traffic(instructions, order, registers), n) for n, order in enumerate(orders))
    return orders[best] if least < _WORTHWHILE * traffic(program, own, registers, writes) else members


def traffic(program: Program, order: Sequence[int], registers: int, writes: Sequence[Sequence[int]] = ()) -> float:
    """Loads and stores of an order, weighted; each of the ``writes`` comes when the last of its results is there."""
    instructions = _with(program, writes)
    turn = {i: n for n, i in enumerate(order)}
    after: dict[int, list[int]] = {}
    for number, some in enumerate(writes, start=len(program.instructions)):
        made = [k for k in some if k in turn]
        if made:
            after.setdefault(max(made, key=turn.__getitem__), []).append(number)
    return _traffic(instructions, [n for i in order for n in (i, *after.get(i, ()))], registers)


def _with(program: Program, writes: Sequence[Sequence[int]]) -> list[Instruction]:
    return [*program.instructions, *(("write", tuple(some), 0.0) for some in writes)]


def _first(instructions: Sequence[Instruction], members: Sequence[int]) -> list[int]:
    """Sines and cosines of inputs."""
    sines = [i for i in members if instructions[i][0] in ("sin", "cos")]
    return [i for i in sines if instructions[instructions[i][1][0]][0] == "input"]


def _ordered(instructions: Sequence[Instruction], members: Sequence[int], key: _Key) -> list[int]:
    place = {i: n for n, i in enumerate(members)}
    operands = {i: [k for k in dict.fromkeys(instructions[i][1]) if k in place] for i in members}
    readers: dict[int, list[int]] = {i: [] for i in members}
    for i in members:
        for k in operands[i]:
            readers[k].append(i)
    unread = {i: len(readers[i]) for i in members}  # readers that are not placed yet
    since: dict[int, int] = {}  # values that wait, and the turn at which they began to
    ready = {i for i in members if not unread[i]}
    current: dict[int, tuple[int, ...]] = {}
    heap: list[tuple[tuple[int, ...], int]] = []

    def offer(i: int) -> None:
        more = sum(k not in since for k in operands[i]) - (i in since)
        current[i] = key(more, since.get(i, -1), place[i])
        heapq.heappush(heap, (current[i], i))

    for i in ready:
        offer(i)
    backwards: list[int] = []
    while heap:
        value, i = heapq.heappop(heap)
        if i not in ready or value != current[i]:  # placed, or offered again with another key
            continue
        ready.discard(i)
        backwards.append(i)
        since.pop(i, None)
        changed: dict[int, None] = {}
        for k in operands[i]:
            if k not in since:
                since[k] = len(backwards)
                changed.update(dict.fromkeys(r for r in readers[k] if r in ready))
            unread[k] -= 1
            if not unread[k]:
                ready.add(k)
                changed[k] = None
        for k in changed:
            offer(k)
    return backwards[::-1]


def _traffic(instructions: Sequence[Instruction], order: Sequence[int], registers: int) -> float:
    reads = [[k for k in dict.fromkeys(instructions[i][1]) if instructions[k][0] != "const"] for i in order]
    waiting = register_plan(list(zip(order, reads, strict=True)), registers, {})
    return len(waiting.reloads) + _OF_A_STORE * len(waiting.slot.keys() & set(order))
