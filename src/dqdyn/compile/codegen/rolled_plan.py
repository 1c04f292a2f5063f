"""How a program with repetitions is laid out: loops and straight parts in order, and a place for each value they share.

A loop reads what comes from outside of a stretch by rules: a value that the stretch before has made stays in a
register; addresses that advance evenly are computed; others come from a table. Constants that differ from stretch to
stretch are rows of data. Values that another part reads are kept in memory, those of a loop in one row per stretch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.rolling import CONSTANT, INPUT, VALUE, Numbers, Repetition, Steps, repetitions

_SEGMENT = 2000  # steps in a straight part

SLOTS, OUTPUT = "slots", "out"
Space = str | int
"""Where addresses count from: the values in memory, the output, or an input by its number."""


@dataclass(frozen=True)
class Literal:
    """A constant that all stretches share."""

    value: float


@dataclass(frozen=True)
class Datum:
    """Constants of the stretches: a column of the data."""

    column: int


@dataclass(frozen=True)
class Address:
    """Where the stretches find a value: ``first + stride · stretch``, or in a column of the table of indices."""

    space: Space
    first: int
    stride: int
    column: int = -1


@dataclass(frozen=True)
class Carried:
    """What the stretch before made at a position; the first stretch finds the instruction ``initial``."""

    position: int
    initial: int


Source = Literal | Datum | Address | Carried


@dataclass
class Loop:
    """A repetition with the sources of its outside operands, by (position, operand), and what it keeps."""

    repetition: Repetition
    wiring: Numbers
    sources: dict[tuple[int, int], Source] = field(default_factory=dict)
    kept: dict[int, Address] = field(default_factory=dict)  # position → where each stretch keeps its value
    last: dict[int, int] = field(default_factory=dict)  # position → where the last stretch keeps it
    results: list[tuple[int, Address]] = field(default_factory=list)  # (position, place in the output)
    data: list[Numbers] = field(default_factory=list)
    table: list[Numbers] = field(default_factory=list)


@dataclass(frozen=True)
class Straight:
    """Instructions to be computed one by one."""

    members: tuple[int, ...]


class RolledPlan:
    """Parts of a program in order; ``slot`` gives the places of instructions that are read outside of their part.

    ``done`` maps instructions that are computed before the first part to their slots, which are the first ``reserved``.
    Outputs that no part stores are in ``left``.
    """

    def __init__(self, program: Program, done: Mapping[int, int] | None = None, reserved: int = 0) -> None:
        self.program = program
        self.steps = steps = Steps(program, done or {})
        self.parts: list[Loop | Straight] = []
        self.slot = np.full(len(program.instructions) + 1, -1, dtype=np.int64)
        for i, place in (done or {}).items():
            self.slot[i] = place
        self.slots = reserved
        self._cut(repetitions(steps))
        self._outputs: dict[int, list[int]] = {}
        for k, i in enumerate(program.outputs):
            self._outputs.setdefault(i, []).append(k)
        self.left: list[int] = []
        read = self._read_elsewhere()
        columns = self._stored_results(read)
        self._place(read)
        for loop in self.loops:
            self._source_operands(loop)
            loop.results = [(p, self.address(loop, OUTPUT, column)) for p, column in columns.get(id(loop), [])]

    @property
    def loops(self) -> list[Loop]:
        return [part for part in self.parts if isinstance(part, Loop)]

    @property
    def size(self) -> int:
        """Steps that are emitted."""
        return sum(p.repetition.period if isinstance(p, Loop) else len(p.members) for p in self.parts)

    def _cut(self, found: list[Repetition]) -> None:
        here = 0
        for repetition in [*found, None]:
            end = len(self.steps) if repetition is None else repetition.start
            for start in range(here, end, _SEGMENT):
                members = self.steps.instruction[start : min(start + _SEGMENT, end)]
                self.parts.append(Straight(tuple(members.tolist())))
            if repetition is not None:
                self.parts.append(Loop(repetition, self.steps.wiring(repetition)[0]))
                here = repetition.end

    def _operands(self, loop: Loop) -> list[tuple[int, int, Numbers]]:
        """Position, number and instructions of the outside operands of a loop."""
        steps, starts = self.steps, loop.repetition.starts
        outside = np.argwhere((loop.wiring < 0) & (loop.wiring > -1000))
        return [(int(p), int(o), steps.operands[starts + p, o]) for p, o in outside]

    def _carried(self, loop: Loop, column: Numbers) -> Carried | None:
        """The operand as one that the stretch before has made, if it is."""
        if loop.repetition.count < 2 or self.steps.kind[column[0]] != VALUE:
            return None
        made = self.steps.step[column[1:]] - loop.repetition.starts[:-1]
        position = int(made[0])
        if not 0 <= position < loop.repetition.period or (made != position).any():
            return None
        condition = self.program.instructions[column[0]][0] == "less" or self._operation(loop, position) == "less"
        return None if condition else Carried(position, int(column[0]))

    def _operation(self, loop: Loop, position: int) -> str:
        i = int(self.steps.instruction[loop.repetition.start + position])
        return self.program.instructions[i][0]

    def _read_elsewhere(self) -> Numbers:
        """Which instructions are read from memory."""
        read = np.zeros(len(self.program.instructions) + 1, dtype=bool)
        for part in self.parts:
            if isinstance(part, Loop):
                for _, _, column in self._operands(part):
                    carried = self._carried(part, column)
                    read[column[:1] if carried else column] = True
            else:
                own = set(part.members)
                at = self.steps.step[np.array(part.members, dtype=np.int64)]
                outside = [k for k in np.unique(self.steps.operands[at]).tolist() if k >= 0 and k not in own]
                read[outside] = True
        return read

    def _stored_results(self, read: Numbers) -> dict[int, list[tuple[int, Numbers]]]:
        """Outputs that the stretches of a loop store, as columns of places; others are read from memory in the end."""
        columns: dict[int, list[tuple[int, Numbers]]] = {}
        inside: set[int] = set()
        for loop in self.loops:
            starts = loop.repetition.starts
            for p in range(loop.repetition.period):
                members = self.steps.instruction[starts + p].tolist()
                inside.update(i for i in members if i in self._outputs)
                places = [self._outputs.get(i, []) for i in members]
                if places[0] and len({len(ks) for ks in places}) == 1:
                    for column in np.array(places, dtype=np.int64).T:
                        columns.setdefault(id(loop), []).append((p, column))
                    inside.difference_update(members)
        straight = {i for part in self.parts if isinstance(part, Straight) for i in part.members}
        in_loops = {int(i) for loop in self.loops for i in self._members(loop)}
        self.left = [
            k for k, i in enumerate(self.program.outputs) if i in inside or (i not in straight and i not in in_loops)
        ]
        read[[self.program.outputs[k] for k in self.left]] = True
        return columns

    def _members(self, loop: Loop) -> Numbers:
        return self.steps.instruction[loop.repetition.start : loop.repetition.end]

    def _place(self, read: Numbers) -> None:
        """Slots for values that are read from memory."""
        for part in self.parts:
            if isinstance(part, Straight):
                for i in part.members:
                    if read[i]:
                        self.slot[i] = self.slots
                        self.slots += 1
                continue
            count, period = part.repetition.count, part.repetition.period
            members = self._members(part).reshape(count, period)
            wanted = read[members]
            always = np.flatnonzero(wanted[:-1].any(axis=0))
            for n, p in enumerate(always.tolist()):
                part.kept[p] = Address(SLOTS, self.slots + n, len(always))
                self.slot[members[:, p]] = self.slots + n + len(always) * np.arange(count)
            self.slots += len(always) * count
            for p in np.flatnonzero(wanted[-1] & ~wanted[:-1].any(axis=0)).tolist():
                part.last[p] = self.slot[members[-1, p]] = self.slots
                self.slots += 1

    def _source_operands(self, loop: Loop) -> None:
        known: dict[bytes, Source] = {}
        for p, o, column in self._operands(loop):
            key = column.tobytes()
            if key not in known:
                known[key] = self._source(loop, column)
            loop.sources[p, o] = known[key]

    def _source(self, loop: Loop, column: Numbers) -> Source:
        instructions, kind = self.program.instructions, int(self.steps.kind[column[0]])
        if kind == CONSTANT:
            return self.constants(loop, [instructions[k][2] for k in column.tolist()])
        if kind >= INPUT:
            components = np.array([instructions[k][1][1] for k in column.tolist()], dtype=np.int64)
            return self.address(loop, kind - INPUT, components)
        return self._carried(loop, column) or self.address(loop, SLOTS, self.slot[column])

    def constants(self, loop: Loop, values: list[float]) -> Literal | Datum:
        """A constant of each stretch of a loop."""
        column = np.array(values)
        if len({value.tobytes() for value in column}) == 1:
            return Literal(values[0])
        loop.data.append(column)
        return Datum(len(loop.data) - 1)

    def address(self, loop: Loop, space: Space, places: Numbers) -> Address:
        """Where each stretch of a loop finds something."""
        stride = int(places[1] - places[0]) if len(places) > 1 else 0
        if (np.diff(places) == stride).all():
            return Address(space, int(places[0]), stride)
        loop.table.append(places)
        return Address(space, 0, 0, len(loop.table) - 1)
