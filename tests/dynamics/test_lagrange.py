"""Lagrange's equations in closed form: energies, their derivatives, the Coriolis matrices, gravity fields."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import pinocchio
import pytest
from formulation_tools import (
    PINOCCHIO_CASES,
    ROBOTS,
    SMOOTH_KINDS,
    array,
    bias,
    check_batch,
    check_coriolis_matrix,
    check_inverse_dynamics,
    check_mass_matrix,
    check_no_moving_joint,
    configuration_rate,
    mass_matrix_rate,
    model_state,
    pinocchio_pair,
    random_wrenches,
    rate_along,
    state,
    tangent_gradient,
)
from trees import ONE_AXIS, TREES, assert_close, random_robot

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.parts import vec6
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.scalar import divide, sqrt
from dqdyn.dynamics.fast import coriolis
from dqdyn.dynamics.formulations import gauss, lagrange, newton_euler
from dqdyn.dynamics.formulations.mass_centers import center_poses, centers
from dqdyn.dynamics.gravity.fields import Central, Field, Potential, Uniform
from dqdyn.errors import Error
from dqdyn.model.description import Description, Joint, Link
from dqdyn.model.inertia import Inertia, as_tensor
from dqdyn.model.model import Model
from dqdyn.robot import Robot


@cache
def smooth() -> Robot:
    """A tree of joints with v = q̇, one of each kind at least."""
    return random_robot(9, 7, SMOOTH_KINDS)


@pytest.mark.equation("Parsa", "3")
@pytest.mark.equation("Parsa", "31")
@pytest.mark.equation("Parsa", "4")
@pytest.mark.equation("Parsa", "12")
@pytest.mark.equation("Parsa", "28")
@pytest.mark.equation("Parsa", "29")
@pytest.mark.equation("Parsa", "39")
@pytest.mark.parametrize("name", ROBOTS)
def test_inverse_dynamics(name: str) -> None:
    check_inverse_dynamics(lagrange, name)


# --- energies and their derivatives -----------------------------------------------------------------------------------


@pytest.mark.equation("Parsa", "13")
@pytest.mark.equation("Parsa", "26")
@pytest.mark.parametrize(("kinds", "seed", "base"), PINOCCHIO_CASES)
def test_energies_are_pinocchios(kinds: tuple[str, ...], seed: int, base: str) -> None:
    ours, theirs, layout = pinocchio_pair(kinds, seed, base)
    q, v, _ = state(ours, seed)
    data = theirs.createData()
    kinetic = pinocchio.computeKineticEnergy(theirs, data, layout.q(q), layout.v(q, v))
    assert_close(lagrange.kinetic_energy(ours.model, q, v), kinetic, 1e-12)
    potential = pinocchio.computePotentialEnergy(theirs, data, layout.q(q))
    assert_close(lagrange.potential_energy(ours.model, q), potential, 1e-12)


@pytest.mark.equation("Parsa", "19")
@pytest.mark.equation("Parsa", "20")
@pytest.mark.parametrize("name", TREES)
def test_momentum_is_the_gradient_of_kinetic_energy(name: str) -> None:
    model, q, v, _ = model_state(name)
    units = np.eye(model.nv).tolist()
    expected = [derivative(lambda u: [lagrange.kinetic_energy(model, q, u)], v, e)[0] for e in units]
    assert_close(lagrange.momentum(model, q, v), expected, 1e-12)
    assert_close(np.dot(lagrange.momentum(model, q, v), v), 2.0 * lagrange.kinetic_energy(model, q, v), 1e-12)


@pytest.mark.equation("Parsa", "22")
@pytest.mark.parametrize("name", TREES)
def test_momentum_rate(name: str) -> None:
    model, q, v, a = model_state(name)
    momentum = lambda x: lagrange.momentum(model, x[: model.nq], x[model.nq :])
    expected = derivative(momentum, [*q, *v], [*configuration_rate(model, q, v), *a])
    assert_close(lagrange.momentum_rate(model, q, v, a), expected, 1e-11)


@pytest.mark.equation("Parsa", "14")
@pytest.mark.equation("Parsa", "15")
@pytest.mark.equation("Parsa", "16")
@pytest.mark.equation("Parsa", "21")
@pytest.mark.parametrize("name", TREES)
def test_jacobians_in_parsas_axes(name: str) -> None:
    """Translational columns are gradients of the position of the center of mass; rates are rates of the columns."""
    model, q, v, _ = model_state(name)
    bodies = lambda x: [lagrange._in_parsa_axes(c) for c in centers(model, x, v)]
    found = bodies(q)
    positions = lambda x: [e for seen in center_poses(model, x) for e in seen.p.vector]
    for k, unit in enumerate(np.eye(model.nv).tolist()):
        moved = np.reshape(rate_along(model, positions, q, unit), (-1, 3))
        columns = lambda x, k=k: [e for c in bodies(x) for e in c.columns.get(k, DQ([0.0])).components]
        rates = np.reshape(rate_along(model, columns, q, v), (-1, 8))[:, [1, 2, 3, 5, 6, 7]]
        for i, c in enumerate(found):
            if k in c.columns:
                assert_close(vec6(c.columns[k])[3:], moved[i])
                assert_close(vec6(c.rates[k]), rates[i], 1e-11)
    for c, body in zip(centers(model, q, v), found, strict=True):
        assert_close(vec6(body.twist)[:3], vec6(c.twist)[:3])
        assert_close(sum(vec6(s) * v[k] for k, s in body.columns.items()), vec6(body.twist))


@pytest.mark.equation("Parsa", "23")
@pytest.mark.equation("Parsa", "24")
def test_gradient_of_kinetic_energy_where_v_is_the_rate_of_q() -> None:
    model = smooth().model
    q, v, _ = state(smooth(), 3)
    expected = tangent_gradient(model, lambda x: lagrange.kinetic_energy(model, x, v), q)
    assert_close(lagrange.kinetic_energy_gradient(model, q, v), expected, 1e-11)


@pytest.mark.parametrize("name", TREES)
def test_gradient_of_kinetic_energy_with_the_terms_of_hamel(name: str) -> None:
    """Where v is a body twist ξ, a constant η in δx = ½ x η changes it by δξ = ξ × η."""
    model, q, v, _ = model_state(name)
    plain = array(tangent_gradient(model, lambda x: lagrange.kinetic_energy(model, x, v), q))
    momentum = lagrange.momentum(model, q, v)
    for joint in model.joints:
        if joint.kind not in ("spherical", "free"):
            continue
        xi = joint.motion.twist(q[joint.q], v[joint.v])
        for k, unit in enumerate(np.eye(joint.motion.nv).tolist()):
            change = vec6(cross(xi, joint.motion.twist(q[joint.q], unit)))[: joint.motion.nv]
            plain[joint.v.start + k] += change @ np.array(momentum[joint.v])
    assert_close(lagrange.kinetic_energy_gradient(model, q, v), plain, 1e-11)


@pytest.mark.equation("Parsa", "17")
@pytest.mark.equation("Parsa", "18")
@pytest.mark.equation("Parsa", "theorem 1")
def test_theorem_1() -> None:
    model = smooth().model
    q, v, _ = state(smooth(), 4)
    check_velocity_gradients(model, q, v)


@pytest.mark.equation("Parsa", "41")
@pytest.mark.equation("Parsa", "40")
@pytest.mark.equation("Parsa", "theorem 2")
@pytest.mark.parametrize("name", TREES)
def test_theorem_2(name: str) -> None:
    model, q, v, _ = model_state(name)
    check_velocity_gradients(model, q, v)


def check_velocity_gradients(model: Model, q: Sequence[Any], v: Sequence[Any]) -> None:
    """Against derivatives with respect to the coordinates themselves, four per quaternion, at fixed q̇.

    Along δq = B δπ the closed form is (∂ω/∂q) δq + J_q Ḃ δπ: the second term comes from J = J_q B.
    """
    q_rate = configuration_rate(model, q, v)

    def motions(x: Sequence[Any], x_rate: Sequence[Any]) -> list[Any]:
        """ω in the body, velocity of the center of mass in the world, from q and any q̇."""
        u = velocity_from_rate(model, x, x_rate)
        pairs = zip([c.twist for c in centers(model, x, u)], center_poses(model, x), strict=True)
        return [e for twist, seen in pairs for e in (*twist.primary.vector, *seen.rotate(twist.dual).vector)]

    found = lagrange.velocity_gradients(model, q, v)
    for k, unit in enumerate(np.eye(model.nv).tolist()):
        along = configuration_rate(model, q, unit)
        varied = array(derivative(lambda x: motions(x, q_rate), q, along))
        b_column = partial(configuration_rate, model, v=unit)
        b_rate = derivative(b_column, q, q_rate)
        expected = np.reshape(varied + array(motions(q, b_rate)), (-1, 6))
        for gradients, row in zip(found, expected, strict=True):
            assert_close(vec6(gradients[k]) if k in gradients else np.zeros(6), row, 1e-11)


def velocity_from_rate(model: Model, q: Sequence[Any], q_rate: Sequence[Any]) -> list[Any]:
    """v from q̇: ω = Im(2 r* ṙ), and for the 6-DOF joint Ad(r*) ṗ."""
    result: list[Any] = []
    for joint in model.joints:
        own, rate = q[joint.q], q_rate[joint.q]
        if joint.is_mimic:
            continue
        if joint.kind not in ("spherical", "free"):
            result += rate
            continue
        r = Quaternion(*own[:4])
        result += (r.conj() * Quaternion(*rate[:4]) * 2.0).vector
        if joint.kind == "free":
            result += (r.conj() * pure(*rate[4:]) * r).vector
    return result


def test_theorem_1_in_world_axes() -> None:
    """The sign of the product changes."""
    model = smooth().model
    q, v, _ = state(smooth(), 5)
    pairs = lambda x: zip(center_poses(model, x), [c.twist for c in centers(model, x, v)], strict=True)
    world = lambda x: [e for seen, twist in pairs(x) for e in seen.rotate(twist.primary).vector]
    for k, unit in enumerate(np.eye(model.nv).tolist()):
        varied = np.reshape(rate_along(model, world, q, unit), (-1, 3))
        for i, c in enumerate(centers(model, q, v)):
            if k in c.columns:
                s, rate, omega = (np.array(x.primary.vector) for x in (c.columns[k], c.rates[k], c.twist))
                turn = np.array([column.vector for column in c.seen.columns]).T
                j, j_rate = turn @ s, turn @ (rate + np.cross(omega, s))
                assert_close(varied[i], j_rate - np.cross(turn @ omega, j), 1e-11)


# --- M and C ----------------------------------------------------------------------------------------------------------


@pytest.mark.equation("Parsa", "35")
@pytest.mark.parametrize(("kinds", "seed", "base"), PINOCCHIO_CASES)
def test_mass_matrix_is_pinocchios(kinds: tuple[str, ...], seed: int, base: str) -> None:
    check_mass_matrix(lagrange, kinds, seed, base)


@pytest.mark.equation("Parsa", "25")
@pytest.mark.equation("Parsa", "34")
@pytest.mark.equation("Parsa", "36")
@pytest.mark.equation("Parsa", "37")
@pytest.mark.equation("Parsa", "38")
@pytest.mark.parametrize("name", ROBOTS)
def test_coriolis_matrix(name: str) -> None:
    check_coriolis_matrix(lagrange, name)


@pytest.mark.parametrize("name", ROBOTS)
def test_mean_coriolis_matrix(name: str) -> None:
    check_coriolis_matrix(coriolis, name)


@pytest.mark.equation("Silva", "44")
@pytest.mark.equation("Parsa", "36")
@pytest.mark.parametrize("name", ROBOTS)
def test_mean_of_silvas_and_parsas(name: str) -> None:
    model, q, v, _ = model_state(name)
    of_silva, of_parsa = array(gauss.coriolis_matrix(model, q, v)), array(lagrange.coriolis_matrix(model, q, v))
    assert_close(coriolis.coriolis_matrix(model, q, v), 0.5 * (of_silva + of_parsa), 1e-12)
    if name == "every kind":
        assert np.abs(of_silva - of_parsa).max() > 0.1


def test_mean_is_that_of_christoffel_symbols() -> None:
    """C_ij = ½ Σ (∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i) v_k, with derivatives of M by jets."""
    model = smooth().model
    q, v, _ = state(smooth(), 6)
    d = np.array([mass_matrix_rate(model, q, unit) for unit in np.eye(model.nv).tolist()])  # d[k, i, j] = ∂M_ij/∂q_k
    symbols = 0.5 * (np.einsum("kij->ijk", d) + np.einsum("jik->ijk", d) - np.einsum("ijk->ijk", d))
    found = array(coriolis.coriolis_matrix(model, q, v))
    assert_close(found, symbols @ np.array(v), 1e-11)
    for other in (gauss, lagrange):
        assert np.abs(array(other.coriolis_matrix(model, q, v)) - found).max() > 1e-2


@pytest.mark.parametrize(
    ("kinds", "seed", "base"),
    [(("revolute",), 1, "fixed"), (("revolute",), 2, "free"), ((*ONE_AXIS, "spherical", "free"), 3, "fixed")],
)
def test_mean_is_pinocchios(kinds: tuple[str, ...], seed: int, base: str) -> None:
    ours, theirs, layout = pinocchio_pair(kinds, seed, base)
    q, v, _ = state(ours, seed)
    data = theirs.createData()
    other = pinocchio.computeCoriolisMatrix(theirs, data, layout.q(q), layout.v(q, v)).copy()
    t = layout.transform(q)
    assert_close(coriolis.coriolis_matrix(ours.model, q, v), t.T @ other @ t, 1e-11)


# --- gravity ----------------------------------------------------------------------------------------------------------

FIELDS: dict[str, Field | None] = {
    "model": None,
    "uniform": Uniform((1.0, -2.0, 3.0)),
    "central": Central(40.0, (0.5, -3.0, 4.0)),
    "central, points": Central(40.0, (0.5, -3.0, 4.0), gradient=False),
    "potential": Potential(lambda p: p[0] * p[1] * 0.5 + p[2] * p[2] * p[2]),
}


@pytest.mark.equation("Parsa", "section 3.2")
@pytest.mark.equation("Parsa", "26")
@pytest.mark.equation("Parsa", "27")
@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", ["every kind, mimic", "free base"])
def test_gravity_forces_are_the_gradient_of_potential_energy(name: str, field: str) -> None:
    model, q, v, a = model_state(name)
    chosen = FIELDS[field]
    expected = array(tangent_gradient(model, lambda x: lagrange.potential_energy(model, x, chosen), q))
    found = array(lagrange.gravity_forces(model, q, chosen))
    assert_close(found, expected, 1e-11)
    assert np.abs(found).max() > 0.1
    wrenches = random_wrenches(model, 1)
    without = array(newton_euler.inverse_dynamics(model, q, v, a, wrenches)) - bias(model, q, [0.0] * model.nv)
    assert_close(lagrange.inverse_dynamics(model, q, v, a, wrenches, chosen), without + found, 1e-11)


def test_default_field_is_the_models() -> None:
    model, q, _, _ = model_state("every kind")
    assert_close(lagrange.gravity_forces(model, q), bias(model, q, [0.0] * model.nv))
    uniform = Uniform(model.gravity)
    assert lagrange.potential_energy(model, q) == lagrange.potential_energy(model, q, uniform)


def test_potential_of_a_point_mass_is_the_central_field() -> None:
    model, q, _, _ = model_state("every kind")
    central = Central(40.0, (0.5, -3.0, 4.0), gradient=False)

    def potential(p: Sequence[Any]) -> Any:
        arm = [x - c for x, c in zip(p, central.center, strict=True)]
        return divide(-central.mu, sqrt(arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2]))

    assert_close(
        lagrange.potential_energy(model, q, Potential(potential)), lagrange.potential_energy(model, q, central)
    )
    assert_close(lagrange.gravity_forces(model, q, Potential(potential)), lagrange.gravity_forces(model, q, central))


def test_gravity_gradient_of_a_cloud_of_masses() -> None:
    """A body of six points, exactly: what the second-order form leaves falls with the fourth power of the size."""
    r = np.random.default_rng(1).normal(size=4)
    q = [*(r / np.linalg.norm(r)).tolist(), 2.0, -3.0, 6.0]
    arms = np.diag([0.3, 0.5, 0.9])
    large, small = (left_of_cloud(np.concatenate([arms, -arms]) * size, q) for size in (1.0, 0.5))
    assert (large["points"] > 0.1).all()
    for part in range(3):  # torque, force, energy
        assert large["gradient"][part] < 0.05 * large["points"][part]
        assert 13.0 < large["gradient"][part] / small["gradient"][part] < 19.0
        assert 3.5 < large["points"][part] / small["points"][part] < 4.5


def left_of_cloud(points: np.ndarray, q: list[float], mass: float = 3.0, mu: float = 700.0) -> dict[str, np.ndarray]:
    """Largest errors of torque, force and energy on equal masses at ``points`` of a free body."""
    share = mass / len(points)
    tensor = sum(share * (p @ p * np.eye(3) - np.outer(p, p)) for p in points)
    links = (Link("base"), Link("body", Inertia(mass, (0.0, 0.0, 0.0), as_tensor(tensor))))
    model = Robot.from_description(Description("one", links, (Joint("joint", "free", "base", "body"),))).model
    turn = np.array([c.vector for c in center_poses(model, q)[0].columns]).T
    world = np.array(q[4:]) + points @ turn.T
    distances = np.linalg.norm(world, axis=1)
    forces = (-mu * share / distances[:, None] ** 3 * world) @ turn
    energy = -mu * share * np.sum(1.0 / distances)
    result = {}
    for name, gradient in (("gradient", True), ("points", False)):
        field = Central(mu, gradient=gradient)
        acting = -array(lagrange.gravity_forces(model, q, field))  # [τ, f] in the body
        torque = np.abs(acting[:3] - np.cross(points, forces).sum(axis=0)).max()
        force = np.abs(acting[3:] - forces.sum(axis=0)).max()
        result[name] = np.array([torque, force, abs(lagrange.potential_energy(model, q, field) - energy)])
    return result


def test_central_field_needs_a_mass() -> None:
    for mu in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(Error, match="positive μ"):
            Central(mu)


def test_batch() -> None:
    check_batch(lagrange)
    model, q, v, _ = model_state("every kind", 2, (3, 2))
    pick = lambda x: [float(e[2, 1]) for e in x]
    for field in FIELDS.values():
        found = lagrange.gravity_forces(model, q, field)
        one = lagrange.gravity_forces(model, pick(q), field)
        assert_close([np.broadcast_to(f, (3, 2))[2, 1] for f in found], one)
    assert np.shape(lagrange.kinetic_energy(model, q, v)) == (3, 2)


def test_no_moving_joint() -> None:
    check_no_moving_joint(lagrange)
