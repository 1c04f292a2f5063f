"""Rows of a problem: scaled for solvers, and one-sided with names to search them for conflicts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dqdyn.arrays import Array

Mask = npt.NDArray[np.bool_]
ZERO = 1e-12
"""The length below which a row says nothing about u."""
_SHORT, _LONG = 1e-8, 1e12  # squared lengths of rows that need care


@dataclass(frozen=True, eq=False)
class Scaled:
    """A with rows of length 1 where they were very short or long, bounds likewise; ``zero`` rows are left alone.

    ``short``: the lengths before, 1 for those above it and for zeros.
    """

    A: Array
    upper: Array
    lower: Array
    short: Array
    zero: Mask

    def is_empty(self, tolerance: float) -> bool:
        """Whether the bounds of a row of zeros exclude zero, so that no u obeys them."""
        first = len(self.upper) - len(self.zero)
        return bool((self.zero & ((self.upper[first:] < -tolerance) | (self.lower[first:] > tolerance))).any())


def scaled_rows(A: Array, upper: Array, lower: Array, squares: Array, first: int) -> Scaled | None:
    """The rows (m, n), their ``squares`` (m,), and their bounds, those of ``upper`` and ``lower`` from ``first`` on.

    None where no row needs it: solvers work to absolute tolerances, in which only very short and long rows drown.
    """
    if squares.item(squares.argmin()) >= _SHORT and squares.item(squares.argmax()) <= _LONG:
        return None
    largest = np.abs(A).max(axis=1)
    with np.errstate(over="ignore", invalid="ignore"):  # squares of entries beyond 1e154
        length = np.where(squares <= _LONG, np.sqrt(squares), largest)
    zero = squares < ZERO**2
    factor = np.where(zero | ((squares >= _SHORT) & (squares <= _LONG)), 1.0, length)
    wide = np.concatenate([np.ones(first), factor])
    short = np.where(zero, 1.0, np.minimum(length, 1.0))
    with np.errstate(over="ignore"):  # a bound beyond all numbers is none
        return Scaled(A / factor[:, None], upper / wide, lower / wide, short, zero)


@dataclass(frozen=True, eq=False)
class NamedRows:
    """a (m, n), b (m,); ``names`` and whether each may give way. Equalities have two rows of one name.

    Rows of a problem have their ``index`` into its bounds, and whether they are upper ones.
    """

    a: Array
    b: Array
    names: tuple[str, ...]
    relaxable: Mask
    index: npt.NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=int))
    is_upper: Mask = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def scaled(self) -> tuple[Array, Array, Array]:
        """a with rows of length 1, b with them, and the lengths; rows of zero keep theirs."""
        with np.errstate(over="ignore"):  # of rows and bounds beyond 1e154, of which no solution is taken
            length = np.linalg.norm(self.a, axis=1)
            length = np.where(length < ZERO, 1.0, length)
            return self.a / length[:, None], self.b / length, length
