"""What the writers of URDF and MJCF keep, judged by our loaders, Pinocchio and MuJoCo; and what they refuse."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio
import pytest
from described import (
    AXIS,
    CHILD_ORIGIN,
    INERTIA,
    ORIGIN,
    all_kinds,
    assert_same_inertias,
    assert_same_poses,
    close,
    frame_poses,
    joint,
    one_joint,
    random_q,
    rich,
    written,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mjcf_texts import MODELS, as_vec8, mjcf, quiet_model
from robot_data import urdf_file
from test_mjcf import write_stl
from trees import MOVING

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.poses import position, rotation_matrix
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.errors import FormatError, ModelWarning
from dqdyn.formats.load import read
from dqdyn.formats.mjcf.reader import read_mjcf
from dqdyn.formats.mjcf.writer import _TYPES as MJCF_TYPES
from dqdyn.formats.mjcf.writer import write_mjcf
from dqdyn.formats.urdf.reader import read_urdf
from dqdyn.formats.urdf.writer import _TYPES as URDF_TYPES
from dqdyn.formats.urdf.writer import write_urdf
from dqdyn.formats.xml_text import roll_pitch_yaw
from dqdyn.model.description import Description, Joint, Link, Mimic, Shape, placement
from dqdyn.model.inertia import Inertia
from dqdyn.model.joints import joint_kind
from dqdyn.model.joints.joint_kind import ChainPart
from dqdyn.model.layouts import mujoco_layout, pinocchio_layout
from dqdyn.model.model import Model
from dqdyn.robots.builders import describe

ROBOTS = (
    "panda/panda",
    "ur/ur5_robot",
    "kinova/kinova",
    "talos/talos_reduced",
    "tiago/tiago_no_hand",
    "anymal_b_simple/anymal",
    "solo/solo12",
    "baxter/baxter",
    "allegro_hand/allegro_left_hand",
    "pr2/pr2",
    "double_pendulum/double_pendulum_continuous",
    "xarm/xarm7",
    "human/human",
)
PER_AXIS = ("lower", "upper", "velocity", "effort", "damping", "friction", "armature")


WITH_WORLD = ("ur/ur5_robot", "xarm/xarm7")
"""These have a link named world, so that a free base on top is refused, see below."""

CASES = [(name, base) for name in ROBOTS for base in ("fixed", "free") if base == "fixed" or name not in WITH_WORLD]


def _joint_data(model: Model) -> list[tuple[Any, ...]]:
    return [
        (
            j.name,
            j.kind,
            j.q,
            j.v,
            *(getattr(j, name) for name in PER_AXIS),
            j.master and (j.master.ratio, j.master.offset),
        )
        for j in model.joints
    ]


def _shape_data(description: Description) -> dict[str, list[Any]]:
    return {
        link.name: [
            (s.kind, s.size, s.name, s.mesh, s.path, s.color, s.material) for s in (*link.visuals, *link.collisions)
        ]
        for link in description.links
    }


# --- real robots ----------------------------------------------------------------------------------------------------


def test_there_are_at_least_twelve_robots() -> None:
    assert len(ROBOTS) >= 12


@pytest.mark.parametrize(("name", "base"), CASES)
def test_urdf_keeps_everything(name: str, base: str) -> None:
    description = read_urdf(urdf_file(name))
    model = quiet_model(description, base=base)
    text, warned = written(write_urdf, model)
    assert warned == []
    again = read_urdf(text)
    extra = 0 if base == "fixed" else 1
    assert [link.name for link in again.links[extra:]] == [link.name for link in description.links]
    assert [joint.name for joint in again.joints[extra:]] == [joint.name for joint in description.joints]
    assert [joint.mimic for joint in again.joints[extra:]] == [joint.mimic for joint in description.joints]
    assert [link.inertia for link in again.links[extra:]] == [link.inertia for link in description.links]
    without_paths = lambda data: {k: [s[:4] + s[5:] for s in v] for k, v in data.items()}  # text has no folder
    shapes, again_shapes = without_paths(_shape_data(description)), without_paths(_shape_data(again))
    assert shapes.items() <= again_shapes.items()
    for one, two in zip(description.links, again.links[extra:], strict=True):
        for a, b in zip((*one.visuals, *one.collisions), (*two.visuals, *two.collisions), strict=True):
            assert close(a.origin.vec8(), b.origin.vec8())
    loaded = quiet_model(again)
    assert _joint_data(loaded) == _joint_data(model)
    assert_same_inertias(model, loaded)
    q = random_q(model, 5)
    assert_same_poses(model, q, loaded, q)
    _assert_pinocchio_agrees(text, model)


def _assert_pinocchio_agrees(text: str, model: Model) -> None:
    free = quiet_model(model.description, base=model.base, mimic=False)
    theirs = pinocchio.buildModelFromXML(text)
    data = theirs.createData()
    q = random_q(free, 6)
    pinocchio.framesForwardKinematics(theirs, data, pinocchio_layout(free, theirs).q(q))
    poses = frame_poses(free, q)
    for link in model.description.links:
        found = data.oMf[theirs.getFrameId(link.name, pinocchio.FrameType.BODY)]
        expected = DQ(poses[link.name])
        np.testing.assert_allclose(found.rotation, rotation_matrix(expected), atol=1e-10)
        np.testing.assert_allclose(found.translation, position(expected).vector, atol=1e-10)
    assert sum(inertia.mass for inertia in list(theirs.inertias)[1:]) == pytest.approx(model.mass, abs=1e-10)


@pytest.mark.parametrize(("name", "base"), CASES)
def test_mjcf_keeps_poses_masses_names_and_limits(name: str, base: str) -> None:
    description = _without_meshes(read_urdf(urdf_file(name)))  # the test of meshes is below, and they are slow
    model = quiet_model(description, base=base)
    text, _ = written(write_mjcf, model)
    again = read_mjcf(text)
    loaded = quiet_model(again)
    new = set() if base == "fixed" else {"world", "root_joint"}
    assert {link.name for link in again.links} - new == {link.name for link in description.links}
    assert {joint.name for joint in again.joints} - new == {joint.name for joint in description.joints}
    assert _joint_data(loaded) == _joint_data(model)
    assert_same_inertias(model, loaded)
    q = random_q(model, 7)
    assert_same_poses(model, q, loaded, q)
    _assert_mujoco_agrees(text, model)


def _without_meshes(description: Description) -> Description:
    links = tuple(
        Link(
            link.name,
            link.inertia,
            *(tuple(s for s in shapes if s.kind != "mesh") for shapes in (link.visuals, link.collisions)),
        )
        for link in description.links
    )
    return description.with_changes(links=links)


def _assert_mujoco_agrees(text: str, model: Model, tolerance: float = 1e-12) -> None:
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    q = random_q(model, 8)
    data.qpos[:] = mujoco_layout(model, theirs).q(q)
    mujoco.mj_kinematics(theirs, data)
    poses = frame_poses(model, q)
    bodies = {theirs.body(i).name: i for i in range(theirs.nbody)}
    for link in model.description.links:
        if link.name in bodies:
            i = bodies[link.name]
            assert close(poses[link.name], as_vec8(data.xpos[i], data.xquat[i]), tolerance), link.name
    for i in range(theirs.nsite):
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, data.site_xmat[i])
        assert close(poses[theirs.site(i).name], as_vec8(data.site_xpos[i], quaternion), tolerance)
    moving = theirs.body_weldid != 0
    assert theirs.body_mass[moving].sum() == pytest.approx(model.mass, rel=1e-12)
    np.testing.assert_array_equal(theirs.opt.gravity, model.gravity)


@pytest.mark.parametrize("name", ["panda/panda", "talos/talos_reduced", "anymal_b_simple/anymal"])
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_the_mass_matrices_of_the_written_files_agree(name: str, base: str) -> None:
    """URDF in Pinocchio and MJCF in MuJoCo: two files of ours judged by two libraries that share nothing."""
    model = quiet_model(_without_meshes(read_urdf(urdf_file(name))), base=base, mimic=False)
    one = pinocchio.buildModelFromXML(written(write_urdf, model)[0])
    two = mujoco.MjModel.from_xml_string(written(write_mjcf, model)[0])
    q = random_q(model, 11)
    first, second = pinocchio_layout(model, one), mujoco_layout(model, two)
    upper = np.triu(pinocchio.crba(one, one.createData(), first.q(q)))
    data, full = mujoco.MjData(two), np.zeros((two.nv, two.nv))
    data.qpos[:] = second.q(q)
    mujoco.mj_forward(two, data)
    mujoco.mj_fullM(two, data, full)
    expected = first.mass_matrix_from(q, upper + np.triu(upper, 1).T)
    np.testing.assert_allclose(second.mass_matrix_from(q, full), expected, atol=1e-11)


# --- every kind of joint --------------------------------------------------------------------------------------------


def _parts(kind: str) -> tuple[ChainPart, ...]:
    return joint_kind(joint(kind)).expansion()


def _coupled(kind: str) -> int:
    """How many parts of the chain follow another one."""
    return sum(part.ratio is not None for part in _parts(kind))


URDF_KINDS = [kind for kind in MOVING if kind in URDF_TYPES or _parts(kind)]
MJCF_KINDS = [kind for kind in MOVING if kind in MJCF_TYPES or (_parts(kind) and not _coupled(kind))]


def _urdf_q(model: Model, q: np.ndarray, loaded: Model) -> np.ndarray:
    """q of the written chain: its parts by name; three angles for a spherical joint."""
    result = np.zeros(loaded.nq)
    for one in model.joints:
        own = q[one.q]
        if any(j.name == one.name for j in loaded.joints):
            result[loaded.joint(one.name).q] = own
        elif one.kind == "spherical":
            angles = roll_pitch_yaw(placement(quaternion=own))
            for suffix, angle in zip(("_roll", "_pitch", "_yaw"), angles, strict=True):
                result[loaded.joint(one.name + suffix).q] = angle
        else:
            for part in one.motion.expansion():
                if part.q is not None:
                    result[loaded.joint(f"{one.name}_{part.suffix}").q] = own[part.q]
    return result


@pytest.mark.parametrize("kind", URDF_KINDS)
def test_urdf_of_every_kind_of_joint(kind: str) -> None:
    model = quiet_model(one_joint(kind))
    text, warned = written(write_urdf, model)
    assert warned == []
    loaded = quiet_model(read_urdf(text))
    assert loaded.nv == model.nv
    for seed in range(4):
        q = random_q(model, seed)
        assert_same_poses(model, q, loaded, _urdf_q(model, q, loaded))
    assert loaded.mass == pytest.approx(model.mass, rel=1e-15)
    assert pinocchio.buildModelFromXML(text).nv == model.nv + _coupled(kind)  # it does not couple mimic joints


def test_urdf_of_all_kinds_in_one_chain() -> None:
    model = quiet_model(all_kinds(URDF_KINDS))
    loaded = quiet_model(read_urdf(written(write_urdf, model)[0]))
    q = random_q(model, 3)
    assert_same_poses(model, q, loaded, _urdf_q(model, q, loaded), 1e-11)


def test_urdf_splits_data_per_axis() -> None:
    limits = {"lower": (-1.0, -2.0), "upper": (3.0, 4.0), "velocity": (5.0, 6.0), "effort": (7.0, 8.0)}
    model = quiet_model(one_joint("cylindrical", **limits, damping=(0.1, 0.2), friction=0.3))
    again = {j.name: j for j in read_urdf(written(write_urdf, model)[0]).joints}
    turn, slide = again["cylindrical_joint_rotation"], again["cylindrical_joint_translation"]
    assert [getattr(turn, name) for name in PER_AXIS[:6]] == [-1.0, 3.0, 5.0, 7.0, 0.1, 0.3]
    assert [getattr(slide, name) for name in PER_AXIS[:6]] == [-2.0, 4.0, 6.0, 8.0, 0.2, 0.3]


def test_urdf_writes_a_planar_joint_with_data_as_a_chain() -> None:
    model = quiet_model(one_joint("planar", lower=(-1.0, -2.0, -3.0), upper=(1.0, 2.0, 3.0), damping=0.5))
    loaded = quiet_model(read_urdf(written(write_urdf, model)[0]))
    assert [(j.kind, j.lower, j.damping) for j in loaded.joints] == [
        ("prismatic", (-1.0,), (0.5,)),
        ("prismatic", (-2.0,), (0.5,)),
        ("revolute", (-3.0,), (0.5,)),
    ]
    q = random_q(model, 1)
    assert_same_poses(model, q, loaded, _urdf_q(model, q, loaded))


def test_urdf_of_a_helical_joint_that_mimics_and_is_mimicked() -> None:
    description = Description(
        "screws",
        tuple(Link(name, INERTIA) for name in "abcd"),
        (
            joint("revolute", "a", "b"),
            joint("helical", "b", "c", mimic=Mimic("revolute_joint", 2.0, 0.5)),
            joint("prismatic", "c", "d", mimic=Mimic("helical_joint", -1.0, 0.25)),
        ),
    )
    model = quiet_model(description)
    loaded = quiet_model(read_urdf(written(write_urdf, model)[0]))
    assert loaded.nq == model.nq == 1
    assert_same_poses(model, np.array([0.7]), loaded, np.array([0.7]))


@pytest.mark.parametrize("child_origin", ["turned", "shifted", "none"])
@pytest.mark.parametrize("kind", [kind for kind in MJCF_KINDS if kind != "free"])
def test_mjcf_of_every_kind_of_joint(kind: str, child_origin: str) -> None:
    changes = {
        "turned": {},
        "shifted": {"child_origin": placement((1.0, 2.0, 3.0))},
        "none": {"child_origin": IDENTITY},
    }
    model = quiet_model(one_joint(kind, **changes[child_origin]))
    text, warned = written(write_mjcf, model)
    assert warned == []
    _assert_mujoco_agrees(text, model)
    loaded = quiet_model(read_mjcf(text))
    q = random_q(model, 2)
    assert_same_poses(model, q, loaded, q)
    assert loaded.nv == model.nv


def test_mjcf_of_all_kinds_in_one_chain() -> None:
    model = quiet_model(all_kinds([kind for kind in MJCF_KINDS if kind != "free"]))
    _assert_mujoco_agrees(written(write_mjcf, model)[0], model, 1e-11)


def test_mjcf_of_a_free_joint_that_does_not_start_at_the_origin() -> None:
    damping = (1.0, 1.0, 1.0, 2.0, 3.0, 4.0)
    model = quiet_model(one_joint("free", damping=damping))
    loaded = quiet_model(read_mjcf(written(write_mjcf, model)[0]))
    q = random_q(model, 2)
    assert [(j.kind, j.damping[0]) for j in loaded.joints] == [
        ("prismatic", 2.0),
        ("prismatic", 3.0),
        ("prismatic", 4.0),
        ("spherical", 1.0),
    ]
    assert_same_poses(model, q, loaded, np.roll(q, 3))


@pytest.mark.parametrize("child_origin", [IDENTITY, ORIGIN])
def test_mjcf_of_a_free_joint_on_the_world(child_origin: Any) -> None:
    links = (Link("world"), Link("body", INERTIA))
    description = Description(
        "flyer", links, (Joint("fly", "free", "world", "body", child_origin=child_origin, damping=0.5),)
    )
    model = quiet_model(description)
    text, warned = written(write_mjcf, model)
    assert warned == []
    _assert_mujoco_agrees(text, model)
    assert quiet_model(read_mjcf(text)).joints[0].damping == (0.5,) * 6


@pytest.mark.parametrize("base", ["free", "planar"])
@pytest.mark.parametrize("name", ["arm6", "humanoid", "holonomic_manipulator"])
def test_a_moving_base_becomes_a_joint_on_the_world(name: str, base: str) -> None:
    model = quiet_model(describe(name), base=base)
    q = random_q(model, 4)
    urdf, mujoco_text = written(write_urdf, model)[0], written(write_mjcf, model)[0]
    loaded = quiet_model(read_urdf(urdf), base="fixed")
    assert_same_inertias(model, loaded)
    assert _joint_data(loaded) == _joint_data(model)
    assert_same_poses(model, q, loaded, q)
    _assert_pinocchio_agrees(urdf, model)
    _assert_mujoco_agrees(mujoco_text, model)


def test_a_long_chain_is_read_by_load() -> None:
    model = quiet_model(describe("chain", 150))
    assert quiet_model(read(write_mjcf(model))).nq == 150


@pytest.mark.parametrize("name", MODELS)
def test_models_read_from_mjcf_are_written(name: str) -> None:
    model = quiet_model(read_mjcf(mjcf(MODELS[name])))
    _assert_mujoco_agrees(written(write_mjcf, model)[0], model)
    loaded = quiet_model(read_urdf(written(write_urdf, model)[0]))
    q = random_q(model, 12)
    assert_same_poses(model, q, loaded, _urdf_q(model, q, loaded))


def test_massless_links_between_joints_share_a_body_in_mjcf_and_keep_their_names() -> None:
    links = [Link(name, INERTIA if name in ("base", "tip") else Inertia()) for name in ("base", "one", "two", "tip")]
    description = Description(
        "chain",
        tuple(links),
        (
            joint("revolute", "base", "one"),
            joint("prismatic", "one", "two"),
            joint("universal", "two", "tip"),
        ),
    )
    model = quiet_model(description)
    text, _ = written(write_mjcf, model)
    assert mujoco.MjModel.from_xml_string(text).nbody == 3
    _assert_mujoco_agrees(text, model)
    loaded = quiet_model(read_mjcf(text))
    q = random_q(model, 2)
    assert_same_poses(model, q, loaded, q)


def test_mjcf_moves_inertias_that_mujoco_refuses_to_the_body_they_are_fixed_to() -> None:
    impossible = Inertia(0.001, (0.1, 0.0, 0.0), np.diag([1e-6, 1e-6, 1e-4]))
    description = one_joint("revolute")
    links = (*description.links, Link("imu", impossible))
    joints = (*description.joints, Joint("imu_joint", "fixed", "tool", "imu", ORIGIN))
    model = quiet_model(description.with_changes(links=links, joints=joints))
    text, _ = written(write_mjcf, model)
    _assert_mujoco_agrees(text, model)
    _assert_same_body_inertia(model, quiet_model(read_mjcf(text)), "tip")


def test_mjcf_of_points_that_have_inertia_together() -> None:
    point = Inertia(1.0)
    places = [placement(xyz) for xyz in ((0.3, 0.0, 0.0), (0.0, 0.4, 0.1))]
    fixed = tuple(Joint(f"rod{i}", "fixed", "tip", f"point{i}", place) for i, place in enumerate(places))
    links = (Link("base"), Link("tip", point), *(Link(one.child, point) for one in fixed))
    model = quiet_model(Description("points", links, (joint("revolute"), *fixed)))
    text, _ = written(write_mjcf, model)
    _assert_mujoco_agrees(text, model)
    _assert_same_body_inertia(model, quiet_model(read_mjcf(text)), "tip")


def test_mjcf_of_thin_discs_whose_moments_rounding_would_make_impossible() -> None:
    links, joints = [Link("base")], []
    for i, angle in enumerate(np.linspace(0.1, 6.0, 40)):
        disc = Inertia(1.0, (0.0, 0.0, 0.0), np.diag([0.1, 0.2, 0.3])).moved_by(placement(rpy=(angle, 2 * angle, 3.0)))
        links.append(Link(f"disc{i}", disc))
        joints.append(Joint(f"j{i}", "revolute", "base", f"disc{i}"))
    model = quiet_model(Description("discs", tuple(links), tuple(joints)))
    text, _ = written(write_mjcf, model)
    assert_same_inertias(model, quiet_model(read_mjcf(text)), 1e-15)


@pytest.mark.parametrize("write", [write_urdf, write_mjcf])
def test_a_fixed_joint_with_a_child_origin(write: Any) -> None:
    description = one_joint("revolute")
    glue = Joint("glue", "fixed", "tool", "end", ORIGIN, child_origin=CHILD_ORIGIN)
    links, joints = (*description.links, Link("end", INERTIA)), (*description.joints, glue)
    model = quiet_model(description.with_changes(links=links, joints=joints))
    loaded = quiet_model((read_urdf if write is write_urdf else read_mjcf)(written(write, model)[0]))
    assert_same_poses(model, np.array([0.4]), loaded, np.array([0.4]))
    _assert_same_body_inertia(model, loaded, "end")


def _assert_same_body_inertia(one: Model, two: Model, link: str) -> None:
    """The inertia of the moving body, seen from a link on it: the bodies' own frames may differ."""
    found = []
    for model in (one, two):
        frame = model.frames[link]
        found.append(model.bodies[frame.body].inertia.moved_by(frame.placement.conj()))
    assert found[0].mass == pytest.approx(found[1].mass, abs=1e-14)
    np.testing.assert_allclose(found[0].com, found[1].com, atol=1e-13)
    np.testing.assert_allclose(found[0].tensor, found[1].tensor, atol=1e-13)


@pytest.mark.parametrize("write", [write_urdf, write_mjcf])
def test_every_field_that_the_format_has_comes_back(write: Any) -> None:
    model = quiet_model(rich())
    text, warned = written(write, model)
    assert warned == []
    again = (read_urdf if write is write_urdf else read_mjcf)(text)
    loaded = quiet_model(again)
    assert _joint_data(loaded) == _joint_data(model)
    assert _shape_data(model.description).items() <= _shape_data(again).items()
    assert {j.name: j.mimic for j in again.joints}["follow"] == Mimic("slide", -2.5, 0.125)
    q = random_q(model, 9)
    assert_same_poses(model, q, loaded, q)


@pytest.mark.parametrize("write", [write_urdf, write_mjcf])
@pytest.mark.parametrize(
    ("kind", "limits"),
    [
        ("revolute", {}),
        ("prismatic", {}),
        ("revolute", {"lower": -1.0}),
        ("prismatic", {"upper": 0.5, "velocity": 2.0}),
        ("revolute", {"effort": 3.0}),
        ("prismatic", {"lower": 0.25, "upper": 0.25}),
        ("revolute", {"lower": (-1.5,), "upper": (math.inf,), "damping": (0.5,)}),
    ],
)
def test_limits_that_are_missing_stay_missing(write: Any, kind: str, limits: dict[str, Any]) -> None:
    model = quiet_model(one_joint(kind, **limits))
    text, _ = written(write, model)
    loaded = quiet_model((read_urdf if write is write_urdf else read_mjcf)(text))
    assert [_joint_data(loaded)[0][4:]] == [_joint_data(model)[0][4:]]
    if write is write_urdf:
        pinocchio.buildModelFromXML(text)


def test_limits_of_0_are_kept_by_mjcf_and_told_by_urdf() -> None:
    """In URDF 0 stands for what is not known, so that a 0 that is meant is lost."""
    model = quiet_model(one_joint("revolute", velocity=0.0, effort=0.0))
    text, warned = written(write_mjcf, model)
    assert _joint_data(quiet_model(read_mjcf(text)))[0][4:] == _joint_data(model)[0][4:]
    text, warned = written(write_urdf, model)
    for what in ("velocity", "effort"):
        assert f"the {what} 0 of the joint 'revolute_joint', which stands for no limit in URDF" in warned[0]
        assert getattr(quiet_model(read_urdf(text)).joint("revolute_joint"), what) == (math.inf,)


# --- shapes ---------------------------------------------------------------------------------------------------------


def _with_shapes(*shapes: Shape) -> Model:
    links = (Link("base"), Link("arm", INERTIA, shapes, shapes[:1]))
    return quiet_model(Description("shapes", links, (joint("revolute", "base", "arm"),)))


def test_a_capsule_in_urdf_is_a_cylinder_with_two_balls() -> None:
    text, warned = written(write_urdf, _with_shapes(Shape("capsule", (0.1, 0.6), ORIGIN)))
    assert warned == []
    link = read_urdf(text).links[-1]
    assert [(s.kind, s.size) for s in link.visuals] == [
        ("cylinder", (0.1, 0.6)),
        ("sphere", (0.1,)),
        ("sphere", (0.1,)),
    ]
    assert len(link.collisions) == 3
    for shape, sign in zip(link.visuals[1:], (-1.0, 1.0), strict=True):
        assert close(shape.origin.vec8(), (ORIGIN * placement((0.0, 0.0, sign * 0.3))).vec8())


def test_shapes_in_mjcf_come_back(tmp_path: Path) -> None:
    write_stl(tmp_path / "part.STL")
    shapes = (
        Shape("box", (0.1, 0.2, 0.3), ORIGIN, "a", color=(0.1, 0.2, 0.3, 0.4)),
        Shape("capsule", (0.1, 0.6), ORIGIN, "b", color=(1.0, 0.0, 0.0, 1.0), material="paint"),
        Shape("ellipsoid", (0.1, 0.2, 0.3), ORIGIN, "c", color=(0.0, 1.0, 0.0, 1.0), material="paint"),
        Shape("mesh", (1.0, 2.0, 3.0), ORIGIN, "d", "package://part.STL", tmp_path / "part.STL"),
    )
    text, warned = written(write_mjcf, _with_shapes(*shapes))
    assert warned == []
    assert mujoco.MjModel.from_xml_string(text).nmesh == 1
    link = read_mjcf(text).links[-1]
    assert [(s.kind, s.size, s.name, s.color, s.material) for s in link.visuals] == [
        (s.kind, s.size, s.name, s.color, s.material) for s in shapes
    ]
    assert all(close(s.origin.vec8(), ORIGIN.vec8()) for s in link.visuals)
    assert link.visuals[-1].path == tmp_path / "part.STL"
    assert [(s.kind, s.name) for s in link.collisions] == [("box", "a_2")]  # names of geoms are unique


def test_geoms_of_a_written_robot_do_not_touch_each_other() -> None:
    big = (Shape("sphere", (2.0,)),)
    links = tuple(Link(name, INERTIA, (), big) for name in "abcd")
    names = [link.name for link in links]
    joints = tuple(Joint(f"j{i}", "revolute", a, b) for i, (a, b) in enumerate(itertools.pairwise(names)))
    text, _ = written(write_mjcf, quiet_model(Description("balls", links, joints)))
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert (model.ngeom, data.ncon) == (4, 0)
    with_floor = text.replace("<worldbody>", '<worldbody><geom type="plane" size="1 1 1"/>')
    model = mujoco.MjModel.from_xml_string(with_floor)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon == 3


# --- what is left out, and what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("description", "words"),
    [
        (one_joint("revolute", armature=0.5), ["armature of the revolute joint 'revolute_joint'"]),
        (one_joint("spherical", damping=0.5, effort=2.0), ["effort of the spherical", "damping of the spherical"]),
        (one_joint("free", damping=(1, 1, 1, 2, 2, 2)), ["damping of the free joint 'free_joint'"]),
        (one_joint("revolute").with_changes(gravity=(0.0, 0.0, -1.62)), ["gravity (0.0, 0.0, -1.62)"]),
        (
            Description("r", (Link("base", INERTIA, (Shape("ellipsoid", (1, 1, 2)),)),)),
            ["'ellipsoid' on the link 'base'"],
        ),
        (Description("r", (Link("base", INERTIA, (Shape("mesh"),)),)), ["'mesh' on the link 'base'"]),
    ],
)
def test_urdf_says_what_it_leaves_out(description: Description, words: list[str]) -> None:
    model = quiet_model(description)
    with pytest.warns(ModelWarning, match="left out") as caught:
        text = write_urdf(model)
    assert len(caught) == 1
    assert all(word in str(caught[0].message) for word in words)
    assert quiet_model(read_urdf(text)).nv == model.nv


def test_urdf_keeps_even_damping_of_a_free_joint() -> None:
    text, warned = written(write_urdf, quiet_model(one_joint("free", damping=0.5)))
    assert warned == []
    assert quiet_model(read_urdf(text)).joints[0].damping == (0.5,) * 6


@pytest.mark.parametrize("content", [b"solid text\nendsolid\n", b"", b" " * 84, None])
def test_mjcf_says_which_meshes_it_leaves_out(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "part.stl").write_bytes(content)
    shape = Shape("mesh", (1.0, 1.0, 1.0), mesh="package://part.stl", path=tmp_path / "part.stl")
    with pytest.warns(
        ModelWarning, match=r"the shape package://part\.stl on 'arm', which MuJoCo cannot read\.$"
    ):  # said once for both
        text = write_mjcf(_with_shapes(shape))
    assert mujoco.MjModel.from_xml_string(text).ngeom == 0


def test_mjcf_keeps_uneven_damping_for_us_and_says_that_mujoco_has_none() -> None:
    model = quiet_model(one_joint("spherical", damping=(0.1, 0.2, 0.3)))
    with pytest.warns(ModelWarning, match="damping per axis of the joint 'spherical_joint'"):
        text = write_mjcf(model)
    assert quiet_model(read_mjcf(text)).joints[0].damping == (0.1, 0.2, 0.3)


IMPOSSIBLE = Inertia(1.0, (0.0, 0.0, 0.0), np.diag([1.0, 1.0, 3.0]))


def _deep(count: int) -> Description:
    links = tuple(Link(f"l{i}", INERTIA) for i in range(count + 1))
    joints = tuple(Joint(f"j{i}", "revolute", f"l{i}", f"l{i + 1}", axis=AXIS) for i in range(count))
    return Description("deep", links, joints)


def _tip(inertia: Inertia = INERTIA, **changes: Any) -> Description:
    description = one_joint("revolute")
    base, _, _ = description.links
    link = Link("tip", inertia, changes.pop("visuals", ()))
    return description.with_changes(links=(base, link), joints=description.joints[:1], frames=(), **changes)


@pytest.mark.parametrize(
    ("write", "description", "element"),
    [
        *((write_mjcf, one_joint(kind), f"{kind}_joint") for kind in MOVING if kind not in MJCF_KINDS),
        *((write_urdf, one_joint(kind), f"{kind}_joint") for kind in MOVING if kind not in URDF_KINDS),
        (write_mjcf, _tip(Inertia()), "tip"),
        (write_mjcf, _tip(Inertia(1.0)), "tip"),
        (write_mjcf, _tip(IMPOSSIBLE), "tip"),
        (write_mjcf, _tip(Inertia(1.0, (0, 0, 0), np.diag([-1.0, 1.0, 1.0]))), "tip"),
        (write_mjcf, _deep(600), "l490"),
        (write_mjcf, Description("r", (Link("world", INERTIA),)), "world"),
        (
            write_mjcf,
            Description("r", (Link("a"), Link("world", INERTIA)), (joint("revolute", "a", "world"),)),
            "world",
        ),
        (write_mjcf, describe("nonholonomic_manipulator"), "root_joint"),
        (write_urdf, describe("nonholonomic_manipulator"), "root_joint"),
        (
            write_urdf,
            Description("r", (Link("world"), Link("b")), (joint("revolute", "world", "b"),), base="free"),
            "world",
        ),
        (write_mjcf, Description("r", (Link("world"),), base="planar"), "world"),
        (write_urdf, Description("r", (Link("a\n"),)), "a\n"),
        (write_mjcf, Description("r", (Link("a\x00"),)), "a\x00"),
        (write_mjcf, Description("\ud800", (Link("a"),)), "\ud800"),
    ],
)
def test_refusals_name_the_element_and_the_remedy(write: Any, description: Description, element: str) -> None:
    model = quiet_model(description)
    with pytest.raises(FormatError) as caught:
        write(model)
    assert caught.value.element == element
    message = str(caught.value)
    assert repr(element) in message or element == "root_joint"
    assert ": " in message
    assert "\n" not in message
    assert message.endswith(".")


@pytest.mark.parametrize("after", ["revolute", "spherical"])
def test_mjcf_refuses_a_massless_link_between_a_ball_joint_and_another_rotation(after: str) -> None:
    links = (Link("base"), Link("between"), Link("tip", INERTIA))
    joints = (joint("spherical", "base", "between", child_origin=IDENTITY), joint(after, "between", "tip"))
    joints = (joints[0], Joint("second", **{k: v for k, v in joints[1].__dict__.items() if k != "name"}))
    with pytest.raises(FormatError, match="'between'"):
        write_mjcf(quiet_model(Description("balls", links, joints)))


def test_mjcf_refuses_a_massless_link_that_carries_more_than_one_joint_can_move() -> None:
    links = (Link("base"), Link("fork"), Link("left", INERTIA), Link("right", INERTIA))
    joints = (
        joint("revolute", "base", "fork"),
        joint("prismatic", "fork", "left"),
        joint("universal", "fork", "right"),
    )
    with pytest.raises(FormatError, match="'fork'") as caught:
        write_mjcf(quiet_model(Description("fork", links, joints)))
    assert "'revolute_joint'" in str(caught.value)


# --- roll, pitch, yaw -----------------------------------------------------------------------------------------------

angles = st.floats(-math.pi, math.pi)


@settings(deadline=None)
@given(angles, st.one_of(angles, st.floats(-1e-7, 1e-7).map(lambda d: math.pi / 2 + d)), angles)
@example(0.3, math.pi / 2, -1.2)
@example(0.3, -math.pi / 2, -1.2)
@example(0.0, 0.0, 0.0)
@example(math.pi, 0.0, math.pi)
@example(math.pi, math.pi / 2, -math.pi)
def test_angles_give_the_rotation_back(roll: float, pitch: float, yaw: float) -> None:
    x = placement(rpy=(roll, pitch, yaw))
    found = roll_pitch_yaw(x)
    assert close(placement(rpy=found).vec8(), x.vec8(), 1e-15)
    assert abs(found[1]) <= math.pi / 2 + 1e-15
    assert max(abs(found[0]), abs(found[2])) <= math.pi


@settings(deadline=None)
@given(st.lists(st.floats(-1.0, 1.0), min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1))
def test_angles_of_any_quaternion(q: list[float]) -> None:
    x = placement(quaternion=np.array(q) / np.linalg.norm(q))
    assert close(placement(rpy=roll_pitch_yaw(x)).vec8(), x.vec8(), 2e-15)


def test_simple_angles_stay_exact() -> None:
    for rpy in ((0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (0.0, 0.0, -0.5)):
        assert roll_pitch_yaw(placement(rpy=rpy)) == pytest.approx(rpy, abs=1e-16)
    assert roll_pitch_yaw(IDENTITY) == (0.0, 0.0, 0.0)
    assert Quaternion(1.0, 0.0, 0.0, 0.0) == IDENTITY.primary
