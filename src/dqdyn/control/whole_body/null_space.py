"""Quadratic programs whose equalities depend on each other, by dense matrices: x = x₀ + Z z with the equalities met.

The projected equation of motion has as many rows as there are coordinates, but only as many independent ones as there
are degrees of freedom, and torques have no cost of their own: solvers want neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control.core.optimum import StrictLevels, Views
from dqdyn.control.qp.solve import make_solver
from dqdyn.control.qp.solver import ProblemSize, Solver
from dqdyn.control.whole_body.controller import Torques, WholeBodyBrake, WholeBodyController

_NULL = 1e-11  # singular values, relative to the largest, that count as zero
_MET = 1e-7  # residual of the equalities, relative to their right sides, from which on they contradict each other


@dataclass(frozen=True, eq=False)
class EqualitySpace:
    """All x that meet the equalities: ``particular`` + ``basis`` @ z, the shortest one and orthonormal columns."""

    particular: Array
    basis: Array

    @classmethod
    def of(cls, views: Views, size: ProblemSize) -> EqualitySpace | None:
        """From the first rows of A; None where no x meets them all."""
        e, first = size.equalities, size.first
        rows, right = views["A"][:e], views["upper"][first : first + e]
        length = np.linalg.norm(rows, axis=1)
        length[length == 0.0] = 1.0
        rows, right = rows / length[:, None], right / length
        u, sizes, vt = np.linalg.svd(rows)
        rank = int((sizes > _NULL * max(float(sizes.max(initial=0.0)), 1e-300)).sum())
        particular = vt[:rank].T @ ((u[:, :rank].T @ right) / sizes[:rank])
        if np.abs(rows @ particular - right).max(initial=0.0) > _MET * (1.0 + np.abs(right).max(initial=0.0)):
            return None
        return cls(particular, vt[rank:].T)


class InNullSpace:
    """The first level of a program, on what its equalities leave free."""

    def __init__(self, size: ProblemSize, solver: str) -> None:
        self.size, self.name = size, solver
        self._solvers: dict[int, Solver] = {}

    def forget(self) -> None:
        for solver in self._solvers.values():
            solver.forget()

    def __call__(self, views: Views) -> Array | None:
        space = EqualitySpace.of(views, self.size)
        if space is None:
            return None
        e, first = self.size.equalities, self.size.first
        rows = np.vstack([np.eye(first, self.size.unknowns), views["A"][e:]])
        kept = np.r_[0:first, first + e : self.size.sides]
        return self.solve(space, views["H0"], views["f0"], rows, views["upper"][kept], views["lower"][kept])

    def solve(self, space: EqualitySpace, H: Array, f: Array, rows: Array, upper: Array, lower: Array) -> Array | None:
        """x of least cost with lower ≤ rows x ≤ upper and the equalities."""
        Z, x = space.basis, space.particular
        if Z.shape[1] == 0:
            return x
        at = rows @ x
        solver = self._solvers.setdefault(
            Z.shape[1], make_solver(self.name, ProblemSize(Z.shape[1], False, len(rows), 0))
        )
        z = solver.solve(
            np.ascontiguousarray(Z.T @ H @ Z), Z.T @ (H @ x + f), np.ascontiguousarray(rows @ Z), upper - at, lower - at
        )
        return None if z is None else x + Z @ z


class LevelsInNullSpace(StrictLevels):
    """Strict priorities, the first level on what the equalities leave free."""

    def __init__(self, size: ProblemSize, solver: str, levels: int) -> None:
        super().__init__(size, solver, levels)
        self.first = InNullSpace(size, solver)  # type: ignore[assignment]


class LiteralBrake(WholeBodyBrake):
    """The brake of a program whose equalities are rows of it."""

    def __init__(self, controller: LiteralController, torques: Torques) -> None:
        super().__init__(controller.composition, torques)
        self._solver = _UnderEqualities(controller)  # type: ignore[assignment]


class _UnderEqualities:
    """A solver that adds the equalities of a controller's program, and gives way where the bounds do not allow it."""

    def __init__(self, controller: LiteralController) -> None:
        self._composition = controller.composition
        self._inner = InNullSpace(controller.composition.size, "daqp")

    def solve(self, H: Array, f: Array, A: Array, upper: Array, lower: Array) -> Array | None:
        space = EqualitySpace.of(self._composition.views, self._composition.size)
        if space is None:
            return None
        x = self._inner.solve(space, H, f, A, upper, lower)
        if x is None:  # no force of the contacts carries it: what the motors can do alone
            Z, x = space.basis, space.particular
            x = x - Z @ np.linalg.lstsq(Z.T @ H @ Z, Z.T @ (H @ x + f), rcond=None)[0]
        return x


class LiteralController(WholeBodyController):
    """A whole-body controller that solves a printed form of the program."""

    def _make_brake(self) -> LiteralBrake:
        return LiteralBrake(self, self._torques)
