"""Signorini's condition and Coulomb's law hold for the impulses found, whatever the solver went through."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dqdyn.simulate.unilateral import coulomb
from dqdyn.simulate.unilateral.coulomb import OPEN, SLIP, STICK, ContactEquation, ContactProblem, modes, solve
from dqdyn.simulate.unilateral.single_contact import single_contact

NONE = np.zeros(0, dtype=np.intp)


def broken(u: np.ndarray, p: np.ndarray, friction: float) -> float:
    """How far one contact is from the laws, with u and p of size about 1."""
    length, speed = np.hypot(p[0], p[1]), np.hypot(u[0], u[1])
    against = np.abs(p[:2] * speed + friction * p[2] * u[:2]).max()  # p_t = −μ p_n u_t/|u_t|
    return max(-u[2], -p[2], abs(u[2] * p[2]), length - friction * p[2], against)


def random_problem(rng: np.random.Generator, count: int, nv: int) -> ContactProblem:
    jacobian = rng.normal(size=(3 * count, nv))
    mass = rng.uniform(0.5, 2.0, nv)
    w = jacobian @ (jacobian / mass).T
    b = jacobian @ rng.normal(size=nv)
    return ContactProblem(w, b, rng.uniform(0.0, 0.9, count), NONE, np.zeros(0))


@pytest.mark.parametrize("friction", [0.0, 0.3, 0.8, 1.5])
def test_one_contact(friction: float) -> None:
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(300):
        a = rng.normal(size=(3, 5))
        w, b = a @ a.T, rng.normal(size=3) - [0.0, 0.0, 0.5]
        p = single_contact(w, b, friction)
        assert broken(w @ p + b, p, friction) < 1e-9 * max(1.0, np.abs(p).max() ** 2)
        problem = ContactProblem(w, b, np.array([friction]), NONE, np.zeros(0))
        seen.add(int(modes(problem, p[None], (w @ p + b)[None])[0]))
    assert seen == ({OPEN, SLIP} if friction == 0.0 else {OPEN, STICK, SLIP})


@pytest.mark.parametrize(("count", "nv"), [(1, 6), (3, 12), (6, 24)])
def test_many_contacts(count: int, nv: int) -> None:
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(40):
        problem = random_problem(rng, count, nv)
        found = solve(problem, np.zeros(3 * count))
        assert found.converged
        u = (problem.w @ found.p.ravel() + problem.b).reshape(count, 3)
        # W is raised by its compliance, a part in 10⁷ of its diagonal.
        tolerance = 1e-6 * np.diagonal(problem.w).mean() * max(1.0, np.abs(found.p).max()) ** 2
        for i in range(count):
            assert broken(u[i], found.p[i], problem.friction[i]) < tolerance
        seen |= set(modes(problem, found.p, u).tolist())
    assert seen == {OPEN, STICK, SLIP}


def test_without_friction_it_is_the_complementarity_problem() -> None:
    """Against all subsets of closed contacts."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        problem = random_problem(rng, 4, 12)
        problem = ContactProblem(problem.w, problem.b, np.zeros(4), NONE, np.zeros(0))
        w, b = problem.w[2::3, 2::3], problem.b[2::3]
        solutions = []
        for closed in itertools.product((False, True), repeat=4):
            at = np.flatnonzero(closed)
            p = np.zeros(4)
            p[at] = np.linalg.solve(w[np.ix_(at, at)], -b[at])
            if (p >= 0.0).all() and (w @ p + b >= -1e-12).all():
                solutions.append(p)
        (expected,) = solutions
        found = solve(problem, np.zeros(12))
        assert found.converged
        np.testing.assert_allclose(found.p[:, 2], expected, atol=1e-5 * max(1.0, expected.max()))
        assert not found.p[:, :2].any()


def test_jacobian_is_the_derivative() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        plain = random_problem(rng, 3, 9)
        j = rng.normal(size=(11, 9))
        problem = ContactProblem(j @ j.T, rng.normal(size=11), plain.friction, np.array([0, 2]), np.array([0.1, 0.4]))
        equation = ContactEquation(problem, problem.w, problem.b, np.full(11, 1e-3))
        p, step = rng.normal(size=11), 1e-7
        numeric = [(equation.value(p + step * e) - equation.value(p - step * e)) / (2 * step) for e in np.eye(11)]
        np.testing.assert_allclose(equation.jacobian(p), np.array(numeric).T, atol=1e-6)


def test_torsional_friction_is_bounded_by_the_load() -> None:
    w, b = np.diag([1.0, 1.0, 1.0, 4.0]), np.array([0.0, 0.0, -1.0, 2.0])
    for torsion, expected in ((0.1, -0.1), (10.0, -0.5)):
        problem = ContactProblem(w, b, np.array([0.5]), np.array([0]), np.array([torsion]))
        found = solve(problem, np.zeros(4))
        assert found.converged
        np.testing.assert_allclose([found.p[0, 2], found.spin[0]], [1.0, expected], rtol=1e-6)


def test_redundant_contacts_share_the_load() -> None:
    """Four legs of a table: rank 3 of 4 normal forces, and no preferred leg."""
    corners = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    rows = np.zeros((4, 3, 6))
    rows[:, :, 3:] = np.eye(3)
    for row, (x, y) in zip(rows, corners, strict=True):
        row[:, :3] = [[0.0, 0.0, -y], [0.0, 0.0, x], [y, -x, 0.0]]
    jacobian = rows.reshape(12, 6)
    problem = ContactProblem(jacobian @ jacobian.T, np.tile([0.0, 0.0, -1.0], 4), np.full(4, 0.5), NONE, np.zeros(0))
    found = solve(problem, np.zeros(12))
    assert found.converged
    np.testing.assert_allclose(found.p, np.tile([0.0, 0.0, 0.25], (4, 1)), atol=1e-6)


def test_it_says_where_it_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coulomb, "_NEWTON", 0)
    monkeypatch.setattr(coulomb, "_PROXIMITIES", ())
    problem = random_problem(np.random.default_rng(5), 3, 12)
    found = solve(problem, np.zeros(9))
    assert not found.converged
    assert found.error > 0.01


def test_sweeps_alone_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gauss-Seidel with the exact solution of each contact, without Newton's method."""
    problem = random_problem(np.random.default_rng(6), 3, 12)
    expected = solve(problem, np.zeros(9)).p
    monkeypatch.setattr(coulomb, "_SWEEPS", 2000)
    equation = ContactEquation(problem, problem.w, problem.b, np.full(9, 1e-7 * np.diagonal(problem.w).mean()))
    np.testing.assert_allclose(coulomb.swept(equation, np.zeros(9)).reshape(3, 3), expected, atol=1e-7)


def test_light_parts_do_not_soften_heavy_ones() -> None:
    """A contact of a ton beside the end stop of a gram: each is as hard as it would be alone."""
    w = np.diag([1e-3, 1e-3, 1e-3, 0.0, 0.0, 1e6])
    problem = ContactProblem(w, np.array([0.0, 0.0, -1.0, 0.0, 0.0, -1.0]), np.array([0.5, 0.0]), NONE, np.zeros(0))
    found = solve(problem, np.zeros(6))
    assert found.converged
    np.testing.assert_allclose(found.p[:, 2], [1e3, 1e-6], rtol=1e-6)
