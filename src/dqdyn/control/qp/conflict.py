"""Bounds in conflict: a minimal set of them, and how far they must give way so that some command obeys them all."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dqdyn.arrays import Array
from dqdyn.control.qp.solver import INFINITE, ZERO, Mask, ProblemSize
from dqdyn.control.qp.with_daqp import DaqpSolver

REGULAR = 1e-9  # of the command against the violation: only to make the command unique
NEGLIGIBLE = 1e-9


@dataclass(frozen=True, eq=False)
class NamedRows:
    """a (m, n), b (m,); ``names`` and whether each may give way. Equalities have two rows of one name.

    Rows of a problem have their ``index`` into its bounds, and whether they are upper ones.
    """

    a: Array
    b: Array
    names: tuple[str, ...]
    relaxable: Mask
    index: npt.NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=int))
    is_upper: Mask = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def scaled(self) -> tuple[Array, Array, Array]:
        """a with rows of length 1, b with them, and the lengths; rows of zero keep theirs."""
        with np.errstate(over="ignore"):  # of rows and bounds beyond 1e154, of which no solution is taken
            length = np.linalg.norm(self.a, axis=1)
            length = np.where(length < ZERO, 1.0, length)
            return self.a / length[:, None], self.b / length, length


def is_feasible(a: Array, b: Array) -> bool:
    """Whether some u obeys a u ≤ b, rows of a of length 1 or 0."""
    m, n = a.shape
    if m == 0:
        return True
    empty = np.abs(a).max(axis=1) == 0.0
    if (b[empty] < 0.0).any():
        return False
    a, b = np.ascontiguousarray(a[~empty]), b[~empty].copy()
    solver = DaqpSolver(ProblemSize(n, False, len(b), 0))
    return not len(b) or solver.solve(np.eye(n), np.zeros(n), a, b, np.full(len(b), -INFINITE)) is not None


def minimal_conflict(rows: NamedRows) -> tuple[str, ...]:
    """Names of a minimal set in conflict; empty where all bounds have a common solution.

    By deletion: leave out one name after the other (an equality counts as one); what is in conflict without it does
    not need it.
    """
    a, b, _ = rows.scaled()
    names = np.array(rows.names)
    if is_feasible(a, b):
        return ()
    kept = np.ones(len(b), dtype=bool)
    for name in dict.fromkeys(rows.names):
        without = kept & (names != name)
        if not is_feasible(a[without], b[without]):
            kept = without
    return tuple(dict.fromkeys(names[kept].tolist()))


def least_violation(rows: NamedRows) -> Array | None:
    """s ≥ 0 (m,) in the units of b with some u: a u ≤ b + s, least in the sense of squares over rows of length 1.

    None where the bounds that must not give way are in conflict among themselves.
    """
    a, b, length = rows.scaled()
    m, n = a.shape
    soft = np.flatnonzero(rows.relaxable)
    k = len(soft)
    H = np.diag(np.concatenate([np.full(n, REGULAR), np.ones(k)]))
    slack = np.zeros((m, k))
    slack[soft, np.arange(k)] = -1.0
    solver = DaqpSolver(ProblemSize(n + k, False, m, 0))
    solution = solver.solve(H, np.zeros(n + k), np.ascontiguousarray(np.hstack([a, slack])), b, np.full(m, -INFINITE))
    if solution is None:
        return None
    violation = np.zeros(m)
    violation[soft] = np.maximum(solution[n:], 0.0)
    return np.asarray(np.where(violation < NEGLIGIBLE, 0.0, violation) * length)
