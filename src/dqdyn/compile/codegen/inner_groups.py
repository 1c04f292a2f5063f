"""Inner groups: factors of packed sums that have a formula in common themselves are computed in vectors, too.

A group reads arrays of factors, such as four neighbouring columns of a matrix. Where the entries of an array have one
formula, it becomes the result of an inner group, which may lead to further arrays. An inner group comes before all that
uses its values, and after all that it uses; whatever would have to wait for itself remains scalar.
"""

from __future__ import annotations

from collections import Counter
from heapq import heapify, heappop, heappush

from dqdyn.compile.codegen.common_formulas import CommonFormulas
from dqdyn.compile.codegen.group_order import GroupOrder
from dqdyn.compile.codegen.vector_groups import Formula, Group, Packing, with_sign
from dqdyn.compile.trace.passes import needed_for
from dqdyn.compile.trace.program import Program

_FEWER = 0.9  # of the scalar instructions that a group replaces must be at least what it costs
_LEAVES = ("spread", "constants", "inputs")


def add_inner_groups(program: Program, packing: Packing) -> None:
    """Compute the arrays of a packing by inner groups where that takes fewer instructions; order what remains."""
    _Search(program, packing).run()


class _Search:
    def __init__(self, program: Program, packing: Packing) -> None:
        self.packing, self.results = packing, set(program.outputs)
        self.groups: dict[int, Group] = {}  # by the number of the array
        self.places: Counter[int] = Counter()  # of each value in memory
        for array in packing.arrays:
            self.places.update(k for k, _ in array.values())
        self.places.update({k for group in packing.groups for k in group.common})
        self.formulas = CommonFormulas(program, packing, self.places)
        packed = packing.outputs | packing.copies(program).keys()
        outputs = [i for k, i in enumerate(program.outputs) if k not in packed]
        self.order = GroupOrder(program, needed_for(program, [*outputs, *packing.factors()]))

    def run(self) -> None:
        """Try all arrays, what was computed last first: it may free what it was computed from."""
        arrays = self.packing.arrays
        waiting = [(-self._last(number), number) for number in range(len(arrays))]
        heapify(waiting)
        while waiting:
            last, number = heappop(waiting)
            if -last != self._last(number):  # a lane was added meanwhile
                heappush(waiting, (-self._last(number), number))
                continue
            before = len(arrays)
            self._try(number)
            for new in range(before, len(arrays)):
                heappush(waiting, (-self._last(new), new))
        self._finish()

    def _last(self, number: int) -> int:
        return max(k for k, _ in self.packing.arrays[number].values())

    def _finish(self) -> None:
        """Write down which scalar instructions remain, and where groups stand among them."""
        packing, groups = self.packing, self.groups
        before, late = self.order.places()
        packing.scalars = {i for i in self.order.position if i >= 0}
        packing.before = {place: [groups[number] for number in numbers] for place, numbers in before.items()}
        # Groups with the same common factors one after the other.
        late.sort(key=lambda each: (each[0], max(groups[each[1]].common, default=-1), each[1]))
        packing.late = [groups[number] for _, number in late]

    # --- one array ---

    def _try(self, number: int) -> None:
        """Compute an array by a group where that is possible and takes fewer instructions."""
        array = self.packing.arrays[number]
        lanes = [k for k, _ in array.values()]
        if len(array) < 2 or not self.order.can_merge(lanes) or any(n and self._is_used(k) for k, n in array.values()):
            return
        found = self.formulas.formula(array)
        if found is None:
            return
        scalar = sum(self.formulas.cost[k] + 1.0 for k, _ in array.values())
        if found.cost + 1.0 + found.minus > _FEWER * scalar:
            return
        self.order.merge(number, lanes, found.inside, _values(found.formula))
        self.packing.close(number)
        group = Group.of(number, tuple(array), with_sign(self._resolved(found.formula), found.minus))
        self.groups[number] = group
        self.places.update(group.common)

    def _is_used(self, k: int) -> bool:
        """Whether a value that an array has negated is needed elsewhere, too."""
        return self.places[k] > 1 or k in self.results or any(n >= 0 for n in self.order.users(k))

    def _resolved(self, formula: Formula) -> Formula:
        """The formula with arrays."""
        kind, *others = formula
        if kind == "lanes":
            known = self.packing.known(others[0])
            filled = () if known is None else self.packing.arrays[known]
            self.places.update(k for lane, (k, _) in others[0].items() if lane not in filled)
            return "array", self.packing.array(others[0])
        if kind in _LEAVES:
            return formula
        return kind, *(self._resolved(other) for other in others)


def _values(formula: Formula) -> set[int]:
    """What a formula uses."""
    kind, *others = formula
    if kind == "lanes":
        return {k for k, _ in others[0].values()}
    if kind in _LEAVES:
        return {others[0]} if kind == "spread" else set()
    return set().union(*map(_values, others))
