"""Packed sums in LLVM IR: factors are stored side by side where they are computed, and combined at the end."""

from __future__ import annotations

from collections.abc import Iterator

from dqdyn.compile.codegen.emit import CodeBody
from dqdyn.compile.codegen.packed_sums import ALONE, Shape, pack_sums
from dqdyn.compile.codegen.results import OutputArrays
from dqdyn.compile.codegen.stages import Stages
from dqdyn.compile.trace.program import Program

_LONGEST = 500  # lines of IR in a basic block


class PackedEmitter:
    """Emits the outputs that :func:`pack_sums` packs, as vectors of ``width``; the factors are in ``%lanes``."""

    def __init__(self, program: Program, body: CodeBody, width: int, arrays: OutputArrays) -> None:
        packing = pack_sums(program, width, arrays)
        self.body, self.width, self.arrays = body, width, arrays
        self.groups, self.factors = packing.groups, packing.factors()
        self.copies = packing.copies(program)
        self.outputs = packing.outputs | self.copies.keys()
        self.places: dict[int, list[tuple[int, bool]]] = {}  # factor → (place, whether it is negated there)
        for number, array in enumerate(packing.arrays):
            for lane, (k, negated) in array.items():
                self.places.setdefault(k, []).append((number * width + lane, negated))
        self.size = width * len(packing.arrays)
        # Stale stack memory may hold subnormal numbers, and such operands are slow.
        for number in (number for number, array in enumerate(packing.arrays) if len(array) < width):
            body.store("zeroinitializer", body.at("%lanes", number * width), f"<{width} x double>", 8 * width)
        self.common: dict[int, int] = {}  # factor → a place with its own sign
        for k in {a for group in self.groups for a, _, _ in group.products} - {ALONE}:
            own = [place for place, negated in self.places.get(k, ()) if not negated]
            if not own:
                own.append(self.size)
                self.places.setdefault(k, []).append((self.size, False))
                self.size += 1
            self.common[k] = own[0]
        self.own = {k: place for k, at in self.places.items() for place, negated in at if not negated}

    def keep(self, i: int, value: str) -> None:
        """Store a factor wherever it is read."""
        opposite = self.body.op(f"fneg double {value}") if any(n for _, n in self.places[i]) else value
        for place, negated in self.places[i]:
            self.body.store(opposite if negated else value, self.body.at("%lanes", place))

    def emit(self, stages: Stages | None = None) -> None:
        """Compute and store all groups; ``stages`` takes the code as functions."""
        wide = self.body.widened(self.width)
        spread: dict[int, str] = {}  # common factors that the group before has in registers already
        for group in self.groups:
            if stages and stages.close_if_long():
                spread = {}  # registers of another function
            else:
                self.body.cut_if_long(_LONGEST)
            commons = {common for common, _, _ in group.products} - {ALONE}
            spread = {common: name for common, name in spread.items() if common in commons}
            for common in sorted(commons - spread.keys()):
                spread[common] = wide.spread(wide.load(wide.at("%lanes", self.common[common])))
            value, minus = self._total(wide, group.shape, iter(group.products), spread)
            if minus:
                value = wide.op(f"fneg {wide.real} {value}")
            wide.store_lanes(value, self.arrays.at(wide, group.start), group.lanes)
        for k, source in self.copies.items():
            self.body.store(self.body.load(self.arrays.at(wide, source)), self.arrays.at(wide, k))

    def _total(
        self, wide: CodeBody, shape: Shape, products: Iterator[tuple[int, int, bool]], spread: dict[int, str]
    ) -> tuple[str, bool]:
        """A sum of products, and whether it has the opposite sign."""
        if shape == "*":
            common, array, minus = next(products)
            x = wide.load(wide.at("%lanes", array * self.width), wide.real, 8 * self.width)
            return (x if common == ALONE else wide.binary(f"fmul{wide.flags}", spread[common], x)), minus
        (left, left_minus), (right, right_minus) = (self._total(wide, part, products, spread) for part in shape)
        if left_minus == right_minus:
            return wide.binary(f"fadd{wide.flags}", left, right), left_minus
        first, second = (right, left) if left_minus else (left, right)
        return wide.binary(f"fsub{wide.flags}", first, second), False
