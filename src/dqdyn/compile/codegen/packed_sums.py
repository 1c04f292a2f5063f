"""Results that stand side by side and have the same formula: sums of products, computed in vectors for one state.

Entries of a mass matrix, of derivatives or of a Jacobian in a row are often the same sum of products with one factor in
common, such as the momentum of one body on the motions of many. Neighbours in a row become the lanes of a vector: the
common factor is spread over them, the others are adjacent in memory. Each entry keeps the order of its operations, so
that it has the same bits as when computed alone. A result that stands in several places, such as the two halves of a
symmetric matrix, is copied where it has no neighbours of its kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dqdyn.compile.codegen.blocks import size_of
from dqdyn.compile.codegen.results import OutputArrays
from dqdyn.compile.trace.program import Program

_FEWEST_PRODUCTS, _FEWEST_LANES, _FEWEST_RESULTS = 3, 2, 16
_WORTHWHILE = 0.015  # of all operations must be saved, after what it costs to lay factors side by side

Shape = str | tuple["Shape", "Shape"]
"""A sum of two shapes, or a single product ("*")."""
ALONE = -1
"""The other "factor" of a term that is no product."""
Factor = tuple[int, bool]
"""A value and whether it is negated."""


@dataclass(frozen=True)
class SumFormula:
    """A result as a sum of products: the shape of the sum, and (negated, factor, factor) of each product in order.

    A term that is no product has ``ALONE`` as its second factor.
    """

    shape: Shape
    products: tuple[tuple[bool, int, int], ...]


@dataclass(frozen=True)
class Group:
    """Lanes of one vector: outputs ``start + lane``. Each product is a common factor times an array in memory."""

    start: int
    lanes: tuple[int, ...]
    shape: Shape
    products: tuple[tuple[int, int, bool], ...]  # (common factor, number of the array, whether it is subtracted)


@dataclass
class Packing:
    """All groups, and the arrays of ``width`` factors that they read."""

    width: int
    groups: list[Group] = field(default_factory=list)
    arrays: list[dict[int, Factor]] = field(default_factory=list)  # lane → factor

    @property
    def outputs(self) -> set[int]:
        """Outputs that a group computes."""
        return {group.start + lane for group in self.groups for lane in group.lanes}

    def factors(self) -> set[int]:
        """Values that groups use."""
        common = {a for group in self.groups for a, _, _ in group.products}
        return common - {ALONE} | {k for array in self.arrays for k, _ in array.values()}

    def copies(self, program: Program) -> dict[int, int]:
        """Outputs that no group computes, by another output with the same value that one does."""
        packed = self.outputs
        source = {program.outputs[k]: k for k in packed}
        return {k: source[i] for k, i in enumerate(program.outputs) if k not in packed and i in source}


def pack_sums(program: Program, width: int, arrays: OutputArrays | None = None) -> Packing:
    """The groups of a program; none where packing would not pay."""
    result = Packing(width)
    arrays = OutputArrays.of(program) if arrays is None else arrays
    if width == 1 or len(program.outputs) < _FEWEST_RESULTS or not program.shape:
        return result
    formulas = _formulas(program)
    index: dict[tuple[int, Factor], list[int]] = {}  # (lane, factor) → arrays that have it there
    for row, columns in _rows(arrays):
        for start in range(row, row + columns, width):
            lanes = range(min(width, row + columns - start))
            known = {lane: f for lane in lanes if (f := formulas.get(program.outputs[start + lane])) is not None}
            for members, commons in _families(known):
                products = []
                for number, common in enumerate(commons):
                    wanted = {lane: _other(known[lane].products[number], common) for lane in members}
                    minus = all(negated for _, negated in wanted.values())
                    if minus:
                        wanted = {lane: (k, False) for lane, (k, _) in wanted.items()}
                    products.append((common, _array(result, index, wanted), minus))
                result.groups.append(Group(start, members, known[members[0]].shape, tuple(products)))
    # Groups with the same common factors one after the other, such as rows of several matrices.
    result.groups.sort(key=lambda group: (max(common for common, _, _ in group.products), group.start))
    costs = sum(len(group.products) for group in result.groups) + sum(len(array) for array in result.arrays)
    alone = sum(len(formulas[i].products) for i in {program.outputs[k] for k in result.outputs})
    return result if result.groups and alone - costs >= _WORTHWHILE * size_of(program) else Packing(width)


def _rows(arrays: OutputArrays) -> Iterator[tuple[int, int]]:
    """The first output of each row of all arrays, and the length of the row."""
    for start, size, columns in zip(arrays.starts, arrays.sizes, arrays.columns, strict=True):
        yield from ((row, columns) for row in range(start, start + size, columns or 1))


def _families(known: dict[int, SumFormula]) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """Lanes with the same shape and a common factor in every product, and those factors."""
    waiting = list(known)
    while waiting:
        first = known[waiting[0]]
        commons = [_shareable(product) for product in first.products]
        members = []
        for lane in waiting:
            formula = known[lane]
            if formula.shape != first.shape:
                continue
            shared = [c & _shareable(product) for c, product in zip(commons, formula.products, strict=True)]
            if all(shared):
                commons = shared
                members.append(lane)
        waiting = [lane for lane in waiting if lane not in members]
        if len(members) >= _FEWEST_LANES:
            yield tuple(members), [min(c) for c in commons]


def _shareable(product: tuple[bool, int, int]) -> set[int]:
    """What lanes can have in common: a factor, or that the term is no product."""
    _, a, b = product
    return {ALONE} if b == ALONE else {a, b}


def _other(product: tuple[bool, int, int], common: int) -> Factor:
    negated, a, b = product
    return (b if a == common else a), negated


def _array(result: Packing, index: dict[tuple[int, Factor], list[int]], wanted: dict[int, Factor]) -> int:
    """The number of an array with these factors; free lanes of an existing one are filled."""
    lane, factor = next(iter(wanted.items()))
    for number in index.get((lane, factor), ()):
        array = result.arrays[number]
        if all(array.get(k, f) == f for k, f in wanted.items()):
            break
    else:
        number = len(result.arrays)
        result.arrays.append({})
    for k, f in wanted.items():
        if k not in result.arrays[number]:
            result.arrays[number][k] = f
            index.setdefault((k, f), []).append(number)
    return number


def _order(products: list[tuple[bool, int, int]]) -> tuple[int, int]:
    """Which of two terms stands first, so that a − b and −b + a, which have the same bits, get the same shape.

    The shorter one; of equals the one whose factors were computed first, which is the same for neighbours.
    """
    return len(products), max(max(a, b) for _, a, b in products)


def _formulas(program: Program) -> dict[int, SumFormula]:
    """The results that are sums of products, by the instruction that gives them."""
    uses, results = program.uses(), set(program.outputs)

    def parsed(k: int, negated: bool, products: list[tuple[bool, int, int]], root: bool = False) -> Shape:
        """The shape of a sum, its products appended; what is used elsewhere, too, is one term."""
        op, operands, _ = program.instructions[k]
        if op not in ("mul", "neg", "add", "sub") or (not root and (uses[k] != 1 or k in results)):
            products.append((negated, k, ALONE))
            return "*"
        if op == "mul":
            products.append((negated, operands[0], operands[1]))
            return "*"
        if op == "neg":
            return parsed(operands[0], not negated, products)
        start = len(products)
        left = parsed(operands[0], negated, products)
        between = len(products)
        right = parsed(operands[1], negated ^ (op == "sub"), products)
        first, second = products[start:between], products[between:]
        if _order(first) <= _order(second):
            return left, right
        products[start:] = [*second, *first]
        return right, left

    formulas = {}
    for k in results:
        if uses[k]:
            continue
        products: list[tuple[bool, int, int]] = []
        shape = parsed(k, False, products, root=True)
        if sum(b != ALONE for _, _, b in products) >= _FEWEST_PRODUCTS:
            formulas[k] = SumFormula(shape, tuple(products))
    return formulas
