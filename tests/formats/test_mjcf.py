"""The MJCF loader against MuJoCo: poses, Jacobians, inertias, limits; and what it says about the rest."""

from __future__ import annotations

import builtins
import re
import struct
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from described import close, frame_poses
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mjcf_texts import INERTIAL, MODELS, as_vec8, compiled, mjcf, quiet_model, random_qpos

from dqdyn.errors import LoadError, MissingExtraError, install_command
from dqdyn.formats.load import read
from dqdyn.formats.mjcf.reader import read_mjcf
from dqdyn.formats.safe_xml import TEXT
from dqdyn.kinematics.frames import twist_jacobian
from dqdyn.model.layouts import mujoco_layout
from dqdyn.model.model import Model


@pytest.mark.parametrize("name", MODELS)
def test_poses_and_jacobians_of_every_body_and_site(name: str) -> None:
    text = mjcf(MODELS[name])
    model, data = compiled(text)
    description = read_mjcf(text)
    ours = quiet_model(description)
    sites = [frame.name for frame in description.frames]
    rng = np.random.default_rng(3)
    for _ in range(5):
        data.qpos[:] = random_qpos(model, rng)
        mujoco.mj_forward(model, data)
        q, converted = _ours(ours, model, data.qpos)
        poses = frame_poses(ours, q)
        for i in range(1, model.nbody):
            body = model.body(i).name or f"body{i}"
            assert close(poses[body], as_vec8(data.xpos[i], data.xquat[i])), body
            linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
            mujoco.mj_jacBody(model, data, linear, angular, i)
            jacobian = twist_jacobian(ours, ours.frames[body], [float(c) for c in q], "aligned")
            np.testing.assert_allclose(jacobian, converted(np.vstack([angular, linear])), atol=1e-12)
        for i, site in enumerate(sites):
            quaternion = np.zeros(4)
            mujoco.mju_mat2Quat(quaternion, data.site_xmat[i])
            assert close(poses[site], as_vec8(data.site_xpos[i], quaternion)), site


def _ours(ours: Model, model: Any, qpos: np.ndarray) -> tuple[np.ndarray, Any]:
    """Our q, and MuJoCo's Jacobians in our coordinates; written out where names are missing in MuJoCo."""
    if all(model.joint(i).name for i in range(model.njnt)):
        layout = mujoco_layout(ours, model)
        q = layout.q_from(qpos)
        return q, lambda jacobian: layout.jacobian_from(q, jacobian)
    if not np.any(model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE)):
        return qpos.copy(), lambda jacobian: jacobian
    names = [model.joint(i).name or f"joint{i}" for i in range(model.njnt)]
    q, blocks = np.zeros(ours.nq), []
    for name, at, dof in zip(names, model.jnt_qposadr, model.jnt_dofadr, strict=True):
        joint = ours.joint(name)
        own = qpos[at : at + joint.motion.nq]
        q[joint.q] = np.roll(own, 4) if joint.kind == "free" else own
        blocks.append((joint, int(dof), own))

    def convert(jacobian: np.ndarray) -> np.ndarray:
        result = np.zeros((6, ours.nv))
        for joint, dof, own in blocks:
            columns = jacobian[:, dof : dof + joint.motion.nv]
            if joint.kind == "free":
                r = np.zeros(9)
                mujoco.mju_quat2Mat(r, own[3:])
                columns = np.hstack([columns[:, 3:], columns[:, :3] @ r.reshape(3, 3)])
            result[:, joint.v] = columns
        return result

    return q, convert


@pytest.mark.parametrize("name", MODELS)
def test_masses_and_inertias(name: str) -> None:
    text = mjcf(MODELS[name])
    model, _ = compiled(text)
    links = {link.name: link for link in read_mjcf(text).links}
    for i in range(1, model.nbody):
        inertia = links[model.body(i).name or f"body{i}"].inertia
        r = np.zeros(9)
        mujoco.mju_quat2Mat(r, model.body_iquat[i])
        r = r.reshape(3, 3)
        assert inertia.mass == model.body_mass[i]
        np.testing.assert_allclose(inertia.com, model.body_ipos[i] if model.body_mass[i] else 0.0, atol=0)
        np.testing.assert_allclose(inertia.tensor, r @ np.diag(model.body_inertia[i]) @ r.T, atol=1e-15)


def test_joint_data_and_kinds() -> None:
    joints = {joint.name: joint for joint in read_mjcf(mjcf(MODELS["hinges_and_slides"])).joints}
    j1, j2 = joints["j1"], joints["j2"]
    assert (j1.kind, j2.kind) == ("revolute", "prismatic")
    assert (j1.lower, j1.upper) == pytest.approx((-np.pi / 2, np.pi / 4))
    assert (j1.damping, j1.friction, j1.armature) == (0.5, 0.2, 0.1)
    assert (j2.lower, j2.upper, j2.damping, j2.effort) == (-0.2, 0.4, 3.0, None)
    classes = {joint.name: joint for joint in read_mjcf(mjcf(MODELS["frames_and_defaults"])).joints}
    assert (classes["j1"].damping, classes["j1"].armature, classes["j2"].damping) == (7.0, 0.3, 1.0)


def test_names_of_what_has_none_and_of_what_lies_between() -> None:
    description = read_mjcf(mjcf(MODELS["nameless"]))
    assert [link.name for link in description.links] == ["world", "body1@joint0", "body1", "body2"]
    assert [joint.name for joint in description.joints] == ["joint0", "joint1", "joint2"]
    assert [frame.name for frame in description.frames] == ["site0", "site1"]
    welded = read_mjcf(mjcf(MODELS["free"]))
    assert "sole_fixed" in [joint.name for joint in welded.joints if joint.kind == "fixed"]
    assert next(joint for joint in welded.joints if joint.child == "ball").name == "joint2"
    numbered = f'<worldbody><body name="body2">{INERTIAL}<joint/><body/></body><body name="joint0_fixed"/></worldbody>'
    assert [link.name for link in read_mjcf(mjcf(numbered)).links] == ["world", "body2", "body2_", "joint0_fixed"]


def test_an_empty_world_with_one_body_at_its_origin_is_not_a_link() -> None:
    arm = f'<body name="base" {{}}>{INERTIAL}<body name="arm">{INERTIAL}<joint name="j"/></body></body>'
    assert [link.name for link in read_mjcf(mjcf(f"<worldbody>{arm.format('')}</worldbody>")).links] == ["base", "arm"]
    for world in (
        arm.format('pos="0 0 1"'),
        arm.format("") + '<site name="s"/>',
        arm.format("") + '<geom size="1"/>',
        arm.format("") + '<body name="other"/>',
        arm.format('mocap="true"'),
    ):
        description = read_mjcf(mjcf(f"<worldbody>{world}</worldbody>"))
        assert description.links[0].name == "world", world
        assert quiet_model(description).nq == 1


def test_a_site_named_like_a_body_or_joint_is_renamed_and_noted() -> None:
    sites = '<site name="a"/><site name="j"/><site name="a_site"/><site name="world"/>'
    description = read_mjcf(mjcf(f'<worldbody><body name="a">{INERTIAL}<joint name="j"/>{sites}</body></worldbody>'))
    assert [frame.name for frame in description.frames] == ["a_site_", "j_site", "a_site", "world_site"]
    assert any("renamed: 'a_site_', 'j_site', 'world_site'." in note for note in description.notes)
    assert quiet_model(description).nq == 1


def test_gravity_of_the_option_and_its_flag() -> None:
    world = f'<worldbody><body name="a">{INERTIAL}<joint/></body></worldbody>'
    assert read_mjcf(mjcf(f'<option gravity="0 1 -1.62"/>{world}')).gravity == (0.0, 1.0, -1.62)
    off = '<option gravity="0 1 -1.62"><flag gravity="disable"/></option>'
    assert read_mjcf(mjcf(off + world)).gravity == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("actuators", "frcrange", "effort"),
    [
        ("", 'actuatorfrcrange="-5 5"', 5.0),
        ("", 'actuatorfrcrange="-5 6"', None),
        ('<motor joint="j" gear="3" ctrlrange="-2 2"/>', "", 6.0),
        ('<motor joint="j" gear="3" ctrlrange="-2 2"/>', 'actuatorfrcrange="-5 5"', 5.0),
        ('<motor joint="j" gear="3" ctrlrange="-2 1"/>', "", None),
        ('<motor joint="j"/>', "", None),
        ('<position joint="j" kp="100" ctrlrange="-1 1"/>', "", None),
        ('<position joint="j" kp="100" forcerange="-7 7" gear="-2"/>', "", 14.0),
        ('<motor joint="j" ctrlrange="-2 2"/><motor joint="j" ctrlrange="-1 1"/>', "", 3.0),
        ('<motor joint="j" ctrlrange="-2 2" forcerange="-7 7"/>', "", 2.0),
        ('<motor joint="j" ctrlrange="-2 2" forcerange="-1 5"/>', 'actuatorfrcrange="-1 1"', 1.0),
        ('<motor joint="j" ctrlrange="0 2"/><motor joint="j" ctrlrange="-2 0"/>', "", 2.0),
        ('<general joint="j" gainprm="-3" ctrlrange="-2 2"/>', "", 6.0),
        ('<motor joint="j" ctrlrange="-2 2"/><motor joint="j"/>', "", None),
    ],
)
def test_effort_limits(actuators: str, frcrange: str, effort: float | None) -> None:
    world = f'<worldbody><body name="a">{INERTIAL}<joint name="j" {frcrange}/></body></worldbody>'
    description = read_mjcf(mjcf(f"{world}<actuator>{actuators}</actuator>"))
    assert next(joint for joint in description.joints if joint.name == "j").effort == effort


def _two_joints(equality: str) -> str:
    bodies = "".join(f'<body name="b{i}">{INERTIAL}<joint name="j{i}" ref=".{i}"/></body>' for i in (1, 2, 3))
    compiler = '<compiler angle="radian"/>'
    return mjcf(f"{compiler}<worldbody>{bodies}</worldbody><equality>{equality}</equality>")


def test_a_linear_joint_equality_becomes_a_mimic_and_is_noted() -> None:
    text = _two_joints('<joint joint1="j1" joint2="j2" polycoef=".5 -2 0 0 0"/>')
    description = read_mjcf(text)
    mimic = next(joint for joint in description.joints if joint.name == "j1").mimic
    assert mimic is not None
    assert mimic.joint == "j2"
    assert any("softly" in note and "'j1'" in note for note in description.notes)
    # The constraint of MuJoCo must vanish where the mimic puts the joint.
    model, data = compiled(text)
    for q2 in (-0.7, 0.0, 1.3):
        data.qpos[:] = [mimic.ratio * q2 + mimic.offset, q2, 0.0]
        mujoco.mj_forward(model, data)
        assert abs(data.efc_pos[0]) < 1e-15
    data.qpos[0] += 0.1
    mujoco.mj_forward(model, data)
    assert abs(data.efc_pos[0]) > 0.05


@pytest.mark.parametrize(
    "equality",
    [
        '<joint name="e" joint1="j1" joint2="j2" polycoef="0 1 1 0 0"/>',
        '<joint name="e" joint1="j1" joint2="j2" active="false"/>',
    ],
)
def test_other_equalities_are_left_out_and_noted(equality: str) -> None:
    description = read_mjcf(_two_joints(equality))
    assert all(joint.mimic is None for joint in description.joints)
    assert any("equality" in note and "'e (not" in note for note in description.notes)
    assert any("equality" in loss and "'e (not" in loss for loss in description.losses)


def test_equalities_that_close_a_circle_or_repeat_do_not_break_the_model() -> None:
    pairs = (("j1", "j2"), ("j2", "j3"), ("j3", "j1"), ("j2", "j1"), ("j1", "j3"))
    description = read_mjcf(_two_joints("".join(f'<joint joint1="{a}" joint2="{b}"/>' for a, b in pairs)))
    assert quiet_model(description).nq == 1
    assert any("'equality2', 'equality3', 'equality4'" in note for note in description.notes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<joint name="j" type="ball" stiffness="3"/>', "springs of ball and free joints are left out: 'j'"),
        ('<joint name="j" type="ball" range="0 60"/>', "limits of ball joints are left out: 'j'"),
        ('<joint/></body><body name="m" mocap="true">', "mocap bodies are left out: 'm'"),
    ],
)
def test_what_is_not_represented_is_noted(text: str, said: str) -> None:
    description = read_mjcf(mjcf(f'<worldbody><body name="a">{INERTIAL}{text}</body></worldbody>'))
    assert any(said in note for note in description.notes)


def test_tendons_fluids_and_gravity_compensation_are_noted() -> None:
    body = f'<worldbody><body name="a" gravcomp="1">{INERTIAL}<joint name="j"/></body></worldbody>'
    tendon = '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>'
    notes = " ".join(read_mjcf(mjcf(f'<option viscosity="1"/>{body}{tendon}')).notes)
    assert "tendons are left out: 't'" in notes
    assert "compensations of gravity are left out: 'a'" in notes
    assert "fluid" in notes


def test_geoms_become_visuals_and_collisions() -> None:
    geoms = """
      <geom name="g0" type="box" size=".1 .2 .3" pos="1 2 3" quat=".6 .8 0 0" rgba=".1 .2 .3 1"/>
      <geom name="g1" type="sphere" size=".1" contype="0" conaffinity="0" material="red"/>
      <geom name="g2" type="cylinder" size=".1 .2" group="3"/>
      <geom name="g3" type="capsule" size=".1 .2" group="3" contype="0" conaffinity="0"/>
      <geom name="g4" type="ellipsoid" size=".1 .2 .3"/>"""
    asset = '<asset><material name="red" rgba="1 0 0 .5"/></asset>'
    description = read_mjcf(mjcf(f'{asset}<worldbody><body name="a">{INERTIAL}<joint/>{geoms}</body></worldbody>'))
    link = description.links[-1]
    assert [shape.name for shape in link.visuals] == ["g0", "g1", "g3", "g4"]
    assert [shape.name for shape in link.collisions] == ["g0", "g2", "g4"]
    g0, g1, g3, _ = link.visuals
    assert (g0.kind, g0.size, g0.color) == ("box", (0.2, 0.4, 0.6), (0.1, 0.2, 0.3, 1.0))
    np.testing.assert_allclose(g0.origin.vec8(), as_vec8(np.array([1, 2, 3]), np.array([0.6, 0.8, 0, 0])), atol=1e-15)
    assert (g1.material, g1.color, g3.size, g3.color) == ("red", (1.0, 0.0, 0.0, 0.5), (0.1, 0.4), None)


# --- files ----------------------------------------------------------------------------------------------------------

TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)


def write_stl(path: Path, vertices: np.ndarray = TETRAHEDRON) -> None:
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    rows = [struct.pack("<12fH", 0, 0, 0, *np.ravel([vertices[i] for i in face]), 0) for face in faces]
    path.write_bytes(b" " * 80 + struct.pack("<I", len(faces)) + b"".join(rows))


MESH = """
  <compiler meshdir="assets"/>
  <asset><texture name="t" type="2d" file="none.png"/><material name="m" texture="t" rgba=".5 .5 0 1"/>
    <mesh name="k" file="part.stl" scale="2 3 4" {mesh}/></asset>
  <worldbody><geom type="mesh" mesh="k"/><body name="a">{inertial}<joint name="j"/>
    <geom name="g" type="mesh" mesh="k" material="m" pos="1 2 3" quat=".6 .8 0 0"/></body></worldbody>
  <sensor><framepos objtype="geom" objname="g"/></sensor>"""


def test_mesh_files_may_be_missing_where_inertias_are_given(tmp_path: Path) -> None:
    (tmp_path / "robot.xml").write_text(mjcf(MESH.format(mesh="", inertial=INERTIAL)))
    shape = read_mjcf(tmp_path / "robot.xml").links[-1].visuals[0]
    assert (shape.kind, shape.mesh, shape.path, shape.size) == ("mesh", "part.stl", None, (2.0, 3.0, 4.0))
    assert (shape.name, shape.material, shape.color) == ("g", "m", (0.5, 0.5, 0.0, 1.0))
    (tmp_path / "assets").mkdir()
    write_stl(tmp_path / "assets" / "part.stl")
    assert read_mjcf(str(tmp_path / "robot.xml")).links[-1].visuals[0].path == tmp_path / "assets" / "part.stl"


@pytest.mark.parametrize("geom", ['mass="0"', 'density="0"', 'group="2"'])
def test_mesh_files_may_be_missing_where_other_geoms_give_the_mass(geom: str) -> None:
    compiler = '<compiler inertiagrouprange="0 1"/><asset><mesh name="k" file="none.stl"/></asset>'
    geoms = f'<geom size=".1" mass="2"/><geom type="mesh" mesh="k" {geom}/>'
    link = read_mjcf(mjcf(f'{compiler}<worldbody><body name="a"><joint/>{geoms}</body></worldbody>')).links[-1]
    assert link.inertia.mass == 2.0
    assert [(shape.kind, shape.mesh) for shape in link.visuals] == [("sphere", None), ("mesh", "none.stl")]


def test_a_missing_mesh_that_gives_mass_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "robot.xml").write_text(mjcf(MESH.format(mesh="", inertial="")))
    with pytest.raises(LoadError, match=r"robot\.xml: .*part\.stl.*inertial") as caught:
        read_mjcf(tmp_path / "robot.xml")
    assert "\n" not in str(caught.value)
    assert caught.value.file.endswith("robot.xml")


@pytest.mark.parametrize("inertial", ["", INERTIAL], ids=["mass from the mesh", "mass given"])
@pytest.mark.parametrize("mesh", ["", 'refpos=".1 .2 .3"'])
def test_vertices_of_a_mesh_stand_where_mujoco_puts_them(tmp_path: Path, mesh: str, inertial: str) -> None:
    (tmp_path / "assets").mkdir()
    write_stl(tmp_path / "assets" / "part.stl")
    text = mjcf(MESH.format(mesh=mesh, inertial=inertial)).replace(
        'file="none.png"', 'builtin="flat" width="1" height="1"'
    )
    (tmp_path / "robot.xml").write_text(text)
    shape = read_mjcf(tmp_path / "robot.xml").links[-1].visuals[0]
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    r = np.zeros(9)
    geom = model.geom("g").id
    mujoco.mju_quat2Mat(r, model.geom_quat[geom])
    theirs = model.mesh_vert @ r.reshape(3, 3).T + model.geom_pos[geom]
    from dqdyn.algebra.poses import rotation_matrix

    ours = (TETRAHEDRON * shape.size) @ rotation_matrix(shape.origin).T + np.array(shape.origin.translation().vec3())
    assert {tuple(v) for v in theirs.round(5) + 0.0} == {tuple(v) for v in ours.round(5) + 0.0}


def test_an_uneven_mesh_on_turned_axes_is_left_out_and_noted() -> None:
    description = read_mjcf(mjcf(MESH.format(mesh='refquat=".5 .5 .5 .5"', inertial=INERTIAL)))
    assert description.links[-1].visuals == ()
    assert any("'g'" in note for note in description.notes)


@pytest.mark.parametrize(
    "text",
    [
        "<mujoco>",
        "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>",
        "<mujoco><worldbody><bdy/></worldbody></mujoco>",
        '<mujoco><include file="nothing.xml"/></mujoco>',
        '<mujoco><worldbody><body name="a"/><body name="a"/></worldbody></mujoco>',
        f'<mujoco><worldbody><body>{INERTIAL}<joint name="j" axis="0 0 0"/></body></worldbody></mujoco>',
        '<mujoco><custom><text name="dqdyn:velocity:j" data="fast"/></custom><worldbody><body name="a">'
        f'{INERTIAL}<joint name="j"/></body></worldbody></mujoco>',
        "<robot name='r'/>",
    ],
)
def test_every_fault_is_one_sentence_that_names_the_file(text: str, tmp_path: Path) -> None:
    for source in (text, tmp_path / "bad.xml"):
        (tmp_path / "bad.xml").write_text(text)
        with pytest.raises(LoadError) as caught:
            read_mjcf(source)
        assert str(caught.value).startswith(TEXT if source is text else str(source))
        assert "\n" not in str(caught.value)


def test_missing_files_and_directories(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="No file"):
        read_mjcf(tmp_path / "nothing.xml")
    with pytest.raises(LoadError, match="directory"):
        read_mjcf(tmp_path)


def test_load_recognises_mjcf(tmp_path: Path) -> None:
    text = mjcf(MODELS["hinges_and_slides"])
    (tmp_path / "robot.xml").write_text(text)
    assert read(text) == read_mjcf(text)
    assert read(tmp_path / "robot.xml") == read_mjcf(tmp_path / "robot.xml")


def test_without_mujoco_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "mujoco":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=re.escape(install_command("mujoco", "mjcf"))):
        read_mjcf("<mujoco/>")


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_damaged_text_gives_a_description_or_a_load_error(data: st.DataObject) -> None:
    text = mjcf(MODELS[data.draw(st.sampled_from(sorted(MODELS)))])
    start = data.draw(st.integers(0, len(text) - 1))
    stop = data.draw(st.integers(start, min(len(text), start + 30)))
    damaged = text[:start] + data.draw(st.text(alphabet='<>/"= abc019.-', max_size=6)) + text[stop:]
    if "<" in damaged:
        try:
            said = read_mjcf(damaged).name
        except LoadError as error:
            said = str(error)
        assert "\n" not in said
