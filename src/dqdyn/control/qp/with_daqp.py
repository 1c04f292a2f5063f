"""DAQP: a dual active-set method, the first choice for the small problems of control."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dqdyn.control.qp.base import Shape, Solver, unit_rows
from dqdyn.errors import missing_extra

TOLERANCE, LOOSE = 1e-9, 1e-7
"""How far a bound may be missed, of a row of length 1 in the metric of H; the second where the first fails."""
_SOLVED, _EQUALITY = 1, 5


class DaqpSolver(Solver):
    """Keeps DAQP's workspace and active set from one problem to the next.

    DAQP leaves out rows of A that nearly vanish, and takes them up again in an update only if that starts with no
    active set; so such an update is made while there are any, and once more afterwards.
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
        self._is_warm = self._was_small = False
        self._first = shape.unknowns if shape.bounds else 0
        self._kinds = np.zeros(shape.sides, dtype=np.int32)
        self._kinds[self._first : self._first + shape.equalities] = _EQUALITY

    def solve(
        self, H: np.ndarray, f: np.ndarray, A: np.ndarray, upper: np.ndarray, lower: np.ndarray
    ) -> np.ndarray | None:
        first, scaled = self._first, unit_rows(A, upper[self._first :], lower[self._first :])
        small = scaled is not None
        if scaled is not None:
            A, above, below, zero = scaled
            if (zero & ((above < -LOOSE) | (below > LOOSE))).any():
                return None
            upper, lower = np.concatenate([upper[:first], above]), np.concatenate([lower[:first], below])
        if self._is_warm:
            kinds = self._kinds.copy() if small or self._was_small else None
            self._was_small = small
            # An update that fails, as with bounds that cross, leaves the last problem in place.
            if self._model.update(H, f, A if self.shape.rows else None, upper, lower, kinds) >= 0:
                u, _, flag, _ = self._model.solve()
                if flag == _SOLVED:
                    return np.asarray(u)
        self._was_small = small
        return self._from_scratch(H, f, A, upper, lower)

    def _from_scratch(
        self, H: np.ndarray, f: np.ndarray, A: np.ndarray, upper: np.ndarray, lower: np.ndarray
    ) -> np.ndarray | None:
        """Where many bounds touch at one point, the tight tolerance may find nothing, but the loose one does."""
        for tolerance in (TOLERANCE, LOOSE):
            self._model, self._is_warm = self._daqp.Model(), False
            if self._model.setup(H, f, A, upper, lower, self._kinds.copy())[0] < 0:
                return None
            self._model.settings = {"primal_tol": tolerance}
            u, _, flag, _ = self._model.solve()
            if flag == _SOLVED:
                self._is_warm = tolerance == TOLERANCE
                return np.asarray(u)
        return None
