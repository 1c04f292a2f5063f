"""Armature of joints whose velocities turn with the child: Lagrange's equations of ½ Σ armature v² ask for more than M.

Oracles: MuJoCo, a body that has the same energy, and Lagrange's equations of our energy by differences. Power is no
oracle, since what is asked for does no work.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest
from trees import assert_close, moving_state, random_inertia, random_state, rate, rate_along, run

import dqdyn as dq
from dqdyn.dynamics.methods import CORIOLIS, FORWARD, INVERSE
from dqdyn.robot import Robot

BODIES = """<worldbody><body name="torso" pos="0 0 1"><joint name="root" type="free" {0}/>
<inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.1 0.12 0.15"/>
<body name="leg" pos="0.2 0 0"><joint name="knee" axis="0 1 0" {1}/>
<inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.02"/></body></body></worldbody>"""
MODELS = {
    "own": "<mujoco>" + BODIES.format('armature="0.5"', 'damping="0.3" armature="0.2"') + "</mujoco>",
    "inherited": '<mujoco><default><joint armature="1" damping="1"/></default>' + BODIES.format("", "") + "</mujoco>",
}
UNEQUAL = (0.3, 0.5, 0.4, 0.9, 0.2, 0.6)


@cache
def tree(root: tuple[float, ...] = UNEQUAL, ball: tuple[float, ...] = (0.2, 0.05, 0.1), heavier: bool = False) -> Robot:
    """A free joint with armature at the root, and a spherical one behind a hinge; or the root's body has it."""
    rng = np.random.default_rng(2)
    links = [dq.Link(name, random_inertia(rng)) for name in ("base", "torso", "arm", "hand")]
    joints = [
        dq.Joint("root", "free", "base", "torso", armature=0.0 if heavier else root),
        dq.Joint("hinge", "revolute", "torso", "arm", axis=(0.6, 0.0, 0.8), armature=0.1, damping=0.2),
        dq.Joint("ball", "spherical", "arm", "hand", armature=ball),
    ]
    if heavier:
        links.append(dq.Link("rotor", dq.Inertia(root[3], (0.0, 0.0, 0.0), np.diag(root[:3]))))
        joints.append(dq.Joint("fixed", "fixed", "torso", "rotor"))
    return Robot.from_description(dq.Description("tree", tuple(links), tuple(joints)), strict=True)


def state(robot: Robot, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return random_state(robot, np.random.default_rng(seed))


@pytest.mark.parametrize("name", MODELS)
def test_against_mujoco(name: str) -> None:
    ours, theirs = dq.load(MODELS[name]), mujoco.MjModel.from_xml_string(MODELS[name])
    layout, data = ours.to_mujoco(theirs), mujoco.MjData(theirs)
    assert min(ours.joints[0].armature) > 0.4
    q, v, tau = state(ours)
    data.qpos[:], data.qvel[:] = layout.q(q), layout.v(q, v)
    data.qfrc_applied[:] = layout.tau(q, tau)
    mujoco.mj_forward(theirs, data)
    a = layout.a_from(q, v, data.qacc)
    for method in ("auto", *FORWARD):
        assert_close(run(ours, "forward_dynamics", q, v, tau, method=method), a, 1e-11)
    for method in ("auto", *INVERSE):
        assert_close(run(ours, "inverse_dynamics", q, v, a, method=method), tau, 1e-11)


def test_pinocchio_leaves_the_term_out(tmp_path: Path) -> None:
    """Its armature of a free flyer is in M only, as if its linear velocity did not turn."""
    ours, (q, v, a) = dq.load(MODELS["own"]).without_friction(), state(dq.load(MODELS["own"]))
    path = tmp_path / "own.xml"
    path.write_text(MODELS["own"])
    theirs = pinocchio.buildModelFromMJCF(path)
    theirs.armature = np.concatenate([np.full(6, 0.5), [0.2]])
    theirs.damping = np.zeros(theirs.nv)
    layout = ours.to_pinocchio(theirs)
    given = layout.q(q), layout.v(q, v), layout.a(q, v, a)
    expected = layout.tau_from(q, pinocchio.rnea(theirs, theirs.createData(), *given))
    expected[3:6] += 0.5 * np.cross(v[:3], v[3:6])
    assert_close(run(ours, "inverse_dynamics", q, v, a), expected, 1e-11)


def test_as_a_body_of_the_same_energy() -> None:
    """Without gravity, armature of a free joint in the world is a body at its origin, with all that belongs to it."""
    root = (0.3, 0.5, 0.4, 0.7, 0.7, 0.7)
    ours, body = (tree(root, heavier=heavier).with_gravity((0.0, 0.0, 0.0)) for heavier in (False, True))
    q, v, a = state(ours)
    for method in ("auto", *INVERSE):
        found = run(ours, "inverse_dynamics", q, v, a, method=method)
        assert_close(found, run(body, "inverse_dynamics", q, v, a), 1e-12)
    for method in ("auto", *FORWARD):
        found = run(ours, "forward_dynamics", q, v, a, method=method)
        assert_close(found, run(body, "forward_dynamics", q, v, a), 1e-11)
    assert_close(run(ours, "coriolis_matrix", q, v), run(body, "coriolis_matrix", q, v), 1e-12)
    for name in ("inverse_dynamics_derivatives", "forward_dynamics_derivatives"):
        assert_close(run(ours, name, q, v, a), run(body, name, q, v, a), 1e-10)


def test_lagrange_equations_of_the_energy() -> None:
    """In coordinates s with q = q₀ exp(s): τ = d/dt ∂T/∂ṡ − ∂T/∂s at s = 0, T from ``kinetic_energy`` alone."""
    ours = tree().with_gravity((0.0, 0.0, 0.0)).without_friction()
    q, v, a = state(ours)

    def energy(s: np.ndarray, s_rate: np.ndarray) -> float:
        at = run(ours, "integrate", q, s, 1.0)
        ahead = lambda t: run(ours, "difference", at, run(ours, "integrate", q, s + t * s_rate, 1.0))
        return float(run(ours, "kinetic_energy", at, rate(ahead))[0])

    for e in np.eye(ours.nv):
        # T is quadratic in ṡ, so this difference is exact.
        momentum = lambda t, e=e: (
            energy(t * v + 0.5 * t * t * a, v + t * a + e) - energy(t * v + 0.5 * t * t * a, v + t * a - e)
        )
        expected = 0.5 * rate(momentum) - rate(lambda t, e=e: energy(t * e, v))
        assert float(e @ run(ours, "inverse_dynamics", q, v, a)) == pytest.approx(float(expected), abs=1e-7)


@pytest.mark.parametrize("method", CORIOLIS)
def test_coriolis_matrix(method: str) -> None:
    ours = tree().without_friction()
    q, v, _ = state(ours)
    matrix = run(ours, "coriolis_matrix", q, v, method=method)
    assert_close(matrix @ v, run(ours, "bias_forces", q, v) - run(ours, "gravity_forces", q), 1e-11)
    skew = rate_along(lambda at: run(ours, "mass_matrix", at), ours, q, v) - 2.0 * matrix
    assert_close(skew + skew.T, 0.0 * skew, 1e-9)


@pytest.mark.parametrize("kind", ["free", "spherical"])
def test_christoffel_symbols_are_symmetric(kind: str) -> None:
    """C(x) y − C(y) x = M [x, y] for one body; with v = q̇ the commutator [x, y] of velocities vanishes."""
    n = 6 if kind == "free" else 3
    joint = dq.Joint("root", kind, "base", "torso", armature=UNEQUAL[:n])
    links = dq.Link("base"), dq.Link("torso", random_inertia(np.random.default_rng(3)))
    ours = Robot.from_description(dq.Description("one", links, (joint,)), strict=True)
    q, x, y = state(ours)
    turning, sliding = np.cross(x[:3], y[:3]), np.cross(x[:3], y[3:]) + np.cross(x[3:], y[:3]) if n == 6 else []
    bracket = np.concatenate([turning, sliding])
    found = run(ours, "coriolis_matrix", q, x) @ y - run(ours, "coriolis_matrix", q, y) @ x
    assert_close(found, run(ours, "mass_matrix", q) @ bracket, 1e-12)


def test_derivatives_against_differences() -> None:
    ours = tree()
    q, v, a = state(ours)
    for name in ("inverse_dynamics", "forward_dynamics"):
        by_q, by_v, by_last = run(ours, f"{name}_derivatives", q, v, a)
        units = np.eye(ours.nv)
        columns = [rate_along(lambda x, n=name: run(ours, n, x, v, a), ours, q, e, 3e-3) for e in units]
        assert_close(by_q, np.array(columns).T, 1e-8)
        columns = [rate(lambda t, n=name, e=e: run(ours, n, q, v + t * e, a)) for e in units]
        assert_close(by_v, np.array(columns).T, 1e-8)
        columns = [rate(lambda t, n=name, e=e: run(ours, n, q, v, a + t * e)) for e in units]
        assert_close(by_last, np.array(columns).T, 1e-8)


def test_power_is_the_rate_of_energy() -> None:
    ours = tree().without_friction()
    q, v, a = state(ours)
    moving = moving_state(ours, q, v, a)
    energy = lambda t: run(ours, "kinetic_energy", *moving(t))[0] + run(ours, "potential_energy", moving(t)[0])[0]
    assert float(v @ run(ours, "inverse_dynamics", q, v, a)) == pytest.approx(float(rate(energy, 3e-3)), rel=1e-8)


def test_constrained_forward_dynamics() -> None:
    """A constraint that holds the hinge only: M a = τ − bias + Aᵀλ in every method."""
    ours = tree()
    held = ours.with_constraints(dq.constraints.JointCoupling(("hinge",), (1.0,)))
    q, v, tau = state(ours)
    q[7] = v[6] = 0.0
    mass, bias = run(ours, "mass_matrix", q), run(ours, "bias_forces", q, v)
    for method in ("kkt", "udwadia-kalaba", "kane"):
        left = mass @ held.forward_dynamics(q, v, tau, method=method) + bias - tau
        assert_close(np.delete(left, 6), np.zeros(ours.nv - 1), 1e-9)


def test_what_it_costs() -> None:
    """6 armatures r a and r ω × v at a free joint; nothing where a spherical joint has the same about all axes."""
    count = lambda robot: robot.count("inverse_dynamics", method="recursive")
    none, equal = count(tree((0.0,) * 6, (0.0,) * 3)), count(tree((0.0,) * 6, (0.2,) * 3))
    assert (equal.mul - none.mul, equal.add - none.add) == (3, 3)
    free = count(tree((0.5,) * 6, (0.0,) * 3))
    assert (free.mul - none.mul, free.add - none.add) == (15, 12)


def test_compiled() -> None:
    ours = tree()
    q, v, a = random_state(ours, np.random.default_rng(4), (3,))
    for name in ("inverse_dynamics", "forward_dynamics"):
        assert_close(getattr(ours, name)(q, v, a), run(ours, name, q, v, a), 1e-10)
    assert_close(ours.coriolis_matrix(q, v), run(ours, "coriolis_matrix", q, v), 1e-11)
