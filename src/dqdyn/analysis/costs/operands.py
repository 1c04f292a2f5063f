"""Operands that count: the steps of the papers run on them, and one tally has what they cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dqdyn.algebra.counter import Counted, Tally, counters
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.errors import Error

Kind = str | int | tuple[int, int]
"""A name of :data:`KINDS`, the length of a list, or the rows and columns of a matrix."""

KINDS: dict[str, tuple[int, Callable[[Sequence[Counted]], Any]]] = {
    "scalar": (1, lambda c: c[0]),
    "list 1": (1, list),
    "vector": (3, lambda c: pure(*c)),
    "quaternion": (4, lambda c: Quaternion(*c)),
    "pure": (6, DQ.of6),
    "axes": (6, lambda c: [(0, DQ.of6(c))]),
    "dual": (8, DQ.of8),
    "columns": (9, lambda c: tuple(pure(*c[i : i + 3]) for i in (0, 3, 6))),
    "maps": (18, lambda c: (KINDS["columns"][1](c[:9]), KINDS["columns"][1](c[9:]))),
    "images 4": (16, lambda c: tuple(DQ.of(Quaternion(*c[i : i + 4])) for i in range(0, 16, 4))),
    "images 8": (64, lambda c: tuple(DQ.of8(c[i : i + 8]) for i in range(0, 64, 8))),
}
"""How many floats an operand has, and how these make it."""


class Operands:
    """A maker of operands that count into one tally."""

    def __init__(self) -> None:
        self.tally = Tally()

    def __call__(self, kind: Kind) -> Any:
        if isinstance(kind, tuple):
            return [self(kind[1]) for _ in range(kind[0])]
        if isinstance(kind, int):
            return counters(kind, self.tally)
        size, make = KINDS[kind]
        return make(self(size))


def count(run: Callable[[Operands], Any]) -> Tally:
    """What a run costs, which takes its operands from the argument."""
    operands = Operands()
    run(operands)
    return operands.tally


def count_step(step: Callable[..., Any], *kinds: Kind) -> Tally:
    """What a step costs on operands of these kinds."""
    return count(lambda c: step(*(c(kind) for kind in kinds)))


def require_joints(n: int) -> None:
    """Refuse an arm without joints."""
    if n < 1:
        raise Error(f"An arm has at least one joint; found n = {n}.", n=n)
