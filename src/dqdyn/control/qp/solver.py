"""The base of solvers of quadratic programs: min ½ uᵀH u + fᵀu under lower ≤ [u; A u] ≤ upper."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from dqdyn.arrays import Array
from dqdyn.control.qp.active_set import ActiveSetGuess

Mask = npt.NDArray[np.bool_]
INFINITE = 1e30
"""Bounds from this size on count as infinite; finite, since solvers add and compare."""
HOLDS = 1e-6
"""How far a bound of a solution may be missed in the bound's own unit; of a row shorter than 1, that part of it."""
ROUNDING = 1e-11
"""How far in addition, relative to the terms that the row adds up."""
DAMPING = (0.0, 1e-13, 1e-10, 1e-7)
"""Added to H of size 1, one after the other, until a solution from scratch obeys its rows. The first is H itself, the
second what rounding leaves uncertain in H anyway; a solution moves by no more than the last in the metric of H."""
ZERO = 1e-12
"""The length below which a row says nothing about u."""
SHORT, LONG = 1e-8, 1e12
"""Squared lengths of rows below and above which they need care."""
FAIR = 1e-8, 1e4
"""Squared sizes of H between which it is solved as it is."""
_RESIDUAL = 1e-9  # of a system of linear equations that counts as solved


@dataclass(frozen=True)
class ProblemSize:
    """Size of a problem: unknowns, whether they have bounds of their own, rows of A, and how many rows are equalities.

    ``lower`` and ``upper`` hold the bounds of u first, if ``bounds``, then those of A u; equalities come first in A.
    """

    unknowns: int
    bounds: bool
    rows: int
    equalities: int

    @property
    def first(self) -> int:
        """Where the bounds of A u begin."""
        return self.unknowns if self.bounds else 0

    @property
    def sides(self) -> int:
        return self.rows + self.first


class QuadraticProgram(NamedTuple):
    """min ½ uᵀH u + fᵀu under lower ≤ [u; A u] ≤ upper."""

    H: Array
    f: Array
    A: Array
    upper: Array
    lower: Array


@dataclass(frozen=True, eq=False)
class Scaled:
    """A with rows of length 1 where they were very short or long, bounds likewise; ``zero`` rows are left alone.

    ``factor``: what each row was divided by; ``short``: the lengths before, 1 for those above it and for zeros.
    """

    factor: Array
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
    if squares.item(squares.argmin()) >= SHORT and squares.item(squares.argmax()) <= LONG:
        return None
    largest = np.abs(A).max(axis=1)
    with np.errstate(over="ignore", invalid="ignore"):  # squares of entries beyond 1e154
        length = np.where(squares <= LONG, np.sqrt(squares), largest)
    zero = squares < ZERO**2
    factor = np.where(zero | ((squares >= SHORT) & (squares <= LONG)), 1.0, length)
    wide = np.concatenate([np.ones(first), factor])
    short = np.where(zero, 1.0, np.minimum(length, 1.0))
    with np.errstate(over="ignore"):  # a bound that overflows is infinite
        return Scaled(factor, A / factor[:, None], upper / wide, lower / wide, short, zero)


class BoundsCheck:
    """Whether a vector obeys all bounds of a problem of one shape, each in its own unit."""

    def __init__(self, size: ProblemSize) -> None:
        self._first = size.first
        self._values, self._over = np.zeros(size.sides), np.zeros((2, size.sides))
        self._own, self._product = self._values[: size.first], self._values[size.first :]

    def __call__(self, u: Array, A: Array, upper: Array, lower: Array, short: Array | None = None) -> bool:
        """True if u does; ``short`` (rows,) are the lengths of the rows of A, those above 1 counted as 1.

        What u misses of its own bounds by rounding is cut off, in u itself.
        """
        if not len(self._values):
            return bool(np.isfinite(u).all())
        worst = self._worst(u, A, upper, lower)
        if self._first and worst > 0.0:
            np.minimum(np.maximum(u, lower[: self._first]), upper[: self._first], out=self._own)
            if np.abs(self._own - u).max() <= HOLDS:
                u[:] = self._own
                worst = self._worst(u, A, upper, lower)
        if worst <= HOLDS and short is None:
            return True
        if not math.isfinite(worst) or not np.isfinite(u).all():
            return False
        allowed = np.full(len(upper), HOLDS)
        if short is not None:
            allowed[self._first :] *= short
        allowed[self._first :] += ROUNDING * (np.abs(A) @ np.abs(u))
        return bool((self._over <= allowed).all())

    def _worst(self, u: Array, A: Array, upper: Array, lower: Array) -> float:
        """By how much a bound is missed, NaN if anything is."""
        if self._first:
            self._own[:] = u
        np.dot(A, u, out=self._product)
        np.subtract(self._values, upper, out=self._over[0])
        np.subtract(lower, self._values, out=self._over[1])
        return self._over.item(self._over.argmax())


class Solver(ABC):
    """A solver for a sequence of problems of one shape; each starts from where the last one ended.

    Whatever a solver finds is checked against all bounds. Tolerances of solvers are those of a metric, of H or of their
    own, in which a bound may be far too short to count; and what an earlier problem leaves behind may spoil a later
    one. So a solution that misses a bound is discarded, and the problem is solved from scratch, with more and more
    damping. A ``guess`` that machine code verifies comes first, where there is one.
    """

    name: ClassVar[str]
    damping: tuple[float, ...] = DAMPING
    guess: ActiveSetGuess | None = None
    multipliers: Array | None = None
    """λ (sides,) of the last solution with H u + f + [I; A]ᵀλ = 0, ≥ 0 at upper and ≤ 0 at lower bounds, to be
    read before the next problem; None where the solver does not say."""

    def __init__(self, size: ProblemSize) -> None:
        self.size, self.obeys = size, BoundsCheck(size)

    def forget(self) -> None:
        """Start the next problem from scratch: what is found then does not depend on earlier ones."""
        if self.guess is not None:
            self.guess.forget()

    def solve(
        self, H: Array, f: Array, A: Array, upper: Array, lower: Array, squares: Array | None = None
    ) -> Array | None:
        """u (n,), or None where no u is found that obeys all bounds. H is positive (semi)definite.

        ``squares`` (1 + rows,), if they are at hand: the sum of the squares of H, then of each row of A.
        """
        if self.guess is not None:
            u = self.guess(H, f, A, upper, lower)
            if u is not None:
                self.multipliers = self.guess.multipliers
                return u
        self.multipliers = None
        if squares is None:
            squares = np.array([np.vdot(H, H), *np.einsum("ij,ij->i", A, A)])
        rows, short, unit = (A, upper, lower), None, 1.0
        scaled = scaled_rows(A, upper, lower, squares[1:], self.size.first) if self.size.rows else None
        if scaled is not None:
            if scaled.is_empty(HOLDS):
                return None
            rows, short = (scaled.A, scaled.upper, scaled.lower), scaled.short
        if not FAIR[0] < squares.item(0) < FAIR[1]:
            H, f, unit = _of_size_one(H, f)
        u = self._next(QuadraticProgram(H, f, *rows))
        if u is not None and self.obeys(u, A, upper, lower, short):
            self._in_units_given(unit, scaled)
            return u
        H, f, further = _of_size_one(H, f)
        for damping in self.damping:
            u = self._afresh(QuadraticProgram(H + damping * np.eye(len(f)) if damping else H, f, *rows))
            if u is not None and self.obeys(u, A, upper, lower, short):
                self._in_units_given(unit * further, scaled)
                return u
        return None

    def _in_units_given(self, unit: float, scaled: Scaled | None) -> None:
        """Multipliers of the problem as it was given, from those of a problem in other units of cost and rows."""
        if self.multipliers is None or (unit == 1.0 and scaled is None):
            return
        self.multipliers = unit * self.multipliers
        if scaled is not None:
            self.multipliers[self.size.first :] /= scaled.factor

    @abstractmethod
    def _next(self, problem: QuadraticProgram) -> Array | None:
        """A solution, from where the last problem ended; A has no row that is very short or very long, but zeros."""

    @abstractmethod
    def _afresh(self, problem: QuadraticProgram) -> Array | None:
        """A solution of this problem as if it were the first."""


def _of_size_one(H: Array, f: Array) -> tuple[Array, Array, float]:
    """The same problem in another unit of cost, and that unit."""
    size = float(np.abs(H).max(initial=0.0))
    if not 0.0 < size < math.inf:
        return H, f, 1.0
    with np.errstate(over="ignore"):  # a solution would not be finite either, and is not taken
        return H / size, f / size, size


class LinearSolver(Solver):
    """H u = −f, the shortest u where H is singular; None where there is no u, and ½ uᵀH u + fᵀu has no minimum."""

    name: ClassVar[str] = "linear"

    def _next(self, problem: QuadraticProgram) -> Array | None:
        H, f = problem.H, problem.f
        try:
            return np.asarray(np.linalg.solve(H, -f), dtype=float)
        except np.linalg.LinAlgError:
            u = np.asarray(np.linalg.lstsq(H, -f)[0])
            return u if np.abs(H @ u + f).max() <= _RESIDUAL * np.abs(f).max() else None

    _afresh = _next
