"""Stretches of a program that repeat: body after body of a long chain, the same operations on other values.

A recursion over a chain, traced, is one sequence of instructions in which the stretch of each body is wired alike:
operands made inside it are at the same place, and only what comes from outside differs — values of other bodies,
inputs, constants. A loop over such stretches does the same operations in the same order, so results have the same bits
as those of the straight code.

Repetition is found in the program itself, without knowledge of robots. Distances between equal short sequences of
operations suggest periods; where the sequence equals itself moved by a period, wiring decides what is a repetition.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from dqdyn.compile.trace.program import Program

Numbers = np.ndarray
VALUE, CONSTANT, INPUT = 0, 1, 2
"""Kinds of operands; ``INPUT + i`` is argument i."""

_OPERATIONS = ("add", "sub", "mul", "div", "neg", "sqrt", "sin", "cos", "atan2", "less", "select")
_COMMUTATIVE = (0, 2)
_NEAR = 24  # steps back at which an operand belongs to the look of an operation
_GRAM = 12  # operations in a row that are compared at once
_PERIODS = 24  # candidates per round
_ROUNDS = 40
_LONGEST = 4000  # operations in a stretch: more would compile slowly as one block
_FEWEST = 4  # repetitions
_SHORTEST = 48  # operations in all of them: a loop costs some, too


@dataclass(frozen=True)
class Repetition:
    """``count`` stretches of ``period`` steps each, the first at step ``start``."""

    start: int
    period: int
    count: int

    @property
    def end(self) -> int:
        return self.start + self.period * self.count

    @property
    def starts(self) -> Numbers:
        """The first step of each stretch."""
        return self.start + self.period * np.arange(self.count)


class Steps:
    """The operations of a program that its outputs need, but for those ``done`` elsewhere, as arrays.

    ``instruction[s]`` is that of step s, ``operands`` (steps, 3) its operands as instructions, −1 where it has fewer;
    ``kind`` and ``step`` of an instruction are its kind of operand and its step, −1 where it has none.
    """

    def __init__(self, program: Program, done: Collection[int] = ()) -> None:
        self.program = program
        needed = _needed(program, done)
        codes = {op: code for code, op in enumerate(_OPERATIONS)}
        members, operations, operands = [], [], []
        kind = np.zeros(len(program.instructions) + 1, dtype=np.int64)
        for i, (op, given, _) in enumerate(program.instructions):
            if op == "const":
                kind[i] = CONSTANT
            elif op == "input":
                kind[i] = INPUT + given[0]
            elif needed[i] and i not in done:
                members.append(i)
                operations.append(codes[op])
                operands.append((*given, -1, -1)[:3])
        self.instruction = np.array(members, dtype=np.int64)
        self.operation = np.array(operations, dtype=np.int64)
        self.operands = np.array(operands, dtype=np.int64).reshape(-1, 3)
        self.kind = kind
        self.step = np.full(len(program.instructions) + 1, -1, dtype=np.int64)
        self.step[self.instruction] = np.arange(len(members))
        self._order_operands()

    def _order_operands(self) -> None:
        """Values before inputs before constants: which of them is older differs from body to body."""
        rank = np.where(self.kind == VALUE, 0, np.where(self.kind == CONSTANT, 2, 1))
        a, b = self.operands[:, 0], self.operands[:, 1]
        exchanged = np.isin(self.operation, _COMMUTATIVE) & (rank[a] > rank[b])
        self.operands[exchanged, 0], self.operands[exchanged, 1] = b[exchanged], a[exchanged]

    def __len__(self) -> int:
        return len(self.instruction)

    def looks(self) -> Numbers:
        """A number per step: equal for operations on operands of the same kinds, and at the same places if near."""
        number = self.operation.copy()
        here = np.arange(len(self))
        for column in self.operands.T:
            back = here - self.step[column]
            near = np.where((column >= 0) & (self.step[column] >= 0) & (back <= _NEAR), back, 0)
            number = (number * 64 + self.kind[column] * (column >= 0)) * 32 + near
        return number

    def wiring(self, repetition: Repetition) -> Numbers:
        """Operands of each stretch (count, period, 3): their step in it, or −1 − kind if they come from outside."""
        steps = repetition.starts[:, None] + np.arange(repetition.period)
        operands = self.operands[steps]
        inside = self.step[operands] - repetition.starts[:, None, None]
        outside = -1 - self.kind[operands]
        return np.where(operands < 0, -1000, np.where((self.step[operands] >= 0) & (inside >= 0), inside, outside))


def repetitions(steps: Steps) -> list[Repetition]:
    """Repetitions that do not overlap, in the order of the program."""
    looks = steps.looks()
    free = np.ones(len(steps), dtype=bool)
    found: list[Repetition] = []
    refused: set[int] = set()  # periods of runs that are wired differently
    for _ in range(_ROUNDS):
        runs = _best_runs(looks, free, refused)
        if not runs:
            break
        new = [repetition for run in runs for repetition in _repetitions_within(steps, *run)]
        for repetition in new:
            free[repetition.start : repetition.end] = False
        found += new
        if not new:
            refused.add(runs[0][2])
    return sorted(found, key=lambda repetition: repetition.start)


def _best_runs(looks: Numbers, free: Numbers, refused: set[int]) -> list[tuple[int, int, int]]:
    """Runs (start, end, period) of the period that covers most steps; of multiples of a period the shortest."""
    best: list[tuple[int, int, int]] = []
    most = 0.0
    for period in sorted(set(_periods(looks, free)) - refused):
        same = (looks[:-period] == looks[period:]) & free[:-period] & free[period:]
        edges = np.flatnonzero(np.diff(np.concatenate(([False], same, [False]))))
        starts, ends = edges[::2], edges[1::2]
        long = ends - starts >= max((_FEWEST - 1) * period, _SHORTEST - period)
        starts, ends = starts[long], ends[long] + period
        covered = float((ends - starts).sum())
        if covered > 1.03 * most:
            most, best = covered, []
            last = 0
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
                start = max(start, last)  # runs of one period may share their ends
                if end - start >= _FEWEST * period:
                    best.append((start, end, period))
                    last = end
    return best


def _periods(looks: Numbers, free: Numbers) -> list[int]:
    """The most frequent distances between equal sequences of operations."""
    grams = len(looks) - _GRAM + 1
    if grams < 2:
        return []
    number = np.zeros(grams, dtype=np.uint64)
    for k in range(_GRAM):
        number = number * np.uint64(0x9E3779B97F4A7C15) + looks[k : k + grams].astype(np.uint64)
        number ^= number >> np.uint64(29)
    places = np.flatnonzero(free[:grams])
    order = places[np.argsort(number[places], kind="stable")]
    equal = number[order[1:]] == number[order[:-1]]
    distances = (order[1:] - order[:-1])[equal]
    distances, counts = np.unique(distances[distances <= _LONGEST], return_counts=True)
    frequent = np.argsort(-counts * np.minimum(distances, 256), kind="stable")[:_PERIODS]
    return [int(d) for d in distances[frequent]]


def _repetitions_within(steps: Steps, start: int, end: int, period: int) -> list[Repetition]:
    """The repetitions of a run: stretches in a row that are wired alike."""
    start = _quietest_start(steps, start, end, period)
    whole = Repetition(start, period, (end - start) // period)
    wiring = steps.wiring(whole).reshape(whole.count, -1)
    alike = (wiring[1:] == wiring[:-1]).all(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], alike, [False]))))
    result = []
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        count = last - first + 1
        if count >= _FEWEST and count * period >= _SHORTEST:
            result.append(Repetition(start + first * period, period, count))
    return result


def _quietest_start(steps: Steps, start: int, end: int, period: int) -> int:
    """Where in the first stretch the fewest values are on their way from one stretch to the next."""
    if (end - start) // period <= _FEWEST:
        return start
    low = max(start, start + ((end - start) // period // 2 - 1) * period)  # a stretch before one in the middle
    made = np.arange(low, min(low + 3 * period, end))
    last = np.zeros(len(made), dtype=np.int64)
    for column in steps.operands[made].T:
        at = np.where(column >= 0, steps.step[column], -1) - low
        np.maximum.at(last, at[at >= 0], made[at >= 0] - low)
    used = np.flatnonzero(last)
    crossing = np.bincount(used + 1, minlength=len(made) + 2) - np.bincount(last[used] + 1, minlength=len(made) + 2)
    return start + int(np.argmin(np.cumsum(crossing)[period : 2 * period]))


def _needed(program: Program, done: Collection[int]) -> list[bool]:
    """Which instructions the outputs need that are not made of what is done elsewhere."""
    needed = [False] * len(program.instructions)
    for k in program.outputs:
        needed[k] = True
    for i in range(len(needed) - 1, -1, -1):
        if needed[i] and i not in done:
            op, operands, _ = program.instructions[i]
            if op != "input":
                for k in operands:
                    needed[k] = True
    return needed
