"""External wrenches at frames: Jᵀ times them, with their parts swapped, is what they do to the joints."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
from example_robots import Oracle
from formulation_tools import PINOCCHIO_CASES, pinocchio_pair
from trees import TREES, assert_close, random_state, run, tree

from dqdyn.dynamics.methods import FORWARD, INVERSE
from dqdyn.robot import Robot


def with_wrenches(
    ours: Robot, state: tuple[np.ndarray, ...], wrenches: dict[str, np.ndarray], expressed: str, **options: str
) -> np.ndarray:
    stacked = np.concatenate(list(wrenches.values()), axis=-1)
    chosen = {"wrench_frames": tuple(wrenches), "wrench_expressed": expressed, **options}
    return run(ours, "inverse_dynamics", *state, stacked, **chosen)


def jacobian_forces(ours: Robot, q: np.ndarray, wrenches: dict[str, np.ndarray], expressed: str) -> np.ndarray:
    """Σ Jᵀ [τ, f], since J has rows [ω, v]."""
    total = np.zeros(ours.nv)
    for frame, wrench in wrenches.items():
        jacobian = run(ours, "twist_jacobian", q, frame=frame, expressed=expressed)
        total += jacobian.T @ np.concatenate([wrench[3:], wrench[:3]])
    return total


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("expressed", ["body", "aligned"])
def test_against_the_transposed_jacobian(name: str, expressed: str) -> None:
    ours, rng = tree(name), np.random.default_rng(1)
    state = random_state(ours, rng)
    wrenches = {frame: rng.normal(size=6) for frame in ("tool", "camera", "link_1", "world")}
    expected = run(ours, "inverse_dynamics", *state) - jacobian_forces(ours, state[0], wrenches, expressed)
    for method in ("auto", *INVERSE):
        assert_close(with_wrenches(ours, state, wrenches, expressed, method=method), expected, 1e-10)


def test_frames_of_one_body_add_up() -> None:
    ours, rng = tree("every kind"), np.random.default_rng(2)
    state = random_state(ours, rng)
    w = rng.normal(size=6)
    last = ours.joints[-1].name
    same = [name for name, frame in ours.frames.items() if frame.body == ours.frames[last].body]
    assert len(same) >= 2
    parts = dict.fromkeys(same, w)
    expected = run(ours, "inverse_dynamics", *state) - jacobian_forces(ours, state[0], parts, "aligned")
    assert_close(with_wrenches(ours, state, parts, "aligned"), expected, 1e-11)


def test_the_world_takes_any_wrench() -> None:
    ours = tree("one axis")
    state = random_state(ours, np.random.default_rng(3))
    found = with_wrenches(ours, state, {"world": np.full(6, 1e3)}, "body")
    assert_close(found, run(ours, "inverse_dynamics", *state), 0)


def test_a_weight_is_a_payload_at_rest() -> None:
    ours = tree("every kind, mimic")
    q = random_state(ours, np.random.default_rng(4))[0]
    zero = np.zeros(ours.nv)
    weight = np.concatenate([2.5 * ours.gravity, np.zeros(3)])
    found = with_wrenches(ours, (q, zero, zero), {"tool": weight}, "aligned")
    assert_close(found, run(ours.with_payload("tool", 2.5), "gravity_forces", q), 1e-11)


@pytest.mark.parametrize(("kinds", "seed", "base"), PINOCCHIO_CASES)
def test_against_pinocchio(kinds: tuple[str, ...], seed: int, base: str) -> None:
    """Its external forces are per joint, at its child side, in the body's axes."""
    ours, theirs, layout = pinocchio_pair(kinds, seed, base)
    rng = np.random.default_rng(5)
    q, v, a = random_state(ours, rng)
    forces = pinocchio.StdVec_Force()
    forces.append(pinocchio.Force.Zero())
    wrenches = {joint.name: rng.normal(size=6) for joint in ours.joints}
    for name, w in wrenches.items():
        forces.append(ours_to_joint(theirs, name).act(pinocchio.Force(w[:3], w[3:])))
    data, given = theirs.createData(), (layout.q(q), layout.v(q, v), layout.a(q, v, a))
    without = pinocchio.rnea(theirs, data, *given).copy()
    change = layout.tau_from(q, pinocchio.rnea(theirs, data, *given, forces) - without)
    found = with_wrenches(ours, (q, v, a), wrenches, "body") - run(ours, "inverse_dynamics", q, v, a)
    assert_close(found, change, 1e-10)


def ours_to_joint(theirs: pinocchio.Model, name: str) -> pinocchio.SE3:
    """Where our frame of a joint stands in Pinocchio's."""
    placed: pinocchio.SE3 = theirs.frames[theirs.getFrameId(name, pinocchio.FrameType.OP_FRAME)].placement
    return placed


def test_armature_against_pinocchio() -> None:
    """Pinocchio's rnea, crba and aba have armature; but for planar joints its velocities are ours in another order."""
    ours, theirs, layout = pinocchio_pair(*PINOCCHIO_CASES[1])
    ours, theirs = ours.without_friction(), pinocchio.Model(theirs)
    assert not any(joint.kind == "planar" for joint in ours.joints)
    q, v, a = random_state(ours, np.random.default_rng(6))
    t = layout.transform(q)
    theirs.armature = t @ np.concatenate([joint.armature for joint in ours.joints])
    oracle = Oracle(layout, theirs, q, v)
    assert theirs.armature.max() > 0.05
    assert_close(run(ours, "inverse_dynamics", q, v, a), oracle.inverse_dynamics(a), 1e-11)
    assert_close(run(ours, "mass_matrix", q), oracle.mass_matrix(), 1e-11)
    for method in FORWARD:
        assert_close(run(ours, "forward_dynamics", q, v, a, method=method), oracle.forward_dynamics(a), 1e-9)
