"""PIQP: a proximal interior-point method, the second choice."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control.qp.solver import INFINITE, ProblemSize, QuadraticProgram, Solver
from dqdyn.errors import missing_extra

TOLERANCE = 1e-9


class PiqpSolver(Solver):
    """Keeps PIQP's factorisation structure; interior-point methods start anew."""

    name: ClassVar[str] = "piqp"

    def __init__(self, size: ProblemSize) -> None:
        try:
            import piqp
        except ImportError:
            raise missing_extra("piqp", "control", "The solver 'piqp'") from None
        super().__init__(size)
        self._piqp = piqp
        self._solver: Any = None

    def forget(self) -> None:
        super().forget()
        self._solver = None

    def _next(self, problem: QuadraticProgram) -> Array | None:
        if self._solver is None or self._crosses(problem):
            return None
        self._solver.update(**self._data(problem))
        return self._solution()

    def _afresh(self, problem: QuadraticProgram) -> Array | None:
        if self._crosses(problem):
            return None
        self._solver = self._piqp.DenseSolver()
        self._solver.settings.eps_abs = self._solver.settings.eps_rel = TOLERANCE
        self._solver.setup(**self._data(problem))
        return self._solution()

    def _crosses(self, problem: QuadraticProgram) -> bool:
        """Whether bounds of u exclude each other, which PIQP does not take."""
        return bool((problem.lower[: self.size.first] > problem.upper[: self.size.first]).any())

    def _solution(self) -> Array | None:
        if self._solver.solve() == self._piqp.PIQP_SOLVED:
            return np.array(self._solver.result.x)
        self._solver = None
        return None

    def _data(self, problem: QuadraticProgram) -> dict[str, Any]:
        H, f, A, upper, lower = problem
        s = self.size
        first, last = s.first, s.first + s.equalities
        data: dict[str, Any] = {"P": np.asfortranarray(H), "c": f}
        if s.equalities:
            data |= {"A": np.asfortranarray(A[: s.equalities]), "b": upper[first:last]}
        if s.rows > s.equalities:
            G, below, above = A[s.equalities :], _infinite(lower[last:]), _infinite(upper[last:])
            free = np.isinf(below) & np.isinf(above)
            if free.any():  # PIQP prints a remark at every step where a row has no bound at all
                G = np.where(free[:, None], 0.0, G)
                above = np.where(free, 1.0, above)
            data |= {"G": np.asfortranarray(G), "h_l": below, "h_u": above}
        if s.bounds:
            data |= {"x_l": _infinite(lower[:first]), "x_u": _infinite(upper[:first])}
        return data


def _infinite(bounds: Array) -> Array:
    """Bounds, infinite where absent."""
    return np.asarray(np.where(np.abs(bounds) >= INFINITE, np.copysign(np.inf, bounds), bounds))
