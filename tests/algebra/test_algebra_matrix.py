"""Matrices of dual quaternions against loops and against NumPy on Hamilton matrices."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from algebra_tools import assert_close, random_dq, random_pure

from dqdyn.algebra import functions as f
from dqdyn.algebra.counter import Tally, counters
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.matrix import DQMatrix
from dqdyn.errors import Error


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(80)


def matrix(rng: np.random.Generator, *shape: int, make: Callable[[np.random.Generator], DQ] = random_dq) -> DQMatrix:
    elements = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        elements[index] = make(rng)
    return DQMatrix(elements)


def big(a: DQMatrix) -> np.ndarray:
    """Every element as its 8×8 Hamilton matrix: the map keeps sums and products."""
    return np.block([[f.hamiplus8(x) for x in row] for row in a.elements])


def coefficients(a: DQMatrix) -> np.ndarray:
    return np.array([x.vec8() for x in a.elements.flat]).reshape(*a.shape, 8)


@pytest.mark.equation("Farias", "8")
@pytest.mark.equation("Farias", "12")
@pytest.mark.equation("Farias", "14")
def test_elements_and_shapes(rng: np.random.Generator) -> None:
    elements = [[random_dq(rng) for _ in range(3)] for _ in range(2)]
    a = DQMatrix(elements)
    assert a.shape == (2, 3)
    assert len(a) == 2
    assert all(a[i, j] is elements[i][j] for i in range(2) for j in range(3))
    assert a[0] == DQMatrix(elements[0])
    assert a[:, 1] == DQMatrix([row[1] for row in elements])
    v = DQMatrix([random_pure(rng), random_pure(rng)])
    assert v.shape == (2,)
    assert all(f.is_pure(x) for x in v.elements)
    assert DQMatrix([1, 2.5])[1] == DQ([2.5])


@pytest.mark.equation("Farias", "9")
@pytest.mark.equation("Farias", "13")
def test_transpose_and_conjugate(rng: np.random.Generator) -> None:
    a = matrix(rng, 2, 3)
    assert a.T.shape == (3, 2)
    assert all(a.T[j, i] == a[i, j] for i in range(2) for j in range(3))
    assert all(a.conj()[i, j] == f.conj(a[i, j]) for i in range(2) for j in range(3))
    assert a == a.T.T
    v = matrix(rng, 4)
    assert v == v.T
    assert v.conj() == DQMatrix([f.conj(x) for x in v.elements])
    # (AB)* of elements is not A*B*, but the transpose of B*ᵀA*ᵀ
    b = matrix(rng, 3, 2)
    assert_close(coefficients((a @ b).conj()), coefficients((b.conj().T @ a.conj().T).T))


@pytest.mark.equation("Farias", "10")
def test_sums_and_multiples(rng: np.random.Generator) -> None:
    a, b, s = matrix(rng, 2, 3), matrix(rng, 2, 3), 1.7
    assert_close(coefficients(a + b), coefficients(a) + coefficients(b), tolerance=0.0)
    assert_close(coefficients(a - b), coefficients(a) - coefficients(b), tolerance=0.0)
    assert_close(coefficients(-a), -coefficients(a), tolerance=0.0)
    assert_close(coefficients(a * s), coefficients(a) * s, tolerance=0.0)
    assert_close(coefficients(s * a), coefficients(a) * s, tolerance=0.0)
    assert_close(coefficients(np.float64(s) * a), coefficients(a) * s, tolerance=0.0)


def test_a_dual_quaternion_multiplies_on_its_own_side(rng: np.random.Generator) -> None:
    a: Any = matrix(rng, 2)
    x: Any = random_dq(rng)
    assert (a * x)[0] == a[0] * x
    assert (x * a)[0] == x * a[0]
    assert (x * a)[0] != a[0] * x


@pytest.mark.equation("Farias", "11")
def test_matrix_products(rng: np.random.Generator) -> None:
    a, b, v, w = matrix(rng, 2, 3), matrix(rng, 3, 4), matrix(rng, 3), matrix(rng, 3)
    assert_close(big(a @ b), big(a) @ big(b))
    assert_close(coefficients(a @ v), [sum(((a[i, k] * v[k]) for k in range(3)), DQ()).vec8() for i in range(2)])
    product = v @ w
    assert isinstance(product, DQ)
    assert_close(product, v[0] * w[0] + v[1] * w[1] + v[2] * w[2])
    velocities = rng.normal(size=3)
    assert_close(coefficients(a @ velocities), np.einsum("ijk,j->ik", coefficients(a), velocities))
    assert_close(v @ velocities, DQ(coefficients(v).T @ velocities))
    assert_close(coefficients(v @ b), coefficients(DQMatrix([v.elements.tolist()]) @ b)[0])


def test_products_cost_what_they_show() -> None:
    tally = Tally()
    v, w = (DQMatrix([DQ(counters(8, tally)) for _ in range(3)]) for _ in range(2))
    v @ w
    assert (tally.mul, tally.add) == (3 * 48, 3 * 40 + 2 * 8)


@pytest.mark.equation("Farias", "15")
@pytest.mark.equation("Farias", "16")
@pytest.mark.equation("Farias", "17")
def test_products_element_by_element(rng: np.random.Generator) -> None:
    a, b = matrix(rng, 4, make=random_pure), matrix(rng, 4, make=random_pure)
    assert a.cross(b) == DQMatrix([f.cross(x, y) for x, y in zip(a.elements, b.elements, strict=True)])
    assert a.dot(b) == DQMatrix([f.dot(x, y) for x, y in zip(a.elements, b.elements, strict=True)])
    expected = np.sum(coefficients(a) * coefficients(b), axis=-1)
    assert_close(a.geodesic(b), expected)
    assert a.geodesic(b).shape == (4,)
    square = matrix(rng, 2, 2, make=random_pure)
    assert square.geodesic(square).shape == (2, 2)


@pytest.mark.equation("Farias", "32")
def test_inertia_of_every_element(rng: np.random.Generator) -> None:
    twists, more = matrix(rng, 3, make=random_pure), matrix(rng, 3, make=random_pure)
    rows = f.inertia_rows(np.diag([1.0, 2.0, 3.0]))

    def inertia(twist: DQ) -> DQ:
        return f.G(2.0, rows, twist)

    assert twists.map(inertia) == DQMatrix([inertia(x) for x in twists.elements])
    assert_close(
        coefficients((twists + more * 0.5).map(inertia)),
        coefficients(twists.map(inertia) + more.map(inertia) * 0.5),
    )


def test_batches_as_elements(rng: np.random.Generator) -> None:
    a = matrix(rng, 3, make=lambda r: DQ(r.normal(size=(5, 8))))
    b = matrix(rng, 3, make=lambda r: DQ(r.normal(size=(5, 8))))
    assert (a @ b).vec8().shape == (5, 8)
    one = DQMatrix([DQ(x.vec8()[2]) for x in a.elements]) @ DQMatrix([DQ(x.vec8()[2]) for x in b.elements])
    assert_close((a @ b).vec8()[2], one.vec8())
    assert a.geodesic(b).shape == (5, 3)


def test_empty_vectors() -> None:
    empty = DQMatrix([])
    assert empty.shape == (0,)
    assert empty @ empty == 0
    assert DQMatrix(np.empty((2, 0), dtype=object)).T.shape == (0, 2)
    assert DQMatrix(np.empty((2, 0), dtype=object)) @ empty == DQMatrix([0, 0])


def test_equality_pickling_and_printing(rng: np.random.Generator) -> None:
    a = matrix(rng, 2, 3)
    assert a == DQMatrix(a.elements.tolist())
    assert a != a.T
    assert a != matrix(rng, 2, 3)
    assert a != 3
    assert pickle.loads(pickle.dumps(a)) == a
    assert repr(DQMatrix([DQ([1.0])])) == "DQMatrix([DQ([1, 0, 0, 0, 0, 0, 0, 0])])"
    with pytest.raises(TypeError):
        hash(a)


FAULTS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, v: a + v,
    "difference": lambda a, v: a - v,
    "cross": lambda a, v: a.cross(v),
    "dot": lambda a, v: a.dot(v),
    "geodesic": lambda a, v: a.geodesic(v),
    "product": lambda a, v: a @ v,
    "product with numbers": lambda a, v: a @ np.ones(7),
    "product with a number": lambda a, v: a @ 3.0,
    "sum with an array": lambda a, v: a + np.ones((2, 3)),
    "cross with a number": lambda a, v: a.cross(3.0),
    "unequal rows": lambda a, v: DQMatrix([[1, 2], [3]]),
    "rows and elements": lambda a, v: DQMatrix([[1, 2], 3]),
    "three axes": lambda a, v: DQMatrix(np.zeros((2, 2, 2))),
    "text": lambda a, v: DQMatrix(["a", "b"]),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_named(rng: np.random.Generator, name: str) -> None:
    with pytest.raises(Error):
        FAULTS[name](matrix(rng, 2, 3), matrix(rng, 2))
