"""Numbers that are none, limits at the edge, and names that two things share: refused or resolved, with a sentence."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mjcf_texts import INERTIAL, quiet_model

import dqdyn as dq
from dqdyn.constraints import KnifeEdge, PointContact
from dqdyn.errors import LoadError, ModelError, ModelWarning
from dqdyn.formats.mjcf.reader import read_mjcf
from dqdyn.formats.urdf.reader import read_urdf
from dqdyn.model.build import build
from dqdyn.model.description import Description, Joint, Link, Mimic, NamedFrame, Shape, placement
from dqdyn.model.inertia import Inertia
from dqdyn.model.model import WORLD_BODY


def chain(*joints: Joint) -> Description:
    links = dict.fromkeys(name for joint in joints for name in (joint.parent, joint.child))
    body = Inertia(1.0, (0.0, 0.0, 0.0), np.eye(3))
    return Description("r", tuple(Link(name, body) for name in links), joints)


WHOLE = f"""
<mujoco>
  <compiler angle="radian"/>
  <option gravity="0 0 -1"/>
  <default><joint damping="0" frictionloss="0"/></default>
  <asset><mesh name="m" file="no.stl" scale="1 1 1"/></asset>
  <worldbody>
    <body name="b" pos="0 0 1" quat="1 0 0 0">
      {INERTIAL}
      <joint name="j" type="hinge" pos="0 0 2" axis="0 0 1" range="-1 1" limited="true" ref="0" armature="0"
             actuatorfrcrange="-2 2"/>
      <geom type="sphere" size=".1" pos="0 0 3" rgba="0 0 0 1"/>
      <geom type="mesh" mesh="m" pos="0 0 4"/>
      <site name="s" pos="0 0 5"/>
    </body>
    <body name="c">{INERTIAL}<joint name="k" type="slide"/></body>
  </worldbody>
  <equality><joint joint1="j" joint2="k" polycoef="0 1 0 0 0"/></equality>
  <actuator><motor joint="j" gear="3" forcerange="-4 4" ctrlrange="-5 5"/></actuator>
</mujoco>"""
ATTRIBUTES = (
    'gravity="0 0 -1"',
    'damping="0"',
    'frictionloss="0"',
    'scale="1 1 1"',
    'pos="0 0 1" quat',
    'quat="1 0 0 0"',
    'pos="0 0 2"',
    'axis="0 0 1"',
    'range="-1 1"',
    'ref="0"',
    'armature="0"',
    'actuatorfrcrange="-2 2"',
    'size=".1"',
    'pos="0 0 3"',
    'rgba="0 0 0 1"',
    'pos="0 0 4"',
    'pos="0 0 5"',
    'polycoef="0 1 0 0 0"',
    'gear="3"',
    'forcerange="-4 4"',
    'ctrlrange="-5 5"',
    'mass="2"',
    'diaginertia=".03 .02 .04"',
)


def test_the_text_is_read_as_long_as_it_is_whole() -> None:
    assert quiet_model(read_mjcf(WHOLE)).nv == 1
    assert all(WHOLE.count(attribute) >= 1 for attribute in ATTRIBUTES)


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_nan_in_mjcf_is_refused(attribute: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A joint's ``pos`` with NaN was read as zero."""
    monkeypatch.chdir(tmp_path)  # where MuJoCo puts its log
    head, rest = attribute.split('="', 1)
    first, *others = rest.partition('"')[0].split()
    numbers = " ".join([first, *others[:-1], "nan"]) if others else "nan"
    spoiled = WHOLE.replace(attribute, f'{head}="{numbers}"' + rest.partition('"')[2], 1)
    with pytest.raises((LoadError, ModelError), match=r"(?i)nan|finite|mass and inertia of moving bodies|range"):
        dq.load(spoiled)


def test_nan_in_mjcf_names_the_joint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LoadError, match="the joint 'j' has NaN in pos: write finite numbers") as caught:
        dq.load(WHOLE.replace('pos="0 0 2"', 'pos="0 0 nan"'))
    assert caught.value.element == "j"
    included = tmp_path / "joint.xml"
    included.write_text('<mujocoinclude><joint name="j" axis="0 0 1" damping="nan"/></mujocoinclude>')
    robot = tmp_path / "robot.xml"
    robot.write_text(
        f'<mujoco><worldbody><body name="b">{INERTIAL}<include file="joint.xml"/></body></worldbody></mujoco>'
    )
    with pytest.raises(LoadError, match="the joint 'j' has NaN in damping"):
        dq.load(robot)


@pytest.mark.parametrize("geom", ['type="mesh" mesh="x"', 'type="mesh"', 'type="hfield" hfield="x"'])
@pytest.mark.parametrize("where", ["world", "b"])
def test_a_geom_of_an_asset_that_is_not_there_is_refused(geom: str, where: str) -> None:
    geom = f"<geom {geom}/>"
    text = f"<mujoco><worldbody>{geom * (where == 'world')}<body name='b'>{INERTIAL}{geom * (where == 'b')}</body></worldbody></mujoco>"  # noqa: E501
    with pytest.raises(LoadError, match=f"of the body '{where}' .* which the file does not define: add it to <asset>"):
        dq.load(text)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes")
def test_files_that_mjcf_names_are_not_pipes(tmp_path: Path) -> None:
    """MuJoCo would wait on them for ever."""
    os.mkfifo(tmp_path / "pipe.xml")
    os.mkfifo(tmp_path / "pipe.stl")
    (tmp_path / "between.xml").write_text('<mujocoinclude><include file="pipe.xml"/></mujocoinclude>')
    for text in (
        '<mujoco><include file="pipe.xml"/><worldbody/></mujoco>',
        '<mujoco><include file="between.xml"/><worldbody/></mujoco>',
        '<mujoco><asset><model name="m" file="pipe.xml"/></asset><worldbody/></mujoco>',
        '<mujoco><asset><mesh name="m" file="pipe.stl"/></asset>'
        '<worldbody><body><joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>',
    ):
        path = tmp_path / "robot.xml"
        path.write_text(text)
        with pytest.raises(LoadError, match="which is not a regular file: name one"):
            dq.load(path)


# --- limits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lower", "upper"), [(0.0, -0.0), (-0.0, 0.0), (-1e308, 1e308), (1.0, 1.0), (-1.7e308, -1.7e308), (-1e308, None)]
)
def test_configurations_are_drawn_within_any_limits(lower: float, upper: float | None) -> None:
    """NumPy refuses an empty range whose upper end is −0, and one that is wider than the largest float."""
    robot = dq.Robot.from_description(chain(Joint("j", "prismatic", "a", "b", lower=lower, upper=upper)))
    for seed in range(5):
        (q,) = robot.random_configuration(np.random.default_rng(seed))
        assert lower <= q
        assert q <= (np.inf if upper is None else upper)


@pytest.mark.parametrize("number", [1e31, 1e308, 10**400])
def test_what_is_beyond_all_robots_is_refused_in_every_format(number: float) -> None:
    """Its square would overflow, and the model would hold infinities."""
    far = placement((min(number, 1e308), 0.0, 0.0))
    with pytest.raises(ModelError, match="'b'"):
        build(Description("r", (Link("b", Inertia(min(number, 1e308))),)))
    for change in ({"damping": number}, {"origin": far}, {"child_origin": far}):
        with pytest.raises(ModelError, match="joint 'j'"):
            build(chain(Joint("j", "revolute", "a", "b", **change)))  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="gravity"):
        build(chain(Joint("j", "revolute", "a", "b")).with_changes(gravity=(0.0, 0.0, number)))


@pytest.mark.parametrize("limits", [{"lower": np.inf}, {"upper": -np.inf}, {"lower": np.inf, "upper": np.inf}])
def test_limits_that_no_number_keeps_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(ModelError, match="limits that no value satisfies"):
        build(chain(Joint("j", "revolute", "a", "b", **limits)))


HUGE = 10**400


@pytest.mark.parametrize(
    "change",
    [
        {"pitch": HUGE},
        {"lower": HUGE},
        {"damping": HUGE},
        {"axis": (0, 0, HUGE)},
        {"mimic": Mimic("x", HUGE)},
    ],
)
def test_integers_that_no_float_holds_are_refused(change: dict[str, Any]) -> None:
    robot = Description(
        "r",
        (Link("a"), Link("b"), Link("c")),
        (Joint("x", "revolute", "a", "b"), Joint("j", "revolute", "b", "c", **change)),
    )
    with pytest.raises(ModelError, match="joint 'j'"):
        quiet_model(robot)


@pytest.mark.parametrize(
    "shape",
    [
        Shape("box", (1.0, np.nan, 1.0)),
        Shape("sphere", (np.inf,)),
        Shape("sphere", (1.0,), placement((np.nan, 0, 0))),
        Shape("sphere", (1.0,), color=(0.0, 0.0, 0.0, np.nan)),
    ],
)
def test_shapes_are_finite(shape: Shape) -> None:
    for place in ("visuals", "collisions"):
        with pytest.raises(ModelError, match="of link 'a'"):
            quiet_model(Description("r", (Link("a", **{place: (shape,)}),)))  # type: ignore[arg-type]


# --- names that two things share ------------------------------------------------------------------------------------


def test_a_joint_named_like_another_link_keeps_its_frame_under_another_name() -> None:
    description = chain(
        Joint("b", "revolute", "a", "c", placement((1.0, 0, 0))),
        Joint("k", "revolute", "c", "b", placement((0, 2.0, 0))),
    )
    with pytest.warns(ModelWarning, match="frames of joints named like a link or the world get other names: 'b_joint'"):
        robot = dq.Robot.from_description(description)
    assert robot.frames["b"].kind == "link"
    assert robot.frames["b_joint"].kind == "joint"
    np.testing.assert_allclose(robot.pose("b_joint", [0.3, 0.4]).translation, (1.0, 0.0, 0.0))
    assert np.linalg.norm(robot.pose("b", [0.3, 0.4]).translation) > 1.5
    with pytest.raises(ModelError, match="get other names"):
        build(description, strict=True)


def test_the_other_name_is_free() -> None:
    description = chain(
        Joint("b", "revolute", "a", "c", placement((1.0, 0, 0))),
        Joint("b_joint", "revolute", "c", "b", placement((0, 2.0, 0))),
    ).with_changes(frames=(NamedFrame("b_joint_", "a"),))
    model = build(description, quiet=True)
    assert set(model.frames) == {"world", "a", "b", "c", "b_joint", "b_joint_", "b_joint__"}
    assert model.frames["b_joint__"].body == 0


def test_a_joint_named_like_the_link_that_it_moves_shares_its_frame() -> None:
    model = build(chain(Joint("b", "revolute", "a", "b", placement((1.0, 0, 0)))))  # warnings are errors here
    assert set(model.frames) == {"world", "a", "b"}


def test_a_joint_named_world() -> None:
    with pytest.warns(ModelWarning, match="'world_joint'"):
        model = build(chain(Joint("world", "revolute", "a", "b")))
    assert model.frames["world"].body == WORLD_BODY
    assert model.frames["world_joint"].body == 0


def test_a_link_named_world_that_moves_is_said() -> None:
    description = chain(Joint("j", "revolute", "world", "b"))
    assert build(description).frames["world"].body == WORLD_BODY
    for moving, base in ((description, "free"), (chain(Joint("j", "revolute", "a", "world")), "fixed")):
        with pytest.warns(ModelWarning, match="the frame 'world' is that of the link, which is not the world"):
            assert build(moving, base=base).frames["world"].body == 0


def test_a_frame_named_world_is_refused() -> None:
    with pytest.raises(ModelError, match="frame 'world' has the name of a link, of a joint or of the world"):
        build(chain(Joint("j", "revolute", "a", "b")).with_changes(frames=(NamedFrame("world", "b"),)))


def test_contacts_are_with_the_world_even_where_a_link_has_its_name() -> None:
    """They were with the moving link: its own contact would have bound nothing."""
    description = chain(Joint("j", "revolute", "world", "b", placement((0, 0, 1.0))))
    for kind in (PointContact, KnifeEdge):
        matrices = []
        for name in ("world", "root"):
            links = tuple(replace(link, name=name if link.name == "world" else link.name) for link in description.links)
            joints = tuple(replace(joint, parent=name) for joint in description.joints)
            model = build(description.with_changes(links=links, joints=joints), base="free", quiet=True)
            rows, _ = kind("b").velocity(model, [1.0, 0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.4])
            matrices.append(np.array(rows, dtype=float))
        np.testing.assert_array_equal(*matrices)
        assert np.linalg.norm(matrices[0][:, :6]) > 0.0


def test_frames_of_a_real_robot_are_not_lost() -> None:
    from robot_data import short_name, urdf_files

    path = next(path for path in urdf_files() if short_name(path) == "anymal_c_simple/anymal")
    model = quiet_model(read_urdf(path))
    for joint in model.description.joints:
        assert f"{joint.name}_joint" in model.frames or joint.name in model.frames
    assert model.frames["LF_HAA_joint"].kind == "joint"
    assert (model.frames["LF_HAA_joint"].body, model.frames["LF_HAA_joint"].placement) != (
        model.frames["LF_HAA"].body,
        model.frames["LF_HAA"].placement,
    )
