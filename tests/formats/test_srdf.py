"""SRDF: postures, groups, pairs of links, bases and passive joints, on an arm and on a robot of example-robot-data."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest
from robot_data import urdf_file
from trees import assert_close

import dqdyn as dq
from dqdyn.formats.urdf.writer import write_urdf
from dqdyn.robot import Robot

SRDF = """
<robot name="arm6">
  <group name="arm"><chain base_link="base" tip_link="wrist"/></group>
  <group name="hand"><link name="flange"/></group>
  <group name="all"><group name="arm"/><group name="hand"/><joint name="joint1"/></group>
  <group_state name="home" group="arm"><joint name="joint1" value="0.1"/>
    <joint name="joint2" value="-0.2"/></group_state>
  <group_state name="open" group="arm"><joint name="joint1" value="0.3"/></group_state>
  <group_state name="open" group="hand"><joint name="joint6" value="0.4"/></group_state>
  <disable_collisions link1="base" link2="shoulder" reason="Adjacent"/>
  <passive_joint name="joint4"/>
  <virtual_joint name="on" type="planar" parent_frame="map" child_link="base"/>
  <end_effector name="tool" parent_link="flange" group="hand"/>
</robot>"""


def arm(srdf: str = SRDF, **options: Any) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        return dq.load(write_urdf(dq.robots.arm6().model), srdf=srdf, **options)


def test_what_is_read() -> None:
    robot = arm()
    assert robot.groups["arm"] == ("joint1", "joint2", "joint3", "joint4", "joint5")
    assert robot.groups["hand"] == ("joint6",)
    assert robot.groups["all"] == tuple(f"joint{i}" for i in range(1, 7))
    assert robot.disabled_pairs == (("base", "shoulder"),)
    assert robot.base == "planar"
    assert robot.actuated[3:].tolist() == [True, True, True, False, True, True]
    assert any("<end_effector>" in loss for loss in robot.description.losses)
    assert arm(base="fixed").nq == 6
    assert arm(base="free").base == "free"


def test_postures_are_named_by_their_group_where_two_share_a_name() -> None:
    postures = arm(base="fixed").postures
    assert set(postures) == {"home", "arm/open", "hand/open"}
    assert_close(postures["home"], [0.1, -0.2, 0, 0, 0, 0], 0.0)
    assert_close(postures["hand/open"], [0, 0, 0, 0, 0, 0.4], 0.0)


def test_json_and_edited_robots_keep_them(tmp_path: Path) -> None:
    robot = arm()
    again = dq.load(robot.write(tmp_path / "arm.json"))
    assert (again.groups, again.disabled_pairs) == (robot.groups, robot.disabled_pairs)
    assert_close(again.postures["home"], robot.postures["home"], 0.0)
    loaded = robot.with_payload("flange", 1.0)
    assert (loaded.groups, set(loaded.postures)) == (robot.groups, set(robot.postures))


def test_urdf_says_that_it_loses_them(tmp_path: Path) -> None:
    with pytest.raises(dq.FormatError, match=r"posture 'home'; .*group 'arm'; .*that 'base' and") as caught:
        arm(base="fixed").write(tmp_path / "arm.urdf")
    assert "the group 'hand'" in caught.value.losses
    assert list(tmp_path.iterdir()) == []


def test_a_robot_of_example_robot_data() -> None:
    path = Path(urdf_file("panda/panda"))
    srdf = path.parents[1] / "srdf" / "panda.srdf"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        robot = dq.load(path, srdf=srdf)
    assert len(robot.disabled_pairs) == srdf.read_text().count("<disable_collisions")
    assert set(robot.postures)
    for q in robot.postures.values():
        assert q.shape == (robot.nq,)


BAD = {
    "value": ('value="-0.2"', 'value="much"', "the state 'home' has value='much' in <joint>"),
    "nan": ('value="-0.2"', 'value="nan"', "the state 'home' has value='nan' in <joint>"),
    "size": ('value="-0.2"', 'value="1 2"', "write 1 numbers"),
    "itself": ('<group name="hand"><link', '<group name="hand"><group name="all"/><link', "is part of itself"),
    "type": ('type="planar"', 'type="swimming"', "There is no type named 'swimming'"),
    "attribute": ('<group name="arm">', "<group>", "lacks the attribute 'name'"),
    "base": ('name="joint1" value="0.1"', 'name="on" value="0 0 0 0 0 0 2"', "has a quaternion of length 2 in <joint>"),
}
DOUBTFUL = {
    "joint": ('name="joint1" value="0.1"', 'name="joint9" value="0.1"', "<joint> of 'joint9'", "no such joint"),
    "link": ('link1="base"', 'link1="bass"', "<disable_collisions> of 'bass'", "no such link"),
    "group": ('<group name="hand"/>', '<group name="hnd"/>', "<group> of 'hnd'", "no such group"),
    "chain": (
        '"base" tip_link="wrist"',
        '"wrist" tip_link="base"',
        "chain from 'wrist' to 'base'",
        "is not below its base",
    ),
    "passive": ('_joint name="joint4"', '_joint name="joint0"', "<passive_joint> of 'joint0'", "no such joint"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused(case: str) -> None:
    old, new, sentence = BAD[case]
    assert old in SRDF
    with pytest.raises(dq.LoadError) as caught:
        arm(SRDF.replace(old, new))
    assert sentence in str(caught.value)


@pytest.mark.parametrize("case", DOUBTFUL)
def test_what_the_robot_has_not_is_left_out_and_noted(case: str) -> None:
    old, new, what, why = DOUBTFUL[case]
    assert old in SRDF
    robot = arm(SRDF.replace(old, new))
    (said,) = [text for text in robot.warnings if what in text]
    assert why in said
    assert any(what in loss and why in loss for loss in robot.description.losses)
    with pytest.raises(dq.ModelError, match=why):
        arm(SRDF.replace(old, new), strict=True)


def test_the_base_may_have_coordinates_in_a_posture() -> None:
    free = SRDF.replace('name="joint2" value="-0.2"', 'name="on" value="1 2 3 0 0.6 0 0.8"')
    assert_close(arm(free, base="free").postures["home"][:7], [0.8, 0, 0.6, 0, 1, 2, 3], 1e-15)
    assert_close(arm(free, base="fixed").postures["home"], [0.1, 0, 0, 0, 0, 0], 0.0)
    planar = SRDF.replace('name="joint2" value="-0.2"', 'name="root_joint" value="1 2 3"')
    assert_close(arm(planar).postures["home"][:4], [1, 2, 3, 0.1], 0.0)


SRDF_ROBOTS = ["a1/a1", "centauro/centauro", "bolt/bolt", "go1/go1", "solo/solo", "icub/icub"]


@pytest.mark.parametrize("base", ["free", "fixed"])
@pytest.mark.parametrize("name", SRDF_ROBOTS)
def test_postures_are_those_of_pinocchio(name: str, base: Any) -> None:
    path = urdf_file(name)
    (srdf,) = [file for file in path.parents[1].rglob("*.srdf") if file.stem == path.stem]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        robot = dq.load(path, srdf=srdf, base=base, mimic=False)
    root = (pinocchio.JointModelFreeFlyer(),) if base == "free" else ()
    theirs = pinocchio.buildModelFromUrdf(str(path), *root)
    pinocchio.loadReferenceConfigurations(theirs, str(srdf), False)
    expected = {entry.key(): np.array(entry.data()) for entry in theirs.referenceConfigurations}
    layout = robot.to_pinocchio(theirs)
    assert expected
    for posture, q in expected.items():
        assert_close(layout.q(robot.postures[posture]), q, 1e-12)


def test_what_is_not_srdf_is_told() -> None:
    with pytest.raises(dq.LoadError, match="is not SRDF but a URDF file"):
        arm('<robot name="x"><link name="a"/></robot>')
    with pytest.raises(dq.LoadError, match="is not SRDF but <sdf>"):
        arm("<sdf/>")
    with pytest.raises(dq.LoadError, match=r"No file 'arm\.srdf'"):
        arm("arm.srdf")
    with pytest.raises(dq.LoadError, match="is SRDF, which goes with a URDF: give it as srdf"):
        dq.load(SRDF)
