"""Equalities taken out of a quadratic program: u = u₀ + Z z, so that only z is left to choose.

A row that has a pivot, an unknown whose coefficient is never zero, is solved for it. The others are turned by
Householder reflections, each of which only touches the unknowns of its row. Z is never formed: rows of the problem pass
through the same steps, so they keep their zeros. Written over any scalar, so that the whole reduction is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dqdyn.algebra.scalar import Scalar, divide, less, select, sqrt, total
from dqdyn.constraints.methods.sparse import Sparse, dot, less_share

DEPENDENT = 1e-5
"""A row depends on those before it where what they leave of it is shorter than this part of it."""
CONFINED = 0.05
"""A row is turned among its own unknowns only where they are more than this part of it."""


@dataclass(frozen=True)
class Equality:
    """Σ row[k] u_k = right. ``pivot``: an unknown whose coefficient is not zero, whatever the state."""

    row: Sparse
    right: Scalar
    pivot: int | None = None
    name: str = ""
    is_motion: bool = False
    """Whether it binds the motion of a contact: few unknowns, before the equation of motion brings in all others."""


@dataclass(frozen=True)
class Affine:
    """Σ row[k] z_k + constant."""

    row: Sparse
    constant: Scalar = 0.0


@dataclass(frozen=True)
class _Solved:
    """An unknown as a function of others: u_p = constant + Σ row[k] u_k."""

    pivot: int
    by: Affine

    def apply(self, form: Affine) -> Affine:
        share = form.row.get(self.pivot)
        if share is None:
            return form
        rest = {k: c for k, c in form.row.items() if k != self.pivot}
        return Affine(less_share(rest, -share, self.by.row), form.constant + share * self.by.constant)


@dataclass(frozen=True)
class _Reflected:
    """Unknowns turned by 1 − scale · n nᵀ; the first of them is then a function of others."""

    normal: Sparse
    scale: Scalar
    solved: _Solved

    def apply(self, form: Affine) -> Affine:
        if not any(k in form.row for k in self.normal):
            return form
        row = less_share(form.row, self.scale * dot(self.normal, form.row), self.normal)
        return self.solved.apply(Affine(row, form.constant))


@dataclass(frozen=True)
class _Mapped:
    """Unknowns as functions of those that several reflections leave: cheaper than these where few are left."""

    table: dict[int, Affine]

    def apply(self, form: Affine) -> Affine:
        row, constant = {k: c for k, c in form.row.items() if k not in self.table}, form.constant
        for k, c in form.row.items():
            if k in self.table:
                row = less_share(row, -c, self.table[k].row)
                constant = constant + c * self.table[k].constant
        return Affine(row, constant)


@dataclass(frozen=True)
class Plan:
    """What is decided about equalities before a program is made; see :func:`plan_for`.

    ``dependent``: rows to leave out, as they depend on others at all states. ``confined``: rows of motions that are
    turned among their own unknowns only, which keeps the zeros of all others. ``spare``: how many rows may depend on
    others at single states, as those of a robot with straight legs: each frees an unknown there.
    """

    dependent: frozenset[int] = frozenset()
    confined: frozenset[int] = frozenset()
    spare: int = 0


AS_GIVEN = Plan()
"""All rows, each turned among all of its unknowns."""


class Elimination:
    """The unknowns that ``equalities`` leave free, and every form in u as a form in them.

    ``margins``: per reflected row the square of what is left of it by the square of the row: zero where the row depends
    on the others at this state. ``shares``: the square of its confined part by that of the whole. ``idle``: per spare
    unknown 1 where nothing has freed it.
    """

    def __init__(self, unknowns: int, equalities: Sequence[Equality], plan: Plan = AS_GIVEN) -> None:
        rows = [(i, row) for i, row in enumerate(equalities) if i not in plan.dependent]
        self._steps: list[_Solved | _Reflected | _Mapped] = []
        self.margins: dict[int, Scalar] = {}
        self.shares: dict[int, Scalar] = {}
        eliminated: set[int] = set()
        supports: dict[int, set[int]] = {}
        for of_motion in (True, False):
            for _, equality in rows:
                if equality.is_motion is of_motion and equality.pivot is not None:
                    self._steps.append(self._solved(equality))
                    eliminated.add(equality.pivot)
            for i, equality in rows if of_motion else ():
                if i in plan.confined:
                    supports[i] = set(self._reduced(Affine(equality.row)).row)
        supports = _closed(supports)
        self._spare = range(unknowns, unknowns + plan.spare)
        self._freed: Scalar = 0.0
        for i, equality in rows:
            if equality.pivot is None:
                step = self._reflected(i, equality, supports.get(i))
                if step is not None:
                    self._steps.append(step)
                    eliminated.add(step.solved.pivot)
        self.idle = [select(less(s + 0.5, self._freed), 0.0, 1.0) for s in range(plan.spare)]
        self._steps = _merged(self._steps)
        self.free = [k for k in range(unknowns + plan.spare) if k not in eliminated]
        self._place = {k: i for i, k in enumerate(self.free)}

    @property
    def spare(self) -> list[int]:
        """Places of the spare unknowns among the free ones."""
        return [self._place[k] for k in self._spare]

    def __call__(self, row: Sparse, constant: Scalar = 0.0) -> tuple[list[Scalar], Scalar]:
        """Σ row[k] u_k + constant as a row over the free unknowns, and its constant."""
        form = self._reduced(Affine(row, constant))
        result: list[Scalar] = [0.0] * len(self.free)
        for k, c in form.row.items():
            result[self._place[k]] = c
        return result, form.constant

    def _reduced(self, form: Affine) -> Affine:
        for step in self._steps:
            form = step.apply(form)
        return form

    def _solved(self, equality: Equality) -> _Solved:
        form = self._reduced(Affine(equality.row, -equality.right))
        pivot = equality.pivot
        assert pivot is not None
        factor = divide(-1.0, form.row[pivot])
        rest = {k: c * factor for k, c in form.row.items() if k != pivot and not is_zero(c)}
        return _Solved(pivot, Affine(rest, form.constant * factor))

    def _reflected(self, i: int, equality: Equality, support: set[int] | None) -> _Reflected | None:
        """The reflection that leaves one unknown of ``support`` in the row; all unknowns of the row unless given."""
        form = self._reduced(Affine(equality.row, -equality.right))
        row = {k: c for k, c in form.row.items() if not is_zero(c)}
        x = {k: c for k, c in row.items() if support is None or k in support}
        self.margins[i] = self.shares[i] = 0.0
        if not x:
            return None
        before, left = _square(equality.row), _square(x)
        self.margins[i], self.shares[i] = _ratio(left, before), _ratio(left, _square(row)) if len(row) > len(x) else 1.0
        pivot = min(x)
        # Where nothing is left of the row it asks for nothing, and the pivot is free: a spare unknown takes its place.
        sound = less(DEPENDENT**2 * before, left)
        length = sqrt(select(sound, left, 1.0))
        first = select(sound, x[pivot], 1.0)
        signed = select(less(first, 0.0), -length, length)
        normal = {**x, pivot: first + signed}
        scale = select(sound, divide(1.0, length * length + first * signed), 0.0)
        factor = select(sound, divide(1.0, signed), 0.0)
        rest = {k: c * factor for k, c in row.items() if k not in x} | self._freeing(sound)
        return _Reflected(normal, scale, _Solved(pivot, Affine(rest, form.constant * factor)))

    def _freeing(self, sound: Any) -> Sparse:
        """1 at the next spare unknown where a row is not sound, 0 elsewhere."""
        lost, freed = select(sound, 0.0, 1.0), self._freed
        if not self._spare:
            return {}
        self._freed = freed + lost
        return {
            k: select(less(s - 0.5, freed), select(less(freed, s + 0.5), lost, 0.0), 0.0)
            for s, k in enumerate(self._spare)
        }


def _closed(supports: dict[int, set[int]]) -> dict[int, set[int]]:
    """The supports, each with those of earlier rows that it meets: their reflections turn its unknowns into theirs."""
    result: dict[int, set[int]] = {}
    for row, support in supports.items():
        result[row] = set(support)
        for earlier in result.values():
            if earlier & result[row]:
                result[row] |= earlier
    return result


def _merged(steps: list[_Solved | _Reflected | _Mapped]) -> list[_Solved | _Reflected | _Mapped]:
    """The steps, with the last reflections as one map of their unknowns where that takes fewer operations."""
    first = len(steps)
    while first and isinstance(step := steps[first - 1], _Reflected) and not step.solved.by.row:
        first -= 1
    group = [step for step in steps[first:] if isinstance(step, _Reflected)]
    support = sorted({k for step in group for k in step.normal})
    if not group or len(support) >= 3 * len(group):
        return steps
    table = {}
    for k in support:
        form = Affine({k: 1.0})
        for step in group:
            form = step.apply(form)
        table[k] = form
    return [*steps[:first], _Mapped(table)]


Problem = tuple[int, Sequence[Equality]]
"""How many unknowns there are, and the equalities at a state of numbers."""


def plan_for(generic: Sequence[Problem], special: Sequence[Problem]) -> Plan:
    """What holds for the equalities at ``generic`` states, and at ``special`` ones, at which more may depend."""
    dependent = frozenset.intersection(*(_dependent(*problem) for problem in generic))
    confined = frozenset(i for i, row in enumerate(generic[0][1]) if row.is_motion and row.pivot is None) - dependent
    while True:
        plan = Plan(dependent, confined)
        shares = [Elimination(*problem, plan).shares for problem in (*generic, *special)]
        poor = {i for found in shares for i in confined if found[i] < CONFINED**2}
        if not poor:
            break
        confined -= poor
    lost = (Elimination(*problem, plan).margins.values() for problem in special)
    return Plan(dependent, confined, max((sum(m < DEPENDENT**2 for m in margins) for margins in lost), default=0))


def _dependent(unknowns: int, equalities: Sequence[Equality]) -> frozenset[int]:
    """Rows of which the others leave nothing."""
    dependent: frozenset[int] = frozenset()
    while True:
        margins = Elimination(unknowns, equalities, Plan(dependent)).margins
        found = next((i for i, margin in margins.items() if margin < DEPENDENT**2), None)
        if found is None:
            return dependent
        dependent |= {found}


def is_zero(entry: Scalar) -> bool:
    """A zero by structure: a plain number, or a constant of a traced program."""
    if type(entry) is float:
        return entry == 0.0
    graph = getattr(entry, "graph", None)
    return graph is not None and graph.constants.get(entry.index) == 0.0


def _ratio(part: Scalar, whole: Scalar) -> Scalar:
    return divide(part, select(less(0.0, whole), whole, 1.0))


def _square(row: Sparse) -> Scalar:
    return total([0.0, *(c * c for c in row.values())])
