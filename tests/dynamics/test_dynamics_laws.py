"""Laws of mechanics on random trees of every joint kind, with mimic joints, armature, damping and friction."""

from __future__ import annotations

import numpy as np
import pytest
from trees import TREES, assert_close, moving_state, random_state, random_v, rate, rate_along, run, tree

from dqdyn.dynamics.joint_forces import damping, resisting_forces
from dqdyn.dynamics.methods import CORIOLIS, FORWARD, INVERSE, MASS_MATRIX
from dqdyn.model.description import Description
from dqdyn.robot import Robot


def state(name: str, seed: int = 11) -> tuple[Robot, np.ndarray, np.ndarray, np.ndarray]:
    ours = tree(name)
    return ours, *random_state(ours, np.random.default_rng(seed))


def has_mimics(ours: Robot) -> bool:
    return any(joint.is_mimic for joint in ours.joints)


def test_trees_have_everything() -> None:
    joints = [joint for name in TREES for joint in tree(name).joints]
    assert {joint.kind for joint in joints} == {
        *("revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar", "free")
    }
    assert any(joint.is_mimic for joint in joints)
    for what in ("damping", "friction", "armature"):
        assert sum(getattr(joint, what)[0] > 0 for joint in joints) > 20


@pytest.mark.parametrize("name", TREES)
def test_mass_matrix_is_symmetric_positive_definite_and_the_derivative_of_forces(name: str) -> None:
    ours, q, v, a = state(name)
    for method in ("auto", *MASS_MATRIX):
        mass = run(ours, "mass_matrix", q, method=method)
        assert_close(mass, mass.T, 1e-13)
        assert np.linalg.eigvalsh(mass).min() > 0
        # τ is affine in a, so differences are exact up to rounding
        at_zero = run(ours, "inverse_dynamics", q, v, 0 * a)
        columns = [run(ours, "inverse_dynamics", q, v, e) - at_zero for e in np.eye(ours.nv)]
        assert_close(mass, np.array(columns).T, 1e-10)
        assert_close(mass @ a + at_zero, run(ours, "inverse_dynamics", q, v, a), 1e-11)


@pytest.mark.parametrize("name", TREES)
def test_every_inverse_method_is_the_same_with_joint_forces(name: str) -> None:
    ours, q, v, a = state(name)
    expected = run(ours, "inverse_dynamics", q, v, a)
    assert np.abs(expected - run(ours.without_friction(), "inverse_dynamics", q, v, a)).max() > 1e-3
    for method in INVERSE:
        assert_close(run(ours, "inverse_dynamics", q, v, a, method=method), expected, 1e-9)


@pytest.mark.parametrize("name", TREES)
def test_forward_dynamics_undoes_inverse_dynamics(name: str) -> None:
    ours, q, v, a = state(name)
    wrenches = np.random.default_rng(5).normal(size=12)
    options = {"wrench_frames": ("tool", "camera"), "wrench_expressed": "aligned"}
    for inverse in INVERSE:
        tau = run(ours, "inverse_dynamics", q, v, a, method=inverse)
        loaded = run(ours, "inverse_dynamics", q, v, a, wrenches, method=inverse, **options)
        assert np.abs(loaded - tau).max() > 1e-3 or name == "one joint"
        for forward in FORWARD:
            if forward == "articulated-body" and has_mimics(ours):
                continue  # refused by Robot
            assert_close(run(ours, "forward_dynamics", q, v, tau, method=forward), a, 1e-9)
            found = run(ours, "forward_dynamics", q, v, loaded, wrenches, method=forward, **options)
            assert_close(found, a, 1e-9)


@pytest.mark.parametrize("name", TREES)
def test_power_is_the_rate_of_energy(name: str) -> None:
    """v·τ = d/dt (kinetic + potential) + what damping and friction take."""
    ours, q, v, a = state(name)
    moving = moving_state(ours, q, v, a)

    def energy(t: float) -> float:
        at, velocity = moving(t)
        return float(run(ours, "kinetic_energy", at, velocity)[0] + run(ours, "potential_energy", at)[0])

    lost = float(v @ np.array(resisting_forces(ours.model, list(v))))
    assert lost > 0
    power = float(v @ run(ours, "inverse_dynamics", q, v, a))
    assert power == pytest.approx(float(rate(energy, 3e-3)) + lost, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("name", TREES)
def test_energies(name: str) -> None:
    """½ vᵀM v, and gravity's forces as the gradient of the potential energy."""
    ours, q, v, _ = state(name)
    kinetic = 0.5 * v @ run(ours, "mass_matrix", q) @ v
    assert run(ours, "kinetic_energy", q, v)[0] == pytest.approx(kinetic, rel=1e-12)
    gradient = [rate_along(lambda at: run(ours, "potential_energy", at)[0], ours, q, e) for e in np.eye(ours.nv)]
    assert_close(run(ours, "gravity_forces", q), gradient, 1e-9)
    height = run(ours, "center_of_mass", q) @ ours.gravity
    assert run(ours, "potential_energy", q)[0] == pytest.approx(-float(height) * ours.mass, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("method", CORIOLIS)
def test_bias_is_coriolis_and_gravity_and_joint_forces(name: str, method: str) -> None:
    ours, q, v, _ = state(name)
    matrix = run(ours, "coriolis_matrix", q, v, method=method)
    resisting = np.array(resisting_forces(ours.model, list(v)))
    found = matrix @ v + run(ours, "gravity_forces", q) + resisting
    assert_close(found, run(ours, "bias_forces", q, v), 1e-10)
    mass_rate = rate_along(lambda at: run(ours, "mass_matrix", at), ours, q, v)
    skew = mass_rate - 2 * matrix
    assert_close(skew + skew.T, 0 * skew, 1e-8, max(1.0, float(np.abs(matrix).max())))


@pytest.mark.parametrize("name", TREES)
def test_damping_and_coulomb_friction(name: str) -> None:
    """Odd in v, with sign(0) = 0; a mimic joint's friction counts |ratio| times, its damping ratio² times."""
    ours, q, v, a = state(name)
    smooth = ours.without_friction()
    v[::2] *= -1
    v[-1] = 0.0

    def extra(velocity: np.ndarray) -> np.ndarray:
        return run(ours, "inverse_dynamics", q, velocity, a) - run(smooth, "inverse_dynamics", q, velocity, a)

    coulomb, viscous = np.zeros(ours.nv), np.zeros(ours.nv)
    for joint in ours.joints:
        ratio = joint.master.ratio if joint.master else 1.0
        coulomb[joint.v] += abs(ratio) * np.array(joint.friction)
        viscous[joint.v] += ratio**2 * np.array(joint.damping)
    assert_close(extra(v), viscous * v + coulomb * np.sign(v), 1e-11, 100.0)
    assert_close(extra(-v), -extra(v), 1e-11, 100.0)
    assert_close(extra(0 * v), 0 * v, 0)
    assert_close(damping(ours.model), viscous, 1e-14)


@pytest.mark.parametrize("name", TREES)
def test_armature_adds_to_the_diagonal(name: str) -> None:
    ours, q, v, a = state(name)
    bare = without_armature(ours)
    rotor = np.zeros(ours.nv)
    for joint in ours.joints:
        ratio = joint.master.ratio if joint.master else 1.0
        rotor[joint.v] += ratio**2 * np.array(joint.armature)
    assert rotor.max() > 0
    assert_close(run(ours, "mass_matrix", q) - run(bare, "mass_matrix", q), np.diag(rotor), 1e-12)
    expected = rotor * a
    for joint in (joint for joint in ours.joints if joint.kind == "free"):  # its linear velocity turns with the body
        omega, velocity = v[joint.v][:3], v[joint.v][3:]
        expected[joint.v][3:] += joint.armature[0] * np.cross(omega, velocity)
    difference = run(ours, "inverse_dynamics", q, v, a) - run(bare, "inverse_dynamics", q, v, a)
    assert_close(difference, expected, 1e-11, 100.0)
    kinetic = run(ours, "kinetic_energy", q, v)[0] - run(bare, "kinetic_energy", q, v)[0]
    assert kinetic == pytest.approx(0.5 * rotor @ v**2, rel=1e-10)


def without_armature(ours: Robot) -> Robot:
    joints = tuple(type(j)(**{**j.__dict__, "armature": 0.0}) for j in ours.description.joints)
    changed: Description = ours.description.with_changes(joints=joints)
    return Robot.from_description(changed, base=ours.base, strict=True)


@pytest.mark.parametrize("name", TREES)
def test_gravity_and_payload(name: str) -> None:
    """No gravity, no forces at rest; forces are linear in it; a payload adds its weight at its frame."""
    ours, q, _, _ = state(name)
    weightless = ours.with_gravity((0.0, 0.0, 0.0))
    assert_close(run(weightless, "gravity_forces", q), np.zeros(ours.nv), 0)
    twice = ours.with_gravity(tuple(2.0 * ours.gravity))
    assert_close(run(twice, "gravity_forces", q), 2.0 * run(ours, "gravity_forces", q), 1e-13)
    com = np.array([0.1, -0.2, 0.3])
    loaded = ours.with_payload("tool", 2.0, com, (0.1, 0.2, 0.25))
    weight = run(ours, "point_jacobian", q, com, frame="tool").T @ (2.0 * ours.gravity)
    assert_close(run(loaded, "gravity_forces", q), run(ours, "gravity_forces", q) - weight, 1e-11)


def test_a_batch_gives_what_its_states_give() -> None:
    ours = tree("every kind, mimic")
    rng = np.random.default_rng(3)
    q, v, a = random_state(ours, rng, (2, 3))
    one_v = random_v(ours, rng)
    for method in (*INVERSE, "auto"):
        found = run(ours, "inverse_dynamics", q, one_v, a, method=method)
        for at in np.ndindex(2, 3):
            assert_close(found[at], run(ours, "inverse_dynamics", q[at], one_v, a[at], method=method), 1e-12)
    found = run(ours, "forward_dynamics", q, v, a)
    for at in np.ndindex(2, 3):
        assert_close(found[at], run(ours, "forward_dynamics", q[at], v[at], a[at]), 1e-9)
