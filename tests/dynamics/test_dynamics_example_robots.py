"""Real robots against Pinocchio: every URDF, on a fixed and on a free base, with and without mimic joints.

The algorithms run on plain numbers, so that no compiler stands between them and the oracle.
"""

from __future__ import annotations

import numpy as np
import pytest
from example_robots import BASES, FILES, ROBOTS, SINGULAR, Oracle, has_mimics, plain, robot
from trees import assert_close, random_state, run

from dqdyn.dynamics.fast.regroup import regrouped
from dqdyn.dynamics.massless_joints import joint_without_inertia
from dqdyn.dynamics.methods import FORWARD, longest_path
from dqdyn.errors import ModelError
from dqdyn.robot import Robot

MIMICS = [name for name in ROBOTS if has_mimics(name)]
CASES = [(name, base, False) for name in ROBOTS for base in BASES] + [(name, "free", True) for name in MIMICS]
TOLERANCE = 1e-9
"""Relative to the largest entry, and absolute below one."""


def setting(name: str, base: str, mimic: bool) -> tuple[Robot, Oracle, np.ndarray, np.ndarray, np.ndarray]:
    ours, theirs = robot(name, base, mimic), plain(name, base)
    q, v, a = random_state(ours, np.random.default_rng(7))
    return ours, Oracle(ours.to_pinocchio(theirs), theirs, q, v), q, v, a


def without_moving_joints(name: str, base: str) -> bool:
    """Pinocchio's matrices of such models end the process."""
    return robot(name, base).nv == 0


def test_all_robots_are_here() -> None:
    assert (len(FILES), len(ROBOTS)) == (69, 67)
    assert len(MIMICS) >= 5
    assert not any(plain(name, "fixed").armature.any() for name in ROBOTS), "then the oracle has armature and we not"


@pytest.mark.parametrize(("name", "base", "mimic"), CASES)
def test_forces_and_matrices(name: str, base: str, mimic: bool) -> None:
    """Mimic joints: Gᵀ X G of the model in which they are free."""
    ours, oracle, q, v, a = setting(name, base, mimic)
    if without_moving_joints(name, base):
        assert run(ours, "inverse_dynamics", q, v, a).shape == (0,)
        assert run(ours, "coriolis_matrix", q, v).size == run(ours, "mass_matrix", q).size == 0
        return
    assert_close(run(ours, "inverse_dynamics", q, v, a), oracle.inverse_dynamics(a), TOLERANCE)
    bias = oracle.inverse_dynamics(0 * a)
    assert_close(run(ours, "bias_forces", q, v), bias, TOLERANCE)
    mass = oracle.mass_matrix()
    assert_close(run(ours, "mass_matrix", q), mass, TOLERANCE)
    gravity = oracle.gravity_forces()
    assert_close(run(ours, "gravity_forces", q), gravity, TOLERANCE)
    coriolis = run(ours, "coriolis_matrix", q, v)
    assert_close(coriolis, oracle.coriolis_matrix(), TOLERANCE)
    assert_close(coriolis @ v + gravity, bias, TOLERANCE)
    kinetic, potential = oracle.energies()
    assert run(ours, "kinetic_energy", q, v)[0] == pytest.approx(kinetic, rel=TOLERANCE)
    assert run(ours, "potential_energy", q)[0] == pytest.approx(potential, rel=TOLERANCE, abs=TOLERANCE)


@pytest.mark.parametrize(("name", "base", "mimic"), CASES)
def test_derivatives(name: str, base: str, mimic: bool) -> None:
    ours, oracle, q, v, a = setting(name, base, mimic)
    if without_moving_joints(name, base):
        assert run(ours, "inverse_dynamics_derivatives", q, v, a).size == 0
        return
    by_q, by_v, by_a = run(ours, "inverse_dynamics_derivatives", q, v, a)
    d_dq, d_dv = oracle.derivatives(a)
    assert_close(by_q, d_dq, TOLERANCE)
    assert_close(by_v, d_dv, TOLERANCE)
    assert_close(by_a, oracle.mass_matrix(), TOLERANCE)


@pytest.mark.parametrize(("name", "base"), [(name, base) for name in ROBOTS for base in BASES])
def test_forward_dynamics(name: str, base: str) -> None:
    """Where a joint moves no inertia, Pinocchio gives NaN; here it is refused by name, and only there."""
    ours, oracle, q, v, tau = setting(name, base, False)
    if without_moving_joints(name, base):
        assert run(ours, "forward_dynamics", q, v, tau).shape == (0,)
        return
    expected = oracle.forward_dynamics(tau)
    assert np.isfinite(expected).all() == (name not in SINGULAR)
    assert joint_without_inertia(ours.model) == SINGULAR.get(name)
    if name not in SINGULAR:
        for method in FORWARD:
            found = run(ours, "forward_dynamics", q, v, tau, method=method)
            assert_close(found, expected, TOLERANCE)
            # The residual is relative to what the robot's masses make of such accelerations.
            scale = np.abs(run(ours, "mass_matrix", q)).max() * np.abs(found).max()
            assert_close(run(ours, "inverse_dynamics", q, v, found), tau, 1e-12, scale)


@pytest.mark.parametrize("name", [name for name in MIMICS if name not in SINGULAR])
def test_forward_dynamics_with_mimic_joints(name: str) -> None:
    """M of the coupled robot solved by LAPACK: Pinocchio refuses such robots."""
    ours, oracle, q, v, tau = setting(name, "free", True)
    if joint_without_inertia(ours.model) is None:
        expected = np.linalg.solve(oracle.mass_matrix(), tau - oracle.inverse_dynamics(0 * tau))
        assert_close(run(ours, "forward_dynamics", q, v, tau), expected, TOLERANCE)


@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("base", BASES)
def test_singular_robots_are_refused_by_name(name: str, base: str) -> None:
    """By methods, bound functions and exports alike; nothing is compiled for it."""
    ours, _, q, v, tau = setting(name, base, False)
    attempts = (
        lambda: ours.forward_dynamics(q, v, tau),
        lambda: ours.forward_dynamics(q, v, tau, method="articulated-body"),
        lambda: ours.forward_dynamics(q, v, tau, {"world": np.zeros(6)}),
        lambda: ours.forward_dynamics_derivatives(q, v, tau),
        lambda: ours.function("forward_dynamics"),
        lambda: ours.program("forward_dynamics"),
    )
    for attempt in attempts:
        with pytest.raises(ModelError, match=f"joint '{SINGULAR[name]}' moves no inertia") as caught:
            attempt()
        assert caught.value.joint == SINGULAR[name]


@pytest.mark.parametrize("name", ROBOTS)
def test_fast_forms(name: str) -> None:
    """Regrouped inertias in canonical frames, and the root form for long chains: what "auto" compiles."""
    ours, _, q, v, a = setting(name, "free", False)
    fast = Robot(regrouped(ours.model))
    assert_close(run(fast, "inverse_dynamics", q, v, a), run(ours, "inverse_dynamics", q, v, a), TOLERANCE)
    method = "composite-body-root" if longest_path(ours.model) > 5 else "composite-body"
    assert_close(run(fast, "mass_matrix", q, method=method), run(ours, "mass_matrix", q), TOLERANCE)
    if name not in SINGULAR:
        found = run(fast, "forward_dynamics", q, v, a)
        assert_close(found, run(ours, "forward_dynamics", q, v, a, method="articulated-body"), TOLERANCE)
