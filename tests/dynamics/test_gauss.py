"""Gauss's principle of least constraint: the function itself, and M, C, g from its minimum."""

from __future__ import annotations

import numpy as np
import pytest
from formulation_tools import (
    PINOCCHIO_CASES,
    ROBOTS,
    array,
    check_batch,
    check_coriolis_matrix,
    check_inverse_dynamics,
    check_mass_matrix,
    check_no_moving_joint,
    height_energy,
    model_state,
    random_wrenches,
    tangent_gradient,
)
from trees import TREES, assert_close

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import gradient
from dqdyn.algebra.parts import vec6
from dqdyn.algebra.poses import translator
from dqdyn.algebra.quaternion import pure
from dqdyn.dynamics.fast import composite
from dqdyn.dynamics.formulations import gauss, newton_euler
from dqdyn.dynamics.formulations.mass_centers import Center, centers, weights
from dqdyn.dynamics.wrenches import power
from dqdyn.kinematics import frames
from dqdyn.model.description import Description, Joint, Link
from dqdyn.model.inertia import Inertia
from dqdyn.model.model import Frame, Model
from dqdyn.robot import Robot


def psi(center: Center) -> np.ndarray:
    """blkdiag(I, m)."""
    result = np.eye(6) * center.inertia.mass
    result[:3, :3] = center.inertia.tensor
    return result


def skew(a: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def swapped(wrench: DQ) -> np.ndarray:
    """[τ, f]."""
    return vec6(wrench)[[3, 4, 5, 0, 1, 2]]


# --- kinematics of the centers of mass --------------------------------------------------------------------------------


@pytest.mark.equation("Silva", "9")
@pytest.mark.equation("Silva", "32")
@pytest.mark.equation("Silva", "33")
@pytest.mark.equation("Quiroz", "5.2")
@pytest.mark.equation("Quiroz", "5.3")
@pytest.mark.parametrize("name", TREES)
def test_centers_are_frames_at_the_centers_of_mass(name: str) -> None:
    model, q, v, a = model_state(name)
    for i, center in enumerate(centers(model, q, v)):
        frame = Frame("c", i, translator(center.inertia.center))
        j, j_rate = (
            array(frames.twist_jacobian(model, frame, q)),
            array(frames.twist_jacobian_derivative(model, frame, q, v)),
        )
        rows = lambda columns: np.array([vec6(columns.get(k, DQ([0.0]))) for k in range(model.nv)]).T
        assert_close(rows(center.columns), j)
        assert_close(rows(center.rates), j_rate)
        assert_close(vec6(center.twist), j @ v)
        assert_close(vec6(center.rate(v, a)), j @ a + j_rate @ v)


@pytest.mark.equation("Silva", "41")
@pytest.mark.equation("Quiroz", "5.6")
@pytest.mark.equation("Quiroz", "5.13")
def test_operators_of_a_body() -> None:
    model, q, v, _ = model_state("every kind")
    rng = np.random.default_rng(1)
    for center in centers(model, q, v):
        s = rng.normal(size=6)
        twist = DQ([0, *s[:3], 0, *s[3:]])
        omega = vec6(center.twist)[:3]
        s_bar = np.zeros((6, 6))
        s_bar[:3, :3] = -skew(np.array(center.inertia.tensor) @ omega)
        s_bar[3:, 3:] = center.inertia.mass * skew(omega)
        assert_close(swapped(center.momentum(twist)), psi(center) @ s)
        assert_close(swapped(center.gyroscopic(twist)), s_bar @ s)
        assert_close(s_bar, -s_bar.T)


@pytest.mark.equation("Silva", "46")
@pytest.mark.equation("Quiroz", "5.18")
def test_power_swaps_parts() -> None:
    rng = np.random.default_rng(2)
    s, w = rng.normal(size=6), rng.normal(size=6)
    exchange = np.kron([[0, 1], [1, 0]], np.eye(3))
    assert_close(power(DQ([0, *s[:3], 0, *s[3:]]), DQ([0, *w[:3], 0, *w[3:]])), s @ exchange @ w)


# --- the Gauss function -----------------------------------------------------------------------------------------------


@pytest.mark.equation("Silva", "31")
@pytest.mark.equation("Silva", "34")
@pytest.mark.equation("Silva", "35")
@pytest.mark.equation("Silva", "39")
@pytest.mark.equation("Quiroz", "5.1")
@pytest.mark.equation("Quiroz", "5.5")
@pytest.mark.equation("Quiroz", "5.7")
@pytest.mark.equation("Quiroz", "5.11")
@pytest.mark.parametrize("name", TREES)
def test_function_is_the_weighted_distance_of_accelerations(name: str) -> None:
    model, q, v, a = model_state(name)
    tau = np.random.default_rng(3).normal(size=model.nv)
    expected = -tau @ np.array(a)
    for center in centers(model, q, v):
        omega, velocity = np.split(vec6(center.twist), 2)
        tensor = np.array(center.inertia.tensor)
        rotation = np.array([c.vector for c in center.seen.columns]).T
        free = np.concatenate(
            [
                np.linalg.solve(tensor, -np.cross(omega, tensor @ omega)),
                rotation.T @ np.array(model.gravity) + np.cross(velocity, omega),
            ]
        )
        distance = vec6(center.rate(v, a)) - free
        expected += 0.5 * distance @ psi(center) @ distance
    assert_close(gauss.gauss_function(model, q, v, a, tau.tolist()), expected)


@pytest.mark.equation("Silva", "36")
@pytest.mark.equation("Silva", "42")
@pytest.mark.equation("Quiroz", "5.8")
@pytest.mark.equation("Quiroz", "5.14")
@pytest.mark.parametrize("name", TREES)
def test_motion_is_its_minimum(name: str) -> None:
    model, q, v, _ = model_state(name)
    rng = np.random.default_rng(4)
    tau, wrenches = rng.normal(size=model.nv).tolist(), random_wrenches(model, 5)
    m = array(composite.mass_matrix(model, q))
    held = array(newton_euler.inverse_dynamics(model, q, v, [0.0] * model.nv, wrenches))
    a = np.linalg.solve(m, np.array(tau) - held)
    g = lambda acceleration: gauss.gauss_function(model, q, v, list(acceleration), tau, wrenches)
    assert_close(gradient(g, a.tolist()), np.zeros(model.nv), 1e-10, float(np.abs(m).max() * np.abs(a).max()))
    least = g(a)
    for _ in range(3):
        step = rng.normal(size=model.nv)
        # A quadratic function: it grows by ½ stepᵀ M step, and by nothing else.
        assert_close(g(a + step) - least, 0.5 * step @ m @ step, 1e-9, abs(least))


@pytest.mark.equation("Silva", "36")
@pytest.mark.equation("Silva", "40")
@pytest.mark.equation("Quiroz", "5.12")
@pytest.mark.parametrize("name", TREES)
def test_gradient_is_what_the_joints_lack(name: str) -> None:
    model, q, v, a = model_state(name)
    tau = np.random.default_rng(6).normal(size=model.nv)
    found = gradient(lambda x: gauss.gauss_function(model, q, v, x, tau.tolist()), a)
    assert_close(found, array(newton_euler.inverse_dynamics(model, q, v, a)) - tau)


def one_link(inertia: Inertia, kind: str) -> Model:
    links = (Link("base", Inertia()), Link("body", inertia))
    return Robot.from_description(Description("one", links, (Joint("joint", kind, "base", "body"),))).model


def test_a_body_without_constraints_has_none() -> None:
    """A body that falls and tumbles freely is at the absolute minimum, zero."""
    inertia = Inertia(2.0, (0.1, -0.2, 0.3), ((0.4, 0.01, 0.02), (0.01, 0.5, -0.03), (0.02, -0.03, 0.6)))
    model = one_link(inertia, "free")
    q, v = [0.5, 0.5, -0.5, 0.5, 1.0, 2.0, 3.0], [0.3, -0.7, 1.1, 0.2, 0.4, -0.6]
    m = array(composite.mass_matrix(model, q))
    a = np.linalg.solve(m, -array(newton_euler.inverse_dynamics(model, q, v, [0.0] * 6)))
    assert abs(gauss.gauss_function(model, q, v, a.tolist(), [0.0] * 6)) < 1e-13
    assert gauss.gauss_function(model, q, v, (a + 0.1).tolist(), [0.0] * 6) > 1e-3


@pytest.mark.parametrize(
    "inertia",
    [
        Inertia(1.5, (0.3, 0.0, 0.1), ((0.0, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.2))),  # a rod
        Inertia(1.5, (0.3, 0.0, 0.1)),  # a point
        Inertia(),  # nothing
    ],
)
def test_gradient_without_inertia_about_some_axis(inertia: Inertia) -> None:
    model = one_link(inertia, "spherical")
    q, v, a = [0.5, 0.5, -0.5, 0.5], [0.3, -0.7, 1.1], [1.0, 2.0, 3.0]
    found = gradient(lambda x: gauss.gauss_function(model, q, v, x, [0.0] * 3), a)
    assert_close(found, newton_euler.inverse_dynamics(model, q, v, a), 1e-14)


# --- M, C, g ----------------------------------------------------------------------------------------------------------


@pytest.mark.equation("Silva", "43")
@pytest.mark.equation("Quiroz", "5.15")
@pytest.mark.parametrize(("kinds", "seed", "base"), PINOCCHIO_CASES)
def test_mass_matrix_is_pinocchios(kinds: tuple[str, ...], seed: int, base: str) -> None:
    check_mass_matrix(gauss, kinds, seed, base)


@pytest.mark.parametrize("name", ROBOTS)
def test_mass_matrix_is_that_of_composite_bodies(name: str) -> None:
    model, q, _, _ = model_state(name)
    assert_close(gauss.mass_matrix(model, q), array(composite.mass_matrix(model, q)), 1e-12)


@pytest.mark.equation("Silva", "44")
@pytest.mark.equation("Silva", "49")
@pytest.mark.equation("Quiroz", "5.16")
@pytest.mark.equation("Quiroz", "5.21")
@pytest.mark.parametrize("name", ROBOTS)
def test_coriolis_matrix(name: str) -> None:
    check_coriolis_matrix(gauss, name)


@pytest.mark.equation("Silva", "45")
@pytest.mark.equation("Silva", "47")
@pytest.mark.equation("Quiroz", "5.17")
@pytest.mark.equation("Quiroz", "5.19")
@pytest.mark.parametrize("name", ROBOTS)
def test_gravity_forces_are_the_gradient_of_the_height(name: str) -> None:
    model, q, _, _ = model_state(name)
    expected = tangent_gradient(model, lambda x: height_energy(model, x), q)
    assert_close(gauss.gravity_forces(model, q), expected, 1e-11)


def test_weights_act_at_the_centers_of_mass() -> None:
    model, q, _, _ = model_state("every kind")
    found = centers(model, q)
    for center, weight in zip(found, weights(model, found), strict=True):
        assert_close(center.seen.rotate(weight.primary).vector, center.inertia.mass * np.array(model.gravity))
        assert weight.dual == pure(0.0, 0.0, 0.0)


@pytest.mark.equation("Silva", "section 4")
@pytest.mark.equation("Silva", "48")
@pytest.mark.equation("Quiroz", "section 5.2")
@pytest.mark.equation("Quiroz", "5.20")
@pytest.mark.equation("Quiroz", "algorithm 5.1")
@pytest.mark.parametrize("name", ROBOTS)
def test_inverse_dynamics(name: str) -> None:
    check_inverse_dynamics(gauss, name)
    model, q, v, a = model_state(name)
    m, c = array(gauss.mass_matrix(model, q)), array(gauss.coriolis_matrix(model, q, v))
    written_out = m @ array(a) + c @ array(v) + array(gauss.gravity_forces(model, q))
    assert_close(gauss.inverse_dynamics(model, q, v, a), written_out, 1e-12)


def test_batch() -> None:
    check_batch(gauss)


def test_no_moving_joint() -> None:
    check_no_moving_joint(gauss)
    model = Robot.from_description(Description("rock", (Link("base", Inertia(1.0)),), ())).model
    assert gauss.gauss_function(model, [], [], [], []) == 0.0
    assert gauss.mass_matrix(model, []) == gauss.coriolis_matrix(model, [], []) == []
