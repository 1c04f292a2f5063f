"""Problems without any bound, which are systems of linear equations."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dqdyn.control.qp.solver import Solver

_RESIDUAL = 1e-9


class LinearSolver(Solver):
    """H u = −f, the shortest u where H is singular; None where there is no u, and ½ uᵀH u + fᵀu has no minimum."""

    name: ClassVar[str] = "linear"

    def _next(
        self, H: np.ndarray, f: np.ndarray, A: np.ndarray, upper: np.ndarray, lower: np.ndarray
    ) -> np.ndarray | None:
        try:
            return np.linalg.solve(H, -f)
        except np.linalg.LinAlgError:
            u = np.asarray(np.linalg.lstsq(H, -f)[0])
            return u if np.abs(H @ u + f).max() <= _RESIDUAL * np.abs(f).max() else None

    _afresh = _next
