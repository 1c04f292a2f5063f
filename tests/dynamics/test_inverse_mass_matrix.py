"""The inverse of the mass matrix, and derivatives of forward dynamics from it: laws, Pinocchio, compiled code."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
from example_robots import ROBOTS, SINGULAR, Oracle, plain, robot
from trees import TREES, assert_close, random_robot, random_state, run, tree

from dqdyn import robots
from dqdyn.dynamics.fast import responses
from dqdyn.dynamics.fast.regroup import regrouped
from dqdyn.dynamics.fast.sparse_solve import factored, inverted, solve
from dqdyn.errors import ModelError
from dqdyn.robot import Robot


@pytest.mark.parametrize("name", TREES)
def test_inverse(name: str) -> None:
    """All joint kinds, mimic joints, armature."""
    ours = tree(name)
    q, _, _ = random_state(ours, np.random.default_rng(1))
    found = run(ours, "inverse_mass_matrix", q)
    assert (found == found.T).all()
    assert_close(found @ run(ours, "mass_matrix", q), np.eye(ours.nv), 1e-10)


@pytest.mark.parametrize("name", [name for name in TREES if not any(j.is_mimic for j in tree(name).model.joints)])
@pytest.mark.parametrize("armature", [True, False])
def test_articulated_bodies_give_the_same(name: str, armature: bool) -> None:
    ours = tree(name)
    if not armature:
        joints = tuple(type(j)(**{**j.__dict__, "armature": 0.0}) for j in ours.description.joints)
        ours = Robot.from_description(ours.description.with_changes(joints=joints), base=ours.base, strict=True)
    q, _, _ = random_state(ours, np.random.default_rng(3))
    for model in (ours.model, regrouped(ours.model)):
        for found, expected in zip(
            responses.by_articulated_bodies(model, list(q)), responses.by_mass_matrix(model, list(q)), strict=True
        ):
            flat = [np.array([*row] if isinstance(row, list) else [row], dtype=float) for row in expected]
            for row, wanted in zip(found, flat, strict=True):
                assert_close(np.atleast_1d(np.array(row, dtype=float)), wanted, 1e-10)


def test_form_that_is_chosen() -> None:
    assert not responses.bodies_pay(regrouped(robots.arm7().model))
    assert responses.bodies_pay(regrouped(robots.chain(40, seed=1).model))
    assert not responses.bodies_pay(tree("every kind, mimic").model)


def test_factors() -> None:
    """M = Lᵀ D L with the zeros of the tree, and W = L⁻¹ has the same."""
    matrix = [[5.0, 1.0, 2.0, 0.5], [1.0, 4.0, 0.0, 0.0], [2.0, 0.0, 6.0, 1.5], [0.5, 0.0, 1.5, 3.0]]
    lower, inverse = factored(matrix)
    l, w = (np.array([[*row, *[0.0] * (4 - len(row))] for row in rows]) for rows in (lower, inverted(lower)))
    assert_close(l.T @ np.diag(1.0 / np.array(inverse)) @ l, np.array(matrix), 1e-14)
    assert_close(w @ l, np.eye(4), 1e-14)
    assert (l[2, 1], w[2, 1], w[3, 1]) == (0.0, 0.0, 0.0)
    assert_close(np.array(responses.inverse_of(inverted(lower), inverse)), np.linalg.inv(matrix), 1e-13)
    assert_close(np.array(solve(matrix, [1.0, 2.0, 3.0, 4.0])), np.linalg.solve(matrix, [1.0, 2.0, 3.0, 4.0]), 1e-13)


@pytest.mark.parametrize("name", [name for name in ROBOTS if name not in SINGULAR])
def test_real_robots_against_pinocchio(name: str) -> None:
    """On a free base; those of Pinocchio that are quick on plain numbers here."""
    ours, theirs = robot(name, "free"), plain(name, "free")
    if ours.nv > 45:
        pytest.skip("takes seconds on plain numbers")
    q, v, tau = random_state(ours, np.random.default_rng(5))
    oracle = Oracle(ours.to_pinocchio(theirs), theirs, q, v)
    by_q, by_v, by_tau = run(ours, "forward_dynamics_derivatives", q, v, tau)
    data, back = oracle.data, np.linalg.inv(oracle.t)
    pinocchio.computeABADerivatives(theirs, data, oracle.pin_q, oracle.pin_v, oracle.layout.tau(q, tau))
    upper = np.triu(pinocchio.computeMinverse(theirs, theirs.createData(), oracle.pin_q))
    assert_close(by_q, back @ data.ddq_dq @ oracle.t, 1e-9)
    assert_close(by_v, back @ data.ddq_dv @ oracle.t, 1e-9)
    assert_close(by_tau, back @ (upper + np.triu(upper, 1).T) @ back.T, 1e-9)
    assert (by_tau == run(ours, "inverse_mass_matrix", q)).all()


@pytest.mark.parametrize("name", ["arm7", "scara"])
def test_through_the_robot(name: str) -> None:
    ours = robots.arm7() if name == "arm7" else tree("planar base")
    q, _, _ = random_state(ours, np.random.default_rng(2), (5,))
    found = ours.inverse_mass_matrix(q)
    assert found.shape == (5, ours.nv, ours.nv)
    assert_close(found, np.linalg.inv(ours.mass_matrix(q)), 1e-9)
    out = np.empty((ours.nv, ours.nv))
    assert ours.inverse_mass_matrix(q[3], out=out) is out
    assert_close(out, found[3], 1e-12)


@pytest.mark.long
def test_a_floating_base_falls_where_it_is() -> None:
    """∂a/∂q of a free base: only the direction of gravity in its own axes matters, compiled and batched."""
    ours = random_robot(8, 8, ("revolute",), base="free")
    q, v, tau = random_state(ours, np.random.default_rng(4), (3,))
    by_q, by_v, by_tau = ours.forward_dynamics_derivatives(q, v, tau)
    assert np.count_nonzero(by_q[:, :, 3:6]) == np.count_nonzero(by_q[:, 6:, :3]) == 0
    expected = run(ours, "forward_dynamics_derivatives", q, v, tau)
    assert_close(np.stack([by_q, by_v, by_tau], axis=-3), expected, 1e-9)
    single = ours.forward_dynamics_derivatives(q[1], v[1], tau[1])
    assert_close(np.stack(single), expected[1], 1e-9)


def test_massless_joints_are_refused() -> None:
    name = next(iter(SINGULAR))
    ours = robot(name, "fixed")
    with pytest.raises(ModelError, match=f"joint '{SINGULAR[name]}' moves no inertia"):
        ours.inverse_mass_matrix(ours.neutral())
    assert Robot is type(ours)
