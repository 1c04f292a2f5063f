"""A minimal set of bounds in conflict: all together have no solution, and without any one of them the rest have."""

from __future__ import annotations

import numpy as np

from dqdyn.control.qp.rows import NamedRows
from dqdyn.control.qp.solver import INFINITE, Shape
from dqdyn.control.qp.with_daqp import DaqpSolver


def is_feasible(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether some u obeys a u ≤ b, rows of a of length 1 or 0."""
    m, n = a.shape
    if m == 0:
        return True
    empty = np.abs(a).max(axis=1) == 0.0
    if (b[empty] < 0.0).any():
        return False
    solver = DaqpSolver(Shape(n, False, int((~empty).sum()), 0))
    if empty.all():
        return True
    below = np.full(int((~empty).sum()), -INFINITE)
    return solver.solve(np.eye(n), np.zeros(n), np.ascontiguousarray(a[~empty]), b[~empty].copy(), below) is not None


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
