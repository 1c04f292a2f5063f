"""Which constraints depend on which, and which contradict, at one state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array
from dqdyn.constraints.methods.terms import ROUNDING

_DEPENDENT = 1e-8  # what is left of a row beside those before it, against the row
_SHARE = 1e-6


@dataclass(frozen=True)
class Dependence:
    """A row that follows from others: ``row`` of constraint ``name`` on the constraints ``on`` (none: it is zero).

    ``residual`` is how far its right-hand side is from what the others require: 0 where it is redundant; else they
    contradict.
    """

    row: int
    name: str
    on: tuple[str, ...]
    residual: float


@dataclass(frozen=True)
class ConstraintReport:
    """Rank and dependences of A at a state."""

    names: tuple[str, ...]
    """The constraint behind each row."""
    rank: int
    freedom: int
    """nv minus the rank."""
    dependences: tuple[Dependence, ...]

    @property
    def contradictions(self) -> tuple[Dependence, ...]:
        """Dependent rows that contradict those on which they depend."""
        return tuple(d for d in self.dependences if abs(d.residual) > 1e-8)

    def __str__(self) -> str:
        lines = [f"{len(self.names)} rows, rank {self.rank}, {self.freedom} degrees of freedom"]
        for d in self.dependences:
            others = " and ".join(repr(name) for name in d.on) if d.on else "nothing: it is zero"
            lines.append(f"row {d.row} of {d.name!r} depends on {others}; right-hand side off by {d.residual:.3g}")
        return "\n".join(lines)


def report(a: Array, b: Array, names: Sequence[str]) -> ConstraintReport:
    """Row by row: is it a combination of the independent rows before it?"""
    independent: list[int] = []
    dependences: list[Dependence] = []
    largest = np.abs(a).max(initial=0.0)
    for i, row in enumerate(a):
        size = float(np.linalg.norm(row))
        shares = np.linalg.lstsq(a[independent].T, row, rcond=None)[0] if independent else np.zeros(0)
        left = row - shares @ a[independent] if independent else row
        if size > max(1e-12 * largest, math.sqrt(ROUNDING)) and np.linalg.norm(left) > _DEPENDENT * size:
            independent.append(i)
            continue
        on = dict.fromkeys(names[k] for k, s in zip(independent, shares, strict=True) if abs(s) > _SHARE and size > 0.0)
        residual = float(b[i] - shares @ b[independent]) if independent else float(b[i])
        dependences.append(Dependence(i, names[i], tuple(on), residual))
    return ConstraintReport(tuple(names), len(independent), a.shape[1] - len(independent), tuple(dependences))
