"""DAQP: a dual active-set method, the first choice for the small problems of control."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dqdyn.control.qp.solver import Shape, Solver
from dqdyn.errors import missing_extra

TOLERANCE, LOOSE = 1e-9, 1e-7
"""How far a bound may be missed, of a row of length 1 in the metric of H; the second where the first fails."""
_SOLVED, _LOWER, _EQUALITY = 1, 3, 5  # a flag of solutions; marks of bounds that are active, where 1 stands for upper


class DaqpSolver(Solver):
    """Keeps DAQP's workspace and active set from one problem to the next.

    DAQP marks rows that are short in the metric of H, and bounds that coincide, and never takes a mark back by itself.
    So every update states anew what the rows are, and which of them were active.
    """

    name: ClassVar[str] = "daqp"

    def __init__(self, shape: Shape) -> None:
        try:
            import daqp
        except ImportError:
            raise missing_extra("daqp", "control", "Control by quadratic programs") from None
        super().__init__(shape)
        self._daqp = daqp
        self._model = daqp.Model()
        self._is_warm = False
        self._kinds = np.zeros(shape.sides, dtype=np.int32)
        self._kinds[shape.first : shape.first + shape.equalities] = _EQUALITY
        self._active = self._kinds

    def _next(
        self, H: np.ndarray, f: np.ndarray, A: np.ndarray, upper: np.ndarray, lower: np.ndarray
    ) -> np.ndarray | None:
        # An update that fails, as with bounds that cross, leaves the last problem in place.
        if (
            not self._is_warm
            or self._model.update(H, f, A if self.shape.rows else None, upper, lower, self._active) < 0
        ):
            return None
        u, _, flag, found = self._model.solve()
        if flag != _SOLVED:
            return None
        self._remember(found["lam"])
        return np.asarray(u)

    def _afresh(
        self, H: np.ndarray, f: np.ndarray, A: np.ndarray, upper: np.ndarray, lower: np.ndarray
    ) -> np.ndarray | None:
        """Where many bounds touch at one point, the tight tolerance may find nothing, but the loose one does."""
        for tolerance in (TOLERANCE, LOOSE):
            self._model, self._is_warm = self._daqp.Model(), False
            if self._model.setup(H, f, A, upper, lower, self._kinds)[0] < 0:
                return None
            self._model.settings = {"primal_tol": tolerance}
            u, _, flag, found = self._model.solve()
            if flag == _SOLVED:
                self._is_warm = tolerance == TOLERANCE
                self._remember(found["lam"])
                return np.asarray(u)
        return None

    def _remember(self, multipliers: np.ndarray) -> None:
        """Which bounds are active, for the next problem."""
        if not np.count_nonzero(multipliers):
            self._active = self._kinds
            return
        self._active = (multipliers > 0.0).astype(np.int32)
        self._active[multipliers < 0.0] = _LOWER
        if self.shape.equalities:
            self._active[self.shape.first : self.shape.first + self.shape.equalities] = _EQUALITY
