"""Motors in files: transmissions of URDF, actuators of MJCF, read, written, and compared with MuJoCo's own forces."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from mjcf_texts import INERTIAL
from robot_data import robots_folder
from trees import random_robot
from urdf_text import INERTIAL as URDF_INERTIAL

import dqdyn as dq
from dqdyn.errors import ModelWarning
from dqdyn.formats.mjcf.writer import write_mjcf
from dqdyn.robot import Robot

SIMPLE = """<transmission name="t{0}"><type>transmission_interface/SimpleTransmission</type>
  <joint name="j{0}"><hardwareInterface>hardware_interface/EffortJointInterface</hardwareInterface></joint>
  <actuator name="m{0}"><mechanicalReduction>{1}</mechanicalReduction></actuator></transmission>"""


def urdf(extra: str, kinds: tuple[str, ...] = ("revolute", "revolute", "prismatic")) -> Robot:
    """A chain j0, j1, … with the limits 5 and 2, and something after it; its notes are in ``robot.warnings``."""
    links = "".join(f'<link name="l{i}">{URDF_INERTIAL}</link>' for i in range(len(kinds) + 1))
    joints = "".join(
        f'<joint name="j{i}" type="{kind}"><parent link="l{i}"/><child link="l{i + 1}"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="5" velocity="2"/></joint>'
        for i, kind in enumerate(kinds)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return dq.load(f'<robot name="r">{links}{joints}{extra}</robot>')


def test_urdf_without_transmissions() -> None:
    robot = urdf("")
    assert robot.motors == (dq.Motor(5.0, 2.0),) * 3
    assert not robot.warnings


def test_urdf_with_transmissions() -> None:
    robot = urdf(SIMPLE.format(0, 50) + SIMPLE.format(2, " -7.5 "))
    assert robot.motors == (dq.Motor(5.0, 2.0, 50.0), None, dq.Motor(5.0, 2.0, -7.5))
    assert [motor.name for motor in robot.motors if motor] == ["m0", "m2"]
    (note,) = robot.warnings
    assert "joint 'j1': without a <transmission>, which other joints have, there is no motor" in note


@pytest.mark.parametrize(
    ("extra", "driven", "note"),
    [
        (SIMPLE.format(0, "many"), [0], "'t0': its <mechanicalReduction> is not a number other than 0"),
        (SIMPLE.format(0, "0"), [0], "'t0': its <mechanicalReduction> is not a number other than 0"),
        (SIMPLE.format(0, ""), [0], "'t0': its <mechanicalReduction> is not a number other than 0"),
        (SIMPLE.format(0, "nan"), [0], "'t0': its <mechanicalReduction> is not a number other than 0"),
        (SIMPLE.format(9, "1"), [], "transmission 't9': its joint is not in the file"),
        ("<transmission/>", [0, 1, 2], ""),
        ('<transmission><actuator name="m"/></transmission>', [0, 1, 2], ""),
        ("<transmission><joint/></transmission>", [], "transmission '': its joint is not in the file"),
        ('<transmission><flexJoint name="j0"/><rollJoint name="j1"/></transmission>', [0, 1], ""),
        ('<transmission><joint name="j0"/><passive_joint name="j1"/></transmission>', [0], ""),
    ],
)
def test_odd_transmissions(extra: str, driven: list[int], note: str) -> None:
    robot = urdf(extra)
    assert np.flatnonzero(robot.actuated).tolist() == driven
    assert not note or any(note in text for text in robot.warnings)
    assert all(motor in (None, dq.Motor(5.0, 2.0)) for motor in robot.motors)


def test_several_joints_of_a_transmission_share_no_gear() -> None:
    both = '<transmission name="d"><joint name="j0"/><joint name="j1"/><actuator name="a"><mechanicalReduction>3'
    robot = urdf(both + '</mechanicalReduction></actuator><actuator name="b"/></transmission>')
    assert robot.motors == (dq.Motor(5.0, 2.0), dq.Motor(5.0, 2.0), None)
    assert robot.motors[0] is not None
    assert robot.motors[0].name == "a and b"


@pytest.mark.parametrize(("kind", "count"), [("planar", 3), ("floating", 6)])
def test_a_transmission_on_a_joint_of_several_axes(kind: str, count: int) -> None:
    robot = urdf('<transmission><joint name="j0"/></transmission>', (kind, "revolute"))
    assert np.flatnonzero(robot.actuated).tolist() == list(range(count))
    assert not urdf("", (kind, "revolute")).actuated[:count].any()


@pytest.mark.parametrize(
    ("file", "passive"),
    [
        ("talos_data/robots/talos_reduced.urdf", 0),
        ("tiago_description/robots/tiago_dual.urdf", 10),
        ("baxter_description/urdf/baxter.urdf", 15),
        ("panda_description/urdf/panda.urdf", 0),
    ],
)
def test_real_robots(file: str, passive: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = dq.load(robots_folder() / file, base="free")
    assert not robot.actuated[:6].any()
    assert np.count_nonzero(~robot.actuated[6:]) == passive
    assert any("without a <transmission>" in text for text in robot.warnings) == (passive > 0)


def written(robot: Robot, path: Path) -> tuple[Robot, list[str]]:
    """The robot out of a file, and what writing it warned of."""
    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always")
        robot.write(path, lossy=True)
        said = [str(doubt.message) for doubt in doubts]
        return dq.load(path), said


def randomly_driven(robot: Robot, seed: int, limited: bool) -> Robot:
    """The robot with motors on some of its joints, of some limits."""
    rng = np.random.default_rng(seed)
    names = [joint.name for joint in robot.joints if joint.motion.nv == 1 and not joint.is_mimic]
    motors: dict[str, Any] = {joint.name: None for joint in robot.joints if not joint.is_mimic}
    for name in names[::2] if len(names) > 1 else names:
        effort, velocity = rng.uniform(0.1, 0.5, 2) if limited else (math.inf, math.inf)
        motors[name] = dq.Motor(effort, velocity, rng.uniform(-9, 9), f"motor of {name}")
    return robot.with_motors(motors)


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("ending", ["urdf", "xml", "json"])
@pytest.mark.parametrize("seed", range(4))
def test_round_trips(seed: int, ending: str, limited: bool, tmp_path: Path) -> None:
    kinds = ("revolute", "prismatic", "universal", "cylindrical")
    robot = random_robot(seed, 6, kinds, base=("fixed", "free")[seed % 2])
    robot = randomly_driven(robot, seed, limited)
    back, _ = written(robot, tmp_path / f"robot.{ending}")
    # Joints of several axes become several joints, all of them without motors here, in the same order.
    assert [motor for motor in back.motors if motor] == [motor for motor in robot.motors if motor]
    assert back.actuated.tolist() == robot.actuated.tolist()
    assert {m.name for m in back.motors if m} == {m.name for m in robot.motors if m}


@pytest.mark.parametrize("ending", ["urdf", "xml", "json"])
def test_by_default_files_say_nothing_of_motors(ending: str, tmp_path: Path) -> None:
    robot = random_robot(3, 5, ("revolute", "prismatic"), base="free")
    path = tmp_path / f"robot.{ending}"
    back, _ = written(robot, path)
    assert "transmission" not in path.read_text()
    assert "<actuator" not in path.read_text()
    assert back.motors == robot.motors


@pytest.mark.parametrize("ending", ["xml", "json"])
@pytest.mark.parametrize("base", ["free", "planar"])
def test_motors_of_a_base_and_no_motor_at_all(ending: str, base: str, tmp_path: Path) -> None:
    robot = random_robot(4, 3, ("revolute",), base=base)
    count = robot.nv - 3
    some = robot.with_motors({"root_joint": [dq.Motor(7.0, gear=2.0), *[None] * (count - 1)]})
    for changed in (some, robot.with_motors([])):
        back, _ = written(changed, tmp_path / f"robot.{ending}")
        assert back.motors == changed.motors


def test_what_urdf_cannot_hold_is_said(tmp_path: Path) -> None:
    robot = random_robot(4, 3, ("revolute",), base="free")
    some = robot.with_motors({"root_joint": [dq.Motor(), *[None] * 5]})
    back, said = written(some, tmp_path / "robot.urdf")
    assert "which motors the axes of the free joint 'root_joint' have" in said[0]
    assert back.actuated.all()
    _, said = written(robot.with_motors([]), tmp_path / "robot.urdf")
    assert "that no joint has a motor" in said[0]
    limited = dq.load(urdf("").write(tmp_path / "limited.urdf"))
    _, said = written(limited.with_motors({"j0": 3.0}), tmp_path / "robot.urdf")
    assert "the effort limit of the joint 'j0', above that of its motor" in said[0]


def test_a_planar_base_that_is_driven_in_part(tmp_path: Path) -> None:
    """URDF has one transmission per joint, so the planar joint becomes three."""
    robot = random_robot(4, 2, ("revolute",), base="planar").with_motors({"root_joint": [None, None, 5.0]})
    back, _ = written(robot, tmp_path / "robot.urdf")
    assert back.motors == robot.motors


# --- MJCF -------------------------------------------------------------------------------------------------------------


def mjcf(actuators: str, joint: str = "") -> str:
    bodies = f"""<body name="a">{INERTIAL}<joint name="j0" {joint}/><body name="b">{INERTIAL}<joint name="j1"
      type="slide"/><body name="c">{INERTIAL}<joint name="j2" type="ball"/><site name="s"/></body></body></body>"""
    tendon = '<tendon><fixed name="t"><joint joint="j1" coef="1"/></fixed></tendon>'
    actuator = f"<actuator>{actuators}</actuator>"
    return f"<mujoco><worldbody>{bodies}</worldbody>{tendon if 'tendon' in actuators else ''}{actuator}</mujoco>"


def loaded(text: str) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return dq.load(text)


@pytest.mark.parametrize(
    ("actuators", "joint", "motors"),
    [
        ("", "", [dq.Motor()] * 5),
        ('<motor joint="j0"/>', "", [dq.Motor(), None]),
        ('<motor joint="j0" gear="50" ctrlrange="-2 2"/>', "", [dq.Motor(100.0, gear=50.0), None]),
        ('<motor joint="j0" gear="-3" forcerange="-2 2"/>', "", [dq.Motor(6.0, gear=-3.0), None]),
        ('<motor joint="j0" ctrlrange="-2 2"/>', 'actuatorfrcrange="-1 1"', [dq.Motor(1.0), None]),
        ('<motor jointinparent="j0"/>', "", [dq.Motor(), None]),
        ('<position joint="j1" kp="9" forcerange="-4 4"/>', "", [None, dq.Motor(4.0)]),
        ('<velocity joint="j1" kv="9"/>', "", [None, dq.Motor()]),
        ('<general joint="j1" gear="2" gainprm="3" ctrlrange="-1 1"/>', "", [None, dq.Motor(6.0, gear=2.0)]),
        ('<motor joint="j0"/><motor joint="j1" gear="0"/>', "", [dq.Motor(), None]),
        ('<motor joint="j0" ctrlrange="-1 1"/><motor joint="j0" ctrlrange="-2 2"/>', "", [dq.Motor(3.0), None]),
    ],
)
def test_mjcf_actuators(actuators: str, joint: str, motors: list[dq.Motor | None]) -> None:
    robot = loaded(mjcf(actuators, joint))
    assert list(robot.motors) == motors + [None] * (5 - len(motors))
    assert not any("actuator" in text for text in robot.warnings)


@pytest.mark.parametrize(
    "other",
    [
        '<motor name="x" tendon="t"/>',
        '<motor name="x" site="s" gear="0 0 1 0 0 0"/>',
        '<motor name="x" joint="j2" gear="0 0 1"/>',
        '<adhesion name="x" body="a" ctrlrange="0 1"/>',
    ],
)
def test_what_mjcf_drives_in_another_way_is_noted(other: str) -> None:
    for more, driven in (("", []), ('<motor joint="j0"/>', [0])):
        robot = loaded(mjcf(more + other))
        assert np.flatnonzero(robot.actuated).tolist() == driven
        assert any(
            "actuators that do not act on one hinge or slide" in text and "'x'" in text for text in robot.warnings
        )


def test_different_gears_on_one_joint_are_noted() -> None:
    robot = loaded(mjcf('<motor joint="j0" gear="2"/><motor joint="j0" gear="3"/>'))
    assert robot.motors[0] == dq.Motor()
    assert any("gears of joints with several actuators are left out: 'j0'" in text for text in robot.warnings)


@pytest.mark.parametrize("seed", range(4))
def test_written_actuators_give_the_efforts_in_mujoco(seed: int) -> None:
    """At the largest control MuJoCo's own actuator forces are the efforts of the motors, and 0 on other axes."""
    robot = random_robot(seed, 6, ("revolute", "prismatic"), base=("fixed", "free")[seed % 2])
    robot = randomly_driven(robot, seed, limited=True)
    model = mujoco.MjModel.from_xml_string(write_mjcf(robot.model))
    data = mujoco.MjData(model)
    data.ctrl[:] = model.actuator_ctrlrange[:, 1] * np.sign(model.actuator_gear[:, 0])
    mujoco.mj_forward(model, data)
    layout = robot.to_mujoco(model)
    efforts = [motor.effort if motor else 0.0 for motor in robot.motors]
    np.testing.assert_allclose(layout.tau_from(robot.neutral(), data.qfrc_actuator), efforts, rtol=1e-12)


def test_actuators_of_one_name_are_told_apart() -> None:
    robot = random_robot(1, 3, ("revolute",))
    robot = robot.with_motors({joint.name: dq.Motor(name="same") for joint in robot.joints})
    assert mujoco.MjModel.from_xml_string(write_mjcf(robot.model)).nu == 3


@pytest.mark.parametrize("data", ["1 2 3", "abc", "1 -5 1 1", "1 1 1 0"])
def test_damaged_texts(data: str) -> None:
    text = mjcf("").replace("<actuator></actuator>", f'<custom><text name="dqdyn:motors:j0" data="{data}"/></custom>')
    with pytest.raises(dq.LoadError, match="the text 'dqdyn:motors:j0' in <custom>"):
        loaded(text)


@pytest.mark.parametrize(
    ("motors", "text"),
    [
        (
            '[{"effort": -1, "velocity": 1, "gear": 1, "name": ""}]',
            r"motors\[0\] is not usable: the effort",
        ),
        ('[{"effort": 1, "velocity": 1, "gear": 0, "name": ""}]', r"motors\[0\] is not usable: the gear"),
        ('[{"effort": 1}]', r"joints\[0\].motors\[0\] must be an object with the field 'velocity'"),
        ("5", r"joints\[0\].motors must be a list; found 5"),
        ("[5]", r"joints\[0\].motors\[0\] must be an object; found 5"),
    ],
)
def test_damaged_json(motors: str, text: str, tmp_path: Path) -> None:
    path = urdf("").write(tmp_path / "robot.json")
    path.write_text(path.read_text().replace('"motors": null', f'"motors": {motors}', 1))
    with pytest.raises(dq.LoadError, match=text):
        dq.load(path)


@pytest.mark.parametrize("effort", [0.0, 7.0])
def test_an_effort_of_0_in_urdf_is_no_limit_as_in_mujoco(effort: float) -> None:
    body = f'<link name="l0">{URDF_INERTIAL}</link><link name="l1">{URDF_INERTIAL}</link>'
    limit = f'<limit lower="-1" upper="1" effort="{effort}" velocity="0"/>'
    joint = f'<joint name="j" type="revolute"><parent link="l0"/><child link="l1"/><axis xyz="0 0 1"/>{limit}</joint>'
    text = f'<robot name="r">{body}{joint}</robot>'
    theirs = mujoco.MjModel.from_xml_string(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = dq.load(text)
    assert any('velocity="0" in <limit> is taken as no limit' in said for said in robot.warnings)
    assert math.isinf(robot.limits.effort[0]) == (not theirs.jnt_actfrclimited[0])
    assert effort == 0.0 or robot.limits.effort[0] == theirs.jnt_actfrcrange[0, 1]
    assert robot.motors[0].effort == robot.limits.effort[0]
    assert math.isinf(robot.limits.velocity[0])
    run = dq.simulate(robot, [5.0], 0.05)
    assert run.status == "finished"
