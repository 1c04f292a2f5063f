"""Rows made orthonormal one by one give the generalized inverse, whatever their rank, and lose few digits."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from trees import assert_close

from dqdyn.constraints.methods import kane, kkt, udwadia_kalaba
from dqdyn.constraints.methods.orthogonal import coordinates, least_squares, orthonormal, placed
from dqdyn.constraints.methods.sparse import sparse


def plain(array: Any) -> Any:
    """Python floats in lists, as algorithms take them."""
    return np.asarray(array, dtype=float).tolist()


def nearest(rows: np.ndarray, b: np.ndarray, y: np.ndarray) -> np.ndarray:
    """y + B⁺(b − B y) by the functions under test."""
    found = orthonormal([sparse(row) for row in plain(rows)])
    z = placed(found, least_squares(found, plain(b)), dict(enumerate(plain(y))))
    return np.array([z[k] for k in range(len(y))])


def matrix(rng: np.random.Generator, m: int, n: int, rank: int) -> np.ndarray:
    return rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))


SHAPES = [(m, n, r) for m, n in ((1, 1), (3, 5), (5, 3), (6, 6), (9, 4)) for r in range(min(m, n) + 1)]


@pytest.mark.parametrize(("m", "n", "rank"), SHAPES)
def test_generalized_inverse(m: int, n: int, rank: int) -> None:
    """For any b, whether the rows can give it or not, and any scale of the rows."""
    rng = np.random.default_rng(10 * m + rank)
    for scale in (1.0, 1e-5, 1e7):
        rows, b, y = scale * matrix(rng, m, n, rank), scale * rng.normal(size=m), rng.normal(size=n)
        inverse = np.linalg.pinv(rows, rcond=1e-9)
        assert_close(nearest(rows, b, y), y + inverse @ (b - rows @ y), 1e-9)
        assert_close(nearest(rows, rows @ y, np.zeros(n)), inverse @ rows @ y, 1e-9)


def test_penrose() -> None:
    """Column by column it is a matrix with the four properties of the generalized inverse."""
    rng = np.random.default_rng(1)
    rows = matrix(rng, 7, 6, 4)
    rows[2] = 0.0
    inverse = np.array([nearest(rows, e, np.zeros(6)) for e in np.eye(7)]).T
    assert_close(rows @ inverse @ rows, rows, 1e-10)
    assert_close(inverse @ rows @ inverse, inverse, 1e-10)
    assert_close(rows @ inverse, (rows @ inverse).T, 1e-10)
    assert_close(inverse @ rows, (inverse @ rows).T, 1e-10)


def test_rows_of_rounding_are_left_out() -> None:
    """1e-17 where 0 was meant asks for nothing, whatever its b is."""
    rng = np.random.default_rng(2)
    rows, b, y = rng.normal(size=(3, 5)), rng.normal(size=3), rng.normal(size=5)
    noisy = np.vstack([1e-17 * rng.normal(size=5), rows[:2], 1e-17 * rng.normal(size=5), rows[2:]])
    asked = np.concatenate([[3e-17], b[:2], [-2e-17], b[2:]])
    assert_close(nearest(noisy, asked, y), nearest(rows, b, y), 1e-13)
    mass, force = np.diag([1.0, 2.0, 0.1, 5.0, 1.0]), rng.normal(size=5)
    for solve in (kane.acceleration, udwadia_kalaba.acceleration, lambda *system: kkt.solve(*system)[0]):
        found = [solve(plain(mass), plain(force), plain(a), plain(c)) for a, c in ((noisy, asked), (rows, b))]
        assert_close(found[0], found[1], 1e-12)


def test_earlier_rows_win() -> None:
    """Coordinates that obey the independent rows only: a later copy with another b is not heard."""
    rng = np.random.default_rng(3)
    rows, b = rng.normal(size=(3, 5)), rng.normal(size=3)
    doubled = orthonormal([sparse(row) for row in plain(np.vstack([rows, rows]))])
    alpha = coordinates(doubled, plain(np.concatenate([b, b + 1.0])))
    z = placed(doubled, alpha, dict.fromkeys(range(5), 0.0))
    assert_close(rows @ [z[k] for k in range(5)], b, 1e-12)
    assert alpha[3:] == [0.0] * 3


def test_ranks_that_differ_in_a_batch() -> None:
    """Entries are arrays; nothing divides by zero or overflows in the branch that is not taken."""
    rng = np.random.default_rng(4)
    rows = np.array([matrix(rng, 4, 5, rank) for rank in range(5)])
    b, y = rng.normal(size=(5, 4)), rng.normal(size=(5, 5))
    with np.errstate(all="raise"):
        found = orthonormal([{k: np.ascontiguousarray(rows[:, i, k]) for k in range(5)} for i in range(4)])
        z = placed(found, least_squares(found, list(b.T)), dict(enumerate(y.T)))
    together = np.stack([z[k] for k in range(5)], axis=-1)
    for i in range(5):
        assert_close(together[i], nearest(rows[i], b[i], y[i]), 1e-14)


def test_nothing_hides_what_is_not_a_number() -> None:
    rows = np.eye(3)
    rows[1, 1] = np.nan
    assert np.isnan(nearest(rows, np.zeros(3), np.ones(3))).any()


@pytest.mark.parametrize("left", [1e-2, 1e-3, 1e-4])
def test_near_dependence_costs_its_condition_not_the_square(left: float) -> None:
    """A row of which only the part ``left`` is new, and copies of all: against the same system in 50 digits."""
    rng, n = np.random.default_rng(5), 7
    for _ in range(5):
        rows = rng.normal(size=(3, n))
        rows = np.vstack([rows, rng.normal(size=3) @ rows + left * rng.normal(size=n)])
        root, force, b = rng.normal(size=(n, n)), rng.normal(size=n), rng.normal(size=4)
        mass = root @ root.T + np.eye(n)
        with mpmath.workdps(50):
            exact = mpmath.matrix(np.block([[mass, -rows.T], [rows, np.zeros((4, 4))]]).tolist())
            right = mpmath.matrix([*force, *b])
            expected = np.array([float(x) for x in mpmath.lu_solve(exact, right)[:n]])
        twice, asked = np.vstack([rows, rows[::-1]]), np.concatenate([b, b[::-1]])
        for solve in (udwadia_kalaba.acceleration, kane.acceleration):
            for a, c in ((rows, b), (twice, asked)):
                found = solve(plain(mass), plain(force), plain(a), plain(c))
                assert_close(found, expected, 1e-13 / left, scale=np.abs(expected).max())


def test_rows_that_depend_on_a_tiny_one() -> None:
    """They are 1e8 to 1e11 times it, so XXᵀ drowns the identity in I + XXᵀ; the answer stays finite, and zero here."""
    rng = np.random.default_rng(0)
    for _ in range(2000):
        tiny, *others = 10.0 ** rng.uniform(-11.0, -8.0), *rng.uniform(-1.0, 1.0, 3)
        rows = orthonormal([{0: float(tiny)}, *({0: float(c)} for c in others)])
        assert least_squares(rows, [0.0] * 4) == [0.0] * 4
