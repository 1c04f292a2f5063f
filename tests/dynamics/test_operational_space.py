"""Inertia in operational space: against NumPy on Pinocchio's M and J, laws on random trees, and what is refused."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pinocchio
import pytest
from example_robots import LARGEST, Oracle, plain, robot
from trees import TREES, assert_close, random_q, random_robot, random_state, run, tree

import dqdyn as dq
from dqdyn import Error, StateError
from dqdyn import constraints as kinds
from dqdyn.kinematics.frames import EXPRESSIONS
from dqdyn.model.model import Frame

INVERSE, INERTIA, CONSISTENT = (
    "operational_space_inverse_inertia",
    "operational_space_inertia",
    "dynamically_consistent_inverse",
)
AXES = {"body": pinocchio.LOCAL, "world": pinocchio.WORLD, "aligned": pinocchio.LOCAL_WORLD_ALIGNED}


@pytest.mark.parametrize(("name", "base"), [(name, base) for name in LARGEST for base in ("fixed", "free")])
def test_real_robots_against_pinocchio(name: str, base: str) -> None:
    ours, theirs = robot(name, base), plain(name, base)
    q, v, _ = random_state(ours, np.random.default_rng(1))
    layout, frame = ours.to_pinocchio(theirs), list(ours.frames)[-1]
    mass = Oracle(layout, theirs, q, v).mass_matrix()
    for k, expressed in enumerate(EXPRESSIONS if base == "free" else ["body"]):
        data, options = theirs.createData(), {"frame": frame, "expressed": expressed}
        found = pinocchio.computeFrameJacobian(theirs, data, layout.q(q), theirs.getFrameId(frame), AXES[expressed])
        jacobian = found[[3, 4, 5, 0, 1, 2]] @ layout.transform(q)
        solved = np.linalg.solve(mass, jacobian.T)
        inverse = jacobian @ solved
        assert_close(run(ours, INVERSE, q, **options), inverse, 1e-9)
        if base == "free":
            inertia = np.linalg.inv(inverse)
            assert_close(run(ours, INERTIA, q, **options), inertia, 1e-7)
            if k == 0:
                assert_close(run(ours, CONSISTENT, q, **options), solved @ inertia, 1e-7)


@pytest.mark.parametrize("expressed", EXPRESSIONS)
@pytest.mark.parametrize("name", TREES)
def test_trees(name: str, expressed: str) -> None:
    """On every kind of joint, with mimic joints and armature, at the last frame and one off the others."""
    ours = tree(name)
    q = random_q(ours, np.random.default_rng(2))
    mass, options = run(ours, "mass_matrix", q), {"frame": "tool", "expressed": expressed}
    jacobian = run(ours, "twist_jacobian", q, **options)
    inverse = jacobian @ np.linalg.solve(mass, jacobian.T)
    assert_close(run(ours, INVERSE, q, **options), inverse, 1e-11)
    axes = {k for i in ours.model.path(ours.frames["tool"].body) for k in range(ours.nv)[ours.joints[i].v]}
    if len(axes) < 6:
        with pytest.raises(Error, match="cannot move it in six directions"):
            ours.function(INERTIA, **options)
        return
    inertia, consistent = (run(ours, name, q, **options) for name in (INERTIA, CONSISTENT))
    assert_close(inertia @ inverse, np.eye(6), 1e-8)
    assert_close(jacobian @ consistent, np.eye(6), 1e-8)
    assert_close(mass @ consistent, jacobian.T @ inertia, 1e-8)  # of all inverses that with the least energy


def test_frames_that_are_not_of_the_robot() -> None:
    ours = random_robot(61, 2, ("revolute",), base="free")
    q, given = random_q(ours, np.random.default_rng(3)), ours.frames["tool"]
    own = Frame("own", given.body, given.placement)
    assert_close(ours.operational_space_inertia(own, q), ours.operational_space_inertia("tool", q), 1e-12)


def test_compiled_functions_and_batches() -> None:
    ours = dq.robots.arm7()
    q = random_q(ours, np.random.default_rng(4), (5,))
    for name in (INVERSE, INERTIA, CONSISTENT):
        found, expected = getattr(ours, name)("tool", q), run(ours, name, q, frame="tool")
        assert_close(found, expected, 1e-9)
        assert_close(getattr(ours, name)("tool", q[2]), expected[2], 1e-9)
        out = np.empty_like(expected)
        assert getattr(ours, name)("tool", q, out=out) is out
    torque = np.random.default_rng(5).normal(size=ours.nv)
    consistent, jacobian = ours.dynamically_consistent_inverse("tool", q[0]), ours.twist_jacobian("tool", q[0])
    quiet = torque - jacobian.T @ (consistent.T @ torque)
    change = ours.forward_dynamics(q[0], 0 * q[0], quiet) - ours.forward_dynamics(q[0], 0 * q[0], 0 * q[0])
    assert_close(jacobian @ change, np.zeros(6), 1e-8)


def test_singular_states_are_refused_by_the_name_of_the_frame() -> None:
    ours = dq.robots.arm7()
    stretched, bent = np.zeros(7), random_q(ours, np.random.default_rng(6))
    assert np.linalg.matrix_rank(ours.twist_jacobian("tool", stretched)) < 6
    for name in (INERTIA, CONSISTENT):
        with pytest.raises(StateError, match=f"{name} of the frame 'tool' does not exist at this q, where") as caught:
            getattr(ours, name)("tool", stretched)
        assert caught.value.frame == "tool"
        with pytest.raises(
            StateError, match="at the q of state 1, where the Jacobian of the frame is singular"
        ) as caught:
            getattr(ours, name)("tool", np.array([bent, stretched]))
        assert caught.value.row == 1
        with pytest.raises(StateError, match="leave this configuration; operational_space_inverse_inertia"):
            ours.function(name, frame="tool")(stretched)
        getattr(ours, name)("tool", stretched, check=False)
    assert np.isfinite(ours.operational_space_inverse_inertia("tool", stretched)).all()


@pytest.mark.parametrize("distance", [1e-9, 1e-6])
def test_states_next_to_singular_ones_are_refused_or_right(distance: float) -> None:
    """Whatever is not refused has digits: Λ times its inverse is one."""
    ours, rng = dq.robots.arm7(), np.random.default_rng(7)
    for _ in range(5):
        q = distance * rng.normal(size=7)
        try:
            inertia = ours.operational_space_inertia("tool", q)
        except StateError:
            continue
        assert_close(inertia @ ours.operational_space_inverse_inertia("tool", q), np.eye(6), 1e-4)


def test_planar_chains_are_singular_everywhere() -> None:
    """Seven parallel axes that point nowhere special: rows of J are zero but for rounding."""
    joints = [dq.Joint(f"j{i}", "revolute", f"l{i}", f"l{i + 1}", axis=(0.48, 0.6, 0.64)) for i in range(7)]
    body = dq.Inertia(1.0, (0.2, 0.1, -0.1), ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)))
    links = [dq.Link(f"l{i}", body) for i in range(8)]
    ours = dq.Robot.from_description(dq.Description("parallel", tuple(links), tuple(joints)))
    with pytest.raises(StateError, match="the Jacobian of the frame is singular"):
        ours.operational_space_inertia("l7", np.linspace(0.1, 0.7, 7))


def test_too_few_axes_and_constraints_are_refused() -> None:
    ours = dq.robots.arm7()
    with pytest.raises(Error, match="of the frame 'link3' of 'arm7' does not exist: 3 axes cannot move it"):
        ours.operational_space_inertia("link3", ours.neutral())
    with pytest.raises(Error, match="does not exist: no axis moves it"):
        ours.dynamically_consistent_inverse("base", ours.neutral())
    assert_close(ours.operational_space_inverse_inertia("base", ours.neutral()), np.zeros((6, 6)), 0)
    held = ours.with_constraints(kinds.PointContact("tool"))
    for name in (INVERSE, INERTIA, CONSISTENT):
        with pytest.raises(Error, match=r"would leave out its constraint .*: use robot.without_constraints\(\)"):
            getattr(held, name)("tool", held.neutral())


def test_singular_states_are_found_by_the_program_itself() -> None:
    """Their first number is NaN where nothing is checked, in every layout, and raises where it is."""
    ours, rng = dq.robots.arm7(), np.random.default_rng(8)
    states = np.array([random_q(ours, rng) for _ in range(21)])
    where = [3, 17]
    states[where] = 0.0
    for name in (INERTIA, CONSISTENT):
        for axes in ("body", "world", "aligned"):
            f = ours.function(name, frame="tool", expressed=axes)
            free = f(states, check=False)
            assert list(np.flatnonzero(np.isnan(free[:, 0, 0]))) == where
            kept = np.delete(np.arange(21), where)
            assert_close(f(states[kept]), free[kept], 1e-12)
            for rows in (states, states.reshape(3, 7, 7), states[::-1]):
                with pytest.raises(StateError, match="does not exist at the q of state"):
                    f(rows)
                with pytest.raises(StateError, match="does not exist at the q of state"):
                    f(rows, out=np.empty((*rows.shape[:-1], *f(states[0]).shape)))
    both = ours.function(["mass_matrix", ("operational_space_inertia", {"frame": "tool"})])
    assert_close(both(states[0])[1], ours.operational_space_inertia("tool", states[0]), 1e-12)
    for given in (states[3], states):
        with pytest.raises(StateError, match="operational_space_inertia of the frame 'tool' does not exist"):
            both(given)


def test_calls_at_fine_states_run_no_python_code() -> None:
    ours = dq.robots.arm7()
    q, called = random_q(ours, np.random.default_rng(9)), []
    ours.operational_space_inertia("tool", q)

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            called.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        ours.operational_space_inertia("tool", q)
    finally:
        sys.setprofile(None)
    assert called == []
