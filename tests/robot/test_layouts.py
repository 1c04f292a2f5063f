"""Converters to and from Pinocchio's coordinates: each follows from v' = T(q) v, and mistakes are told."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pinocchio
import pytest
from pinocchio_tools import comparable, pinocchio_model
from trees import (
    ONE_AXIS,
    assert_close,
    moving_state,
    random_description,
    random_q,
    random_state,
    random_v,
    rate,
    rate_along,
    run,
)

from dqdyn.errors import Error, FormatError, StateError, UnknownNameError
from dqdyn.formats.urdf.reader import read_urdf
from dqdyn.model.description import Description, Joint, Link, NamedFrame
from dqdyn.model.layouts import Layout
from dqdyn.robot import Robot

CASES = {
    "every kind": (1, (*ONE_AXIS, "universal", "spherical", "planar", "free"), 0, "fixed"),
    "free base, mimic": (2, (*ONE_AXIS, "planar"), 2, "free"),
    "planar base, mimic": (3, (*ONE_AXIS, "spherical"), 3, "planar"),
}
CONTINUOUS = """<robot name="wheels"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1"
izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="c"/>
<joint name="one" type="continuous"><axis xyz="0.6 0 0.8"/><parent link="a"/><child link="b"/></joint>
<joint name="two" type="continuous"><axis xyz="0 1 0"/><parent link="b"/><child link="c"/></joint></robot>"""


@cache
def case(name: str) -> tuple[Robot, pinocchio.Model, Layout]:
    seed, kinds, mimics, base = CASES[name]
    ours = Robot.from_description(comparable(random_description(seed, 8, kinds, mimics=mimics, base=base)), strict=True)
    theirs = pinocchio_model(ours)
    return ours, theirs, ours.to_pinocchio(theirs)


@pytest.mark.parametrize("name", CASES)
def test_configurations_return(name: str) -> None:
    ours, theirs, layout = case(name)
    q = random_q(ours, np.random.default_rng(1), (3, 2))
    other = layout.q(q)
    assert other.shape == (3, 2, theirs.nq)
    assert_close(layout.q_from(other), q, 1e-14)
    for row in np.ndindex(3, 2):
        assert_close(layout.q(q[row]), other[row], 0)
    # What Pinocchio calls neutral is our neutral: units and positions are where they belong.
    if not any(joint.is_mimic for joint in ours.joints):
        assert_close(layout.q(ours.neutral()), pinocchio.neutral(theirs), 0)


@pytest.mark.parametrize("name", CASES)
def test_velocities_return_and_agree_with_motion(name: str) -> None:
    """v' is what Pinocchio calls the velocity of the moving q'."""
    ours, theirs, layout = case(name)
    rng = np.random.default_rng(2)
    q, v = random_q(ours, rng), random_v(ours, rng)
    assert_close(layout.v_from(q, layout.v(q, v)), v, 1e-13)
    here = layout.q(q)
    moved = rate_along(lambda c: pinocchio.difference(theirs, here, layout.q(c)), ours, q, v)
    assert_close(layout.v(q, v), moved, 1e-9)


@pytest.mark.parametrize("name", CASES)
def test_accelerations_are_the_rates_of_velocities(name: str) -> None:
    ours, _, layout = case(name)
    q, v, a = random_state(ours, np.random.default_rng(3))
    moving = moving_state(ours, q, v, a)
    assert_close(layout.a(q, v, a), rate(lambda t: layout.v(*moving(t))), 1e-10)
    assert_close(layout.a_from(q, v, layout.a(q, v, a)), a, 1e-13)
    assert_close(layout.transform_rate(q, v), rate_along(layout.transform, ours, q, v), 1e-10)


@pytest.mark.parametrize("name", CASES)
def test_forces_keep_their_power(name: str) -> None:
    ours, theirs, layout = case(name)
    rng = np.random.default_rng(4)
    q, v, tau = random_state(ours, rng)
    other = rng.normal(size=theirs.nv)
    assert layout.tau_from(q, other) @ v == pytest.approx(other @ layout.v(q, v), rel=1e-12)
    assert layout.tau(q, tau) @ layout.v(q, v) == pytest.approx(tau @ v, rel=1e-12)
    assert_close(layout.tau_from(q, layout.tau(q, tau)), tau, 1e-13)


@pytest.mark.parametrize("name", CASES)
def test_mass_matrix(name: str) -> None:
    """Against Σ Jᵀ diag(I, m) J over our bodies, with J at their centers of mass."""
    ours, theirs, layout = case(name)
    q = random_q(ours, np.random.default_rng(5))
    upper = np.triu(pinocchio.crba(theirs, theirs.createData(), layout.q(q)))
    found = layout.mass_matrix_from(q, upper + np.triu(upper, 1).T)
    expected = np.zeros((ours.nv, ours.nv))
    for joint, body in zip(ours.joints, ours.bodies, strict=True):
        arm = run(ours, "point_jacobian", q, body.inertia.com, frame=ours.frames[joint.name])
        turning = run(ours, "twist_jacobian", q, frame=ours.frames[joint.name])[:3]
        expected += body.inertia.mass * arm.T @ arm + turning.T @ np.array(body.inertia.tensor) @ turning
    assert_close(found, expected, 1e-12)


@pytest.mark.parametrize("name", CASES)
def test_jacobian(name: str) -> None:
    ours, theirs, layout = case(name)
    q = random_q(ours, np.random.default_rng(6))
    data = theirs.createData()
    found = pinocchio.computeFrameJacobian(theirs, data, layout.q(q), theirs.getFrameId("tool"), pinocchio.LOCAL)
    assert_close(layout.jacobian_from(q, found.copy()), run(ours, "twist_jacobian", q, frame="tool"), 1e-12)


@pytest.mark.parametrize("name", CASES)
def test_batches_equal_one_by_one(name: str) -> None:
    ours, theirs, layout = case(name)
    rng = np.random.default_rng(7)
    q, v, a = random_state(ours, rng, (3, 2))
    other = rng.normal(size=(3, 2, theirs.nv))
    matrix, jacobian = rng.normal(size=(3, 2, theirs.nv, theirs.nv)), rng.normal(size=(3, 2, 6, theirs.nv))
    calls: list[tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = [
        (layout.v, (q, v)),
        (layout.v_from, (q, other)),
        (layout.a, (q, v, a)),
        (layout.a_from, (q, v, other)),
        (layout.tau, (q, v)),
        (layout.tau_from, (q, other)),
        (layout.transform, (q,)),
        (layout.transform_rate, (q, v)),
        (layout.mass_matrix_from, (q, matrix)),
        (layout.jacobian_from, (q, jacobian)),
    ]
    for function, inputs in calls:
        result = function(*inputs)
        for row in np.ndindex(3, 2):
            assert_close(result[row], function(*(x[row] for x in inputs)), 1e-13)
    assert_close(layout.v(q[0, 0], v)[2, 1], layout.v(q[0, 0], v[2, 1]), 1e-14)  # one q for many v


@pytest.mark.parametrize("name", CASES)
def test_where_a_mimic_joint_is_free_over_there(name: str) -> None:
    ours, theirs, layout = case(name)
    rng = np.random.default_rng(8)
    q, v = random_q(ours, rng), random_v(ours, rng)
    other_q, other_v = layout.q(q), layout.v(q, v)
    for joint in ours.joints:
        if joint.master is None:
            continue
        i = theirs.getJointId(joint.name)
        master = ours.joints[joint.master.joint]
        m = theirs.getJointId(master.name)
        expected = joint.master.ratio * other_q[theirs.idx_qs[m]] + joint.master.offset
        assert other_q[theirs.idx_qs[i]] == pytest.approx(expected)
        assert other_v[theirs.idx_vs[i]] == pytest.approx(joint.master.ratio * other_v[theirs.idx_vs[m]])
        changed = other_q.copy()
        changed[theirs.idx_qs[i]] += 1.0
        assert_close(layout.q_from(changed), q, 1e-14)  # the master decides


def test_mimic_joints_of_pinocchio_have_no_coordinate() -> None:
    """Loaded with mimic=True, Pinocchio's v is ours."""
    text = CONTINUOUS.replace("continuous", "revolute").replace(
        '<child link="b"/>', '<child link="b"/><limit effort="1" velocity="1" lower="-1" upper="1"/>'
    )
    text = text.replace(
        '<child link="c"/>',
        '<child link="c"/><limit effort="1" velocity="1" lower="-1" upper="1"/>'
        '<mimic joint="one" multiplier="-0.5" offset="0.2"/>',
    )
    ours = Robot.from_description(read_urdf(text))
    theirs = pinocchio.buildModelFromXML(text, mimic=True)
    layout = ours.to_pinocchio(theirs)
    assert (layout.nq, layout.nv) == (ours.nq, ours.nv) == (1, 1)
    q = np.array([0.4])
    data = theirs.createData()
    pinocchio.framesForwardKinematics(theirs, data, layout.q(q))
    found = data.oMf[theirs.getFrameId("c")].homogeneous
    assert_close(ours.pose("c", q).matrix, found, 1e-14)


def test_continuous_joints_are_points_on_a_circle_there() -> None:
    ours, theirs = Robot.from_description(read_urdf(CONTINUOUS)), pinocchio.buildModelFromXML(CONTINUOUS)
    assert theirs.nq == 2 * ours.nq == 4
    layout = ours.to_pinocchio(theirs)
    q = np.array([7.0, -2.0])  # beyond a turn: one unbounded angle here
    data = theirs.createData()
    pinocchio.framesForwardKinematics(theirs, data, layout.q(q))
    assert_close(ours.pose("c", q).matrix, data.oMf[theirs.getFrameId("c")].homogeneous, 1e-14)
    assert_close(layout.q_from(layout.q(q)), [7.0 - 2 * np.pi, -2.0], 1e-14)
    v = np.array([0.3, -0.4])
    assert_close(layout.v(q, v), v, 0)


def two_links(*kinds: str) -> Robot:
    links = tuple(Link(f"link_{i}") for i in range(len(kinds) + 1))
    joints = tuple(Joint(f"joint_{i}", kind, f"link_{i}", f"link_{i + 1}") for i, kind in enumerate(kinds))
    return Robot.from_description(Description("links", links, joints, (NamedFrame("tool", "link_1"),)))


def test_models_that_do_not_match_are_refused() -> None:
    ours = two_links("revolute", "prismatic")
    theirs = pinocchio_model(ours)
    with pytest.raises(UnknownNameError, match="joint_1") as caught:
        two_links("revolute", "prismatic").to_pinocchio(pinocchio_model(two_links("revolute")))
    assert caught.value.name == "joint_1"
    with pytest.raises(FormatError, match="2 velocities, of which 1 belong") as refused:
        two_links("revolute").to_pinocchio(theirs)
    assert (refused.value.expected, refused.value.found) == (1, 2)
    with pytest.raises(FormatError, match="'joint_0' is spherical here"):
        two_links("spherical", "prismatic").to_pinocchio(theirs)


@pytest.mark.parametrize(
    "bad", [np.zeros(3), np.zeros((2, 3)), 1.0, "numbers", None, [[0.0], [0.0, 0.0]], np.zeros(2) * 1j]
)
def test_vectors_of_the_wrong_size_are_refused(bad: Any) -> None:
    layout = two_links("revolute", "prismatic").to_pinocchio(pinocchio_model(two_links("revolute", "prismatic")))
    good = np.zeros(2)
    for call in (
        lambda: layout.q(bad),
        lambda: layout.q_from(bad),
        lambda: layout.v(good, bad),
        lambda: layout.v_from(good, bad),
        lambda: layout.a(good, good, bad),
        lambda: layout.a_from(good, good, bad),
        lambda: layout.tau(good, bad),
        lambda: layout.tau_from(good, bad),
        lambda: layout.transform(bad),
    ):
        with pytest.raises(StateError):
            call()


def test_matrices_of_the_wrong_shape_are_refused() -> None:
    layout = two_links("revolute", "prismatic").to_pinocchio(pinocchio_model(two_links("revolute", "prismatic")))
    for bad in (np.zeros((6, 3)), np.zeros((3, 2)), np.zeros(2), "J"):
        with pytest.raises(Error, match="Jacobian"):
            layout.jacobian_from(np.zeros(2), bad)
    with pytest.raises(StateError, match="mass matrix") as caught:
        layout.mass_matrix_from(np.zeros(2), np.eye(3))
    assert caught.value.expected == (2, 2)
