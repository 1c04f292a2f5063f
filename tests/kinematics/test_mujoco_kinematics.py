"""Free, ball, slide and hinge joints against MuJoCo: poses, Jacobians, accelerations, centers of mass, conversions."""

from __future__ import annotations

from functools import cache

import mujoco
import numpy as np
import pytest
from trees import assert_close, moving_state, random_q, random_state, random_v, rate, run

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import rotation_matrix
from dqdyn.errors import FormatError, UnknownNameError
from dqdyn.loading import load
from dqdyn.model.description import Description, Joint, Link, placement
from dqdyn.model.layouts import Layout
from dqdyn.robot import Robot

INERTIAL = '<inertial pos="0.02 -0.03 0.05" mass="{0}" diaginertia="0.02 0.03 0.04" quat="0.9 0.1 -0.3 0.2"/>'
MODELS = {
    "arm": f"""<mujoco><option gravity="0 0 0"/><worldbody><body name="a" pos="0.1 0.2 0.3" quat="0.8 0.2 0.5 0.1">
    <joint name="hinge" axis="1 2 2" pos="0.05 -0.1 0.02"/>{INERTIAL.format(1.5)}
      <body name="b" pos="0.3 0 0.1"><joint name="slide" type="slide" axis="1 -1 0.5"/>{INERTIAL.format(0.7)}
        <body name="c" pos="0 0.2 0"><joint name="ball" type="ball" pos="0.1 0 0.04"/>{INERTIAL.format(0.4)}
          <site name="tool" pos="0.1 0.1 0.2" quat="0.3 0.4 0.5 0.6"/></body></body>
      <body name="d" pos="-0.2 0 0"><joint name="ball2" type="ball"/>{INERTIAL.format(0.4)}</body>
    </body></worldbody></mujoco>""",
    "floating": f"""<mujoco><option gravity="0 0 0"/><worldbody><body name="a" pos="0.1 0.2 0.3">
    <freejoint name="root"/>{INERTIAL.format(2.5)}<site name="tool" pos="0.1 0.1 0.2"/>
      <body name="b" pos="0.3 0 0.1" quat="0.7 0.1 0.3 0.2"><joint name="hinge" axis="0 1 1"/>{INERTIAL.format(0.7)}
        <body name="c" pos="0 0.2 0"><joint name="x" type="slide" axis="1 0 0"/><joint name="y" axis="0 1 0"/>
        <joint name="z" axis="0 0.6 0.8" pos="0 0 0.1"/>{INERTIAL.format(0.4)}</body></body></body>
    </worldbody></mujoco>""",
    "two bodies": f"""<mujoco><option gravity="0 0 0"/><worldbody>
    <body name="a" pos="0.1 0.2 0.3"><freejoint name="root_a"/>{INERTIAL.format(2.5)}</body>
    <body name="b" pos="1 0 0"><freejoint name="root_b"/>{INERTIAL.format(1.1)}<site name="tool" pos="0 0 1"/>
    </body></worldbody></mujoco>""",
}


@cache
def pair(name: str) -> tuple[Robot, mujoco.MjModel, Layout]:
    ours = load(MODELS[name])
    theirs = mujoco.MjModel.from_xml_string(MODELS[name])
    return ours, theirs, ours.to_mujoco(theirs)


def at(name: str, q: np.ndarray, v: np.ndarray) -> mujoco.MjData:
    _, theirs, layout = pair(name)
    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:] = layout.q(q), layout.v(q, v)
    mujoco.mj_fwdPosition(theirs, data)
    mujoco.mj_fwdVelocity(theirs, data)
    return data


def objects(theirs: mujoco.MjModel) -> list[tuple[str, str, int]]:
    bodies = [(theirs.body(i).name, "body", i) for i in range(1, theirs.nbody)]
    return bodies + [(theirs.site(i).name, "site", i) for i in range(theirs.nsite)]


@pytest.mark.parametrize("name", MODELS)
def test_poses_and_jacobians(name: str) -> None:
    ours, theirs, layout = pair(name)
    rng = np.random.default_rng(1)
    for _ in range(3):
        q, v, _a = random_state(ours, rng)
        data = at(name, q, v)
        for frame, kind, i in objects(theirs):
            x = DQ(run(ours, "pose", q, frame=frame))
            place, turn = (data.xpos, data.xmat) if kind == "body" else (data.site_xpos, data.site_xmat)
            assert_close(run(ours, "point_on", q, np.zeros(3), frame=frame), place[i])
            assert_close(rotation_matrix(x), turn[i].reshape(3, 3))
            jacp, jacr = np.zeros((3, theirs.nv)), np.zeros((3, theirs.nv))
            jacobian = mujoco.mj_jacBody if kind == "body" else mujoco.mj_jacSite
            jacobian(theirs, data, jacp, jacr, i)
            aligned = layout.jacobian_from(q, np.vstack([jacr, jacp]))
            assert_close(run(ours, "twist_jacobian", q, frame=frame, expressed="aligned"), aligned)


@pytest.mark.parametrize("name", MODELS)
def test_velocities_and_accelerations(name: str) -> None:
    """MuJoCo gives [ω, ṗ] and [ω̇, p̈] of an object in world axes: our twist, aligned, and its rate."""
    ours, theirs, layout = pair(name)
    q, v, a = random_state(ours, np.random.default_rng(2))
    data = at(name, q, v)
    data.qacc[:] = layout.a(q, v, a)
    mujoco.mj_rnePostConstraint(theirs, data)
    kinds = {"body": mujoco.mjtObj.mjOBJ_XBODY, "site": mujoco.mjtObj.mjOBJ_SITE}
    for frame, kind, i in objects(theirs):
        velocity, acceleration = np.zeros(6), np.zeros(6)
        mujoco.mj_objectVelocity(theirs, data, kinds[kind], i, velocity, 0)
        mujoco.mj_objectAcceleration(theirs, data, kinds[kind], i, acceleration, 0)
        assert_close(run(ours, "twist", q, v, frame=frame, expressed="aligned"), velocity)
        assert_close(run(ours, "twist_rate", q, v, a, frame=frame, expressed="aligned"), acceleration)


@pytest.mark.parametrize("name", MODELS)
def test_center_of_mass_and_momentum(name: str) -> None:
    ours, theirs, layout = pair(name)
    q, v, _ = random_state(ours, np.random.default_rng(3))
    data = at(name, q, v)
    assert ours.mass == pytest.approx(theirs.body_subtreemass[0], rel=1e-14)
    assert_close(run(ours, "center_of_mass", q), data.subtree_com[0])
    jacobian = np.zeros((3, theirs.nv))
    mujoco.mj_jacSubtreeCom(theirs, data, jacobian, 0)
    assert_close(run(ours, "center_of_mass_jacobian", q), jacobian @ layout.transform(q))
    mujoco.mj_subtreeVel(theirs, data)
    momentum = np.concatenate([ours.mass * data.subtree_linvel[0], data.subtree_angmom[0]])
    assert_close(run(ours, "centroidal_momentum", q, v), momentum)


@pytest.mark.parametrize("name", MODELS)
def test_mass_matrix(name: str) -> None:
    ours, theirs, layout = pair(name)
    q, v, _ = random_state(ours, np.random.default_rng(4))
    data = at(name, q, v)
    full = np.zeros((theirs.nv, theirs.nv))
    mujoco.mj_fullM(theirs, data, full)
    expected = np.zeros((ours.nv, ours.nv))
    for joint, body in zip(ours.joints, ours.bodies, strict=True):
        frame = ours.frames[joint.name]
        arm = run(ours, "point_jacobian", q, body.inertia.com, frame=frame)
        turning = run(ours, "twist_jacobian", q, frame=frame)[:3]
        expected += body.inertia.mass * arm.T @ arm + turning.T @ np.array(body.inertia.tensor) @ turning
    assert_close(layout.mass_matrix_from(q, full), expected)


@pytest.mark.parametrize("name", MODELS)
def test_coordinates_return(name: str) -> None:
    ours, _, layout = pair(name)
    rng = np.random.default_rng(5)
    q, v, a = random_state(ours, rng, (3, 2))
    tau = random_v(ours, rng, (3, 2))
    assert_close(layout.q_from(layout.q(q)), q, 1e-14)
    assert_close(layout.v_from(q, layout.v(q, v)), v, 1e-14)
    assert_close(layout.a_from(q, v, layout.a(q, v, a)), a, 1e-13)
    assert_close(layout.tau_from(q, layout.tau(q, tau)), tau, 1e-14)
    power = (layout.tau(q, tau) * layout.v(q, v)).sum(-1)
    assert_close(power, (tau * v).sum(-1), 1e-13)


@pytest.mark.parametrize("name", MODELS)
def test_acceleration_is_the_rate_of_velocity(name: str) -> None:
    ours, _, layout = pair(name)
    q, v, a = random_state(ours, np.random.default_rng(6))
    moving = moving_state(ours, q, v, a)
    assert_close(layout.a(q, v, a), rate(lambda t: layout.v(*moving(t))), 1e-11)


def test_integration_of_positions() -> None:
    """MuJoCo's free joint turns in the body and moves in the world, so only joints without a free base agree."""
    ours, theirs, layout = pair("arm")
    rng = np.random.default_rng(7)
    q, v = random_q(ours, rng), random_v(ours, rng)
    moved = layout.q(q)
    mujoco.mj_integratePos(theirs, moved, layout.v(q, v), 0.3)
    assert_close(layout.q(run(ours, "integrate", q, v, 0.3)), moved, 1e-12)
    back = np.zeros(theirs.nv)
    mujoco.mj_differentiatePos(theirs, back, 1.0, layout.q(q), moved)
    assert_close(layout.v(q, run(ours, "difference", q, layout.q_from(moved))), back, 1e-12)


def test_free_body_at_constant_velocity() -> None:
    """MuJoCo's qacc is 0 where the linear part of the body twist turns with the body: v̇ = −ω × v."""
    ours, theirs, layout = pair("two bodies")
    rng = np.random.default_rng(8)
    q, v = random_q(ours, rng), random_v(ours, rng)
    a = layout.a_from(q, v, np.zeros(theirs.nv))
    for joint in ours.joints:
        omega, linear = v[joint.v][:3], v[joint.v][3:]
        assert_close(a[joint.v], np.concatenate([np.zeros(3), -np.cross(omega, linear)]), 1e-14)
    assert np.abs(layout.a(q, v, 0 * v)).max() > 0.1
    # The origin of the body, at rest in its acceleration, moves on a straight line.
    frame = theirs.body(1).name
    assert_close(run(ours, "twist_rate", q, v, a, frame=frame, expressed="aligned"), np.zeros(6), 1e-13)


SPLIT = {
    "planar": (
        {},
        ('name="it_x" type="slide" axis="1 0 0"', 'name="it_y" type="slide" axis="0 1 0"', 'name="it_rotation"'),
    ),
    "cylindrical": ({}, ('name="it_rotation"', 'name="it_translation" type="slide"')),
    "cylindrical, other order": ({}, ('name="it_translation" type="slide"', 'name="it_rotation"')),
    "universal": (
        {"axis": (0.6, 0.0, 0.8), "second_axis": (0.0, 1.0, 0.0)},
        ('name="it_first" axis="0.6 0 0.8"', 'name="it_second" axis="0 1 0"'),
    ),
}


@pytest.mark.parametrize("name", SPLIT)
def test_joints_that_mjcf_splits(name: str) -> None:
    """A body with a joint per axis in MuJoCo, named with suffixes, is one joint of several axes here."""
    axes, joints = SPLIT[name]
    text = "".join(f"<joint {joint}/>" for joint in joints)
    theirs = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><body name="a" pos="0.1 0 0.2"><joint name="before" axis="1 0 0"/>{INERTIAL.format(1.0)}
        <body name="b" pos="0 0.3 0">{text}{INERTIAL.format(1.0)}</body></body></worldbody></mujoco>"""
    )
    described = (
        Joint("before", "revolute", "base", "a", placement((0.1, 0.0, 0.2)), axis=(1.0, 0.0, 0.0)),
        Joint("it", name.partition(",")[0], "a", "b", placement((0.0, 0.3, 0.0)), **axes),  # type: ignore[arg-type]
    )
    ours = Robot.from_description(Description("split", (Link("base"), Link("a"), Link("b")), described))
    layout = ours.to_mujoco(theirs)
    q, v, a = random_state(ours, np.random.default_rng(9))
    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:] = layout.q(q), layout.v(q, v)
    mujoco.mj_fwdPosition(theirs, data)
    assert_close(run(ours, "point_on", q, np.zeros(3), frame="b"), data.xpos[2])
    jacp, jacr = np.zeros((3, theirs.nv)), np.zeros((3, theirs.nv))
    mujoco.mj_jacBody(theirs, data, jacp, jacr, 2)
    found = layout.jacobian_from(q, np.vstack([jacr, jacp]))
    assert_close(run(ours, "twist_jacobian", q, frame="b", expressed="aligned"), found)
    assert_close(layout.q_from(layout.q(q)), q, 0)
    assert_close(layout.v_from(q, layout.v(q, v)), v, 0)
    assert_close(layout.a_from(q, v, layout.a(q, v, a)), a, 0)


def test_a_split_joint_without_one_of_its_axes_is_refused() -> None:
    theirs = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><body name="b"><joint name="it_x" type="slide"/>{INERTIAL.format(1.0)}
        </body></worldbody></mujoco>"""
    )
    links = (Link("a"), Link("b"))
    ours = Robot.from_description(Description("split", links, (Joint("it", "planar", "a", "b"),)))
    with pytest.raises(UnknownNameError, match="it_y"):
        ours.to_mujoco(theirs)


def test_models_that_do_not_match_are_refused() -> None:
    arm, floating = pair("arm")[0], pair("floating")[1]
    with pytest.raises(UnknownNameError, match="MuJoCo model"):
        arm.to_mujoco(floating)
    other = mujoco.MjModel.from_xml_string(MODELS["arm"].replace('name="slide" type="slide"', 'name="slide"'))
    with pytest.raises(FormatError, match="'slide' is prismatic here"):
        arm.to_mujoco(other)
    more = mujoco.MjModel.from_xml_string(
        MODELS["arm"].replace('<body name="d"', '<body><joint/><geom size="1"/></body><body name="d"')
    )
    with pytest.raises(FormatError, match="velocities, of which"):
        arm.to_mujoco(more)
