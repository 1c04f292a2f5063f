"""The definitions of the papers, one test for each, written as the papers print them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from algebra_tools import assert_close, random_dq, random_pose, random_pure, unit3

from dqdyn.algebra import functions as f
from dqdyn.algebra.dual import DQ, EPSILON
from dqdyn.algebra.quaternion import ONE, ZERO, I, J, K, Quaternion, cross3, dot3, pure, rotate, shortest_rotation


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(70)


def quaternion(rng: np.random.Generator) -> Quaternion:
    return Quaternion(*rng.normal(size=4).tolist())


def components(q: Quaternion) -> np.ndarray:
    return np.array(q.components, dtype=float)


# --- quaternions ------------------------------------------------------------------------------------------------------


@pytest.mark.equation("Quiroz", "A.1")
@pytest.mark.equation("Farias", "1")
@pytest.mark.equation("Silva", "2")
def test_units_and_components(rng: np.random.Generator) -> None:
    assert I * I == J * J == K * K == I * J * K == -ONE
    assert I * J == K
    assert J * K == I
    assert K * I == J
    h = rng.normal(size=4).tolist()
    assert Quaternion(*h) == ONE * h[0] + I * h[1] + J * h[2] + K * h[3]


@pytest.mark.equation("Quiroz", "A.2")
@pytest.mark.equation("Quiroz", "A.3")
def test_conjugate_and_norm(rng: np.random.Generator) -> None:
    h = DQ.of(quaternion(rng))
    assert f.conj(h) == f.Re(h) - f.Im(h)
    square = (h * f.conj(h)).vec4()
    assert_close(square, (f.conj(h) * h).vec4())
    assert_close(square, [h.primary.norm() ** 2, 0, 0, 0])
    assert h.primary.norm() == pytest.approx(np.linalg.norm(h.vec4()), rel=1e-15)
    assert_close(components(h.primary * h.primary.inverse()), [1, 0, 0, 0])


@pytest.mark.equation("Farias", "2")
@pytest.mark.equation("Farias", "3")
@pytest.mark.equation("Farias", "4")
@pytest.mark.equation("Silva", "7")
@pytest.mark.equation("Quiroz", "A.8")
@pytest.mark.equation("Quiroz", "A.9")
def test_products_of_pure_quaternions(rng: np.random.Generator) -> None:
    va, vb = rng.normal(size=3), rng.normal(size=3)
    a, b = pure(*va), pure(*vb)
    assert a.w == 0
    assert a.conj() == -a
    assert_close(components((a * b + b * a) * -0.5), [dot3(a, b), 0, 0, 0])
    assert_close(components(cross3(a, b)), components((a * b - b * a) * 0.5))
    assert dot3(a, b) == pytest.approx(va @ vb, abs=1e-15)
    assert_close(cross3(a, b).vector, np.cross(va, vb))


@pytest.mark.equation("Quiroz", "A.4")
@pytest.mark.equation("Quiroz", "A.7")
@pytest.mark.equation("Quiroz", "A.18")
def test_coefficients_and_conjugating_matrices(rng: np.random.Generator) -> None:
    h = np.arange(1.0, 9.0)
    x = DQ(h)
    assert_close(f.vec4(x), h[:4], tolerance=0.0)
    assert_close(f.vec3(x), h[1:4], tolerance=0.0)
    assert_close(f.vec6(x), h[[1, 2, 3, 5, 6, 7]], tolerance=0.0)
    assert_close(f.vec8(x), h, tolerance=0.0)
    assert_close(f.C4() @ f.vec4(x), f.vec4(f.conj(x)), tolerance=0.0)
    assert_close(f.C8() @ f.vec8(x), f.vec8(f.conj(x)), tolerance=0.0)


@pytest.mark.equation("Quiroz", "A.5")
@pytest.mark.equation("Quiroz", "A.6")
@pytest.mark.equation("Farias", "18")
@pytest.mark.equation("Farias", "19")
def test_hamilton_operators(rng: np.random.Generator) -> None:
    a, b = DQ.of(quaternion(rng)), DQ.of(quaternion(rng))
    assert_close(f.hamiplus4(a) @ f.vec4(b), f.vec4(a * b))
    assert_close(f.haminus4(b) @ f.vec4(a), f.vec4(a * b))
    h1, h2, h3, h4 = 1.0, 2.0, 3.0, 4.0
    plus = [[h1, -h2, -h3, -h4], [h2, h1, -h4, h3], [h3, h4, h1, -h2], [h4, -h3, h2, h1]]
    minus = [[h1, -h2, -h3, -h4], [h2, h1, h4, -h3], [h3, -h4, h1, h2], [h4, h3, -h2, h1]]
    assert_close(f.hamiplus4(DQ([h1, h2, h3, h4])), plus, tolerance=0.0)
    assert_close(f.haminus4(DQ([h1, h2, h3, h4])), minus, tolerance=0.0)


@pytest.mark.equation("Quiroz", "A.10")
def test_cross_product_as_a_matrix(rng: np.random.Generator) -> None:
    a, b = random_pure(rng).P(), random_pure(rng).P()
    S = f.crossmatrix4
    assert_close(S(a), (f.hamiplus4(a) - f.haminus4(a)) / 2, tolerance=0.0)
    product = f.vec4(f.cross(a, b))
    assert_close(S(a) @ f.vec4(b), product)
    assert_close(-S(b) @ f.vec4(a), product)
    assert_close(S(b).T @ f.vec4(a), product)


@pytest.mark.equation("Quiroz", "A.11")
def test_rotating_a_vector(rng: np.random.Generator) -> None:
    r, p = random_pose(rng).primary, pure(*rng.normal(size=3))
    assert_close(components(rotate(r, p)), components(r * p * r.conj()))


@pytest.mark.parametrize("off", [0.0, 1e-16, 1e-15, 1e-12, 1e-9, 1e-7, 1e-4, 1.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_shortest_rotation(rng: np.random.Generator, sign: float, off: float) -> None:
    """Also for targets nearly along or against the vector, where an axis from rounding would miss them."""
    for axis in (unit3(rng), np.array([1.0, 0, 0]), np.array([0, 0, 1.0])):
        across = np.cross(axis, unit3(rng))
        target = sign * axis + off * across
        target = target / np.linalg.norm(target)
        r = shortest_rotation(tuple(axis), tuple(target))
        assert_close(rotate(r, pure(*axis)).vector, target, tolerance=2e-15)
        assert r.norm() == pytest.approx(1.0, abs=1e-15)
        assert dot3(pure(*axis), r) == pytest.approx(0.0, abs=1e-15)
        angle = math.atan2(np.linalg.norm(np.cross(axis, target)), axis @ target)
        assert 2 * math.atan2(np.linalg.norm(r.vector), r.w) == pytest.approx(angle, abs=1e-15)


def test_opposite_vectors_turn_about_x() -> None:
    assert_close(components(shortest_rotation((0, 0, 1), (0, 0, -1))), [0, 1, 0, 0], tolerance=1e-16)
    assert_close(components(shortest_rotation((1, 0, 0), (-1, 0, 0))), [0, 0, 1, 0], tolerance=1e-16)
    assert shortest_rotation((0, 0, 1), (0, 0, 1)) == ONE


# --- dual quaternions -------------------------------------------------------------------------------------------------


@pytest.mark.equation("Silva", "1")
@pytest.mark.equation("Farias", "5")
@pytest.mark.equation("Quiroz", "A.14")
@pytest.mark.equation("Quiroz", "A.16")
def test_parts_of_a_dual_quaternion(rng: np.random.Generator) -> None:
    p, d = quaternion(rng), quaternion(rng)
    x = DQ.of(p) + EPSILON * DQ.of(d)
    assert EPSILON * EPSILON == 0
    assert EPSILON != 0
    assert f.P(x) == DQ.of(p)
    assert f.D(x) == DQ.of(d)
    assert f.conj(x) == DQ.of(p.conj(), d.conj())
    assert f.Re(x) + f.Im(x) == x
    assert f.conj(x) == f.Re(x) - f.Im(x)
    assert f.sharp(x) == DQ.of(p, -d)
    y = random_dq(rng)
    product = DQ.of(p * y.primary, p * y.dual + d * y.primary)
    assert_close(x * y, product)


def test_norm_squares_to_the_product_with_the_conjugate(rng: np.random.Generator) -> None:
    x = random_dq(rng)
    assert_close(f.norm(x) * f.norm(x), x * f.conj(x))
    assert_close(f.norm(f.normalize(x)), DQ([1.0]))
    assert_close(x * f.inv(x), DQ([1.0]))
    assert_close(f.inv(x) * x, DQ([1.0]))


@pytest.mark.equation("Quiroz", "A.17")
def test_hamilton_operators_of_dual_quaternions(rng: np.random.Generator) -> None:
    x, y = random_dq(rng), random_dq(rng)
    assert_close(f.hamiplus8(x) @ f.vec8(y), f.vec8(x * y))
    assert_close(f.haminus8(y) @ f.vec8(x), f.vec8(x * y))
    for big, small in ((f.hamiplus8, f.hamiplus4), (f.haminus8, f.haminus4)):
        blocks = np.block([[small(x.P()), np.zeros((4, 4))], [small(x.D()), small(x.P())]])
        assert_close(big(x), blocks, tolerance=0.0)


@pytest.mark.equation("Silva", "8")
@pytest.mark.equation("Farias", "6")
def test_cross_product_of_dual_quaternions(rng: np.random.Generator) -> None:
    l, s = random_pure(rng), random_pure(rng)
    assert_close(f.cross(l, s), (l * s - s * l) * 0.5)
    by_parts = f.cross(l.P(), s.P()) + EPSILON * (f.cross(l.P(), s.D()) + f.cross(l.D(), s.P()))
    assert_close(f.cross(l, s), by_parts)


@pytest.mark.equation("Silva", "30")
def test_wrench_projected_on_an_axis(rng: np.random.Generator) -> None:
    wrench, axis = random_pure(rng), unit3(rng)
    l = DQ(axis)
    force, torque = np.split(wrench.vec6(), 2)
    assert_close(f.dot(wrench, l), DQ([force @ axis, 0, 0, 0, torque @ axis, 0, 0, 0]))
    other = random_pure(rng)
    assert_close(f.dot(wrench, other), (wrench * other + other * wrench) * -0.5)


@pytest.mark.equation("Farias", "7")
@pytest.mark.equation("Farias", "48")
def test_double_geodesic_product(rng: np.random.Generator) -> None:
    a, b = random_pure(rng), random_pure(rng)
    assert f.geodesic(a, b) == pytest.approx(a.vec6() @ b.vec6(), abs=1e-15)
    # τ = f ⊙ [D(a) + ε P(a)]: the torque of a wrench about a joint with twist a
    force, moment = np.split(a.vec6(), 2)
    angular, linear = np.split(b.vec6(), 2)
    assert f.swap(b) == b.D() + EPSILON * b.P()
    assert f.geodesic(a, f.swap(b)) == pytest.approx(force @ linear + moment @ angular, abs=1e-15)


@pytest.mark.equation("Farias", "20")
@pytest.mark.equation("Farias", "22")
@pytest.mark.equation("Farias", "23")
def test_linear_maps_of_quaternions(rng: np.random.Generator) -> None:
    a, b = DQ.of(quaternion(rng)), DQ.of(quaternion(rng))
    images = tuple(DQ.of(quaternion(rng)) for _ in range(4))
    matrix = np.stack([m.vec4() for m in images], axis=1)
    assert_close(f.T4(images, b).vec4(), matrix @ b.vec4())
    units = (DQ([1.0]), f.i_, f.j_, f.k_)
    assert f.h_plus(a) == tuple(a * e for e in units)
    assert f.h_minus(a) == tuple(e * a for e in units)
    assert_close(f.T4(f.h_plus(a), b), a * b)
    assert_close(f.T4(f.h_minus(b), a), a * b)


@pytest.mark.equation("Farias", "21")
@pytest.mark.equation("Farias", "24")
def test_linear_maps_of_dual_quaternions(rng: np.random.Generator) -> None:
    a, b = random_dq(rng), random_dq(rng)
    images = tuple(random_dq(rng) for _ in range(8))
    matrix = np.stack([n.vec8() for n in images], axis=1)
    assert_close(f.T8(images, b).vec8(), matrix @ b.vec8())
    assert f.h8_plus(a) == tuple(a * DQ(e) for e in np.eye(8))
    assert f.h8_minus(a) == tuple(DQ(e) * a for e in np.eye(8))
    assert_close(f.T8(f.h8_plus(a), b), a * b)
    assert_close(f.T8(f.h8_minus(b), a), a * b)


# --- inertia ----------------------------------------------------------------------------------------------------------


@pytest.mark.equation("Silva", "11")
@pytest.mark.equation("Silva", "12")
@pytest.mark.equation("Silva", "13")
def test_inertia_tensor_applied(rng: np.random.Generator) -> None:
    half, w = rng.normal(size=(3, 3)), rng.normal(size=3)
    tensor = half @ half.T
    rows = f.inertia_rows(tensor)
    assert rows[0] == I * tensor[0, 0] + J * tensor[0, 1] + K * tensor[0, 2]
    assert_close(f.L3(rows, pure(*w)).vector, tensor @ w)
    assert f.L3(rows, pure(*w)).w == 0
    assert_close(f.L3(f.inertia_rows(half), pure(*w)).vector, half @ w)  # rows, also of a general matrix


@pytest.mark.equation("Farias", "30")
def test_momentum_of_a_twist(rng: np.random.Generator) -> None:
    half, mass, twist = rng.normal(size=(3, 3)), 2.5, random_pure(rng)
    tensor = half @ half.T
    w, v = np.split(twist.vec6(), 2)
    momentum = f.G(mass, f.inertia_rows(tensor), twist)
    assert_close(momentum.vec6(), [*(mass * v), *(tensor @ w)])
    assert f.is_pure(momentum, 0.0)
    # Twice the kinetic energy is the power product of twist and momentum.
    assert f.geodesic(f.swap(twist), momentum) == pytest.approx(mass * v @ v + w @ tensor @ w, rel=1e-14)


def test_zero_twist() -> None:
    assert f.zero_twist() == DQ.of(ZERO, ZERO) == 0
