"""From the blocks of a composition to the command: one level, or strict priorities among any number of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control.core.guessed_levels import GuessedLevels
from dqdyn.control.qp.solve import make_solver
from dqdyn.control.qp.solver import ZERO, BoundsCheck, ProblemSize, Solver

Views = Mapping[str, Array]
"""The blocks of a composition by name."""
Optimise = Callable[[Views], Array | None]
"""The velocity or acceleration to command, None where there is none."""
_ROOM = 1e-9
_NULL = 1e-11  # singular values, relative to the largest, that count as zero


class Optimum:
    """The first level: min ‖J u + r‖² + λ²‖u‖² under the bounds [Quiroz, eq. (3.1)] [Quiroz, eq. (3.5)]."""

    def __init__(self, size: ProblemSize, solver: str, guess: bool = False) -> None:
        """``guess`` as in :func:`make_solver`."""
        self.solver: Solver = make_solver(solver, size, guess)

    def __call__(self, views: Views) -> Array | None:
        return self.solver.solve(views["H0"], views["f0"], views["A"], views["upper"], views["lower"], views["squares"])


class StrictLevels:
    """Lower levels move only where the higher ones do not care: J₁ u = J₁ u₁ and so on [Quiroz, eq. (3.6)].

    The paper states the priority by equalities. Here u = u₁ + Z z with Z spanning the null space of all higher levels,
    which says the same, keeps it to rounding errors, and needs no independent rows. z = 0 obeys all bounds, so lower
    levels are never infeasible. A lower level whose share makes the command miss a bound is left out of that step.
    """

    def __init__(self, size: ProblemSize, solver: str, levels: int, guessed: Sequence[int] = ()) -> None:
        """``guessed``: how many rows each level but the last has, for guesses as in :func:`make_solver`."""
        self.first, self.size, self.name, self.levels = Optimum(size, solver, bool(guessed)), size, solver, levels
        self._guessed = GuessedLevels(size, guessed) if guessed and solver == "daqp" else None
        self._solvers: dict[tuple[int, int], Solver] = {}
        self._obeys = BoundsCheck(size)

    def __call__(self, views: Views) -> Array | None:
        u = self.first(views)
        if u is None:
            return None
        if self._guessed is not None:
            self._guessed.start(views)
        null_spaces: _NullSpaces | None = None
        for k in range(1, self.levels):
            H, f = views[f"H{k}"], views[f"f{k}"]
            guessed = None if self._guessed is None else self._guessed(k, H, f, u)
            if guessed is None:
                null_spaces = null_spaces or _NullSpaces(self, views)
                guessed = null_spaces(k, H, f, u)
            u = guessed
        return u

    def obeys(self, u: Array, views: Views, short: Array) -> bool:
        """Whether u obeys all bounds; ``short`` as in :class:`BoundsCheck`."""
        return self._obeys(u, views["A"], views["upper"], views["lower"], short)

    def solver(self, level: int, unknowns: int) -> Solver:
        """For a level with so many unknowns left."""
        key = level, unknowns
        if key not in self._solvers:
            rows = self.size.sides - self.size.equalities
            self._solvers[key] = make_solver(self.name, ProblemSize(unknowns, False, rows, 0))
        return self._solvers[key]


class _NullSpaces:
    """The lower levels of one step, each in the null space of the higher ones."""

    def __init__(self, levels: StrictLevels, views: Views) -> None:
        self.levels, self.views = levels, views
        e, first, size = levels.size.equalities, levels.size.first, levels.size
        self.rows = np.vstack([np.eye(first, size.unknowns), views["A"][e:]])
        inequalities = np.r_[0:first, first + e : size.sides]
        self.upper, self.lower = views["upper"][inequalities], views["lower"][inequalities]
        self.short = np.minimum(np.sqrt(views["squares"][1:]), 1.0)
        self.short[self.short < ZERO] = 1.0

    def __call__(self, k: int, H: Array, f: Array, u: Array) -> Array:
        """u with the share of level k, or u itself where that level is left out."""
        views, rows = self.views, self.rows
        Z = null_space(np.vstack([views["A"][: self.levels.size.equalities], *(views[f"J{i}"] for i in range(k))]))
        if Z.shape[1] == 0:
            return u
        at = rows @ u
        # z = 0 is always allowed, with a little room where the levels above use a bound up: else the solver has
        # to tell a touching bound from a violated one by rounding errors.
        above, below = np.maximum(self.upper - at, 0.0) + _ROOM, np.minimum(self.lower - at, 0.0) - _ROOM
        z = self.levels.solver(k, Z.shape[1]).solve(
            np.ascontiguousarray(Z.T @ H @ Z), Z.T @ (H @ u + f), np.ascontiguousarray(rows @ Z), above, below
        )
        if z is None:
            return u
        with_level = u + Z @ z
        return with_level if self.levels.obeys(with_level, views, self.short) else u


def null_space(matrix: Array) -> Array:
    """Orthonormal columns (n, k) with matrix @ Z = 0."""
    if matrix.shape[0] == 0:
        return np.eye(matrix.shape[1])
    # A row of 1e12 must not make one of 1 count as zero.
    _, sizes, vt = np.linalg.svd(matrix / np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 1.0))
    rank = int((sizes > _NULL * max(sizes[0], 1e-300)).sum()) if len(sizes) else 0
    return vt[rank:].T
