"""Laws of both exponentials, logarithms and powers, on every stratum."""

from __future__ import annotations

import math

import numpy as np
import pytest
from algebra_tools import STRATA, STRATA_NAMES, assert_close, random_pose, random_pure, size, stratum_pose, unit3

from dqdyn.algebra import functions as f
from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.errors import Error

strata = pytest.mark.parametrize(("angle", "length"), STRATA, ids=STRATA_NAMES)


def stratum_log(rng: np.random.Generator, angle: float, length: float) -> DQ:
    return DQ([*(unit3(rng) * angle / 2), *(unit3(rng) * length / 2)])


@strata
@pytest.mark.equation("Quiroz", "A.21")
@pytest.mark.equation("Quiroz", "A.22")
@pytest.mark.equation("Farias", "25")
@pytest.mark.equation("Farias", "26")
def test_exp_and_log(angle: float, length: float) -> None:
    rng = np.random.default_rng(20)
    for _ in range(5):
        x, g = stratum_pose(rng, angle, length), stratum_log(rng, angle, length)
        assert_close(f.exp(f.log(x)), x)
        assert_close(f.log(f.exp(g)), g)
        half, n, p = f.rotation_angle(x) / 2, f.rotation_axis(x), f.translation(x)
        assert_close(f.log(x), n * half + f.E_ * p * 0.5)
        # The definition: cos‖P‖ + P sin‖P‖/‖P‖, times D on the left for the dual part.
        norm = float(np.linalg.norm(g.vec3()))
        rotation = g.P() * (math.sin(norm) / norm if norm else 1.0) + math.cos(norm)
        assert_close(f.exp(g), rotation + f.E_ * g.D() * rotation)


@strata
@pytest.mark.equation("Farias", "27")
def test_screw_exp_and_log(angle: float, length: float) -> None:
    rng = np.random.default_rng(21)
    for _ in range(5):
        x, g = stratum_pose(rng, angle, length), stratum_log(rng, angle, length)
        logarithm = f.screw_log(x)  # near 2π its moment is large, and with it the rounding of three coefficients
        assert_close(f.screw_exp(logarithm), x, scale=size(logarithm))
        # Towards 2π every pose has a logarithm ever more sensitive to its last digit.
        condition = 1.0 if angle < math.pi else 1.0 / math.sin(angle / 2)
        assert_close(f.screw_log(f.screw_exp(g)), g, scale=size(g) * condition)
        # cos(θ̂/2) + s sin(θ̂/2) with the dual angle θ + εd about the line s
        s, d = f.Ad(random_pose(rng), f.k_), length
        half = DQ([angle / 2, 0, 0, 0, d / 2, 0, 0, 0])
        cosine = DQ([math.cos(angle / 2), 0, 0, 0, -math.sin(angle / 2) * d / 2, 0, 0, 0])
        sine = DQ([math.sin(angle / 2), 0, 0, 0, math.cos(angle / 2) * d / 2, 0, 0, 0])
        assert_close(f.screw_exp(s * half), cosine + s * sine)


@strata
def test_the_exponentials_agree_only_where_the_parts_commute(angle: float, length: float) -> None:
    rng = np.random.default_rng(22)
    n = unit3(rng)
    along = DQ([*(n * angle / 2), *(n * length / 2)])
    assert_close(f.screw_exp(along), f.exp(along))
    across = DQ([*(n * angle / 2), *(np.cross(n, unit3(rng)) * length / 2)])
    difference = size(f.screw_exp(across) - f.exp(across))
    if angle == 0.0 or length == 0.0:
        assert difference == 0.0
    elif angle > 1e-8:
        assert difference > 0.01 * math.sin(angle / 4) * length


def test_a_screw_motion_is_a_one_parameter_group_and_exp_is_not() -> None:
    g = random_pure(np.random.default_rng(23))
    assert_close(f.screw_exp(g * 0.3) * f.screw_exp(g * 0.5), f.screw_exp(g * 0.8))
    assert size(f.exp(g * 0.3) * f.exp(g * 0.5) - f.exp(g * 0.8)) > 0.01


@strata
@pytest.mark.equation("Quiroz", "A.23")
def test_power(angle: float, length: float) -> None:
    rng = np.random.default_rng(24)
    x = stratum_pose(rng, angle, length)
    a, b = rng.uniform(-1.5, 1.5, 2)
    assert_close(f.pow(x, 1.0), x)
    assert_close(f.pow(x, 0.0), IDENTITY, tolerance=0.0)
    assert_close(f.pow(x, a), f.exp(f.log(x) * a), tolerance=0.0)
    assert_close(x**a, f.pow(x, a), tolerance=0.0)
    # The law of powers holds for rotation and translation apart.
    assert_close(f.rotation(f.pow(x, a)) * f.rotation(f.pow(x, b)), f.rotation(f.pow(x, a + b)))
    assert_close(f.translation(f.pow(x, a)), f.translation(x) * a)
    assert_close(f.dec_mult(f.pow(x, a), f.pow(x, b)), f.pow(x, a + b))


def test_power_is_no_group_homomorphism() -> None:
    x = stratum_pose(np.random.default_rng(25), 2.1, 1.0)
    assert size(f.pow(x, 0.5) * f.pow(x, 0.5) - x) > 0.01


@strata
def test_screw_power(angle: float, length: float) -> None:
    rng = np.random.default_rng(26)
    x = stratum_pose(rng, angle, length)
    a, b = rng.uniform(-1.5, 1.5, 2)
    scale = size(f.screw_log(x))
    assert_close(f.screw_pow(x, 1.0), x, scale=scale)
    assert_close(f.screw_pow(x, 0.0), IDENTITY, tolerance=0.0)
    assert_close(f.screw_pow(x, a) * f.screw_pow(x, b), f.screw_pow(x, a + b), scale=scale)
    assert_close(f.screw_pow(x, -1.0), f.conj(x), scale=scale)


@strata
def test_square_roots_square(angle: float, length: float) -> None:
    x = stratum_pose(np.random.default_rng(27), angle, length)
    screw_root, root = f.screw_pow(x, 0.5), f.pow(x, 0.5)
    assert_close(screw_root * screw_root, x, scale=size(f.screw_log(x)))
    assert_close(f.rotation(root) * f.rotation(root), f.rotation(x))
    assert_close(f.dec_mult(root, root), x)
    assert 0.0 <= f.rotation_angle(root) <= math.pi + 1e-15


@strata
def test_screw_interpolation(angle: float, length: float) -> None:
    rng = np.random.default_rng(28)
    x, step = random_pose(rng), stratum_pose(rng, angle, length)
    y = x * step
    scale = size(step) * size(x)
    assert_close(f.sclerp(x, y, 0.0), x, scale=scale)
    end = f.sclerp(x, y, 1.0)
    sign = 1.0 if step.primary.w >= 0 else -1.0
    if abs(step.primary.w) > 1e-9:  # at a half turn rounding decides between y and −y
        assert_close(end, y * sign, scale=scale)
    quarter = f.conj(x) * f.sclerp(x, y, 0.25)
    assert_close(quarter * quarter * quarter * quarter, f.conj(x) * end, scale=scale)
    assert f.rotation_angle(quarter) <= math.pi / 4 + 1e-12


@pytest.mark.parametrize("angle", [0.0, 1.0, math.pi, 5.0])
def test_the_branch_of_the_logarithm(angle: float) -> None:
    """The half-angle is in [0, π]: log(−x) turns the other way round, by π less the half-angle."""
    x = stratum_pose(np.random.default_rng(29), angle, 1.0)
    for logarithm in (f.log, f.screw_log):
        here, there = logarithm(x).vec3(), logarithm(-x).vec3()
        assert np.linalg.norm(here) == pytest.approx(angle / 2, abs=1e-15)
        assert np.linalg.norm(there) == pytest.approx(math.pi - angle / 2, abs=1e-15)


def test_a_full_turn() -> None:
    """Where the axis is undefined, log takes k and screw_log the translation; the exponential undoes both."""
    p = np.array([0.3, -0.4, 1.2])
    turned = -f.translator(DQ(p).primary)
    assert_close(f.log(turned), DQ([0, 0, math.pi, *(p / 2)]), tolerance=1e-15)
    assert_close(f.exp(f.log(turned)), turned, tolerance=1e-15)
    assert_close(f.screw_log(turned), DQ([*(math.pi * p / np.linalg.norm(p)), *(p / 2)]), tolerance=1e-15)
    assert_close(f.screw_exp(f.screw_log(turned)), turned, tolerance=1e-15)
    assert_close(f.screw_log(-IDENTITY), DQ([0, 0, math.pi]), tolerance=1e-15)
    assert_close(f.rotation_axis(-IDENTITY), f.k_, tolerance=0.0)
    assert_close(f.rotation_axis(IDENTITY), f.k_, tolerance=0.0)


def test_a_batch_of_all_strata() -> None:
    """Every branch in one batch, without a warning."""
    rng = np.random.default_rng(32)
    poses = [stratum_pose(rng, *s) for s in STRATA] + [-IDENTITY, -f.translator(DQ([1, 2, 3]).primary)]
    batch = DQ(np.stack([x.vec8() for x in poses]))
    for function in (f.log, f.screw_log, lambda x: f.pow(x, 0.5), lambda x: f.screw_pow(x, 0.5), f.rotation_axis):
        assert_close(function(batch).vec8(), np.stack([function(x).vec8() for x in poses]), tolerance=1e-14)


@pytest.mark.parametrize("name", ["log", "screw_log", "rotation", "translation", "rotation_angle", "tplus", "pinv"])
def test_only_units_have_a_logarithm(name: str) -> None:
    x = random_pose(np.random.default_rng(30)) * 1.01
    with pytest.raises(Error, match=f"{name} needs a unit dual quaternion.*normalize") as caught:
        getattr(f, name)(x)
    assert caught.value.found is x
    with pytest.raises(Error):  # one bad element of a batch
        getattr(f, name)(DQ(np.stack([random_pose(np.random.default_rng(31)).vec8(), x.vec8()])))


@pytest.mark.parametrize("name", ["exp", "screw_exp"])
@pytest.mark.parametrize("place", [0, 4])
def test_only_pure_elements_have_an_exponential(name: str, place: int) -> None:
    c = np.zeros(8)
    c[place] = 0.01
    with pytest.raises(Error, match=f"{name} needs a pure dual quaternion"):
        getattr(f, name)(DQ(c))
    assert np.isnan(getattr(f, name)(DQ([math.nan, 0, 0])).vec8()).any()
