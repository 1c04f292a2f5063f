"""Packed sums in LLVM IR: factors are stored side by side where they are computed, and combined at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dqdyn.compile.codegen.emit import CodeBody
from dqdyn.compile.codegen.inner_groups import add_inner_groups
from dqdyn.compile.codegen.packed_sums import pack_results
from dqdyn.compile.codegen.results import OutputArrays
from dqdyn.compile.codegen.stages import Stages
from dqdyn.compile.codegen.vector_groups import Formula, Group
from dqdyn.compile.trace.program import Program

_LONGEST = 500  # lines of IR in a basic block


class PackedEmitter:
    """Emits the outputs that :func:`pack_sums` packs, as vectors of ``width``; the factors are in ``%lanes``.

    The groups that compute outputs are known at once, and may be emitted before :meth:`search`, which finds the inner
    groups and takes long.
    """

    def __init__(self, program: Program, body: CodeBody, width: int, arrays: OutputArrays) -> None:
        self.packing = pack_results(program, width, arrays)
        self.program, self.body, self.width, self.arrays = program, body, width, arrays
        self.wide = body.widened(width)
        self.groups = self.packing.groups
        self.copies = self.packing.copies(program)
        self.own = {k: self.packing.places(k)[0] for group in self.groups for k in group.common}
        """Where a value is with its own sign."""
        self._waiting = list(self.groups)  # those not yet emitted

    def search(self) -> None:
        """Find the inner groups, and a place for every factor."""
        program, packing, width = self.program, self.packing, self.width
        add_inner_groups(program, packing)
        self.factors = packing.factors()
        self.before, self.late, self.computed = packing.before, packing.late, packing.computed
        self.scalars = packing.scalars
        packed = packing.outputs | self.copies.keys()
        self._results: dict[int, list[int]] = {}  # value that an inner group computes → outputs
        for k, i in enumerate(program.outputs):
            if k not in packed and i in self.computed:
                self._results.setdefault(i, []).append(k)
        self.outputs = packed | {k for outputs in self._results.values() for k in outputs}
        self.places: dict[int, list[tuple[int, bool]]] = {}  # value → (place, whether it is negated there)
        for number, array in enumerate(packing.arrays):
            for lane, (k, negated) in array.items():
                self.places.setdefault(k, []).append((number * width + lane, negated))
        self.size = width * len(packing.arrays)
        # Stale stack memory may hold subnormal numbers, and such operands are slow.
        partly = {n for g in packing.inner for n in g.arrays if len(g.lanes) < len(packing.arrays[n])}
        partly |= {number for number, array in enumerate(packing.arrays) if 0 < len(array) < width}
        for number in sorted(partly):
            self.body.store("zeroinitializer", self.body.at("%lanes", number * width), f"<{width} x double>", 8 * width)
        self._lanes = {group.start: packing.arrays[group.start] for group in packing.inner}
        for k in {k for group in packing.inner for k in group.common}:
            if all(negated for _, negated in self.places.get(k, ())):
                self.places.setdefault(k, []).append((self.size, False))
                self.size += 1
        # First of all where a group puts it.
        self.own = {k: place for k, at in self.places.items() for place, negated in at if not negated}
        for k, number in self.computed.items():
            self.own.update(
                {i: number * width + n for n, (i, minus) in self._lanes[number].items() if i == k and not minus}
            )

    def keep(self, i: int, value: str) -> None:
        """Store a factor wherever it is read."""
        places = [(place, negated) for place, negated in self.places[i] if place // self.width not in self._lanes]
        opposite = self.body.op(f"fneg double {value}") if any(n for _, n in places) else value
        for place, negated in places:
            self.body.store(opposite if negated else value, self.body.at("%lanes", place))

    def emit_before(self, i: int, value_of: Callable[[int], str]) -> None:
        """Compute the inner groups that an instruction needs."""
        for group in self.before.get(i, ()):
            self._emit_inner(group, {k: self.wide.spread(value_of(k)) for k in group.common})

    def emit(self, stages: Stages | None = None) -> None:
        """Compute and store all other groups; ``stages`` takes the code as functions."""
        self._emit_groups(self.late, stages, is_inner=True)
        self.emit_outputs(stages)

    def emit_outputs(self, stages: Stages | None = None) -> None:
        """Compute and store the outputs, unless that is done."""
        waiting, self._waiting = self._waiting, []
        self._emit_groups(waiting, stages, is_inner=False)
        for k, source in self.copies.items() if waiting else ():
            self.body.store(self.body.load(self.arrays.at(self.wide, source)), self.arrays.at(self.wide, k))

    def _emit_groups(self, groups: Sequence[Group], stages: Stages | None, is_inner: bool) -> None:
        wide = self.wide
        spread: dict[int, str] = {}  # common factors that the group before has in registers already
        for group in groups:
            if stages and stages.close_if_long():
                spread = {}  # registers of another function
            else:
                self.body.cut_if_long(_LONGEST)
            commons = set(group.common)
            spread = {common: name for common, name in spread.items() if common in commons}
            for common in sorted(commons - spread.keys()):
                spread[common] = wide.spread(wide.load(wide.at("%lanes", self.own[common])))
            if is_inner:
                self._emit_inner(group, spread)
            else:
                wide.store_lanes(self._value(group.formula, spread), self.arrays.at(wide, group.start), group.lanes)

    def _emit_inner(self, group: Group, spread: dict[int, str]) -> None:
        """Compute and store the lanes of an inner group, where groups and scalar instructions read them."""
        wide, start = self.wide, group.start * self.width
        vector = self._value(group.formula, spread)
        wide.store(vector, wide.at("%lanes", start), wide.real, 8 * self.width)
        neighbours: dict[tuple[int, int], list[int]] = {}  # (array, place of lane 0) of outputs → lanes
        for lane, (k, negated) in self._lanes[group.start].items():
            if len(self.places[k]) > 1:
                value = self.body.load(self.body.at("%lanes", start + lane))
                self.keep(k, self.body.op(f"fneg double {value}") if negated else value)
            for output in self._results.get(k, ()):
                neighbours.setdefault((self.arrays.number(output), output - lane), []).append(lane)
        for (_, first), lanes in neighbours.items():
            wide.store_lanes(vector, wide.at(self.arrays.at(wide, first + lanes[0]), -lanes[0]), lanes)

    def _value(self, formula: Formula, spread: dict[int, str]) -> str:
        wide = self.wide
        kind, *others = formula
        if kind == "spread":
            return spread[others[0]]
        if kind == "array":
            return wide.load(wide.at("%lanes", others[0] * self.width), wide.real, 8 * self.width)
        if kind == "inputs":
            return wide.load(wide.at(f"%in{others[0]}", others[1]), wide.real)
        if kind == "constants":
            return wide.constants(others[0])
        values = [self._value(other, spread) for other in others]
        return wide.op(f"fneg {wide.real} {values[0]}") if kind == "fneg" else wide.binary(kind + wide.flags, *values)
