"""Guesses of active bounds that machine code verifies: minima by the conditions of Karush, Kuhn and Tucker."""

from __future__ import annotations

import numpy as np
import pytest

from dqdyn.control.core.optimum import StrictLevels
from dqdyn.control.qp.active_set import ActiveSetGuess, guess_for
from dqdyn.control.qp.solve import make_solver
from dqdyn.control.qp.solver import INFINITE, ProblemSize
from dqdyn.errors import CompileWarning

native = pytest.importorskip("dqdyn.compile.runtime.native")


class Problem:
    """A random strictly convex problem with a point that obeys all bounds; equalities come first in A."""

    def __init__(self, rng: np.random.Generator, n: int, bounded: int, rows: int, equalities: int) -> None:
        J = rng.normal(size=(n + 2, n))
        self.H, self.f = J.T @ J + 1e-3 * np.eye(n), 5.0 * rng.normal(size=n)
        self.A = rng.normal(size=(rows, n))
        self.move(rng, bounded, equalities)

    def move(self, rng: np.random.Generator, bounded: int, equalities: int) -> None:
        """Other bounds, around a random point."""
        n, rows = len(self.f), len(self.A)
        values = np.concatenate([np.eye(bounded, n), self.A]) @ rng.normal(size=n)
        room = rng.uniform(0.01, 2.0, size=(2, bounded + rows))
        room[:, bounded : bounded + equalities] = 0.0
        self.upper, self.lower = values + room[0], values - room[1]
        free = rng.random(bounded + rows) < 0.3
        free[bounded : bounded + equalities] = False
        self.lower[free] = -INFINITE

    @property
    def parts(self) -> tuple[np.ndarray, ...]:
        return self.H, self.f, self.A, self.upper, self.lower

    def residual(self, u: np.ndarray, multipliers: np.ndarray, bounded: int, equalities: int) -> float:
        """How far u and its multipliers miss any of the conditions."""
        rows = np.concatenate([np.eye(bounded, len(u)), self.A])
        values = rows @ u
        over, under = values - self.upper, self.lower - values
        sides = np.where(multipliers > 0.0, np.abs(over), np.where(multipliers < 0.0, np.abs(under), 0.0))
        sides[bounded : bounded + equalities] = 0.0
        stationary = np.abs(self.H @ u + self.f + rows.T @ multipliers).max() / np.abs(self.f).max()
        return float(max(stationary, over.max(initial=0.0), under.max(initial=0.0), sides.max(initial=0.0)))


@pytest.mark.parametrize("seed", range(20))
def test_minima_of_random_problems(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 20))
    bounded, rows = int(rng.choice([0, n])), int(rng.integers(1, 25))
    equalities = int(rng.integers(0, min(n // 2, rows) + 1))
    guess = ActiveSetGuess(n, bounded, rows, equalities)
    solver = make_solver("daqp", ProblemSize(n, bounded > 0, rows, equalities))
    problem, found = Problem(rng, n, bounded, rows, equalities), 0
    for _ in range(60):
        problem.move(rng, bounded, equalities)
        u = guess(*problem.parts)
        other = solver.solve(*problem.parts)
        assert other is not None
        assert solver.multipliers is not None
        assert problem.residual(other, solver.multipliers, bounded, equalities) < 1e-6
        if u is not None:
            found += 1
            assert guess.reason == "solved"
            assert problem.residual(u, guess.multipliers, bounded, equalities) < 2e-9
            np.testing.assert_allclose(u, other, rtol=0.0, atol=1e-5 * max(1.0, np.abs(other).max()))
    assert found >= 58


@pytest.mark.parametrize(("width", "fma"), [(1, False), (1, True), (2, False), (4, False)])
def test_code_for_other_machines(width: int, fma: bool) -> None:
    host = native.machine()
    if width > host.width or (fma and not host.fma):
        pytest.skip("this machine cannot run it")
    rng = np.random.default_rng(width)
    problem = Problem(rng, 6, 6, 9, 1)
    guess, other = ActiveSetGuess(6, 6, 9, 1), ActiveSetGuess(6, 6, 9, 1, width=width, fma=fma)
    for _ in range(30):
        problem.move(rng, 6, 1)
        results = guess(*problem.parts), other(*problem.parts)
        assert (results[0] is None) == (results[1] is None)
        if results[0] is not None:
            np.testing.assert_allclose(results[0], results[1], atol=1e-9)


def test_a_sequence_keeps_its_guess() -> None:
    """Of slowly moving problems, each is solved by machine code, whatever becomes active."""
    rng = np.random.default_rng(5)
    start, end = (Problem(rng, 12, 0, 30, 0) for _ in range(2))
    end.H, end.A = start.H, start.A  # so that what lies between two points that obey the bounds obeys those between
    end.move(rng, 0, 0)
    solver = make_solver("daqp", ProblemSize(12, False, 30, 0), guess=True)
    assert solver.guess is not None
    afresh, changes, marks = make_solver("daqp", ProblemSize(12, False, 30, 0)), 0, solver.guess.marks.copy()
    for s in np.linspace(0.0, 1.0, 200):
        parts = [(1.0 - s) * a + s * b for a, b in zip(start.parts, end.parts, strict=True)]
        u, expected = solver.solve(*parts), afresh.solve(*parts)
        assert u is not None
        np.testing.assert_allclose(u, expected, atol=1e-6)
        changes += int((solver.guess.marks != marks).any())
        marks = solver.guess.marks.copy()
    assert changes > 5


def test_what_the_code_leaves_to_another_solver() -> None:
    rng = np.random.default_rng(1)
    good = Problem(rng, 5, 5, 7, 0)
    guess = ActiveSetGuess(5, 5, 7, 0)
    assert guess(*good.parts) is not None

    def changed(**parts: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(parts.get(name, getattr(good, name)) for name in ("H", "f", "A", "upper", "lower"))

    def with_entry(array: np.ndarray, index: int, value: float) -> np.ndarray:
        result = array.copy()
        result.flat[index] = value
        return result

    u = guess(*good.parts)
    far = guess(*changed(f=-1e3 * good.f))
    guess.start_from(np.where(guess.multipliers != 0.0, -guess.multipliers, 1.0))
    np.testing.assert_allclose(guess(*good.parts), u, atol=1e-9, err_msg="a guess that is all wrong")
    assert far is not None
    for name in ("H", "f", "A", "upper", "lower"):
        assert guess(*changed(**{name: with_entry(getattr(good, name), 0, np.nan)})) is None, name
    singular = np.outer(good.f, good.f)
    assert guess(*changed(H=singular)) is None
    assert guess(*changed(H=-good.H)) is None
    assert guess.reason == "singular"
    assert guess(*changed(upper=good.lower, lower=good.upper)) is None
    impossible = good.A.copy()
    impossible[0] = impossible[1]
    upper, lower = good.upper.copy(), good.lower.copy()
    upper[5], lower[5], upper[6], lower[6] = 2.0, 1.0, -1.0, -2.0
    assert guess(*changed(A=impossible, upper=upper, lower=lower)) is None
    assert guess.reason == "infeasible"
    assert guess(*changed(A=1e-6 * good.A)) is None
    assert guess(*changed(A=1e7 * good.A)) is None
    assert guess(*changed(A=good.A[:, ::-1])) is None, "not contiguous"
    assert guess(*changed(f=np.zeros(4))) is None
    assert guess(*changed(f=good.f.astype(np.float32))) is None
    u = guess(*good.parts)
    assert u is not None, "a failure leaves nothing behind"
    assert good.residual(u, guess.multipliers, 5, 0) < 2e-9


def test_a_solution_does_not_change_with_the_next_problem() -> None:
    rng = np.random.default_rng(2)
    problem = Problem(rng, 4, 0, 6, 0)
    guess = ActiveSetGuess(4, 0, 6, 0)
    u = guess(*problem.parts)
    assert u is not None
    kept = u.copy()
    problem.move(rng, 0, 0)
    problem.f = -problem.f
    guess(*problem.parts)
    np.testing.assert_array_equal(u, kept)


def test_bounds_of_the_unknowns_hold_exactly() -> None:
    guess = ActiveSetGuess(3, 3, 1, 0)
    H, third = np.diag([3.0, 0.7, 1.1]), 1.0 / 3.0
    upper, lower = np.array([third, third, 9.0, 9.0]), np.full(4, -9.0)
    u = guess(H, np.array([-7.0, -7.0, 0.1]), np.array([[0.3, 0.2, 0.9]]), upper, lower)
    assert u is not None
    assert (u <= upper[:3]).all()
    np.testing.assert_allclose(u, [third, third, -0.1 / 1.1], atol=1e-15)


def test_without_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DQDYN_NATIVE", "0")
    assert guess_for(3, 3, 1, 0) is None
    solver = make_solver("daqp", ProblemSize(3, True, 1, 0), guess=True)
    assert solver.guess is None
    one = np.ones(4)
    u = solver.solve(np.eye(3), -2.0 * one[:3], np.ones((1, 3)), one, -one)
    assert u is not None
    np.testing.assert_allclose(u, np.full(3, third := 1.0 / 3.0), atol=1e-9)
    assert solver.multipliers is not None
    np.testing.assert_allclose(solver.multipliers, [0.0, 0.0, 0.0, 2.0 - third], atol=1e-9)


def test_a_failing_compiler_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError("no LLVM")

    monkeypatch.setattr(native, "Library", fails)
    monkeypatch.setattr("dqdyn.compile.runtime.function._warned", set())
    with pytest.warns(CompileWarning, match="no LLVM"):
        assert guess_for(3, 3, 1, 0) is None
    assert guess_for(3, 3, 1, 0) is None


def views_of(
    rng: np.random.Generator, n: int, bounded: int, rows: int, levels: tuple[int, ...]
) -> dict[str, np.ndarray]:
    """Blocks as a composition has them; H of each level is that of its rows J, damped."""
    problem = Problem(rng, n, bounded, rows, 0)
    views = {"A": problem.A, "upper": problem.upper, "lower": problem.lower}
    for k, count in enumerate(levels):
        J, r = rng.normal(size=(count, n)), rng.normal(size=count)
        views |= {f"J{k}": J, f"H{k}": J.T @ J + 1e-4 * np.eye(n), f"f{k}": J.T @ r}
    for k in range(1, len(levels)):
        views[f"A{k}"] = np.vstack([*(views[f"J{i}"] for i in reversed(range(k))), problem.A])
    squares = [np.vdot(views["H0"], views["H0"]), *np.einsum("ij,ij->i", problem.A, problem.A)]
    return views | {"squares": np.array(squares)}


@pytest.mark.parametrize("bounded", [0, 9])
def test_strict_levels_by_guesses(bounded: int) -> None:
    """The same as in null spaces; what the levels above achieve stays."""
    rng = np.random.default_rng(7)
    levels, size = (2, 3, 9), ProblemSize(9, bounded > 0, 12, 0)
    guessed, by_null_spaces = (StrictLevels(size, "daqp", 3, guess=guess) for guess in (True, False))
    for _ in range(40):
        views = views_of(rng, 9, bounded, 12, levels)
        u, expected, first = guessed(views), by_null_spaces(views), guessed.first(views)
        assert u is not None
        assert expected is not None
        assert first is not None
        np.testing.assert_allclose(u, expected, atol=1e-4)
        np.testing.assert_allclose(views["J0"] @ u, views["J0"] @ first, atol=1e-8)
        second = guessed._held[1](views, first)
        assert second is not None
        np.testing.assert_allclose(views["J1"] @ u, views["J1"] @ second, atol=1e-8)


def test_dependent_rows_of_higher_levels() -> None:
    """Rows that say the same twice, as those of two tasks may, are no reason to give up."""
    size = ProblemSize(6, False, 4, 0)
    guessed, by_null_spaces = (StrictLevels(size, "daqp", 2, guess=guess) for guess in (True, False))
    for seed in range(40):
        views = views_of(np.random.default_rng(seed), 6, 0, 4, (3, 6))
        views["J0"][2] = views["J0"][0] - 2.0 * views["J0"][1]
        views["H0"] = views["J0"].T @ views["J0"] + 1e-4 * np.eye(6)
        views["A1"] = np.vstack([views["J0"], views["A"]])
        u, expected = guessed(views), by_null_spaces(views)
        assert u is not None
        np.testing.assert_allclose(u, expected, atol=1e-4)
        solver = guessed._held[1]._solver
        assert solver is not None
        assert solver.guess is not None
        assert solver.guess.reason == "solved"


def test_multipliers_of_scaled_problems() -> None:
    """In the units of the problem as given, whatever the solver scales: cost, and short or long rows."""
    rng = np.random.default_rng(4)
    problem = Problem(rng, 5, 5, 6, 1)
    solver = make_solver("daqp", ProblemSize(5, True, 6, 1))
    u = solver.solve(*problem.parts)
    assert u is not None
    assert solver.multipliers is not None
    expected = solver.multipliers.copy()
    assert np.count_nonzero(expected) > 2
    rows = np.array([1.0, 1e-5, 1.0, 1e7, 1e-6, 3.0])
    wide = np.concatenate([np.ones(5), rows])
    for cost in (1.0, 1e7, 1e-7):
        H, f, A = cost * problem.H, cost * problem.f, rows[:, None] * problem.A
        again = solver.solve(H, f, A, wide * problem.upper, wide * problem.lower)
        np.testing.assert_allclose(again, u, atol=1e-5)
        np.testing.assert_allclose(solver.multipliers * wide / cost, expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize(("bounded", "equalities", "rows"), [(0, 0, 4), (7, 2, 9), (7, 0, 6), (0, 3, 5)])
def test_bounds_of_held_levels(bounded: int, equalities: int, rows: int) -> None:
    """Machine code sets the bounds of a lower level as NumPy does."""
    rng = np.random.default_rng(rows)
    levels = StrictLevels(ProblemSize(7, bounded > 0, rows, equalities), "daqp", 3, guess=True)
    views = views_of(rng, 7, bounded, rows, (2, 3, 7))
    levels.prepare(views)
    for k in (1, 2):
        held, A = levels._held[k], views[f"A{k}"]
        for _ in range(10):
            u = rng.normal(size=7)
            assert held._hold is not None
            assert held._hold(A, views["upper"], views["lower"], u)
            found = held._upper.copy(), held._lower.copy()
            held._set_bounds(A, views, u)
            np.testing.assert_allclose(found, (held._upper, held._lower), rtol=1e-13, atol=1e-13)
        assert not held._hold(A[:, ::-1], views["upper"], views["lower"], u)
        assert not held._hold(A, views["upper"], views["lower"], u[:3])
