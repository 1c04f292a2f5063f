"""xacro templates, with packages in given folders and without ROS; and formats that are refused by name."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import dqdyn as dq

TEMPLATE = """<robot name="arm" xmlns:xacro="http://wiki.ros.org/xacro">
  <xacro:arg name="mass" default="2"/>
  <xacro:include filename="$(find parts)/links.xacro"/>
  <link name="base"/>
  <xacro:bar name="one" mass="$(arg mass)"/>
  <joint name="j" type="continuous"><parent link="base"/><child link="one"/><axis xyz="0 0 ${2 - 1}"/></joint>
</robot>"""
PARTS = """<robot xmlns:xacro="http://wiki.ros.org/xacro"><xacro:macro name="bar" params="name mass">
  <link name="${name}"><inertial><mass value="${mass}"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><mesh filename="package://parts/bar.stl"/></geometry></visual></link></xacro:macro></robot>"""


@pytest.fixture
def template(tmp_path: Path) -> Path:
    pytest.importorskip("xacro")
    (tmp_path / "elsewhere" / "parts").mkdir(parents=True)
    (tmp_path / "elsewhere" / "parts" / "links.xacro").write_text(PARTS)
    (tmp_path / "elsewhere" / "parts" / "bar.stl").write_bytes(b"")
    (tmp_path / "robot").mkdir()
    path = tmp_path / "robot" / "arm.urdf.xacro"
    path.write_text(TEMPLATE)
    return path


def test_a_template_becomes_a_robot(template: Path) -> None:
    packages = [template.parents[1] / "elsewhere"]
    robot = dq.load(template, package_paths=packages)
    assert (robot.nv, robot.mass) == (1, 2.0)
    assert robot.description.links[1].visuals[0].path == packages[0] / "parts" / "bar.stl"
    assert dq.load(str(template), package_paths=packages, xacro_args={"mass": 3.5}).mass == 3.5
    assert robot.description.source == str(template)


def test_what_goes_wrong_is_one_sentence(template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(dq.LoadError, match="the package 'parts' is in none of the folders searched: give the folder"):
        dq.load(template)
    packages = [template.parents[1] / "elsewhere"]
    template.write_text(TEMPLATE.replace("${2 - 1}", "${2 - unknown}"))
    with pytest.raises(dq.LoadError, match=r"xacro cannot expand it .*unknown.* by xacro_args") as caught:
        dq.load(template, package_paths=packages)
    assert "\n" not in str(caught.value)
    with pytest.raises(dq.LoadError, match="is a xacro template: save it in a file"):
        dq.load(TEMPLATE)
    with pytest.raises(dq.LoadError, match="is not a xacro template, so it takes no xacro_args"):
        dq.load('<robot name="a"><link name="b"/></robot>', xacro_args={"a": 1})
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(dq.MissingExtraError, match=r"needs the package 'xacro': install it with pip"):
        dq.load(template)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"package_paths": "src"}, r"package_paths is a list of folders, as \['src', 'models'\]; found 'src'"),
        ({"package_paths": None}, "package_paths is a list of folders"),
        ({"package_paths": ["/no/such"]}, "package_paths has '/no/such', which is not a folder"),
        ({"package_paths": [3]}, "package_paths has 3, which is not a folder"),
        ({"xacro_args": "mass:=3"}, "xacro_args is a dictionary"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], sentence: str) -> None:
    for source in ('<robot name="a"><link name="b"/></robot>', "arm7"):
        with pytest.raises(dq.LoadError, match=sentence):
            dq.load(source, **options)


def test_arguments_without_a_template_are_refused() -> None:
    for source in ("arm7", "<mujoco><worldbody/></mujoco>", "{}"):
        with pytest.raises(dq.LoadError, match="so it takes no xacro_args: leave them out"):
            dq.load(source, xacro_args={"a": 1})


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("arm.usd", b"PXR-USDC\0\0", "is USD (OpenUSD), which is not read: export it as URDF or MJCF"),
        ("arm.usda", b"#usda 1.0\ndef Xform {}", "is USD (OpenUSD), which is not read"),
        ("arm.txt", b"#usda 1.0\ndef Xform {}", "is USD (OpenUSD), which is not read"),
        ("arm.usdz", b"PK", "is USD (OpenUSD), which is not read"),
        ("arm.sdf", b'<sdf version="1.9"><model name="m"/></sdf>', "is SDF (Gazebo's format), which is not read"),
        ("arm.srdf", b'<robot name="m"/>', "is SRDF, which goes with a URDF"),
    ],
)
def test_other_formats_are_refused_by_name(tmp_path: Path, name: str, content: bytes, sentence: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(dq.LoadError) as caught:
        dq.load(path)
    assert sentence in str(caught.value)
    assert name in str(caught.value)
