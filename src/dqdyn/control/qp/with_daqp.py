"""DAQP: a dual active-set method, the first choice for the small problems of control."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control.qp.solver import ProblemSize, QuadraticProgram, Solver
from dqdyn.errors import missing_extra

TOLERANCE, LOOSE = 1e-9, 1e-7
"""How far a bound may be missed, of a row of length 1 in the metric of H; the second where the first fails."""
ITERATIONS = 1000
"""Far above what problems of control take: those that DAQP runs in circles with are tried in another way soon."""
SINGULAR = 1e-14
"""What of a row the others must leave, squared, for it to count; where DAQP's own 3.7e-11 finds nothing."""
_SOLVED, _LOWER, _EQUALITY = 1, 3, 5  # a flag of solutions; marks of bounds that are active, where 1 stands for upper


class DaqpSolver(Solver):
    """Keeps DAQP's workspace and active set from one problem to the next.

    DAQP marks rows that are short in the metric of H, and bounds that coincide, and never clears a mark.
    So every update states again what the rows are, and which of them were active.
    """

    name: ClassVar[str] = "daqp"

    def __init__(self, size: ProblemSize) -> None:
        try:
            import daqp
        except ImportError:
            raise missing_extra("daqp", "control", "Control by quadratic programs") from None
        super().__init__(size)
        self._daqp = daqp
        self._model = daqp.Model()
        self._is_warm = False
        self._kinds = np.zeros(size.sides, dtype=np.int32)
        self._kinds[size.first : size.first + size.equalities] = _EQUALITY
        self._active = self._kinds

    def forget(self) -> None:
        super().forget()
        self._is_warm, self._active = False, self._kinds

    def _next(self, problem: QuadraticProgram) -> Array | None:
        H, f, A, upper, lower = problem
        # An update that fails, as with bounds that cross, leaves the last problem in place.
        if not self._is_warm or self._model.update(H, f, A if self.size.rows else None, upper, lower, self._active) < 0:
            return None
        return self._solution()

    def _afresh(self, problem: QuadraticProgram) -> Array | None:
        """Where many bounds touch at one point, the tight tolerance may find nothing, but the loose one does.

        The sides of a friction cone all touch where nothing presses. With H of condition 1e6 one of them may then look
        as if it depended on others, and DAQP takes the problem to be infeasible.
        """
        for tolerance, further in ((TOLERANCE, {}), (TOLERANCE, {"sing_tol": SINGULAR}), (LOOSE, {})):
            self._model, self._is_warm = self._daqp.Model(), False
            if self._model.setup(*problem, self._kinds)[0] < 0:
                return None
            self._model.settings = {"primal_tol": tolerance, "iter_limit": ITERATIONS, **further}
            u = self._solution()
            if u is not None:
                self._is_warm = tolerance == TOLERANCE
                return u
        return None

    def _solution(self) -> Array | None:
        """The solution of the problem in the workspace; what is active is kept for the next one."""
        u, _, flag, details = self._model.solve()
        if flag != _SOLVED:
            return None
        multipliers, size = details["lam"], self.size
        self.multipliers = multipliers
        self._active = self._kinds
        if np.count_nonzero(multipliers):
            self._active = (multipliers > 0.0).astype(np.int32)
            self._active[multipliers < 0.0] = _LOWER
            self._active[size.first : size.first + size.equalities] = _EQUALITY
        if self.guess is not None:
            self.guess.start_from(multipliers)
        return np.asarray(u)
