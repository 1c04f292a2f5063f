"""MJCF read, written and read again, judged by MuJoCo's own compile: actuators, keyframes, equalities, springs."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from mjcf_texts import INERTIAL, mjcf
from trees import assert_close, random_q, random_robot, random_state, run

import dqdyn as dq
from dqdyn import constraints as kinds
from dqdyn import scenes
from dqdyn.formats.mjcf.writer import compose_mjcf, write_mjcf
from dqdyn.robot import Robot

MACHINE = mjcf(f"""
  <compiler angle="radian"/>
  <worldbody>
    <site name="anchor" pos="0.3 0.1 1.2"/>
    <body name="base" pos="0 0 1">{INERTIAL}<freejoint name="root"/>
      <camera name="eye" pos="0.1 0 0.2" xyaxes="0 1 0 0 0 1"/>
      <site name="imu" pos="0.01 0.02 0.03" euler="0.1 0.2 0.3"/>
      <body name="upper" pos="0.2 0 0">{INERTIAL}
        <joint name="shoulder" axis="0 1 0" range="-2 2" stiffness="12" springref="0.3" actuatorfrcrange="-40 40"/>
        <geom name="palm" type="box" size=".1 .1 .1" pos="0 0.1 0" mass="0"/>
        <body name="lower" pos="0 0 0.4">{INERTIAL}<joint name="elbow" axis="0 1 0" ref="0.2" damping="0.5"/>
          <site name="hand" pos="0.1 0 0.3"/></body></body>
      <body name="wrist" pos="-0.2 0 0">{INERTIAL}<joint name="ball" type="ball"/></body>
      <body name="slider" pos="0 0.2 0">{INERTIAL}<joint name="slide" type="slide" axis="0 0 1"/></body>
      <body name="gear" pos="0 -0.2 0">{INERTIAL}<joint name="turn" axis="1 0 0"/></body>
    </body></worldbody>
  <contact><exclude body1="upper" body2="slider"/></contact>
  <equality><connect name="pin" site1="hand" site2="anchor"/>
    <connect name="pivot" body1="wrist" body2="gear" anchor="0.02 0.03 0.05"/>
    <weld name="glue" body1="slider" body2="gear" relpose="0.1 0.2 -0.3 0.5 0.5 -0.5 0.5" anchor="0.05 0 0.02"/>
    <weld name="stuck" site1="imu" site2="hand"/>
    <joint name="cam" joint1="turn" joint2="slide" polycoef="0.1 3 0 0 0"/>
    <joint name="stop" joint1="elbow" polycoef="0.7 0 0 0 0"/></equality>
  <actuator><motor name="m1" joint="shoulder" gear="20" ctrlrange="-1.5 1.5"/>
    <motor name="m2" joint="slide"/></actuator>
  <sensor><gyro name="spin" site="imu"/><framepos name="palm_at" objtype="geom" objname="palm"/></sensor>
  <keyframe><key name="home" qpos="0.1 0.2 0.9 0 1 0 0 0.4 -0.3 0.6 0.8 0 0 0.05 0.25"/>
    <key qpos="0 0 1 1 0 0 0 0 0.1 1 0 0 0 0.5 1.6"/></keyframe>""")


def quiet(source: Any, **options: Any) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dq.ModelWarning)
        return dq.load(source, **options)


def compiled(text: str, qpos: np.ndarray | None = None) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    if qpos is not None:
        data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    return model, data


def equality_residuals(model: mujoco.MjModel, data: mujoco.MjData) -> dict[str, np.ndarray]:
    """MuJoCo's violation of each equality, by name."""
    rows = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    names = [model.equality(int(i)).name for i in data.efc_id[rows]]
    return {name: data.efc_pos[rows][[n == name for n in names]] for name in names}


def assert_same(one: Robot, two: Robot) -> None:
    """The same constraints, motors and dynamics, up to the rounding of principal axes."""
    q, v, a = random_state(two, np.random.default_rng(1))
    assert [(type(c), c.name, c.loop().between) for c in one.constraints] == [
        (type(c), c.name, c.loop().between) for c in two.constraints
    ]
    if two.constraints:
        assert_close(run(one, "constraint_residual", q, [0.0]), run(two, "constraint_residual", q, [0.0]), 1e-12)
    assert_close(run(one, "inverse_dynamics", q, v, a), run(two, "inverse_dynamics", q, v, a), 1e-11)
    assert one.motors == two.motors


def test_what_is_read() -> None:
    robot = quiet(MACHINE, mimic=False)
    assert [(c.name, type(c).__name__) for c in robot.constraints] == [
        ("pin", "PointClosure"),
        ("pivot", "PointClosure"),
        ("glue", "PoseClosure"),
        ("stuck", "PoseClosure"),
        ("stop", "JointCoupling"),
    ]
    assert robot.model.joint("turn").kind == "revolute"
    assert robot.description.joints[-1].mimic == dq.Mimic("slide", 3.0, 0.1)
    assert set(robot.postures) == {"home", "key1"}
    assert robot.disabled_pairs == (("upper", "slider"),)
    assert {"eye", "spin", "palm_at", "imu"} <= set(robot.frames)
    assert robot.model.joint("shoulder").effort == (30.0,)
    assert robot.model.joint("shoulder").stiffness == (12.0,)
    losses = " ".join(robot.description.losses)
    assert "sensors, but for their frames, are left out: 'spin', 'palm_at'" in losses


def test_frames_of_sensors_and_cameras_are_where_mujoco_has_them() -> None:
    robot = quiet(MACHINE, mimic=False)
    model, data = compiled(MACHINE)
    layout = robot.to_mujoco(model)
    q = layout.q_from(data.qpos)
    for frame, position, rotation in (
        ("eye", data.cam_xpos[0], data.cam_xmat[0]),
        ("spin", data.site("imu").xpos, data.site("imu").xmat),
        ("palm_at", data.geom("palm").xpos, data.geom("palm").xmat),
    ):
        assert_close(robot.pose(frame, q).matrix[:3, 3], position, 1e-12)
        assert_close(robot.pose(frame, q).matrix[:3, :3], rotation.reshape(3, 3), 1e-12)


def test_constraints_vanish_where_those_of_mujoco_do() -> None:
    """Residuals of points, positions and couplings are those of MuJoCo at random states; of rotations, their size."""
    robot = quiet(MACHINE, mimic=False)
    rng = np.random.default_rng(3)
    for _ in range(5):
        q = random_q(robot, rng)
        model, _ = compiled(MACHINE)
        _, data = compiled(MACHINE, robot.to_mujoco(model).q(q))
        theirs, ours = equality_residuals(model, data), robot.constraint_residual(q)
        rows = np.array(robot.constraint_rows)
        for name in ("pin", "pivot"):
            assert np.linalg.norm(ours[rows == name]) == pytest.approx(np.linalg.norm(theirs[name]), rel=1e-9)
        assert ours[rows == "stop"][0] == pytest.approx(theirs["stop"][0], rel=1e-12)
        for name in ("glue", "stuck"):
            turned = np.linalg.norm(ours[rows == name][:3])
            # MuJoCo's rotational rows are the vector part of the error's quaternion, times the torque scale 1.
            assert abs(np.sin(turned / 2)) == pytest.approx(np.linalg.norm(theirs[name][3:]), rel=1e-6)


def test_round_trip_against_the_compile_of_mujoco() -> None:
    robot = quiet(MACHINE, mimic=False)
    written = compose_mjcf(robot.model)
    assert written.losses == ()
    again = quiet(written.text, mimic=False)
    assert_same(again, robot)
    assert again.disabled_pairs == robot.disabled_pairs
    assert again.motors == robot.motors
    for name, q in robot.postures.items():
        assert_close(again.postures[name], q, 1e-15)
    first, second = compiled(MACHINE)[0], compiled(written.text)[0]
    assert [second.key(k).name for k in range(second.nkey)] == ["home", "key1"]
    assert_close(second.key_qpos, first.key_qpos, 1e-15)  # the same joints in the same order
    assert [second.actuator(i).name for i in range(second.nu)] == ["m1", "m2"]
    assert_close(second.actuator_gear, first.actuator_gear, 0.0)
    assert_close(second.actuator_ctrlrange, first.actuator_ctrlrange, 1e-15)
    assert_close(second.actuator_trnid, first.actuator_trnid, 0.0)
    assert_close(second.jnt_stiffness, first.jnt_stiffness, 0.0)
    sprung = first.jnt_qposadr[first.jnt_stiffness > 0.0]
    assert_close(second.qpos_spring[sprung], first.qpos_spring[sprung], 1e-15)
    rng = np.random.default_rng(8)
    for _ in range(3):
        qpos = robot.to_mujoco(first).q(random_q(robot, rng))
        one, two = (equality_residuals(*compiled(text, qpos)) for text in (MACHINE, written.text))
        assert set(one) - {"cam"} == set(two) - {""}  # a mimic has no name
        assert_close(two[""], one["cam"], 1e-12)
        for name in set(one) - {"cam", "glue"}:
            assert_close(two[name], one[name], 1e-12)
        for rows in (slice(0, 3), slice(3, 6)):  # the point of a weld may be another, its being closed may not
            assert (np.linalg.norm(two["glue"][rows]) < 1e-9) == (np.linalg.norm(one["glue"][rows]) < 1e-9)
        assert_close(two["glue"][3:], one["glue"][3:], 1e-12)


def test_couplings_stay_constraints_and_mimics_mimics() -> None:
    arm = dq.robots.arm6()
    coupled = arm.with_constraints(kinds.JointCoupling(("joint1", "joint2"), (2.0, -4.0), 0.5, name="gears"))
    again = quiet(write_mjcf(coupled.model))
    assert again.nq == 6
    (found,) = again.constraints
    assert (found.joints, found.name) == (("joint1", "joint2"), "gears")
    assert_close(np.array([*found.ratios, found.offset]) * 2.0, [2.0, -4.0, 0.5], 1e-15)


def test_our_robots_and_their_postures_are_kept() -> None:
    """Joints of several axes become several joints; their postures and the base's are theirs."""
    several = ("revolute", "universal", "planar", "cylindrical", "spherical")
    for seed, chosen, base in ((3, several, "free"), (4, ("prismatic", "universal"), "planar")):
        robot = random_robot(seed, 6, chosen, base=base)
        q = random_q(robot, np.random.default_rng(seed))
        robot = robot.with_postures({"any": q, "neutral": robot.neutral()})
        text = write_mjcf(robot.model)
        again = quiet(text)
        model, data = compiled(text)
        mujoco.mj_resetDataKeyframe(model, data, 0)
        mujoco.mj_forward(model, data)
        for link in ("link_1", "link_5"):
            expected = robot.pose(link, q).matrix
            assert_close(again.pose(link, again.postures["any"]).matrix, expected, 1e-12)
            assert_close(data.body(link).xpos, expected[:3, 3], 1e-12)


def test_loops_of_our_linkages_hold_in_mujoco() -> None:
    for robot in (dq.robots.four_bar(), dq.robots.five_bar()):
        text = write_mjcf(robot.model)
        again = quiet(text)
        assert_same(again, robot)
        q = robot.random_configuration(2)
        model, _ = compiled(text)
        _, data = compiled(text, again.to_mujoco(model).q(q))
        for violation in equality_residuals(model, data).values():
            assert np.linalg.norm(violation) == pytest.approx(np.linalg.norm(robot.constraint_residual(q)), rel=1e-9)


def test_what_mjcf_cannot_hold_of_constraints_is_listed() -> None:
    arm = dq.robots.arm6()
    held = arm.with_constraints(kinds.DistanceClosure("tool", "world", 1.1, name="rod"), check=False)
    assert compose_mjcf(held.model).losses == ("the constraint 'rod'",)
    with pytest.raises(dq.FormatError, match="MJCF cannot hold the constraint 'rod' of 'arm6': write") as caught:
        write_mjcf(held.model)
    assert caught.value.losses == ("the constraint 'rod'",)


def test_groups_are_kept_and_bad_ones_refused() -> None:
    arm = dq.robots.arm6()
    group = dq.Group("hand", ("joint5", "joint6"), ("flange",))
    grouped = Robot.from_description(arm.description.with_changes(groups=(group,)))
    text = write_mjcf(grouped.model)
    again = quiet(text)
    assert again.groups == {"hand": ("joint5", "joint6")}
    assert again.description.groups == grouped.description.groups
    with pytest.raises(dq.LoadError, match="dqdyn:group:hand' in <custom> is not usable"):
        quiet(text.replace("[[&quot;joint5", "[[["))


def test_a_free_base_on_a_free_joint_is_refused() -> None:
    for base in ("free", "planar", "differential"):
        with pytest.raises(dq.ModelError, match=f"'root' lets the robot move freely already, and a {base} base would"):
            quiet(MACHINE, base=base)
    assert quiet(MACHINE, base="fixed").nq == quiet(MACHINE).nq
    floating = """<robot name="r"><link name="world"/><link name="b"/>
      <joint name="f" type="floating"><parent link="world"/><child link="b"/></joint></robot>"""
    with pytest.raises(dq.ModelError, match="the joint 'f' lets the robot move freely already"):
        dq.load(floating, base="free")
    heavy = dq.Description(
        "two_bodies",
        (dq.Link("ship", dq.Inertia(2.0)), dq.Link("drone", dq.Inertia(1.0))),
        (dq.Joint("flight", "free", "ship", "drone"),),
    )
    assert Robot.from_description(heavy, base="free").nq == 14  # a root with mass is a body of its own


@pytest.mark.parametrize(
    ("postures", "sentence"),
    [
        (None, "with_postures takes a dictionary from names to q; found None"),
        ({"a": [0.0, 1.0]}, r"must have 6 components|6"),
        ({"a": [0.0] * 5 + [float("nan")]}, "joint6"),
        ({"": [0.0] * 6}, "a posture has a text as its name"),
        ({3: [0.0] * 6}, "a posture has a text as its name"),
        ({"a": np.zeros((2, 6))}, "the posture 'a' is one q"),
    ],
)
def test_bad_postures_are_refused(postures: Any, sentence: str) -> None:
    with pytest.raises(dq.Error, match=sentence):
        dq.robots.arm6().with_postures(postures)


def test_postures_of_descriptions_are_checked() -> None:
    described = dq.robots.arm6().description
    for posture, sentence in (
        (
            dq.Posture("p", ("joint9",), ((0.0,),)),
            "the posture 'p' has a missing joint: There is no joint named 'joint9'",
        ),
        (dq.Posture("p", ("joint1",), ((0.0, 1.0),)), "gives joint 'joint1' the coordinates"),
        (dq.Posture("p", ("joint1",), ((float("inf"),),)), "give 1 finite numbers"),
        (dq.Posture("p", ("joint1",), ()), "has 1 joints and 0 values"),
    ):
        with pytest.raises(dq.ModelError, match=sentence):
            Robot.from_description(described.with_changes(postures=(posture,)))
    arm = dq.robots.arm6().with_postures({"up": np.arange(6) / 10})
    assert arm.with_postures({"up": None}).postures == {}
    assert_close(arm.lock({"joint2": 0.0}).postures["up"], [0.0, 0.2, 0.3, 0.4, 0.5], 0.0)


def test_postures_and_pairs_do_not_disturb_the_engine() -> None:
    """Bodies of the scene add coordinates that a keyframe lacks, and links without mass are no bodies there."""
    walker = dq.robots.arm6().with_postures({"up": np.ones(6)})
    scene = scenes.Scene([scenes.ground(), scenes.ball(0.05, (1.0, 1.0, 1.0), mass=1.0)])
    run_ = dq.simulate(walker, duration=0.002, dt=1e-3, plant="mujoco", scene=scene)
    assert run_.status == "finished"
    links = (dq.Link("a"), dq.Link("b"), dq.Link("c", dq.Inertia(1.0, tensor=((1, 0, 0), (0, 1, 0), (0, 0, 1)))))
    joints = (
        dq.Joint("x", "prismatic", "a", "b", axis=(1, 0, 0)),
        dq.Joint("y", "prismatic", "b", "c", axis=(0, 1, 0)),
    )
    merged = Robot.from_description(dq.Description("m", links, joints, disabled_pairs=(("a", "b"), ("a", "c"))))
    written = compose_mjcf(merged.model)
    assert written.losses == ("that 'a' and 'b', one of which is no body, may touch",)
    assert compiled(written.text)[0].nexclude == 1


def test_a_file_without_joints_geoms_or_bodies_is_read_and_written() -> None:
    still = f'<worldbody><body name="a">{INERTIAL}</body></worldbody>'
    for inside in ("<worldbody/>", still, "<keyframe><key/></keyframe>"):
        robot = quiet(mjcf(inside))
        assert robot.nq == 0
        assert quiet(write_mjcf(robot.model)).mass == robot.mass


@pytest.mark.parametrize("name", ["model.xml", "msh.xml"])
def test_files_that_come_with_mujoco_are_read_and_written(name: str) -> None:
    path = Path(mujoco.__file__).parent / "testdata" / name
    if not path.exists():
        pytest.skip(f"this mujoco has no {name}")
    robot = quiet(path)
    written = compose_mjcf(robot.model)
    assert compiled(written.text)[0].nv == robot.nv
    assert_same(quiet(written.text), robot)
