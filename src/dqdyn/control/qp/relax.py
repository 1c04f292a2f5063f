"""The least violation: how far bounds must give way so that some command obeys them all."""

from __future__ import annotations

import numpy as np

from dqdyn.control.qp.rows import NamedRows
from dqdyn.control.qp.solver import INFINITE, Shape
from dqdyn.control.qp.with_daqp import DaqpSolver

_REGULAR = 1e-9  # of the command against the violation: only to make the command unique
_NEGLIGIBLE = 1e-9


def least_violation(rows: NamedRows) -> np.ndarray | None:
    """s ≥ 0 (m,) in the units of b with some u: a u ≤ b + s, least in the sense of squares over rows of length 1.

    None where the bounds that must not give way are in conflict among themselves.
    """
    a, b, length = rows.scaled()
    m, n = a.shape
    soft = np.flatnonzero(rows.relaxable)
    k = len(soft)
    H = np.diag(np.concatenate([np.full(n, _REGULAR), np.ones(k)]))
    slack = np.zeros((m, k))
    slack[soft, np.arange(k)] = -1.0
    solver = DaqpSolver(Shape(n + k, False, m, 0))
    found = solver.solve(H, np.zeros(n + k), np.ascontiguousarray(np.hstack([a, slack])), b, np.full(m, -INFINITE))
    if found is None:
        return None
    violation = np.zeros(m)
    violation[soft] = np.maximum(found[n:], 0.0)
    return np.where(violation < _NEGLIGIBLE, 0.0, violation) * length
