"""PIQP: a proximal interior-point method, the second choice."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dqdyn.control.qp.base import INFINITE, Shape, Solver, unit_rows
from dqdyn.errors import missing_extra

TOLERANCE = 1e-9


class PiqpSolver(Solver):
    """Keeps PIQP's factorisation structure; interior-point methods start anew."""

    name: ClassVar[str] = "piqp"

    def __init__(self, shape: Shape) -> None:
        try:
            import piqp
        except ImportError:
            raise missing_extra("piqp", "control", "The solver 'piqp'") from None
        super().__init__(shape)
        self._solved = piqp.PIQP_SOLVED
        self._solver = piqp.DenseSolver()
        self._solver.settings.eps_abs = self._solver.settings.eps_rel = TOLERANCE
        self._is_set_up = False

    def solve(
        self, H: np.ndarray, f: np.ndarray, A: np.ndarray, upper: np.ndarray, lower: np.ndarray
    ) -> np.ndarray | None:
        s = self.shape
        first, last = (s.unknowns if s.bounds else 0), (s.unknowns if s.bounds else 0) + s.equalities
        scaled = unit_rows(A, upper[first:], lower[first:])
        if scaled is not None:
            A, above, below, _ = scaled
            upper, lower = np.concatenate([upper[:first], above]), np.concatenate([lower[:first], below])
        infinite = lambda x: np.where(np.abs(x) >= INFINITE, np.copysign(np.inf, x), x)
        data: dict[str, Any] = {"P": np.asfortranarray(H), "c": f}
        if s.equalities:
            data |= {"A": np.asfortranarray(A[: s.equalities]), "b": upper[first:last]}
        if s.rows > s.equalities:
            data |= {
                "G": np.asfortranarray(A[s.equalities :]),
                "h_l": infinite(lower[last:]),
                "h_u": infinite(upper[last:]),
            }
        if s.bounds:
            data |= {"x_l": infinite(lower[:first]), "x_u": infinite(upper[:first])}
            if (lower[:first] > upper[:first]).any():
                return None
        if self._is_set_up:
            self._solver.update(**data)
        else:
            self._solver.setup(**data)
            self._is_set_up = True
        if self._solver.solve() != self._solved:
            return None
        return np.array(self._solver.result.x)
