"""The laws of the group of poses and of its actions, on every stratum of rotation angle and translation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from algebra_tools import STRATA, STRATA_NAMES, assert_close, random_dq, random_pure, size, stratum_pose, unit3

from dqdyn.algebra import functions as f
from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.quaternion import Quaternion, pure, rotation_columns

strata = pytest.mark.parametrize(("angle", "length"), STRATA, ids=STRATA_NAMES)


def partner(rng: np.random.Generator) -> DQ:
    """A pose of any other stratum."""
    return stratum_pose(rng, *STRATA[rng.integers(len(STRATA))])


def rodrigues(n: np.ndarray, angle: float) -> np.ndarray:
    """Rotation matrix of a unit axis and an angle, without quaternions."""
    k = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    return np.eye(3) + math.sin(angle) * k + 2 * math.sin(angle / 2) ** 2 * k @ k


@strata
def test_group_axioms(angle: float, length: float) -> None:
    rng = np.random.default_rng(10)
    for _ in range(5):
        x, y, z = stratum_pose(rng, angle, length), partner(rng), partner(rng)
        scale = size(x) * size(y) * size(z)
        assert_close((x * y) * z, x * (y * z), scale=scale)
        assert_close(x * IDENTITY, x, tolerance=0.0)
        assert_close(IDENTITY * x, x, tolerance=0.0)
        assert_close(x * f.conj(x), IDENTITY, scale=size(x))
        assert_close(f.conj(x) * x, IDENTITY, scale=size(x))
        assert_close(f.inv(x), f.conj(x), scale=size(x))
        assert_close(f.norm(x * y), IDENTITY, scale=size(x) * size(y))
        assert f.is_unit(x * y)


@strata
def test_conjugates_of_products(angle: float, length: float) -> None:
    rng = np.random.default_rng(11)
    x, y = stratum_pose(rng, angle, length), random_dq(rng)
    scale = size(x) * size(y)
    assert_close(f.conj(x * y), f.conj(y) * f.conj(x), scale=scale)
    assert_close(f.sharp(x * y), f.sharp(x) * f.sharp(y), scale=scale)
    assert_close(f.conj_sharp(x * y), f.conj_sharp(y) * f.conj_sharp(x), scale=scale)
    for conjugate in (f.conj, f.sharp, f.conj_sharp):
        assert conjugate(conjugate(y)) == y
    assert f.conj_sharp(y) == f.conj(f.sharp(y))
    assert f.conj_sharp(y) == f.sharp(f.conj(y))


@strata
def test_adjoint_is_a_homomorphism(angle: float, length: float) -> None:
    rng = np.random.default_rng(12)
    for _ in range(5):
        x, y = stratum_pose(rng, angle, length), partner(rng)
        a, b = random_pure(rng), random_pure(rng)
        scale = size(x) ** 2 * size(y) ** 2
        assert_close(f.Ad(x * y, a), f.Ad(x, f.Ad(y, a)), scale=scale)
        assert_close(f.Ad(x, a * 2.0 - b), f.Ad(x, a) * 2.0 - f.Ad(x, b), scale=size(x) ** 2)
        assert_close(f.Ad(f.conj(x), f.Ad(x, a)), a, scale=size(x) ** 4)
        moved_a, moved_b = f.Ad(x, a), f.Ad(x, b)
        assert_close(f.Ad(x, f.cross(a, b)), f.cross(moved_a, moved_b), scale=size(x) ** 4)
        assert_close(f.dot(moved_a, moved_b), f.dot(a, b), scale=size(x) ** 4)
        assert_close(f.Adsharp(x * y, a), f.Adsharp(x, f.Adsharp(y, a)), scale=scale)


@strata
@pytest.mark.equation("Farias", "33")
@pytest.mark.equation("Farias", "34")
@pytest.mark.equation("Farias", "35")
@pytest.mark.equation("Farias", "36")
@pytest.mark.equation("Silva", "3")
def test_adjoint_as_a_map(angle: float, length: float) -> None:
    rng = np.random.default_rng(13)
    x, a = stratum_pose(rng, angle, length), random_pure(rng)
    sandwich = x * a * f.conj(x)
    scale = size(x) ** 2
    assert_close(f.Ad(x, a), sandwich, scale=scale)
    assert_close(f.Adjoint(x)(a), sandwich, scale=scale)
    assert_close(f.A_P(x, a.P()) + f.E_ * (f.A_P(x, a.D()) + f.A_D(x, a.P())), sandwich, scale=scale)
    images = [x.P() * e * f.conj(x.P()) for e in (f.i_, f.j_, f.k_)]
    for image, column in zip(images, rotation_columns(x.primary), strict=True):
        assert_close(DQ.of(column), image)


@strata
def test_power_does_not_depend_on_the_frame(angle: float, length: float) -> None:
    rng = np.random.default_rng(14)
    x, twist, wrench = stratum_pose(rng, angle, length), random_pure(rng), random_pure(rng)
    w, v, force, torque = *np.split(twist.vec6(), 2), *np.split(wrench.vec6(), 2)
    here = f.geodesic(f.swap(twist), wrench)
    there = f.geodesic(f.swap(f.Ad(x, twist)), f.Ad(x, wrench))
    assert here == pytest.approx(w @ torque + v @ force, abs=1e-14)
    assert there == pytest.approx(here, abs=1e-14 * size(x) ** 4)


@strata
def test_points_lines_and_planes_against_matrices(angle: float, length: float) -> None:
    """A wrong conjugate drops the translation: so translation and rotation are there at once."""
    rng = np.random.default_rng(15)
    n, p, q, l = unit3(rng), unit3(rng) * length, rng.normal(size=3), unit3(rng)
    R = rodrigues(n, angle)
    x = f.pose(Quaternion(math.cos(angle / 2), *(n * math.sin(angle / 2))), pure(*p))
    assert_close(f.rotation_matrix(x), R)
    assert_close(f.translation(x).vec3(), p)

    point = x * (f.E_ * DQ(q) + 1.0) * f.conj_sharp(x)
    assert_close(point, DQ([1, 0, 0, 0, 0, *(R @ q + p)]))

    line = f.Ad(x, DQ([*l, *np.cross(q, l)]))
    assert_close(line, DQ([*(R @ l), *np.cross(R @ q + p, R @ l)]), scale=size(x) ** 2)
    assert f.is_line(line)

    plane = f.Adsharp(x, DQ([0, *l, l @ q, 0, 0, 0]))
    assert_close(plane, DQ([0, *(R @ l), (R @ l) @ (R @ q + p), 0, 0, 0]), scale=size(x) ** 2)
    assert f.is_plane(plane)


def test_a_wrong_conjugate_is_seen() -> None:
    """The oracle above can fail: with x* in place of both conjugates the point does not get its translation."""
    rng = np.random.default_rng(16)
    x, q = stratum_pose(rng, 2.1, 1.0), random_pure(rng).P()
    right = x * (f.E_ * q + 1.0) * f.conj_sharp(x)
    wrong = x * (f.E_ * q + 1.0) * f.conj(x)
    assert size(right - wrong) > 0.1


@strata
@pytest.mark.equation("Farias", "28")
def test_translation_in_both_frames(angle: float, length: float) -> None:
    rng = np.random.default_rng(17)
    x = stratum_pose(rng, angle, length)
    r, p = f.rotation(x), f.translation(x)
    assert_close(r + f.E_ * p * r * 0.5, x)
    p_body = f.conj(r) * p * r
    assert_close(r + f.E_ * r * p_body * 0.5, x)
    assert_close(f.tplus(x) * r, x)
    assert_close(f.translator(p.primary), f.tplus(x), tolerance=0.0)


@strata
def test_axis_and_angle_rebuild_the_rotation(angle: float, length: float) -> None:
    x = stratum_pose(np.random.default_rng(18), angle, length)
    half, n = f.rotation_angle(x) / 2, f.rotation_axis(x)
    assert f.rotation_angle(x) == pytest.approx(angle, rel=1e-11, abs=0.0)
    assert_close(n * math.sin(half) + math.cos(half), x.P(), tolerance=1e-15)
    assert f.norm(n).primary.w == pytest.approx(1.0, abs=1e-15)


def test_decompositional_product_has_its_inverse() -> None:
    rng = np.random.default_rng(19)
    x, y = stratum_pose(rng, 2.1, 1.0), stratum_pose(rng, 1.0, 3.0)
    assert_close(f.dec_mult(x, f.pinv(x)), IDENTITY)
    assert_close(f.dec_mult(f.pinv(x), x), IDENTITY)
    z = f.dec_mult(x, y)
    assert_close(f.rotation(z), f.rotation(y) * f.rotation(x))
    assert_close(f.translation(z), f.translation(x) + f.translation(y))
    assert size(f.pinv(x) - f.inv(x)) > 0.1
