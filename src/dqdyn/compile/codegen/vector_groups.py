"""Groups of values that are computed in one vector, as formulas on common factors and arrays in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dqdyn.compile.trace.program import Program

Formula = tuple[Any, ...]
"""("spread", value), ("array", number), ("constants", numbers) or ("inputs", argument, first component); of others
("fneg", a), ("fmul", a, b), ("fadd", a, b), ("fsub", a, b)."""
Factor = tuple[int, bool]
"""A value and whether it is negated."""
Lanes = dict[int, Factor]
"""One value per lane."""
_OPERATIONS = ("fneg", "fmul", "fadd", "fsub")


@dataclass(frozen=True)
class Group:
    """Lanes of one vector: outputs ``start + lane``, or for an inner group the array with the number ``start``.

    ``common`` are the values that the formula spreads over all lanes, ``arrays`` those that it reads.
    """

    start: int
    lanes: tuple[int, ...]
    formula: Formula
    common: tuple[int, ...]
    arrays: tuple[int, ...]

    @classmethod
    def of(cls, start: int, lanes: tuple[int, ...], formula: Formula) -> Group:
        common: dict[int, None] = {}
        arrays: dict[int, None] = {}
        pending = [formula]
        while pending:
            kind, *others = pending.pop()
            if kind == "spread":
                common[others[0]] = None
            elif kind == "array":
                arrays[others[0]] = None
            elif kind in _OPERATIONS:
                pending += others
        return cls(start, lanes, formula, tuple(common), tuple(arrays))


def added(left: tuple[Formula, bool], right: tuple[Formula, bool]) -> tuple[Formula, bool]:
    """The sum of two formulas, each with whether it has the opposite sign."""
    (a, a_minus), (b, b_minus) = left, right
    if a_minus == b_minus:
        return ("fadd", a, b), a_minus
    return (("fsub", b, a) if a_minus else ("fsub", a, b)), False


def signed(factors: Lanes) -> tuple[Lanes, bool]:
    """Factors with the sign of the first one taken out of all, and whether that is negative."""
    minus = next(iter(factors.values()))[1]
    return ({lane: (k, not n) for lane, (k, n) in factors.items()} if minus else factors), minus


def with_sign(formula: Formula, minus: bool) -> Formula:
    """A formula, or its negative."""
    return ("fneg", formula) if minus else formula


@dataclass
class Packing:
    """All groups, and the arrays of ``width`` factors that they read.

    ``groups`` compute outputs, after everything else. An inner group computes an array: those in ``before`` just before
    a scalar instruction, those in ``late`` in this order after all of them.
    """

    width: int
    uses: Sequence[int] = ()  # how often each instruction is an operand of another
    groups: list[Group] = field(default_factory=list)
    arrays: list[Lanes] = field(default_factory=list)
    scalars: set[int] = field(default_factory=set)  # instructions that remain
    before: dict[int, list[Group]] = field(default_factory=dict)
    late: list[Group] = field(default_factory=list)
    computed: dict[int, int] = field(default_factory=dict)  # value → array in which an inner group computes it
    _index: dict[tuple[int, Factor], list[int]] = field(default_factory=dict)  # (lane, factor) → arrays that have it
    _closed: set[int] = field(default_factory=set)

    @property
    def outputs(self) -> set[int]:
        """Outputs that a group computes."""
        return {group.start + lane for group in self.groups for lane in group.lanes}

    @property
    def inner(self) -> list[Group]:
        """All inner groups."""
        return [*(group for groups in self.before.values() for group in groups), *self.late]

    def factors(self) -> set[int]:
        """Values that groups use and none of them computes."""
        common = {k for group in (*self.groups, *self.inner) for k in group.common}
        return (common | {k for array in self.arrays for k, _ in array.values()}) - self.computed.keys()

    def copies(self, program: Program) -> dict[int, int]:
        """Outputs that no group computes, by another output with the same value that one does."""
        packed = self.outputs
        source = {program.outputs[k]: k for k in packed}
        return {k: source[i] for k, i in enumerate(program.outputs) if k not in packed and i in source}

    def known(self, wanted: Lanes) -> int | None:
        """The number of an array with these factors, or with free lanes where it lacks them."""
        for number in self._index.get(next(iter(wanted.items())), ()):
            array, is_closed = self.arrays[number], number in self._closed
            if all(array.get(lane, None if is_closed else f) == f for lane, f in wanted.items()):
                return number
        return None

    def array(self, wanted: Lanes) -> int:
        """The number of an array with these factors; free lanes of an existing one are filled."""
        number = self.known(wanted)
        if number is None:
            number = len(self.arrays)
            self.arrays.append({})
        for lane, f in wanted.items():
            if lane not in self.arrays[number]:
                self.arrays[number][lane] = f
                self._index.setdefault((lane, f), []).append(number)
        return number

    def places(self, k: int) -> list[int]:
        """Where a value is with its own sign, in lanes of all arrays."""
        found = [(lane, number) for lane in range(self.width) for number in self._index.get((lane, (k, False)), ())]
        return [number * self.width + lane for lane, number in found]

    def close(self, number: int) -> None:
        """An inner group computes this array, so free lanes stay free."""
        self._closed.add(number)
        self.computed.update({k: number for k, _ in self.arrays[number].values()})
