"""The parts of a rolled program in LLVM IR: loops over stretches, and straight code between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dqdyn.compile.codegen.emit import CodeBody
from dqdyn.compile.codegen.ir import Emitter
from dqdyn.compile.codegen.loops import LoopEmitter
from dqdyn.compile.codegen.rolled_plan import (
    OUTPUT,
    SLOTS,
    Address,
    Carried,
    Datum,
    Literal,
    Loop,
    RolledPlan,
    Source,
    Space,
    Straight,
)
from dqdyn.compile.trace.rolling import INPUT, VALUE, Repetition

_FEW = 8  # copies that are not worth a loop


class RolledBody(CodeBody, LoopEmitter):
    """The body of a function with segments of a program and loops."""


class Array(NamedTuple):
    """An array in memory: its address, what its elements are, and how they are aligned."""

    pointer: str
    kind: str
    align: int


@dataclass
class _Round:
    """Addresses in one round of a loop, and what it has fetched."""

    loop: Loop
    tables: str  # the start of the names of its data and indices
    index: str
    carried: Mapping[Carried, str]
    pointers: dict[tuple[Space, int], str]
    fetched: dict[Source, str]


class RolledEmitter:
    """Emits the parts of a plan; ``memory`` has the arrays of all spaces, and ``%largest`` arguments of sines."""

    def __init__(self, plan: RolledPlan, body: RolledBody, memory: Mapping[Space, Array], name: str) -> None:
        self.plan, self.body, self.memory, self.name = plan, body, memory, name
        self.program = plan.program
        self.globals: list[str] = []
        self._loops = 0
        self._users: dict[int, list[int]] = {}
        left = set(plan.left)
        for k, i in enumerate(self.program.outputs):
            if k not in left:
                self._users.setdefault(i, []).append(k)

    def emit(self) -> None:
        """All parts in order, and then the outputs that are constants, inputs or scattered."""
        for n, part in enumerate(self.plan.parts):
            if isinstance(part, Loop):
                self._loop(part)
            else:
                self.body.cut(f"part{n}")
                self._straight(part)
        self.body.cut("rest")
        self._copy_outputs()

    # --- straight parts ---

    def _straight(self, part: Straight) -> None:
        body, instructions = self.body, self.program.instructions

        def fetch(k: int) -> str:
            op, operands, _ = instructions[k]
            if op == "input":
                return self._load(Address(operands[0], operands[1], 0))
            return self._load(Address(SLOTS, int(self.plan.slot[k]), 0), op == "less")

        def keep(i: int, value: str) -> None:
            if self.plan.slot[i] >= 0:
                self._store(value, Address(SLOTS, int(self.plan.slot[i]), 0), instructions[i][0] == "less")
            for k in self._users.get(i, ()):
                self._store(value, Address(OUTPUT, k, 0))

        turns = any(instructions[i][0] in ("sin", "cos") for i in part.members)
        self._begin_sines(turns)
        body.segment(self.program, part.members, fetch, keep)
        self._end_sines(turns)

    # --- loops ---

    def _loop(self, loop: Loop) -> None:
        body, plan, repetition = self.body, self.plan, loop.repetition
        first = plan.steps.instruction[repetition.start : repetition.start + repetition.period].tolist()
        operations = [self.program.instructions[i][0] for i in first]
        turns = "sin" in operations or "cos" in operations
        tables = self._tables(loop)
        carried = list(dict.fromkeys(s for s in loop.sources.values() if isinstance(s, Carried)))
        initial = [(body.real, self._initial(c.initial)) for c in carried]
        results: dict[int, list[Address]] = {}
        for position, place in loop.results:
            results.setdefault(position, []).append(place)

        def stretch(index: str, given: list[str]) -> list[str]:
            now = _Round(loop, tables, index, dict(zip(carried, given, strict=False)), {}, {})
            self._begin_sines(turns)
            values: list[str] = []
            sines: dict[str, tuple[str, str]] = {}
            for p, op in enumerate(operations):
                operands = [
                    values[w] if w >= 0 else self._fetch(now, loop.sources[p, o], op == "select" and o == 0)
                    for o, w in enumerate(loop.wiring[p].tolist())
                    if w > -1000
                ]
                if op in ("sin", "cos"):
                    if operands[0] not in sines:
                        sines[operands[0]] = body.sincos(operands[0])
                    values.append(sines[operands[0]][0 if op == "sin" else 1])
                else:
                    values.append(body.operation(op, operands))
                if p in loop.kept:
                    self._store(values[p], loop.kept[p], op == "less", now)
                for place in results.get(p, ()):
                    self._store(values[p], place, False, now)
            self._end_sines(turns)
            return [values[c.position] for c in carried] + [values[p] for p in loop.last]

        ends = [(body.real if operations[p] != "less" else body.boolean, "poison") for p in loop.last]
        final = body.repeat(0, repetition.count, stretch, *initial, *ends)
        for (p, slot), value in zip(loop.last.items(), final[len(carried) :], strict=True):
            self._store(value, Address(SLOTS, slot, 0), operations[p] == "less")

    def _initial(self, k: int) -> str:
        return self._load(Address(SLOTS, int(self.plan.slot[k]), 0))

    def _fetch(self, now: _Round, source: Source, is_condition: bool) -> str:
        if isinstance(source, Literal):
            return self.body.const(source.value)
        if isinstance(source, Carried):
            return now.carried[source]
        if source not in now.fetched:
            if isinstance(source, Datum):
                row = self._pointer(now, "data", len(now.loop.data))
                now.fetched[source] = self.body.spread(self.body.load(self.body.at(row, source.column)))
            else:
                now.fetched[source] = self._load(source, is_condition, now)
        return now.fetched[source]

    def _pointer(self, now: _Round, space: Space, stride: int) -> str:
        """Where a space starts in this round, if it advances by a stride."""
        key = (space, stride)
        if key not in now.pointers:
            if space in ("data", "table"):
                start, kind = f"@{now.tables}_{space}", "double" if space == "data" else "i32"
            else:
                start, kind, _ = self.memory[space]
            moved = self.body.op(f"mul i64 {now.index}, {stride}")
            now.pointers[key] = self.body.at(start, moved, kind)
        return now.pointers[key]

    def _at(self, address: Address, now: _Round | None) -> str:
        body, array = self.body, self.memory[address.space]
        if address.column >= 0:
            assert now is not None
            row = self._pointer(now, "table", len(now.loop.table))
            index = body.load(body.at(row, address.column, "i32"), "i32", 4)
            return body.at(array.pointer, body.op(f"sext i32 {index} to i64"), array.kind)
        start = (
            array.pointer if now is None or not address.stride else self._pointer(now, address.space, address.stride)
        )
        return body.at(start, address.first, array.kind)

    def _load(self, address: Address, is_condition: bool = False, now: _Round | None = None) -> str:
        _, kind, align = self.memory[address.space]
        x = self.body.load(self._at(address, now), kind, align)
        if kind != self.body.real:
            x = self.body.spread(x)
        return self.body.binary("fcmp ogt", x, self.body.const(0.5)) if is_condition else x

    def _store(self, value: str, address: Address, is_condition: bool = False, now: _Round | None = None) -> None:
        body, (_, kind, align) = self.body, self.memory[address.space]
        if is_condition:
            value = body.select(value, body.const(1.0), body.const(0.0))
        body.store(value, self._at(address, now), kind, align)

    def _tables(self, loop: Loop) -> str:
        """Data and indices of a loop as global constants; the start of their names."""
        name = f"{self.name}_loop{self._loops}"
        self._loops += 1
        if loop.data:
            numbers = np.array(loop.data).T.ravel()
            entries = ", ".join(f"double {Emitter(1).const(float(x))}" for x in numbers)
            self.globals.append(f"@{name}_data = internal constant [{numbers.size} x double] [{entries}], align 64")
        if loop.table:
            places = np.array(loop.table).T.ravel()
            entries = ", ".join(f"i32 {k}" for k in places.tolist())
            self.globals.append(f"@{name}_table = internal constant [{places.size} x i32] [{entries}], align 64")
        return name

    def _begin_sines(self, turns: bool) -> None:
        if turns:
            self.body.largest = self.body.load("%largest", self.body.real, 8 * self.body.width)

    def _end_sines(self, turns: bool) -> None:
        if turns:
            self.body.store(self.body.largest, "%largest", self.body.real, 8 * self.body.width)

    # --- outputs that no part stores ---

    def _copy_outputs(self) -> None:
        plan, instructions = self.plan, self.program.instructions
        groups: dict[Space, list[int]] = {}
        for k in plan.left:
            kind = int(plan.steps.kind[self.program.outputs[k]])
            groups.setdefault(SLOTS if kind == VALUE else kind - INPUT, []).append(k)  # −1: constants
        for space, places in groups.items():
            sources = [self.program.outputs[k] for k in places]
            step = len(places) if len(places) > _FEW else 1
            for start in range(0, len(places), step):
                part = sources[start : start + step]
                loop = Loop(Repetition(0, 0, len(part)), np.zeros((0, 3), dtype=np.int64))
                source: Source
                if space == -1:
                    source = plan.constants(loop, [instructions[i][2] for i in part])
                elif space == SLOTS:
                    source = plan.address(loop, SLOTS, plan.slot[part])
                else:
                    source = plan.address(loop, space, np.array([instructions[i][1][1] for i in part]))
                self._copy(loop, source, plan.address(loop, OUTPUT, np.array(places[start : start + step])))

    def _copy(self, loop: Loop, source: Source, target: Address) -> None:
        tables = self._tables(loop)

        def one(index: str, _: list[str]) -> list[str]:
            now = _Round(loop, tables, index, {}, {}, {})
            self._store(self._fetch(now, source, False), target, False, now)
            return []

        if loop.repetition.count == 1:
            one("0", [])
        else:
            self.body.repeat(0, loop.repetition.count, one)
