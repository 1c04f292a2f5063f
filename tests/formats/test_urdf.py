"""What URDF can say, construct by construct, in small robots; Pinocchio as oracle where it reads the same."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from urdf_text import ARM, INERTIAL, arm_with, changed, robot

from dqdyn.algebra.poses import position, rotation_matrix
from dqdyn.formats.urdf.reader import read_urdf
from dqdyn.model.build import build
from dqdyn.model.description import Description, Joint, Link, Mimic


def link(text: str) -> Link:
    return read_urdf(robot(f'<link name="l">{text}</link>')).links[0]


def joint(kind: str, inside: str = "") -> Joint:
    text = f'<joint name="j" type="{kind}"><parent link="a"/><child link="b"/>{inside}</joint>'
    return read_urdf(robot(f'<link name="a"/><link name="b">{INERTIAL}</link>{text}')).joints[0]


def test_arm() -> None:
    arm = read_urdf(ARM)
    assert isinstance(arm, Description)
    assert arm.name == "arm"
    assert [l.name for l in arm.links] == ["base", "upper", "lower", "tool"]
    assert [(j.name, j.kind, j.parent, j.child) for j in arm.joints] == [
        ("shoulder", "revolute", "base", "upper"),
        ("elbow", "revolute", "upper", "lower"),
        ("flange", "fixed", "lower", "tool"),
    ]
    assert arm.notes == ()
    assert arm.joints[1].mimic == Mimic("shoulder", -2.0, 0.5)
    model = build(arm)
    assert (model.nq, len(model.bodies)) == (1, 2)


def test_file_and_text_agree(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    from_file, from_text = read_urdf(path), read_urdf(ARM)
    assert from_file == read_urdf(str(path))
    assert from_file.source == str(path)
    assert from_file.with_changes(source=from_text.source) == from_text


@pytest.mark.parametrize(
    ("kind", "ours"),
    [
        ("revolute", "revolute"),
        ("continuous", "revolute"),
        ("prismatic", "prismatic"),
        ("fixed", "fixed"),
        ("floating", "free"),
        ("planar", "planar"),
    ],
)
def test_joint_types(kind: str, ours: str) -> None:
    assert joint(kind).kind == ours


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "planar"])
def test_axis(kind: str) -> None:
    assert joint(kind).axis == (1.0, 0.0, 0.0)
    assert joint(kind, '<axis xyz=" 0 -1.0\t0e0 "/>').axis == (0.0, -1.0, 0.0)


def test_planar_axis_is_the_normal_of_the_plane() -> None:
    text = '<joint name="j" type="planar"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>'
    (planar,) = build(read_urdf(robot(f'<link name="a"/><link name="b"/>{text}'))).joints
    for q in np.eye(3)[:2]:
        assert position(planar.motion.pose(q)).y == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(
        rotation_matrix(planar.motion.pose([0, 0, math.pi / 2])) @ [0, 0, 1], [1, 0, 0], atol=1e-15
    )


def test_limits_only_where_given() -> None:
    full = joint("revolute", '<limit lower="-1" upper="2" velocity="3" effort="4"/>')
    assert (full.lower, full.upper, full.velocity, full.effort) == (-1.0, 2.0, 3.0, 4.0)
    half = joint("prismatic", '<limit upper="2"/>')
    assert (half.lower, half.upper, half.velocity, half.effort) == (None, 2.0, None, None)
    endless = joint("revolute", '<limit lower="-inf" upper="1e308"/>')
    assert (endless.lower, endless.upper) == (-math.inf, 1e308)


def test_continuous_joint_keeps_velocity_and_effort() -> None:
    wheel = joint("continuous", '<limit lower="-1" upper="2" velocity="3" effort="4"/>')
    assert (wheel.lower, wheel.upper, wheel.velocity, wheel.effort) == (None, None, 3.0, 4.0)


@pytest.mark.parametrize("kind", ["fixed", "floating", "planar"])
def test_joints_that_take_no_limits(kind: str) -> None:
    found = joint(kind, '<axis xyz="0 0 1"/><limit lower="1" upper="0"/>')
    assert (found.lower, found.upper) == (None, None)


def test_dynamics() -> None:
    found = joint("revolute", '<dynamics damping="0.5" friction="0.25" D="1" K="2"/>')
    assert (found.damping, found.friction) == (0.5, 0.25)
    found = joint("revolute", '<dynamics friction="0.25"/>')
    assert (found.damping, found.friction) == (0.0, 0.25)
    assert joint("fixed", '<dynamics damping="0.5"/>').damping == 0.0


def test_mimic_defaults() -> None:
    assert joint("revolute", '<mimic joint="other"/>').mimic == Mimic("other", 1.0, 0.0)


@given(xyz=st.tuples(*[st.floats(-2, 2)] * 3), rpy=st.tuples(*[st.floats(-4, 4)] * 3))
def test_origin_is_that_of_pinocchio(xyz: tuple[float, ...], rpy: tuple[float, ...]) -> None:
    values = [" ".join(map(repr, v)) for v in (xyz, rpy)]
    origin = joint("floating", f'<origin xyz="{values[0]}" rpy="{values[1]}"/>').origin
    np.testing.assert_allclose(rotation_matrix(origin), pinocchio.rpy.rpyToMatrix(*rpy), atol=1e-14)
    np.testing.assert_allclose(position(origin).vector, xyz, atol=1e-14)


def test_origin_by_quaternion() -> None:
    turned = joint("fixed", '<origin xyz="1 2 3" quat_xyzw="0 0 0.70711 0.70711"/>').origin
    np.testing.assert_allclose(rotation_matrix(turned), [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    np.testing.assert_allclose(position(turned).vector, [1, 2, 3], atol=1e-15)


@given(rpy=st.tuples(*[st.floats(-4, 4)] * 3))
def test_inertia_is_turned_into_the_link_axes(rpy: tuple[float, float, float]) -> None:
    turn = " ".join(map(repr, rpy))
    entries = '<inertia ixx="3" ixy="0.1" ixz="0.2" iyy="4" iyz="0.3" izz="5"/>'
    inertia = link(f'<inertial><mass value="7"/>{entries}<origin xyz="1 2 3" rpy="{turn}"/></inertial>').inertia
    assert inertia.mass == 7.0
    np.testing.assert_allclose(inertia.com, [1, 2, 3], atol=1e-14)
    r = pinocchio.rpy.rpyToMatrix(*rpy)
    expected = r @ np.array([[3, 0.1, 0.2], [0.1, 4, 0.3], [0.2, 0.3, 5]]) @ r.T
    np.testing.assert_allclose(inertia.tensor, expected, atol=1e-13)


def test_without_inertial_there_is_no_inertia() -> None:
    assert link("").inertia.is_zero


def test_shapes() -> None:
    shapes = [
        ('<box size="1 2 3"/>', "box", (1.0, 2.0, 3.0)),
        ('<sphere radius="0.5"/>', "sphere", (0.5,)),
        ('<cylinder radius="0.5" length="2"/>', "cylinder", (0.5, 2.0)),
        ('<capsule radius="0.5" length="2"/>', "capsule", (0.5, 2.0)),
        ('<mesh filename="nowhere/m.stl" scale="1 -1 0.001"/>', "mesh", (1.0, -1.0, 0.001)),
        ('<mesh filename="nowhere/m.stl"/>', "mesh", (1.0, 1.0, 1.0)),
    ]
    origin = '<origin xyz="1 2 3"/>'
    parts = "".join(
        f'<{tag} name="{tag}{i}">{origin}<geometry>{shape}</geometry></{tag}>'
        for i, (shape, _, _) in enumerate(shapes)
        for tag in ("visual", "collision")
    )
    found = link(parts)
    for tag, group in (("visual", found.visuals), ("collision", found.collisions)):
        assert [(s.kind, s.size) for s in group] == [(kind, size) for _, kind, size in shapes]
        assert [s.name for s in group] == [f"{tag}{i}" for i in range(len(shapes))]
        assert all(position(s.origin).vector == (1.0, 2.0, 3.0) for s in group)
        assert group[-1].mesh == "nowhere/m.stl"
        assert group[-1].path is None


def test_materials() -> None:
    def visual(name: str | None, color: str = "") -> str:
        inside = "" if name is None else f'<material name="{name}">{color}</material>'
        return f'<visual><geometry><sphere radius="1"/></geometry>{inside}</visual>'

    color = '<color rgba="0 0 1 0.5"/>'
    first = visual("red") + visual("blue") + visual("red", color) + visual("", color) + visual(None) + visual("painted")
    description = read_urdf(
        robot(
            '<material name="red"><color rgba="1 0 0 1"/></material><material name="painted"><texture/></material>'
            f'<link name="a">{first}</link><link name="b">{visual("blue", color)}</link>'
        )
    )
    blue = (0.0, 0.0, 1.0, 0.5)
    assert [(s.material, s.color) for s in description.links[0].visuals] == [
        ("red", (1.0, 0.0, 0.0, 1.0)),
        ("blue", blue),  # defined in the other link, further down
        ("red", blue),  # its own color goes first
        (None, blue),
        (None, None),
        ("painted", None),
    ]
    assert description.notes == ()


@pytest.mark.parametrize(
    "text",
    [
        arm_with(robot='<gazebo reference="base"><sensor:camera/><origin/></gazebo>'),
        arm_with(robot='<transmission name="t"><mechanicalReduction>1</mechanicalReduction></transmission>'),
        arm_with(robot='<ros2_control name="c"><joint name="x"/></ros2_control>'),
        arm_with(robot='<sensor name="s" type="force_torque"><parent joint="elbow"/></sensor>'),
        arm_with(joint='<safety_controller k_velocity="1"/><calibration rising="0.1"/>'),
        arm_with(link='<contact><lateral_friction value="1"/></contact><sensor/>'),
        arm_with(link='<collision><geometry><sphere radius="1"/></geometry><material name="x"/></collision>'),
        changed('<robot name="arm">', '<robot name="arm" xmlns:xacro="http://wiki.ros.org/xacro" version="1.0">'),
        changed("<robot", "<!-- a comment <with> tags & more -->\n<robot"),
        changed('upper="2"', 'upper="2" acceleration="1" jerk="2"'),
    ],
)
def test_what_dynamics_does_not_need_is_ignored(text: str) -> None:
    description = read_urdf(text)
    assert description.notes == ()
    assert build(description, strict=True) == build(read_urdf(ARM))
