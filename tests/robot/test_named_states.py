"""q and v by the names of joints, from dictionaries and pandas, and ROS's messages; and back."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
import pinocchio
import pytest
from trees import TREES, tree

import dqdyn as dq
from dqdyn.errors import Error, StateError, UnknownNameError

ARM = dq.robots.arm7()
NAMES = [joint.name for joint in ARM.joints]
WALKER = ARM.with_base("free")


def test_keywords_and_dictionaries() -> None:
    q = ARM.q(**{NAMES[1]: 0.3})
    assert q[1] == 0.3
    assert not np.delete(q, 1).any()
    assert np.array_equal(ARM.q({NAMES[1]: 0.3}), q)
    there = ARM.random_configuration(1)
    assert np.array_equal(ARM.q({NAMES[2]: 0.1}, q0=there), np.r_[there[:2], 0.1, there[3:]])
    assert np.array_equal(ARM.q(), ARM.neutral())
    assert ARM.v({NAMES[6]: 2.0}).tolist() == [0, 0, 0, 0, 0, 0, 2.0]


@pytest.mark.parametrize("name", TREES)
def test_there_and_back(name: str) -> None:
    robot = tree(name)
    rng = np.random.default_rng(3)
    many = np.array([robot.random_configuration(rng) for _ in range(3)])
    speeds = rng.normal(size=(3, robot.nv))
    for components in (False, True):
        for q, v in ((many[0], speeds[0]), (many, speeds)):
            assert np.array_equal(robot.q(robot.q_by_name(q, components=components)), q)
            assert np.array_equal(robot.v(robot.v_by_name(v, components=components)), v)
    own = [joint.name for joint in robot.joints if not joint.is_mimic]
    assert list(robot.q_by_name(many[0])) == own
    for joint in robot.joints:  # each name has the joint's own part
        if not joint.is_mimic:
            assert np.array_equal(np.atleast_1d(robot.q_by_name(many[1])[joint.name]), many[1][joint.q])


def test_rows_and_tables_of_pandas() -> None:
    table = pandas.DataFrame({NAMES[3]: [0.1, 0.2], NAMES[0]: [1.0, 2.0]})
    q = ARM.q(table)
    assert q.shape == (2, 7)
    assert q[:, 0].tolist() == [1.0, 2.0]
    assert np.array_equal(ARM.q(table.iloc[1]), q[1])
    q = WALKER.random_configuration(2)
    assert np.array_equal(WALKER.q(pandas.Series(WALKER.q_by_name(q, components=True))), q)


@pytest.mark.long
def test_rows_of_a_run() -> None:
    run = dq.simulate(ARM, None, 0.02, q0=ARM.random_configuration(4))
    table = run.to_pandas()
    assert np.array_equal(ARM.q(table), run.q)
    assert np.array_equal(ARM.v(table.iloc[-1]), run.v[-1])


def test_poses_of_free_joints() -> None:
    x = dq.Pose.from_rpy([0.1, 0.2, 0.3], [1.0, 2.0, 3.0])
    for form in (x, x.to_pinocchio(), x.to_spatialmath()):
        q = WALKER.q(root_joint=form)
        assert np.allclose(WALKER.pose(WALKER.description.root, q).matrix, x.matrix)
    q = WALKER.q({"root_joint.px": 4.0, "root_joint.py": [1.0, 2.0]})
    assert q.shape == (2, WALKER.nq)
    assert q[:, 4:6].tolist() == [[4.0, 1.0], [4.0, 2.0]]


REFUSED: dict[str, tuple[Any, type[Error], str]] = {
    "unknown": (lambda: ARM.q(jiont2=0.1), UnknownNameError, "There is no joint or component of q .* did you mean"),
    "array": (lambda: ARM.q(np.zeros(7)), StateError, r"is a dictionary or a pandas row, as in \{'joint1': 0.3\}"),
    "text": (lambda: ARM.q({NAMES[0]: "0.3"}), StateError, "q of joint 'joint1' must be real numbers"),
    "none": (lambda: ARM.q({NAMES[0]: None}), StateError, "q of joint 'joint1' must be real numbers"),
    "nan": (lambda: ARM.q({NAMES[0]: np.nan}), StateError, "'joint1'"),
    "key": (lambda: ARM.q({0: 0.3}), UnknownNameError, "named 0"),
    "start": (lambda: ARM.q({NAMES[0]: 0.3}, q0=[0.0]), StateError, "7 components"),
    "batches": (lambda: ARM.q({NAMES[0]: [1, 2], NAMES[1]: [1, 2, 3]}), Error, "cannot be combined"),
    "twice": (lambda: WALKER.q({"root_joint": [1, 0, 0, 0, 0, 0, 0], "root_joint.px": 1.0}), StateError, "sets too"),
    "size": (
        lambda: WALKER.q(root_joint=[0, 0, 1]),
        StateError,
        r"\(free\) has 7 components, rw, rx, ry, rz, px, py, pz",
    ),
    "norm": (lambda: WALKER.q({"root_joint.rw": 0.5}), StateError, "norm 0.5"),
    "pose": (lambda: ARM.q({NAMES[0]: dq.Pose()}), StateError, r"\(revolute\) is numbers; found Pose"),
    "both": (lambda: ARM.q({NAMES[0]: 1.0}, **{NAMES[0]: 1.0}), StateError, "sets too"),
    "state": (lambda: ARM.q_by_name([1.0, 2.0]), StateError, "7 components"),
    "joint state": (lambda: ARM.from_joint_state({"names": []}), StateError, "has the fields name and position"),
    "missing": (lambda: ARM.from_joint_state({"name": [], "position": []}), StateError, "'joint1' and 6 more"),
    "others": (lambda: ARM.from_joint_state({}, others="some"), UnknownNameError, "refuse, ignore"),
    "foreign": (
        lambda: ARM.from_joint_state({"name": ["gripper"], "position": [0.1]}, ARM.neutral()),
        StateError,
        "There is no joint .* named 'gripper'.* others='ignore' leaves out",
    ),
    "named twice": (
        lambda: ARM.from_joint_state({"name": ["joint1"] * 2, "position": [0, 1]}, ARM.neutral()),
        StateError,
        "names the joint 'joint1' twice",
    ),
    "no names": (lambda: ARM.from_joint_state({"name": None, "position": []}), StateError, "a list of texts"),
    "numbers": (lambda: ARM.from_joint_state({"name": [1], "position": [0.0]}), StateError, "a list of texts"),
    "count": (
        lambda: ARM.from_joint_state({"name": NAMES, "position": [0.0]}),
        StateError,
        "7 names and 1 numbers of position",
    ),
    "no number": (
        lambda: ARM.from_joint_state({"name": NAMES, "position": [0] * 7, "effort": [np.nan] * 7}),
        StateError,
        "joint1",
    ),
    "batch": (lambda: ARM.to_joint_state(np.zeros((2, 7))), StateError, "holds one q"),
    "no q": (lambda: ARM.to_joint_state(None), StateError, "q of 'arm7'"),
    "time": (lambda: ARM.to_joint_state(np.zeros(7), t=np.inf), StateError, "must be finite"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    call, kind, sentence = REFUSED[name]
    with pytest.raises(kind, match=sentence):
        call()


def test_joints_that_follow_others_are_not_set() -> None:
    robot = tree("one axis")
    follower = next(joint for joint in robot.joints if joint.is_mimic)
    master = robot.joints[follower.master.joint].name
    with pytest.raises(UnknownNameError, match=f"follows {master!r}") as caught:
        robot.q({follower.name: 0.1})
    assert caught.value.matches == [master]


def test_joint_states() -> None:
    q, v, tau = ARM.random_configuration(5), np.arange(7.0), -np.arange(7.0)
    message = ARM.to_joint_state(q, v, tau, t=12.25)
    assert message["header"] == {"stamp": {"sec": 12, "nanosec": 250_000_000}, "frame_id": ""}
    assert message["name"] == NAMES
    for given in (message, SimpleNamespace(**message), {**message, "position": np.array(message["position"])}):
        found = ARM.from_joint_state(given)
        assert np.array_equal(found.q, q)
        assert np.array_equal(found.v, v)
        assert np.array_equal(found.tau, tau)
    plain = ARM.to_joint_state(q)
    assert plain["velocity"] == plain["effort"] == []
    assert ARM.from_joint_state(plain).v is None
    shuffled = {key: message[key][::-1] for key in ("name", "position", "velocity", "effort")}
    assert np.array_equal(ARM.from_joint_state(shuffled).tau, tau)
    more = {"name": [*NAMES, "gripper"], "position": [*q, 0.04]}
    assert np.array_equal(ARM.from_joint_state(more, others="ignore").q, q)


@pytest.mark.parametrize("name", ["free base", "one axis", "every kind, mimic"])
def test_joint_states_of_trees(name: str) -> None:
    robot = tree(name)
    q, v = robot.random_configuration(6), np.random.default_rng(6).normal(size=robot.nv)
    message = robot.to_joint_state(q, v, mimic=True)
    base = robot.random_configuration(7)
    found = robot.from_joint_state(message, base)
    for joint in robot.joints:
        if joint.is_mimic:
            i = message["name"].index(joint.name)
            ratio, offset = joint.master.ratio, joint.master.offset
            assert message["position"][i] == pytest.approx(ratio * q[joint.q][0] + offset)
            assert message["velocity"][i] == pytest.approx(ratio * v[joint.v][0])
        elif joint.motion.nq == 1:
            assert np.array_equal(found.q[joint.q], q[joint.q])
            assert np.array_equal(found.v[joint.v], v[joint.v])
        else:
            assert np.array_equal(found.q[joint.q], base[joint.q])
            assert not found.v[joint.v].any()


def test_poses_twists_and_wrenches_of_ros() -> None:
    placed = pinocchio.SE3.Random()
    x = dq.Pose.from_pinocchio(placed)
    message = x.to_ros()
    quaternion = pinocchio.Quaternion(placed.rotation).coeffs()  # x, y, z, w
    found = np.array([message["orientation"][c] for c in "xyzw"])
    assert np.allclose(found * np.sign(found @ quaternion), quaternion)
    assert np.allclose([message["position"][c] for c in "xyz"], placed.translation)
    assert np.allclose(dq.Pose.from_ros(message).matrix, placed.homogeneous)
    header = {"frame_id": "map", "stamp": {"sec": 1, "nanosec": 0}}
    stamped = dq.Pose.from_ros({"header": header, "pose": message})
    assert stamped.frames == (None, "map")
    moved = {"translation": message["position"], "rotation": message["orientation"]}
    moved = dq.Pose.from_ros({"header": header, "child_frame_id": "tool", "transform": moved})
    assert moved.frames == ("tool", "map")
    assert np.allclose(moved.matrix, placed.homogeneous)
    twist = dq.Twist([1, 2, 3, 4, 5, 6])
    assert twist.to_ros() == {
        "linear": {"x": 4.0, "y": 5.0, "z": 6.0},
        "angular": {"x": 1.0, "y": 2.0, "z": 3.0},
    }
    assert dq.Twist.from_ros({"header": {}, "twist": twist.to_ros()}) == twist
    wrench = dq.Wrench([1, 2, 3, 4, 5, 6])
    assert wrench.to_ros()["force"] == {"x": 1.0, "y": 2.0, "z": 3.0}
    assert dq.Wrench.from_ros(wrench.to_ros(), expressed="tool") == wrench.with_frames(expressed="tool")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: dq.Pose.from_ros({}), "A ROS pose has the fields .* found an empty dictionary"),
        (lambda: dq.Pose.from_ros(None), "A ROS pose has the fields .* found None"),
        (lambda: dq.Pose.from_ros({"position": {"x": 1}, "orientation": {}}), "orientation of a ROS pose has"),
        (lambda: dq.Pose.from_ros({"position": {}, "orientation": dict.fromkeys("xyzw", 0)}), "position of a ROS pose"),
        (lambda: dq.Twist.from_ros({"linear": {}}), "A ROS twist has the fields linear and angular; found the fields"),
        (lambda: dq.Wrench.from_ros({"force": None, "torque": {}}), "the force part .* x, y, z; found None"),
        (lambda: dq.Wrench([[0] * 6]).to_ros(), r"holds one wrench; found a batch of shape \(1,\)"),
        (lambda: dq.Twist.from_ros({"linear": dict.fromkeys("xyz"), "angular": {}}), r"\(x\) must be real"),
    ],
)
def test_refused_messages(call: Any, sentence: str) -> None:
    with pytest.raises(Error, match=sentence):
        call()
