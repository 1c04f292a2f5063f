"""Every parameterisation of rotations: ρ, its inverse, the Jacobian of ω from ρ alone, its conditions."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from coordinate_cases import OWN, PARAMETERISATIONS
from trees import assert_close, rate

from dqdyn.algebra.adjoint import Columns
from dqdyn.algebra.counter import Tally, counters
from dqdyn.algebra.quaternion import Quaternion, pure, rotate
from dqdyn.algebra.scalar import unstack
from dqdyn.coordinates.euler import SEQUENCES, Euler
from dqdyn.coordinates.parameterisation import Parameterisation, half_gradient, quaternion_of_columns
from dqdyn.coordinates.rotation_matrix import RotationMatrix
from dqdyn.coordinates.unit_quaternion import UnitQuaternion
from dqdyn.errors import Error

every = pytest.mark.parametrize("by", PARAMETERISATIONS, ids=str)


def matrix(columns: Columns) -> np.ndarray:
    return np.array([c.vector for c in columns], dtype=float).T


def skew(u: Any) -> np.ndarray:
    """[u×] [Bouyarmane, (4)]."""
    x, y, z = u
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def state(by: Parameterisation, seed: int) -> tuple[list[float], np.ndarray, np.ndarray]:
    """θ, ω in the moving axes, and R."""
    rng = np.random.default_rng(seed)
    r = rng.normal(size=4)
    r = Quaternion(*(float(c) for c in r / np.linalg.norm(r)))
    theta = by.parameters(r)
    return theta, rng.normal(size=3), matrix([rotate(r, e) for e in (pure(1, 0, 0), pure(0, 1, 0), pure(0, 0, 1))])  # type: ignore[arg-type]


@every
def test_parameters_and_rotation_are_inverse(by: Parameterisation) -> None:
    for seed in range(20):
        theta, _, R = state(by, seed)
        assert_close(matrix(by.rotation(theta)), R, 1e-14)
        r = by.quaternion(theta)
        assert_close([rotate(r, pure(1, 0, 0)).vector, rotate(r, pure(0, 0, 1)).vector], R.T[[0, 2]], 1e-14)
        assert_close(by.constraint(theta) or [0.0], [0.0] * max(1, by.d - 3), 1e-14)


@pytest.mark.equation("Bouyarmane", "8")
@pytest.mark.equation("Bouyarmane", "3")
@pytest.mark.equation("Bouyarmane", "10")
@pytest.mark.equation("Bouyarmane", "2")
@every
def test_global_jacobian_gives_the_angular_velocity(by: Parameterisation) -> None:
    """[ω×] = Ṙ Rᵀ, the definition of ω, on a motion along θ̇; Ṙ by differences."""
    theta, omega, R = state(by, 3)
    theta_rate = np.array(by.rate(theta, pure(*omega)))
    R_rate = rate(lambda t: matrix(by.rotation(unstack(np.array(theta) + t * theta_rate, by.d))))
    found = skew(np.array(by.global_jacobian(theta)) @ theta_rate)
    assert_close(found, R_rate @ R.T, 1e-9)


@pytest.mark.equation("Bouyarmane", "6")
@every
def test_columns_turn_with_the_angular_velocity(by: Parameterisation) -> None:
    theta, omega, R = state(by, 4)
    theta_rate = by.rate(theta, pure(*omega))
    turning = np.array(by.global_jacobian(theta)) @ theta_rate
    for column, found in zip(R.T, by.rotation_rate(theta, theta_rate), strict=True):
        assert_close(found.vector, -skew(column) @ turning, 1e-13)


@pytest.mark.equation("Bouyarmane", "8")
def test_identity_behind_the_formula() -> None:
    """M = −e₃e₂ᵀ[e₁×]M − e₂e₁ᵀ[e₃×]M − e₁e₃ᵀ[e₂×]M for an orthonormal basis and any M."""
    _, _, R = state(UnitQuaternion(), 5)
    M, (a, b, c) = np.random.default_rng(6).normal(size=(3, 4)), R.T
    total = sum(np.outer(x, y) @ skew(z) @ M for x, y, z in ((c, b, a), (b, a, c), (a, c, b)))
    assert_close(-total, M, 1e-13)


@pytest.mark.equation("Bouyarmane", "13")
@every
def test_body_jacobian_is_the_global_one_turned(by: Parameterisation) -> None:
    theta, omega, R = state(by, 7)
    assert_close(by.body_jacobian(theta), R.T @ np.array(by.global_jacobian(theta)), 1e-13)
    theta_rate = by.rate(theta, pure(*omega))
    assert_close(by.body_velocity(theta, theta_rate).vector, omega, 1e-12)


@every
def test_rate_keeps_the_conditions(by: Parameterisation) -> None:
    theta, omega, _ = state(by, 8)
    theta_rate = np.array(by.rate(theta, pure(*omega)))
    A = np.array(half_gradient(by, theta)).reshape(-1, by.d)
    assert np.abs(A @ theta_rate).max(initial=0.0) < 1e-13
    assert np.linalg.matrix_rank(np.vstack([A, np.array(by.body_jacobian(theta))])) == by.d


@pytest.mark.equation("Bouyarmane", "table 1")
@pytest.mark.equation("Bouyarmane", "table 2")
@pytest.mark.equation("Bouyarmane", "27")
def test_numbers_of_parameters_and_conditions() -> None:
    expected = {"euler": (3, 0), "quaternion": (4, 1), "rotation-matrix": (9, 6)}
    for by in PARAMETERISATIONS:
        kind = "euler" if by.name.startswith("euler") else by.name
        if kind in expected:
            assert (by.d, len(by.constraint([0.5] * by.d))) == expected[kind]
        # As many independent conditions as there are parameters too many.
        theta, _, _ = state(by, 9)
        assert np.linalg.matrix_rank(np.array(half_gradient(by, theta)).reshape(-1, by.d)) == by.d - 3


@pytest.mark.equation("Bouyarmane", "11")
@pytest.mark.equation("Bouyarmane", "12")
def test_quaternion_map_and_its_derivatives_are_those_printed() -> None:
    a, b, c, d = theta = [0.7, -0.2, 0.4, 0.3]  # not of unit norm: the map is a polynomial everywhere
    printed = [
        [2 * (a * a + b * b) - 1, 2 * (b * c - a * d), 2 * (b * d + a * c)],
        [2 * (b * c + a * d), 2 * (a * a + c * c) - 1, 2 * (c * d - a * b)],
        [2 * (b * d - a * c), 2 * (c * d + a * b), 2 * (a * a + d * d) - 1],
    ]
    derivatives = [
        [[4 * a, 4 * b, 0, 0], [2 * d, 2 * c, 2 * b, 2 * a], [-2 * c, 2 * d, -2 * a, 2 * b]],
        [[-2 * d, 2 * c, 2 * b, -2 * a], [4 * a, 0, 4 * c, 0], [2 * b, 2 * a, 2 * d, 2 * c]],
        [[2 * c, 2 * d, 2 * a, 2 * b], [-2 * b, -2 * a, 2 * d, 2 * c], [4 * a, 0, 0, 4 * d]],
    ]
    by = UnitQuaternion()
    assert_close(matrix(by.rotation(theta)), printed, 1e-15)
    for i, unit in enumerate(np.eye(4)):
        found = by.rotation_rate(theta, list(unit))
        for column, table in zip(found, derivatives, strict=True):
            assert_close(column.vector, np.array(table, dtype=float)[:, i], 1e-15)


@pytest.mark.equation("Bouyarmane", "28")
def test_condition_of_the_quaternion() -> None:
    assert_close(UnitQuaternion().constraint([0.5, 1.0, -1.0, 2.0]), [0.25 + 1 + 1 + 4 - 1], 1e-15)


# --- Euler angles -------------------------------------------------------------------------------------------------


def turn_matrix(axis: str, angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    R = np.eye(3)
    R[i, i] = R[j, j] = c
    R[j, i], R[i, j] = s, -s
    return R


def test_there_are_twelve_sequences() -> None:
    assert len(SEQUENCES) == 12
    assert set(SEQUENCES) == {"".join(s) for s in itertools.product("xyz", repeat=3) if s[0] != s[1] != s[2]}


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_angles_are_turns_about_moved_axes(sequence: str) -> None:
    by = Euler(sequence)
    for theta in ([0.3, 0.7, -0.4], [-2.8, 1.2, 3.0], [3.1, 0.01, -3.1], [0.0, 1.5, 0.0]):
        R = turn_matrix(sequence[0], theta[0]) @ turn_matrix(sequence[1], theta[1]) @ turn_matrix(sequence[2], theta[2])
        assert_close(matrix(by.rotation(theta)), R, 1e-15)
        assert_close(by.parameters(by.quaternion(theta)), theta, 1e-12)
        assert_close(by.parameters(-by.quaternion(theta)), theta, 1e-12)
        axes = [np.eye(3)["xyz".index(a)] for a in sequence]
        first = turn_matrix(sequence[0], theta[0])
        columns = [axes[0], first @ axes[1], first @ turn_matrix(sequence[1], theta[1]) @ axes[2]]
        assert_close(by.global_jacobian(theta), np.array(columns).T, 1e-14)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_gimbal_lock_is_where_the_determinant_vanishes(sequence: str) -> None:
    by = Euler(sequence)
    locks = [0.0, math.pi] if by.proper else [math.pi / 2, -math.pi / 2]
    for second in np.linspace(-3.0, 3.0, 13):
        theta = [0.4, float(second), -1.1]
        determinant = np.linalg.det(np.array(by.global_jacobian(theta)))
        assert_close(by.regularity(theta), determinant**2, 1e-14)
    for second in locks:
        assert by.regularity([0.4, second, -1.1]) < 1e-30
        # The rotation is still found, with angles of its own.
        found = by.parameters(by.quaternion([0.4, second, -1.1]))
        assert_close(matrix(by.rotation(found)), matrix(by.rotation([0.4, second, -1.1])), 1e-7)
        # The sequence that the message recommends is regular there.
        other = Euler(by.lock([0.4, second, -1.1]).split("'euler-")[1][:3])
        assert other.regularity(other.parameters(by.quaternion([0.4, second, -1.1]))) > 0.9


@pytest.mark.parametrize("sequence", ["xxy", "zyxz", "abc", "", "ZYX"])
def test_wrong_sequences_are_refused(sequence: str) -> None:
    with pytest.raises(Error, match="take one of xyx"):
        Euler(sequence)


# --- rotation matrices --------------------------------------------------------------------------------------------


def test_quaternion_of_any_matrix() -> None:
    """Half turns and their neighbours: each of the four components is the largest once."""
    for axis in np.vstack([np.eye(3), np.random.default_rng(2).normal(size=(6, 3))]):
        for angle in (0.0, 1e-9, 1.0, math.pi - 1e-9, math.pi):
            half = axis / np.linalg.norm(axis) * math.sin(angle / 2)
            r = np.array([math.cos(angle / 2), *half])
            found = np.array(
                quaternion_of_columns(RotationMatrix().rotation(RotationMatrix().parameters(Quaternion(*r)))).components
            )
            assert_close(found * np.sign(found @ r), r, 1e-15)


# --- scalars ------------------------------------------------------------------------------------------------------


@every
def test_batches_and_counters(by: Parameterisation) -> None:
    states = [state(by, seed) for seed in range(5)]
    theta = unstack(np.array([s[0] for s in states]), by.d)
    omega = pure(*unstack(np.array([s[1] for s in states]), 3))
    together = by.rate(theta, omega)
    for row, (single, w, _) in enumerate(states):
        assert_close([np.broadcast_to(c, 5)[row] for c in together], by.rate(single, pure(*w)), 1e-14)
    tally = Tally()
    by.body_jacobian(counters(by.d, tally))
    assert tally.total > 0


@pytest.mark.parametrize("by", [Euler("zxz"), UnitQuaternion(), *OWN], ids=str)
def test_symbols(by: Parameterisation) -> None:
    sympy = pytest.importorskip("sympy")
    theta, _, _ = state(by, 11)
    symbols = sympy.symbols(f"t:{by.d}")
    rows = by.body_jacobian(list(symbols))
    found = sympy.lambdify(symbols, rows)(*theta)
    assert_close(found, by.body_jacobian(theta), 1e-13)
