"""Rates of poses, of moved things and of powers, against matrices, finite differences and 50 digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import algebra_reference as ref
import numpy as np
import pytest
from algebra_reference import mp
from algebra_tools import ANGLES, LENGTHS, assert_close, random_pure, size, stratum_pose, unit3

from dqdyn.algebra import functions as f
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.rates import adjoint_rate, pose_rate, pow_rate, twist_of_rate, world_twist
from dqdyn.errors import Error

T = 0.37  # the instant of every test


def rate(function: Callable[[float], np.ndarray], t: float = T, h: float = 0.005) -> np.ndarray:
    """Central differences of order eight."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    terms = [w * (function(t + k * h) - function(t - k * h)) for k, w in enumerate(weights, start=1)]
    return np.sum(terms, axis=0) / h


def rotation_of(t: float) -> DQ:
    return f.normalize(DQ([1.0 + t, 0.3 - t, math.sin(t), t * t]))


def position_of(t: float) -> np.ndarray:
    return np.array([math.cos(2 * t), t**2 - 1, 0.5 * t])


def pose_of(t: float) -> DQ:
    return f.pose(rotation_of(t).primary, pure(*map(float, position_of(t))))


def matrix_motion() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """ω, ṗ, p and R at the instant, from rotation matrices: Ṙ Rᵀ is the cross product with ω."""
    R = f.rotation_matrix(rotation_of(T))
    W = rate(lambda t: f.rotation_matrix(rotation_of(t))) @ R.T
    return np.array([W[2, 1], W[0, 2], W[1, 0]]), rate(position_of), position_of(T), R


@pytest.mark.equation("Silva", "6")
@pytest.mark.equation("Quiroz", "eq. A.21")
@pytest.mark.equation("Quiroz", "A.24")
@pytest.mark.equation("Silva", "4")
@pytest.mark.equation("Silva", "5")
@pytest.mark.equation("Farias", "29")
@pytest.mark.equation("Quiroz", "A.19")
@pytest.mark.equation("Quiroz", "A.20")
def test_twist_in_both_frames() -> None:
    w, v, p, R = matrix_motion()
    x, x_rate = pose_of(T), DQ(rate(lambda t: pose_of(t).vec8()))
    in_world = DQ([*w, *(v + np.cross(p, w))])
    in_body = DQ([*(R.T @ w), *(R.T @ v)])
    assert_close(twist_of_rate(x, x_rate), in_world)
    assert_close(twist_of_rate(x, x_rate, "body"), in_body)
    assert_close(pose_rate(in_world, x), x_rate)
    assert_close(pose_rate(in_body, x, "body"), x_rate)
    assert_close(world_twist(pure(*w), pure(*v), pure(*p)), in_world)
    assert_close(f.Ad(x, in_body), in_world)


@pytest.mark.parametrize("expressed", ["aligned", "World", ""])
def test_unknown_frames_are_refused(expressed: str) -> None:
    x = pose_of(T)
    for call in (pose_rate, twist_of_rate):
        with pytest.raises(Error, match='"world" or "body"'):
            call(x, x, expressed)


@pytest.mark.equation("Silva", "lemma 2.1")
@pytest.mark.equation("Silva", "9")
def test_rate_of_a_moved_thing() -> None:
    def y(t: float) -> DQ:
        return DQ([t, math.sin(t), 1 - t, t * t, 2.0, math.cos(t)])

    x, x_rate = pose_of(T), DQ(rate(lambda t: pose_of(t).vec8()))
    y_rate = DQ(rate(lambda t: y(t).vec8()))
    expected = rate(lambda t: f.Ad(pose_of(t), y(t)).vec8())
    assert_close(adjoint_rate(x, twist_of_rate(x, x_rate), y(T), y_rate), DQ(expected))
    assert size(f.Ad(x, y_rate) - DQ(expected)) > 0.1  # the product of twists is not small


def test_velocity_of_origin_and_rotation() -> None:
    w, v, _, _ = matrix_motion()
    x_rate = rate(lambda t: pose_of(t).vec8())
    assert_close(f.generalized_jacobian(pose_of(T)) @ x_rate, [0, *v, 0, *w])


# --- powers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [0.5, -0.7, 1.0, 2.3])
def test_rate_of_a_power_by_differences(exponent: float) -> None:
    x, x_rate = pose_of(T), DQ(rate(lambda t: pose_of(t).vec8()))
    expected = rate(lambda t: f.pow(pose_of(t), exponent).vec8())
    assert_close(pow_rate(x, x_rate, exponent), DQ(expected))


def power(x: ref.Vector, exponent: Any) -> ref.Vector:
    half = mp.atan2(ref.norm(x[1:4]), x[0])
    n = ref.unit(x[1:4])
    conjugate = [x[0], -x[1], -x[2], -x[3]]
    p = [2 * c for c in ref.product(x[4:], conjugate)[1:]]
    return ref.pose(ref.rotation(n, 2 * half * exponent), [c * exponent for c in p])


@pytest.mark.parametrize("length", LENGTHS.values())
@pytest.mark.parametrize("angle", ANGLES.values())
def test_rate_of_a_power_on_the_strata(angle: float, length: float) -> None:
    rng = np.random.default_rng(50)
    n, turn = (ref.unit(ref.vector(unit3(rng))) for _ in range(2))
    if angle == 0.0:
        turn = n  # through the identity along any axis: the reference needs one
    start, velocity = ref.vector(unit3(rng) * length), ref.vector(rng.normal(size=3))
    exponent = mp.mpf("0.5")

    def motion(t: Any) -> ref.Vector:
        r = ref.product(ref.rotation(turn, t), ref.rotation(n, mp.mpf(angle)))
        return ref.pose(r, [a + b * t for a, b in zip(start, velocity, strict=True)])

    def of_coefficients(function: Callable[[Any], ref.Vector]) -> ref.Vector:
        return [mp.diff(lambda t, i=i: function(t)[i], 0, h=mp.mpf("1e-20")) for i in range(8)]

    x = DQ([float(c) for c in motion(mp.mpf(0))])
    x_rate = DQ([float(c) for c in of_coefficients(motion)])
    expected = [float(c) for c in of_coefficients(lambda t: power(motion(t), exponent))]
    # The axis of a rotation near 2π turns fast: rounding of the pose is magnified alike.
    condition = 1.0 if angle <= math.pi else 1.0 / math.sin(angle / 2)
    assert_close(pow_rate(x, x_rate, 0.5), DQ(expected), tolerance=1e-14, scale=size(x) * condition**2)


def test_rate_of_a_square_root_is_the_solution_of_its_linear_equation() -> None:
    """s = r^½ has (H⁺₄(s) + H⁻₄(s)) ṡ = ṙ; the shortcut ½ ṙ r* s holds only for a constant axis."""
    x, x_rate = pose_of(T), DQ(rate(lambda t: pose_of(t).vec8()))
    s = f.pow(x, 0.5)
    exact = np.linalg.solve(f.hamiplus4(s) + f.haminus4(s), x_rate.vec4())
    assert_close(pow_rate(x, x_rate, 0.5).vec4(), exact)
    shortcut = (x_rate.P() * f.conj(x.P()) * s.P() * 0.5).vec4()
    assert np.linalg.norm(shortcut - exact) > 0.01


def test_rate_of_a_power_needs_a_pose() -> None:
    with pytest.raises(Error, match="pow_rate needs a unit dual quaternion"):
        pow_rate(DQ([2.0]), DQ(), 0.5)


# --- how a pose answers to its logarithm ------------------------------------------------------------------------------


@pytest.mark.parametrize("length", LENGTHS.values())
@pytest.mark.parametrize("angle", ANGLES.values())
def test_derivative_of_the_exponential(angle: float, length: float) -> None:
    rng = np.random.default_rng(51)
    x, direction = stratum_pose(rng, angle, length), random_pure(rng)

    def exponential(c: list[Any]) -> list[Any]:
        return list(f.exp(DQ.of(pure(*c[:3]), pure(*c[3:]))).components)

    expected = derivative(exponential, list(f.log(x).vec6()), list(direction.vec6()))
    assert_close(f.Q8(x) @ direction.vec6(), expected, scale=size(x))
    assert_close(f.Q4(x) @ direction.vec3(), expected[:4])
    assert_close(f.Q8(x)[:4, :3], f.Q4(x), tolerance=0.0)


def test_a_twist_acts_as_its_screw_exponential() -> None:
    """ẋ = ½ξx with constant ξ from the identity is screw_exp(ξt/2): Runge-Kutta by hand as the oracle."""
    twist = random_pure(np.random.default_rng(52))
    x, steps = DQ([1.0]), 400
    h = 1.0 / steps
    for _ in range(steps):
        k1 = pose_rate(twist, x)
        k2 = pose_rate(twist, x + k1 * (h / 2))
        k3 = pose_rate(twist, x + k2 * (h / 2))
        k4 = pose_rate(twist, x + k3 * h)
        x = x + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (h / 6)
    assert_close(x, f.screw_exp(twist * 0.5), tolerance=1e-10)
    assert size(x - f.exp(twist * 0.5)) > 0.01


def test_quaternions_and_dual_quaternions_multiply() -> None:
    r, x = rotation_of(T).primary, pose_of(T)
    assert x * r == x * DQ.of(r)
    assert r * x == DQ.of(r) * x
    assert isinstance(r * r, Quaternion)
