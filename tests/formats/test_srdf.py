"""SRDF: postures, groups, pairs of links, bases and passive joints, on an arm and on a robot of example-robot-data."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

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
    "joint": (
        'name="joint1" value="0.1"',
        'name="joint9" value="0.1"',
        "no joint named 'joint9': did you mean",
    ),
    "link": ('link1="base"', 'link1="bass"', "There is no link named 'bass': did you mean 'base'"),
    "group": ('group="hand"><joint', 'group="hnd"><joint', "There is no group named 'hnd'"),
    "value": ('value="-0.2"', 'value="much"', "the state 'home' has value='much' in <joint>"),
    "nan": ('value="-0.2"', 'value="nan"', "the state 'home' has value='nan' in <joint>"),
    "size": ('value="-0.2"', 'value="1 2"', "write 1 numbers"),
    "chain": ('base_link="base" tip_link="wrist"', 'base_link="wrist" tip_link="base"', "leads to 'base', "),
    "itself": ('<group name="hand"><link', '<group name="hand"><group name="all"/><link', "is part of itself"),
    "type": ('type="planar"', 'type="swimming"', "There is no type named 'swimming'"),
    "attribute": ('<group name="arm">', "<group>", "lacks the attribute 'name'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused(case: str) -> None:
    old, new, sentence = BAD[case]
    assert old in SRDF
    with pytest.raises(dq.LoadError) as caught:
        arm(SRDF.replace(old, new))
    assert sentence in str(caught.value)


def test_what_is_not_srdf_is_told() -> None:
    with pytest.raises(dq.LoadError, match="is not SRDF but a URDF file"):
        arm('<robot name="x"><link name="a"/></robot>')
    with pytest.raises(dq.LoadError, match="is not SRDF but <sdf>"):
        arm("<sdf/>")
    with pytest.raises(dq.LoadError, match=r"No file 'arm\.srdf'"):
        arm("arm.srdf")
    with pytest.raises(dq.LoadError, match="is SRDF, which goes with a URDF: give it as srdf"):
        dq.load(SRDF)
