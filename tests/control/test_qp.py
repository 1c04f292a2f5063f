"""Quadratic programs: optimality conditions, both solvers, minimal conflicts, least violation, bad input."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.control.qp.conflict import NamedRows, least_violation, minimal_conflict
from dqdyn.control.qp.solve import make_solver
from dqdyn.control.qp.solver import INFINITE, ProblemSize
from dqdyn.control.qp.with_piqp import PiqpSolver
from dqdyn.errors import Error, UnknownNameError

SOLVERS = ("daqp", "piqp")


def problem(seed: int, n: int = 6, m: int = 12, e: int = 2) -> tuple[np.ndarray, ...]:
    """H, f, A, b, Aeq, beq with a solution."""
    rng = np.random.default_rng(seed)
    root, inside = rng.normal(size=(n, n)), rng.normal(size=n)
    A, Aeq = rng.normal(size=(m, n)), rng.normal(size=(e, n))
    return (
        root @ root.T + 0.1 * np.eye(n),
        rng.normal(size=n) * 5,
        A,
        A @ inside + rng.uniform(0, 1, m),
        Aeq,
        Aeq @ inside,
    )


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(6))
def test_solution_is_optimal(seed: int, solver: str) -> None:
    """Feasible, and no better point is found by a solver of another kind."""
    H, f, A, b, Aeq, beq = problem(seed)
    u = ct.solve_quadratic_program(H, f, A, b, Aeq, beq, solver=solver)
    assert (A @ u - b).max() < 1e-7
    np.testing.assert_allclose(Aeq @ u, beq, atol=1e-7)
    cost = lambda x: 0.5 * x @ H @ x + f @ x
    inside = [{"type": "ineq", "fun": lambda x: b - A @ x}, {"type": "eq", "fun": lambda x: Aeq @ x - beq}]
    other = minimize(cost, u, jac=lambda x: H @ x + f, constraints=inside, method="SLSQP", options={"ftol": 1e-12})
    assert cost(u) <= cost(other.x) + 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_solvers_agree_along_a_sequence(seed: int) -> None:
    """Warm starts change nothing: each problem as if it were the first."""
    rng = np.random.default_rng(seed)
    n, m = 7, 10
    H, f, A, b, _, _ = problem(seed, n, m, 0)
    change = rng.normal(size=(m, n))
    shape = ProblemSize(n, True, m, 0)
    solvers = [make_solver(name, shape) for name in SOLVERS]
    for k in range(30):
        rows = np.ascontiguousarray(A + 0.02 * k * change)
        upper = np.concatenate([np.full(n, 0.8), np.abs(b) + 1.5 + np.sin(k)])
        lower = np.concatenate([np.full(n, -0.8), np.full(m, -INFINITE)])
        found = [s.solve(H, f, rows, upper, lower) for s in solvers]
        anew = make_solver("daqp", shape).solve(H, f, rows, upper, lower)
        assert anew is not None
        for u in found:
            assert u is not None
            np.testing.assert_allclose(u, anew, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_recovers_after_an_infeasible_problem(solver: str) -> None:
    shape = ProblemSize(2, True, 1, 0)
    s = make_solver(solver, shape)
    H, f, A = np.eye(2), np.array([-3.0, 0.0]), np.array([[1.0, 1.0]])
    good = np.array([1.0, 1.0, 1.5]), np.array([-1.0, -1.0, -INFINITE])
    bad = np.array([1.0, 1.0, -3.0]), good[1]
    crossed = np.array([-2.0, 1.0, 1.5]), good[1]
    for upper, lower in (good, bad, good, crossed, good):
        u = s.solve(H, f, A, upper, lower)
        if upper is good[0]:
            np.testing.assert_allclose(u, [1.0, 0.0], atol=1e-7)
        else:
            assert u is None


def test_without_constraints() -> None:
    H, f = np.diag([2.0, 4.0]), np.array([-2.0, 8.0])
    np.testing.assert_allclose(ct.solve_quadratic_program(H, f), [1.0, -2.0])
    np.testing.assert_allclose(ct.solve_quadratic_program(np.diag([2.0, 0.0]), [-2.0, 0.0]), [1.0, 0.0], atol=1e-12)


def random_rows(seed: int, n: int = 3, m: int = 14) -> NamedRows:
    """Half-spaces, most of which contain the origin; some do not, so that many sets are in conflict."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(m, n)) * rng.uniform(0.1, 10.0, (m, 1))
    b = np.where(rng.uniform(size=m) < 0.6, rng.uniform(-2.0, 0.0, m), rng.uniform(0.0, 1.0, m))
    return NamedRows(a, b, tuple(f"row {i}" for i in range(m)), np.ones(m, dtype=bool))


def feasible(rows: NamedRows, names: tuple[str, ...]) -> bool:
    """By a linear program of SciPy."""
    chosen = [rows.names.index(name) for name in names]
    if not chosen:
        return True
    n = rows.a.shape[1]
    return bool(linprog(np.zeros(n), rows.a[chosen], rows.b[chosen], bounds=[(None, None)] * n).status == 0)


def test_conflict_is_minimal() -> None:
    """In conflict together; without any one of them the rest have a solution; at most n + 1 of them (Helly)."""
    conflicts = 0
    for seed in range(60):
        rows = random_rows(seed)
        found = minimal_conflict(rows)
        assert bool(found) != feasible(rows, rows.names)
        if found:
            conflicts += 1
            assert len(found) <= rows.a.shape[1] + 1
            assert not feasible(rows, found)
            for rest in combinations(found, len(found) - 1):
                assert feasible(rows, rest)
    assert 20 < conflicts < 60


def test_conflict_with_rows_of_zero_and_equalities() -> None:
    a = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    rows = NamedRows(a, np.array([-1.0, 1.0, 2.0, -2.0]), ("never", "right", "equal", "equal"), np.ones(4, dtype=bool))
    assert minimal_conflict(rows) in (("never",), ("right", "equal"))
    possible = NamedRows(a[1:], np.array([1.0, 2.0, -2.0]), ("right", "equal", "equal"), np.ones(3, dtype=bool))
    assert minimal_conflict(possible) == ("right", "equal")


def test_least_violation() -> None:
    """What gives way suffices, is needed, and no other has a smaller sum of squares."""
    for seed in range(20):
        rows = random_rows(seed, m=10)
        violation = least_violation(rows)
        assert violation is not None
        assert (violation >= 0.0).all()
        length = np.linalg.norm(rows.a, axis=1)
        wider = NamedRows(rows.a, rows.b + violation + 1e-7 * length, rows.names, rows.relaxable)
        assert feasible(wider, wider.names)
        if not feasible(rows, rows.names):
            narrower = NamedRows(rows.a, rows.b + 0.99 * violation, rows.names, rows.relaxable)
            assert not feasible(narrower, narrower.names)
        else:
            np.testing.assert_allclose(violation, 0.0, atol=1e-6)
        scaled = lambda u, rows=rows, length=length: np.sum(np.maximum((rows.a @ u - rows.b) / length, 0.0) ** 2)
        best = min(minimize(scaled, start, tol=1e-14).fun for start in np.random.default_rng(1).normal(size=(5, 3)))
        assert np.sum((violation / length) ** 2) <= best + 1e-6


def test_what_must_not_give_way_does_not() -> None:
    a, b = np.array([[1.0], [-1.0]]), np.array([-1.0, -1.0])  # u ≤ −1 and u ≥ 1
    one = NamedRows(a, b, ("hard", "soft"), np.array([False, True]))
    violation = least_violation(one)
    np.testing.assert_allclose(violation, [0.0, 2.0], atol=1e-6)
    assert least_violation(NamedRows(a, b, ("hard", "hard too"), np.array([False, False]))) is None


def test_conflict_is_named() -> None:
    with pytest.raises(ct.InfeasibleError, match=r"A\[1\] and A\[3\]") as caught:
        ct.solve_quadratic_program(np.eye(2), [0, 0], [[0, 1], [1, 0], [0, -1], [-1, 0]], [5.0, -1.0, 5.0, -1.0])
    assert caught.value.conflict == ("A[1]", "A[3]")
    with pytest.raises(ct.InfeasibleError, match=r"Aeq\[0\] and A\[0\]"):
        ct.solve_quadratic_program(np.eye(2), [0, 0], [[1, 0]], [0.0], [[1, 0]], [1.0])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((np.eye(3), [0.0, 0.0]), r"H of a quadratic program has shape \(2, 2\); found \(3, 3\)"),
        ((np.array([[1.0, 1.0], [0.0, 1.0]]), [0.0, 0.0]), "must be symmetric"),
        ((np.eye(2), [0.0, np.nan]), "f of a quadratic program must be finite"),
        ((np.eye(2), "f"), "f of a quadratic program must be real numbers"),
        ((np.eye(2), [0.0, 0.0], [[1.0, 0.0]]), "A and b of a quadratic program come together"),
        ((np.eye(2), [0.0, 0.0], [[1.0, 0.0]], [1.0, 2.0]), r"A of a quadratic program has shape \(2, 2\)"),
    ],
)
def test_bad_input(arguments: tuple, text: str) -> None:
    with pytest.raises(Error, match=text):
        ct.solve_quadratic_program(*arguments)


def test_unknown_solver() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'daqp'"):
        ct.solve_quadratic_program(np.eye(2), [0.0, 0.0], solver="dapq")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-9, 1e-11])
def test_short_rows_count_like_long_ones(size: float, solver: str) -> None:
    """The same constraints whatever the unit of their rows, inequalities and equalities, also in a warm start."""
    u = ct.solve_quadratic_program(np.eye(2), [0, 0], [[size, 0]], [-size], [[0, size]], [2 * size], solver=solver)
    np.testing.assert_allclose(u, [-1.0, 2.0], atol=1e-6)
    shape, lower = ProblemSize(2, True, 1, 0), np.array([-9.0, -9.0, -INFINITE])
    s = make_solver(solver, shape)
    for row in (1.0, size, 1.0, size):
        found = s.solve(np.eye(2), np.zeros(2), np.array([[row, 0.0]]), np.array([9.0, 9.0, -row]), lower)
        np.testing.assert_allclose(found, [-1.0, 0.0], atol=1e-6)


def test_no_conflict_is_claimed_where_a_gradient_is_short() -> None:
    """1 µm from the center of a zone the way out is steep, but there is one."""
    robot = dq.robots.arm7()
    q = np.array([0.1, 0.4, 0.2, -1.2, 0.3, 0.8, 0.1])
    p = robot.pose("tool", q).translation
    ball = ct.KeepOut("tool", dq.Point(p + [1e-6, 0.0, 0.0]), 0.2)
    c = ct.velocity_controller(robot, [ct.RestTask()], [ball], infeasible="raise")
    with pytest.warns(ct.ControlWarning, match="violated at the start"):
        v = c(0.0, q)
    at = ct.linearise(robot, ball)(0.0, q)
    assert at.jacobian[0] @ v == pytest.approx(0.04, rel=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("rows", [(), ([[1.0, 0.0]], [1.0])])
def test_programs_without_minimum(rows: tuple, solver: str) -> None:
    with pytest.raises(Error, match=r"H of a quadratic program must be positive semidefinite.* eigenvalue is -2"):
        ct.solve_quadratic_program(np.diag([1.0, -2.0]), [1.0, 1.0], *rows, solver=solver)
    with pytest.raises(Error, match=r"no minimum: f decreases without bound .*; add a small multiple of the identity"):
        ct.solve_quadratic_program(np.diag([1.0, 0.0]), [1.0, 1.0], *rows, solver=solver)


def test_a_solver_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PiqpSolver, "solve", lambda *_: None)
    with pytest.raises(Error, match="The solver 'piqp' failed although a minimum exists"):
        ct.solve_quadratic_program(np.eye(2), [0.0, 0.0], [[1.0, 0.0]], [-1.0], solver="piqp")


def test_rows_of_zeros_come_back() -> None:
    """A row that vanishes for a while, as the gradient of a squared distance at its zero, counts again afterwards."""
    for name in SOLVERS:
        solver = make_solver(name, ProblemSize(2, False, 2, 0))
        H, f, upper, lower = np.eye(2), np.array([-1.0, -1.0]), np.array([0.5, 0.3]), np.full(2, -INFINITE)
        for row, expected in (([0.0, 0.0], [0.5, 1.0]), ([0.0, 1.0], [0.5, 0.3]), ([0.0, 0.0], [0.5, 1.0])):
            u = solver.solve(H, f, np.array([[1.0, 0.0], row]), upper, lower)
            np.testing.assert_allclose(u, expected, atol=1e-6)
    impossible = make_solver("daqp", ProblemSize(2, False, 1, 0))
    assert impossible.solve(np.eye(2), np.zeros(2), np.zeros((1, 2)), np.array([-1.0]), np.array([-INFINITE])) is None
