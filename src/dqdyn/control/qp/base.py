"""What a solver of quadratic programs answers: min ½ uᵀH u + fᵀu under lower ≤ [u; A u] ≤ upper."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

INFINITE = 1e30
"""A bound from which on there is none; finite, since solvers add and compare."""


_SMALL, _ZERO = 1e-8, 1e-24  # squared lengths of rows that need care, and of those that say nothing about u


def unit_rows(
    A: np.ndarray, upper: np.ndarray, lower: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """A with rows of length 1, those of zeros left alone, its bounds (m,) likewise, and which rows are zeros.

    None where no row is short: solvers work to absolute tolerances, which only short rows drown in.
    """
    squares = np.einsum("ij,ij->i", A, A)
    if not len(squares) or squares.min() >= _SMALL:
        return None
    zero = squares < _ZERO
    length = np.sqrt(np.where(zero | (squares >= _SMALL), 1.0, squares))
    return A / length[:, None], upper / length, lower / length, zero


@dataclass(frozen=True)
class Shape:
    """Size of a problem: unknowns, whether they have bounds of their own, rows of A, and how many rows are equalities.

    ``lower`` and ``upper`` hold the bounds of u first, if ``bounds``, then those of A u; equalities come first in A.
    """

    unknowns: int
    bounds: bool
    rows: int
    equalities: int

    @property
    def sides(self) -> int:
        return self.rows + (self.unknowns if self.bounds else 0)


class Solver(ABC):
    """A solver for a sequence of problems of one shape; each starts from where the last one ended."""

    name: ClassVar[str]

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    @abstractmethod
    def solve(
        self, H: np.ndarray, f: np.ndarray, A: np.ndarray, upper: np.ndarray, lower: np.ndarray
    ) -> np.ndarray | None:
        """u (n,), or None where no u obeys all bounds. H is positive (semi)definite."""
