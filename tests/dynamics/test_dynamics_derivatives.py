"""Derivatives of dynamics against differences along the manifold of configurations, jets and Pinocchio."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio
import pytest
from formulation_tools import pinocchio_pair
from trees import ONE_AXIS, TREES, assert_close, random_state, rate, rate_along, run, tree

from dqdyn.dynamics.joint_forces import damping
from dqdyn.robot import Robot


def smooth(name: str) -> Robot:
    """Coulomb friction has no derivative at zero, and none elsewhere: damping stays."""
    ours = tree(name)
    joints = tuple(type(j)(**{**j.__dict__, "friction": 0.0}) for j in ours.description.joints)
    return Robot.from_description(ours.description.with_changes(joints=joints), base=ours.base, strict=True)


def by_tangent(function: Callable[[np.ndarray], np.ndarray], ours: Robot, q: np.ndarray) -> np.ndarray:
    """∂f/∂q column by column, q moved as ``integrate`` moves it."""
    return np.array([rate_along(function, ours, q, e, 3e-3) for e in np.eye(ours.nv)]).T


def by_vector(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """∂f/∂x column by column."""
    along = lambda e: rate(lambda t: function(x + t * e), 3e-3)
    return np.array([along(e) for e in np.eye(len(x))]).T


@pytest.mark.parametrize("name", TREES)
def test_inverse_dynamics(name: str) -> None:
    ours = smooth(name)
    q, v, a = random_state(ours, np.random.default_rng(1))
    by_q, by_v, by_a = run(ours, "inverse_dynamics_derivatives", q, v, a)
    tau = lambda *state: run(ours, "inverse_dynamics", *state)
    assert_close(by_q, by_tangent(lambda x: tau(x, v, a), ours, q), 1e-8)
    assert_close(by_v, by_vector(lambda x: tau(q, x, a), v), 1e-8)
    assert_close(by_a, run(ours, "mass_matrix", q), 1e-12)
    assert max(damping(ours.model)) > 0.1


@pytest.mark.parametrize("name", TREES)
def test_forward_dynamics(name: str) -> None:
    ours = smooth(name)
    q, v, tau = random_state(ours, np.random.default_rng(2))
    by_q, by_v, by_tau = run(ours, "forward_dynamics_derivatives", q, v, tau)
    found = lambda *state: run(ours, "forward_dynamics", *state)
    assert_close(by_q, by_tangent(lambda x: found(x, v, tau), ours, q), 1e-6)
    assert_close(by_v, by_vector(lambda x: found(q, x, tau), v), 1e-6)
    assert_close(by_tau @ run(ours, "mass_matrix", q), np.eye(ours.nv), 1e-9)


@pytest.mark.parametrize(("seed", "base"), [(4, "fixed"), (5, "free")])
def test_against_pinocchio(seed: int, base: str) -> None:
    """Kinds whose velocities Pinocchio has in another order at most, and whose derivatives it has right."""
    ours, theirs, layout = pinocchio_pair((*ONE_AXIS, "spherical", "free"), seed, base)
    ours = without_joint_forces(ours)
    q, v, a = random_state(ours, np.random.default_rng(3))
    data, t = theirs.createData(), layout.transform(q)
    assert_close(layout.transform_rate(q, v), 0 * t, 0)
    pinocchio.computeRNEADerivatives(theirs, data, layout.q(q), layout.v(q, v), layout.a(q, v, a))
    by_q, by_v, _ = run(ours, "inverse_dynamics_derivatives", q, v, a)
    assert_close(by_q, t.T @ data.dtau_dq @ t, 1e-11)
    assert_close(by_v, t.T @ data.dtau_dv @ t, 1e-11)
    pinocchio.computeABADerivatives(theirs, data, layout.q(q), layout.v(q, v), layout.tau(q, a))
    back = np.linalg.inv(t)
    upper = np.triu(data.Minv)
    by_q, by_v, by_tau = run(ours, "forward_dynamics_derivatives", q, v, a)
    assert_close(by_q, back @ data.ddq_dq @ t, 1e-9)
    assert_close(by_v, back @ data.ddq_dv @ t, 1e-9)
    assert_close(by_tau, back @ (upper + np.triu(upper, 1).T) @ back.T, 1e-9)


def without_joint_forces(ours: Robot) -> Robot:
    bare = {"armature": 0.0, "friction": 0.0, "damping": 0.0}
    joints = tuple(type(j)(**{**j.__dict__, **bare}) for j in ours.description.joints)
    return Robot.from_description(ours.description.with_changes(joints=joints), base=ours.base, strict=True)


@pytest.mark.parametrize("name", ["every kind", "free base", "one joint"])
def test_through_robot(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs on NumPy; batches."""
    monkeypatch.setenv("DQDYN_NATIVE", "0")
    ours = smooth(name)
    assert (ours.nv > 16) == (name == "every kind")
    q, v, a = random_state(ours, np.random.default_rng(4), (2, 3))
    found = ours.inverse_dynamics_derivatives(q, v, a)
    assert_close(np.stack(found, axis=-3), run(ours, "inverse_dynamics_derivatives", q, v, a), 1e-11)
    found = ours.forward_dynamics_derivatives(q, v, a)
    assert [part.shape for part in found] == [(2, 3, ours.nv, ours.nv)] * 3
    assert_close(np.stack(found, axis=-3), run(ours, "forward_dynamics_derivatives", q, v, a), 1e-8)
    single = ours.forward_dynamics_derivatives(q[0, 1], v[0, 1], a[0, 1])
    for part, whole in zip(single, found, strict=True):
        assert_close(part, whole[0, 1], 1e-8)
