"""From the blocks of a composition to the command: one level, or strict priorities among any number of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control.qp.active_set import BoundsHolder
from dqdyn.control.qp.solve import make_solver
from dqdyn.control.qp.solver import ZERO, BoundsCheck, ProblemSize, Solver
from dqdyn.errors import Error

Views = Mapping[str, Array]
"""The blocks of a composition by name."""

ROOM = 1e-9
NULL = 1e-11  # singular values, relative to the largest, that count as zero


class Optimise(Protocol):
    """The velocity or acceleration to command, None where there is none."""

    def __call__(self, views: Views) -> Array | None: ...

    def forget(self) -> None:
        """Let what follows not depend on earlier problems."""


class Optimum:
    """The first level: min ‖J u + r‖² + λ²‖u‖² under the bounds [Quiroz, eq. (3.1)] [Quiroz, eq. (3.5)]."""

    def __init__(self, size: ProblemSize, solver: str, guess: bool = False) -> None:
        self.solver: Solver = make_solver(solver, size, guess)
        self._other: Solver | None = None

    def __call__(self, views: Views) -> Array | None:
        return self.solver.solve(
            views["H0"], views["f0"], views["A"], views["upper"], views["lower"], views.get("squares")
        )

    def forget(self) -> None:
        self.solver.forget()
        if self._other is not None:
            self._other.forget()

    def second_opinion(self, views: Views) -> Array | None:
        """What another solver finds where the first one fails."""
        if self._other is None:
            size = self.solver.size
            try:
                self._other = make_solver("daqp" if self.solver.name == "piqp" else "piqp", size)
            except Error:  # it is not installed
                return None
        with np.errstate(all="ignore"):
            return self._other.solve(views["H0"], views["f0"], views["A"], views["upper"], views["lower"])


class StrictLevels:
    """Lower levels move only where the higher ones do not care: J₁ u = J₁ u₁ and so on [Quiroz, eq. (3.6)].

    The paper states the priority by equalities. Here u = u₁ + Z z with Z spanning the null space of all higher levels,
    which says the same, keeps it to rounding errors, and needs no independent rows. z = 0 obeys all bounds, so lower
    levels are never infeasible. A lower level whose share makes the command miss a bound is left out of that step.

    With a ``guess`` the equalities come first, where the higher levels leave something to choose: machine code solves
    them in a fraction of the time of a null space, which is taken where they depend on each other.
    """

    def __init__(self, size: ProblemSize, solver: str, levels: int, guess: bool = False) -> None:
        self.guess = guess
        self.first, self.size, self.name, self.levels = Optimum(size, solver, guess), size, solver, levels
        self._solvers: dict[tuple[int, int], Solver] = {}
        self._obeys = BoundsCheck(size)
        self._held: dict[int, _HeldLevels] = {}

    def __call__(self, views: Views) -> Array | None:
        u = self.first(views)
        if u is None:
            return None
        for k in range(1, self.levels):
            held = self._held_levels(k, views)
            with_level = None if held is None else held(views, u)
            if with_level is None:
                return self._by_null_spaces(views, u, k)
            u = with_level
        return u

    def forget(self) -> None:
        self.first.forget()
        for solver in self._solvers.values():
            solver.forget()
        for held in self._held.values():
            held.forget()

    def second_opinion(self, views: Views) -> Array | None:
        """What another solver finds of the first level where the first one fails."""
        return self.first.second_opinion(views)

    def lower_multipliers(self) -> list[Array]:
        """λ (sides,) of the lower levels, as far as their solvers say them, in order."""
        found = []
        for k in sorted(self._held):
            given = self._held[k].multipliers
            if given is not None:
                found.append(given)
        return found

    def prepare(self, views: Views) -> None:
        """Compile what the levels need, so that no step has to."""
        for k in range(1, self.levels):
            held = self._held_levels(k, views)
            if held is not None:
                held.prepare()

    def _held_levels(self, k: int, views: Views) -> _HeldLevels | None:
        """The problem of level k with those above as equalities; None where these leave nothing, or none is wanted."""
        if not self.guess:
            return None
        if k not in self._held:
            self._held[k] = _HeldLevels(self.size, self.name, k, len(views[f"A{k}"]) - self.size.rows)
        return self._held[k] if self._held[k].levels < self.size.unknowns else None

    def _by_null_spaces(self, views: Views, u: Array, start: int) -> Array:
        """Level ``start`` and those below it, from u, the command of the levels above."""
        e, first = self.size.equalities, self.size.first
        rows = np.vstack([np.eye(first, self.size.unknowns), views["A"][e:]])
        inequalities = np.r_[0:first, first + e : self.size.sides]
        upper, lower = views["upper"][inequalities], views["lower"][inequalities]
        higher = [views["A"][:e], *(views[f"J{k}"] for k in range(start - 1))]
        short = np.minimum(np.linalg.norm(views["A"], axis=1), 1.0)
        short[short < ZERO] = 1.0
        for k in range(start, self.levels):
            higher.append(views[f"J{k - 1}"])
            Z = null_space(np.vstack(higher))
            if Z.shape[1] == 0:
                break
            H, f, at = views[f"H{k}"], views[f"f{k}"], rows @ u
            # z = 0 is always allowed, with a little room where the levels above use a bound up: else the solver has
            # to tell a touching bound from a violated one by rounding errors.
            above, below = np.maximum(upper - at, 0.0) + ROOM, np.minimum(lower - at, 0.0) - ROOM
            z = self._solver(k, Z.shape[1]).solve(
                np.ascontiguousarray(Z.T @ H @ Z), Z.T @ (H @ u + f), np.ascontiguousarray(rows @ Z), above, below
            )
            if z is None:
                continue
            with_level = u + Z @ z
            if self._obeys(with_level, views["A"], views["upper"], views["lower"], short):
                u = with_level
        return u

    def _solver(self, level: int, unknowns: int) -> Solver:
        key = level, unknowns
        if key not in self._solvers:
            rows = self.size.sides - self.size.equalities
            self._solvers[key] = make_solver(self.name, ProblemSize(unknowns, False, rows, 0))
        return self._solvers[key]


class _HeldLevels:
    """One level under J₁ u = J₁ u₁ of all above it, as ``levels`` equalities in front of the others."""

    def __init__(self, size: ProblemSize, solver: str, level: int, levels: int) -> None:
        self.size, self.name, self.level, self.levels = size, solver, level, levels
        self._own = ProblemSize(size.unknowns, size.bounds, size.rows + levels, size.equalities + levels)
        self._solver: Solver | None = None
        self._hold: BoundsHolder | None = None
        self._upper, self._lower = np.zeros(self._own.sides), np.zeros(self._own.sides)
        self._at = np.zeros(self._own.rows)
        first, free = size.first, levels + size.equalities
        self._at_held, self._at_free = self._at[:levels], self._at[free:]
        self._parts = [
            (name, own[:first], own[first : first + levels], own[first + levels : first + free], own[first + free :])
            for name, own in (("upper", self._upper), ("lower", self._lower))
        ]

    @property
    def multipliers(self) -> Array | None:
        """λ of the bounds of the problem, without those of the levels above."""
        given = None if self._solver is None else self._solver.multipliers
        if given is None:
            return None
        first = self.size.first
        return np.concatenate([given[:first], given[first + self.levels :]])

    def forget(self) -> None:
        if self._solver is not None:
            self._solver.forget()

    def prepare(self) -> Solver:
        """The solver, compiled at first use."""
        if self._solver is None:
            self._solver = make_solver(self.name, self._own, guess=True)
            if self._solver.guess is not None:
                self._hold = self._solver.guess.holder(self.levels, ROOM, self._upper, self._lower)
        return self._solver

    def __call__(self, views: Views, above: Array) -> Array | None:
        solver = self._solver or self.prepare()
        A = views[f"A{self.level}"]
        if self._hold is None or not self._hold(A, views["upper"], views["lower"], above):
            self._set_bounds(A, views, above)
        return solver.solve(views[f"H{self.level}"], views[f"f{self.level}"], A, self._upper, self._lower)

    def _set_bounds(self, A: Array, views: Views, above: Array) -> None:
        """The bounds of this level, where machine code does not set them."""
        first, end = self.size.first, self.size.first + self.size.equalities
        np.dot(A, above, out=self._at)
        for (name, of_unknowns, held, equal, free), farther, room in zip(
            self._parts, (np.maximum, np.minimum), (ROOM, -ROOM), strict=True
        ):
            given = views[name]
            held[:] = self._at_held
            # What the levels above take up must stay allowed in spite of rounding errors.
            farther(given[end:], self._at_free, out=free)
            np.add(free, room, out=free)
            if end > first:
                equal[:] = given[first:end]
            if first:
                farther(given[:first], above, out=of_unknowns)


def null_space(matrix: Array) -> Array:
    """Orthonormal columns (n, k) with matrix @ Z = 0."""
    if matrix.shape[0] == 0:
        return np.eye(matrix.shape[1])
    # A row of 1e12 must not make one of 1 count as zero.
    _, sizes, vt = np.linalg.svd(matrix / np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 1.0))
    rank = int((sizes > NULL * max(sizes[0], 1e-300)).sum()) if len(sizes) else 0
    return vt[rank:].T
