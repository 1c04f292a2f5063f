"""Results that stand side by side and have the same formula: sums of products, computed in vectors for one state.

Entries of a mass matrix, of derivatives or of a Jacobian in a row are often the same sum of products with one factor in
common, such as the momentum of one body on the motions of many. Neighbours in a row become the lanes of a vector: the
common factor is spread over them, the others are adjacent in memory. Each entry keeps the order of its operations, so
that it has the same bits as when computed alone. A result that stands in several places, such as the two halves of a
symmetric matrix, is copied where it has no neighbours of its kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dqdyn.compile.codegen.blocks import size_of
from dqdyn.compile.codegen.inner_groups import add_inner_groups
from dqdyn.compile.codegen.results import OutputArrays
from dqdyn.compile.codegen.vector_groups import Factor, Formula, Group, Packing, added, signed, with_sign
from dqdyn.compile.trace.program import Program

_FEWEST_PRODUCTS, _FEWEST_LANES, _FEWEST_RESULTS = 3, 2, 16
_WORTHWHILE = 0.015  # of all operations must be saved, after what it costs to lay factors side by side

Shape = str | tuple["Shape", "Shape"]
"""A sum of two shapes, or a single product ("*")."""
ALONE = -1
"""The other "factor" of a term that is no product."""
Term = tuple[int, int, bool]
"""A common factor, the number of an array, and whether the product is subtracted."""


@dataclass(frozen=True)
class SumFormula:
    """A result as a sum of products: the shape of the sum, and (negated, factor, factor) of each product in order.

    A term that is no product has ``ALONE`` as its second factor.
    """

    shape: Shape
    products: tuple[tuple[bool, int, int], ...]


def pack_sums(program: Program, width: int, arrays: OutputArrays | None = None) -> Packing:
    """The groups of a program; none where packing would not pay."""
    result = pack_results(program, width, arrays)
    if result.groups:
        add_inner_groups(program, result)
    return result


def pack_results(program: Program, width: int, arrays: OutputArrays | None = None) -> Packing:
    """The groups that compute outputs; each of their common factors is with its own sign in an array."""
    result = Packing(width)
    arrays = OutputArrays.of(program) if arrays is None else arrays
    if width == 1 or len(program.outputs) < _FEWEST_RESULTS or not program.shape:
        return result
    result.uses = uses = [0] * len(program.instructions)
    for k, count in program.uses().items():
        uses[k] = count
    formulas = _formulas(program, uses)
    products = 0
    for row, columns in _rows(arrays):
        for start in range(row, row + columns, width):
            lanes = range(min(width, row + columns - start))
            known = {lane: f for lane in lanes if (f := formulas.get(program.outputs[start + lane])) is not None}
            for members, commons in _families(known):
                terms = []
                for number, common in enumerate(commons):
                    wanted = {lane: _other(known[lane].products[number], common) for lane in members}
                    factors, minus = signed(wanted)
                    terms.append((common, result.array(factors), minus))
                products += len(terms)
                result.groups.append(Group.of(start, members, _formula(known[members[0]].shape, terms)))
    # Groups with the same common factors one after the other, such as rows of several matrices.
    result.groups.sort(key=lambda group: (max(group.common), group.start))
    costs = products + sum(len(array) for array in result.arrays)
    alone = sum(len(formulas[i].products) for i in {program.outputs[k] for k in result.outputs})
    if not result.groups or alone - costs < _WORTHWHILE * size_of(program):
        return Packing(width)
    for k in sorted({k for group in result.groups for k in group.common}):
        if not result.places(k):
            result.array({0: (k, False)})
    return result


def _formula(shape: Shape, terms: list[Term]) -> Formula:
    """A sum of common factors times arrays."""
    rest = iter(terms)

    def total(shape: Shape) -> tuple[Formula, bool]:
        """The formula, and whether it has the opposite sign."""
        if isinstance(shape, str):
            common, number, minus = next(rest)
            array = "array", number
            return (array if common == ALONE else ("fmul", ("spread", common), array)), minus
        return added(*map(total, shape))

    return with_sign(*total(shape))


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


def _formulas(program: Program, uses: Sequence[int]) -> dict[int, SumFormula]:
    """The results that are sums of products, by the instruction that gives them."""
    instructions, results = program.instructions, set(program.outputs)

    def parsed(k: int, negated: bool, products: list[tuple[bool, int, int]], root: bool = False) -> tuple[Shape, int]:
        """The shape of a sum, its products appended, and the last of its factors; what is used elsewhere is one term.

        Of two terms the shorter one stands first; of equals the one whose factors were computed first, which is the
        same for neighbours. So a − b and −b + a, which have the same bits, get the same shape.
        """
        op, operands, _ = instructions[k]
        if op not in ("mul", "neg", "add", "sub") or (not root and (uses[k] != 1 or k in results)):
            products.append((negated, k, ALONE))
            return "*", k
        if op == "neg":
            return parsed(operands[0], not negated, products)
        a, b = operands
        if op == "mul":
            products.append((negated, a, b))
            return "*", a if a > b else b
        start = len(products)
        left, left_last = parsed(a, negated, products)
        between = len(products)
        right, right_last = parsed(b, negated ^ (op == "sub"), products)
        if (between - start, left_last) <= (len(products) - between, right_last):
            return (left, right), max(left_last, right_last)
        products[start:] = [*products[between:], *products[start:between]]
        return (right, left), max(left_last, right_last)

    formulas = {}
    for k in results:
        if uses[k]:
            continue
        products: list[tuple[bool, int, int]] = []
        shape, _ = parsed(k, False, products, root=True)
        if sum(b != ALONE for _, _, b in products) >= _FEWEST_PRODUCTS:
            formulas[k] = SumFormula(shape, tuple(products))
    return formulas
