"""One quadratic program at a time, in the form that users of DQ Robotics know."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array, RealArray
from dqdyn.control.core.errors import InfeasibleError
from dqdyn.control.qp.active_set import guess_for
from dqdyn.control.qp.conflict import NamedRows, minimal_conflict
from dqdyn.control.qp.solver import INFINITE, LinearSolver, ProblemSize, Solver
from dqdyn.control.qp.with_daqp import DaqpSolver
from dqdyn.control.qp.with_piqp import PiqpSolver
from dqdyn.errors import Error, unknown_name

SOLVERS: dict[str, type[Solver]] = {"daqp": DaqpSolver, "piqp": PiqpSolver}
_SINGULAR = 1e-12  # the least eigenvalue of H by the largest


def make_solver(name: str, size: ProblemSize, guess: bool = False) -> Solver:
    """The solver of that name for problems of one size.

    ``guess``: for a long sequence of problems, compile code that tries the active bounds of the last problem first; it
    takes some tenths of a second once per size and machine.
    """
    if not isinstance(name, str) or name not in SOLVERS:
        raise unknown_name("solver of quadratic programs", name, SOLVERS)
    if not size.sides:
        return LinearSolver(size)
    solver = SOLVERS[name](size)
    if guess and isinstance(solver, DaqpSolver):
        solver.guess = guess_for(size.unknowns, size.first, size.rows, size.equalities)
    return solver


def solve_quadratic_program(
    H: RealArray,
    f: RealArray,
    A: RealArray | None = None,
    b: RealArray | None = None,
    Aeq: RealArray | None = None,
    beq: RealArray | None = None,
    solver: Literal["daqp", "piqp"] = "daqp",
) -> Array:
    """u (n,) that minimises ½ uᵀH u + fᵀu under A u ≤ b and Aeq u = beq.

    H (n, n) symmetric and positive semidefinite, f (n,), A (m, n), b (m,), Aeq (e, n), beq (e,). Where no u obeys all
    constraints, the :class:`InfeasibleError` names a minimal set in conflict by row, as "A[3]" or "Aeq[0]".
    """
    f = _array(f, "f", 1)
    n = len(f)
    H = _array(H, "H", 2, (n, n))
    A, b = _pair(A, b, n, "A", "b")
    Aeq, beq = _pair(Aeq, beq, n, "Aeq", "beq")
    if np.abs(H - H.T).max(initial=0.0) > 1e-9 * max(1.0, np.abs(H).max(initial=0.0)):
        raise Error("H of a quadratic program must be symmetric: use (H + H.T)/2.")
    least, most = np.linalg.eigvalsh(H)[[0, -1]] if n else (0.0, 0.0)
    if least < -1e-9 * max(abs(most), abs(least)):
        wanted = f"positive semidefinite, else there is no minimum; its least eigenvalue is {least:.6g}"
        raise Error(f"H of a quadratic program must be {wanted}.", eigenvalue=float(least))
    rows = np.ascontiguousarray(np.vstack([Aeq, A]))
    upper, lower = np.concatenate([beq, b]), np.concatenate([beq, np.full(len(b), -INFINITE)])
    program = make_solver(solver, ProblemSize(n, False, len(upper), len(beq)))
    has_minimum = least > _SINGULAR * most
    if not has_minimum:
        program.damping = program.damping[:1]  # else a minimum would be reported where none exists
    u = program.solve(H, f, rows, upper, lower)
    if u is not None:
        return u
    names = [f"Aeq[{i}]" for i in range(len(beq))] * 2 + [f"A[{i}]" for i in range(len(b))]
    one_sided = NamedRows(
        np.vstack([Aeq, -Aeq, A]), np.concatenate([beq, -beq, b]), tuple(names), np.ones(len(names), dtype=bool)
    )
    conflict = minimal_conflict(one_sided)
    if conflict:
        raise InfeasibleError(f"No u obeys {' and '.join(conflict)} at a time: change one of them.", conflict=conflict)
    if has_minimum:
        raise Error(f"The solver {solver!r} failed although a minimum exists: choose the other one.", solver=solver)
    raise Error(
        "The quadratic program has no minimum: f decreases without bound along a direction with H u = 0 that no "
        "constraint limits; add a small multiple of the identity to H.",
        H=H,
    )


def _array(value: Any, name: str, ndim: int, shape: tuple[int, ...] | None = None) -> Array:
    array = np.array(real_array(value, f"{name} of a quadratic program", argument=name), order="C")
    if array.ndim != ndim or (shape is not None and array.shape != shape):
        wanted = f"shape {shape}" if shape else f"{ndim} axes"
        raise Error(f"{name} of a quadratic program has {wanted}; found {array.shape}.", argument=name)
    if not np.isfinite(array).all():
        raise Error(f"{name} of a quadratic program must be finite.", argument=name)
    return array


def _pair(A: Any, b: Any, n: int, name: str, right: str) -> tuple[Array, Array]:
    if (A is None) != (b is None):
        raise Error(f"{name} and {right} of a quadratic program come together: give both or none.", argument=name)
    if A is None:
        return np.zeros((0, n)), np.zeros(0)
    vector = _array(b, right, 1)
    return _array(A, name, 2, (len(vector), n)), vector
