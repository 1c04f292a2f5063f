"""Motors of a robot: who has them, by which limits, and that they stay with the robot through every change."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trees import random_robot

import dqdyn as dq
from dqdyn.model.description import Joint, Link, Mimic
from dqdyn.model.joints import KINDS
from dqdyn.model.split import split
from dqdyn.robot import Robot

BODY = dq.Inertia(1.0, (0.1, 0.0, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)))


def chain(*joints: dict[str, Any], **changes: Any) -> Robot:
    """Links in a row; each joint by its fields."""
    links = tuple(Link(f"l{i}", BODY) for i in range(len(joints) + 1))
    made = tuple(
        Joint(**{"name": f"j{i}", "kind": "revolute", "parent": f"l{i}", "child": f"l{i + 1}", **fields})
        for i, fields in enumerate(joints)
    )
    return Robot.from_description(dq.Description("chain", links, made, **changes))


@pytest.mark.parametrize("base", ["fixed", "free", "planar", "differential"])
@pytest.mark.parametrize("kind", [name for name in KINDS if name not in ("fixed",)])
def test_by_default_every_axis_but_those_of_bases(kind: str, base: str) -> None:
    robot = chain({"kind": kind, "effort": 3.0, "velocity": 2.0}, base=base)
    count = {"fixed": 0, "free": 6}.get(base, 3)
    assert not robot.actuated[:count].any()
    assert robot.actuated[count:].all() == (kind not in ("free", "planar"))
    assert robot.actuated.shape == (robot.nv,) == (len(robot.motors),)
    assert all(motor in (None, dq.Motor(3.0, 2.0)) for motor in robot.motors)
    with pytest.raises(ValueError, match="read-only"):
        robot.actuated[0] = True


def test_built_in_robots() -> None:
    driven = {
        "four_bar": [0],
        "five_bar": [0, 2],
        "stewart_platform": [8, 11, 14, 17, 20, 23],
        "humanoid": list(range(6, dq.robots.humanoid().nv)),
        "multi_contact_humanoid": list(range(6, dq.robots.multi_contact_humanoid().nv)),
    }
    for name, axes in driven.items():
        assert np.flatnonzero(getattr(dq.robots, name)().actuated).tolist() == axes, name
    for name in dq.robots.names():
        robot = getattr(dq.robots, name)()
        assert name in driven or robot.actuated.all(), name


def test_motors_are_within_the_limits_of_their_joint() -> None:
    robot = chain({"effort": 10.0, "velocity": 4.0})
    assert robot.motors == (dq.Motor(10.0, 4.0),)
    assert robot.with_motors({"j0": 5.0}).motors == (dq.Motor(5.0, 4.0),)
    assert robot.with_motors({"j0": dq.Motor(velocity=1.0, gear=50.0)}).motors == (dq.Motor(10.0, 1.0, 50.0),)
    assert robot.with_motors({"j0": 5.0}).limits.effort[0] == 10.0
    with pytest.raises(dq.ModelError, match="'j0' has a motor with the effort 11, above its own limit 10"):
        robot.with_motors({"j0": 11.0})
    with pytest.raises(dq.ModelError, match="'j0' has a motor with the velocity 5, above its own limit 4"):
        robot.with_motors({"j0": dq.Motor(velocity=5.0)})


def test_a_dictionary_changes_and_a_list_says_all() -> None:
    robot = chain({}, {}, {"kind": "universal"}, {})
    assert robot.with_motors({"j0": None, "j2": [None, 7]}).actuated.tolist() == [False, True, False, True, True]
    assert robot.with_motors({}) == robot
    only = robot.with_motors(["j2"])
    assert only.actuated.tolist() == [False, False, True, True, False]
    assert not robot.with_motors(()).actuated.any()
    assert robot.actuated.all()
    assert only != robot
    assert only.with_motors(["j0", "j1", "j2", "j3"]) == robot


@pytest.mark.parametrize("base", ["free", "planar", "differential"])
def test_motors_of_a_base(base: str) -> None:
    robot = chain({}, base=base)
    count = robot.nv - 1
    some = robot.with_motors({"root_joint": [1.0, *[None] * (count - 1)]})
    assert some.actuated.tolist() == [True, *[False] * (count - 1), True]
    assert some.with_payload("l1", 1.0).motors == some.motors
    assert some.with_base("fixed").with_base(base).motors == some.motors  # its description still says so
    assert some.with_base("fixed").motors == robot.with_base("fixed").motors
    other = "free" if base != "free" else "planar"
    assert not some.with_base(other).actuated[:-1].any()
    locked = some.lock({"root_joint": robot.neutral()[: robot.joints[0].motion.nq]})
    assert locked.motors == (dq.Motor(),)
    assert some.without_constraints().motors == some.motors


def test_the_base_of_a_description_may_be_another_than_the_robots() -> None:
    robot = chain({}).with_base("free").with_motors({"root_joint": 5.0})
    assert robot.base == "free"
    assert robot.motors[0] == dq.Motor(5.0)
    assert robot.with_gravity([0.0, 0.0, 0.0]).motors == robot.motors
    moved = Robot.from_description(robot.description, base="planar")
    assert not moved.actuated[:3].any()


def changes(robot: Robot) -> list[Robot]:
    """The same robot, changed in ways that leave its joints."""
    return [
        robot.with_payload(robot.bodies[-1].name, 1.0),
        robot.with_gravity([0.0, 0.0, -1.0]),
        robot.without_friction(),
        robot.add_frame("here", robot.bodies[-1].name, np.eye(4)),
        pickle.loads(pickle.dumps(robot)),
        Robot(split(robot.model)),
    ]


@pytest.mark.parametrize("seed", range(6))
def test_motors_survive_every_change(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    base = ("fixed", "free", "planar")[seed % 3]
    robot = random_robot(seed, 6, ("revolute", "prismatic", "universal", "cylindrical", "spherical"), base=base)
    chosen: dict[str, Any] = {}
    for joint in robot.joints:
        axes = [
            None if rng.random() < 0.4 else dq.Motor(rng.uniform(1, 9), rng.uniform(1, 9), rng.uniform(-50, 50), "m")
            for _ in range(joint.motion.nv)
        ]
        limits = zip(axes, robot.limits.effort[joint.v], robot.limits.velocity[joint.v], strict=True)
        chosen[joint.name] = [motor and motor.within(*limit) for motor, *limit in limits]
    robot = robot.with_motors(chosen)
    flat = tuple(motor for axes in chosen.values() for motor in axes)
    assert robot.motors == flat
    assert [motor and motor.name for motor in robot.motors] == [motor and "m" for motor in flat]
    for changed in changes(robot):
        assert changed.motors == robot.motors
    assert robot == pickle.loads(pickle.dumps(robot))
    assert robot != robot.with_motors([])
    loaded = dq.load(robot.write(tmp_path / "robot.json"))
    assert loaded == robot
    assert [motor and motor.name for motor in loaded.motors] == [motor and motor.name for motor in robot.motors]
    held = robot.joints[-1]
    rest = robot.lock({held.name: robot.neutral()[held.q]})
    assert rest.motors == flat[: held.v.start]


def test_files_without_motors_are_still_read(tmp_path: Path) -> None:
    """Files of earlier days have no such field."""
    import json

    path = chain({"effort": 2.0}, base="free").write(tmp_path / "robot.json")
    data = json.loads(path.read_text())
    del data["base_motors"]
    for joint in data["joints"]:
        del joint["motors"]
    path.write_text(json.dumps(data))
    assert dq.load(path).motors == (*[None] * 6, dq.Motor(2.0))


def test_a_motor_on_a_joint_that_mimics_drives_the_other() -> None:
    """Power is the same on both sides: effort times the ratio, speed divided by it."""
    follower = {"mimic": Mimic("j0", -0.5, 0.1), "motors": (dq.Motor(8.0, 3.0, 10.0, "m"),)}
    robot = chain({"motors": ()}, follower)
    assert robot.motors == (dq.Motor(4.0, 6.0, -5.0),)
    assert chain({"motors": (dq.Motor(1.0),)}, follower).motors == (dq.Motor(1.0),)
    assert chain({}, {"mimic": Mimic("j0", 2.0)}).motors == (dq.Motor(),)
    assert robot.with_motors({"j0": None}).motors == (None,)
    freed = Robot.from_description(robot.description, mimic=False)
    assert freed.motors == (None, dq.Motor(8.0, 3.0, 10.0))
    with pytest.raises(dq.ModelError, match="joint 'j1' follows 'j0': give the motor to that one"):
        robot.with_motors({"j1": 3.0})


def test_negative_limits_leave_a_motor_nothing() -> None:
    with pytest.warns(dq.ModelWarning, match="negative effort limit"):
        robot = chain({"effort": -3.0})
    assert robot.motors == (dq.Motor(0.0),)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"effort": -1.0}, "the effort of a motor is 0 or more, or infinite; found -1.0"),
        ({"effort": math.nan}, "the effort of a motor is 0 or more, or infinite; found nan"),
        ({"velocity": -math.inf}, "the velocity of a motor is 0 or more, or infinite; found -inf"),
        ({"gear": 0}, "the gear of a motor is finite and not 0; found 0.0"),
        ({"gear": math.inf}, "the gear of a motor is finite and not 0; found inf"),
        ({"effort": None}, "the effort of a motor must be real numbers; found None"),
        ({"effort": "5"}, "the effort of a motor must be real numbers; found '5'"),
        ({"effort": [1.0, 2.0]}, r"the effort of a motor is one number; found shape \(2,\)"),
        ({"name": 3}, "the name of a motor is a text; found 3"),
    ],
)
def test_bad_motors(given: dict[str, Any], text: str) -> None:
    with pytest.raises(dq.ModelError, match=text):
        dq.Motor(**given)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (None, "with_motors takes a dictionary from joints to motors, or a list .*; found None"),
        ("j0", "with_motors takes a dictionary from joints to motors, or a list .*; found 'j0'"),
        (3.0, "with_motors takes a dictionary"),
        ({"elbow": 1.0}, "There is no moving joint of 'chain' named 'elbow': known: j0"),
        (["elbow"], "There is no moving joint of 'chain' named 'elbow': known: j0"),
        ({None: 1.0}, "There is no moving joint of 'chain' named None"),
        ({"root_joint": 1.0}, "There is no moving joint of 'chain' named 'root_joint'"),
        ({"j0": [1.0, 2.0]}, "joint 'j0' takes one motor per axis, 1 in all; found 2"),
        ({"j0": math.nan}, "the motor of joint 'j0': the effort of a motor is 0 or more"),
        (
            {"j0": "strong"},
            "the motor of joint 'j0' is a Motor, its largest effort in N m or N, or None; found 'strong'",
        ),
        ({"j0": True}, "the motor of joint 'j0' is a Motor, .*; found True"),
        ({"j0": {}}, "the motor of joint 'j0': the effort of a motor must be real numbers"),
        ({"j0": np.ones((1, 1))}, "the motor of joint 'j0': the effort of a motor is one number"),
    ],
)
def test_bad_choices(given: Any, text: str) -> None:
    with pytest.raises(dq.Error, match=text):
        chain({}).with_motors(given)


@pytest.mark.parametrize(
    ("motors", "text"),
    [
        ([dq.Motor()], r"joint 'j0' has the motors \[Motor.*: give a tuple with a Motor or None per axis"),
        ((1.0,), r"joint 'j0' has the motors \(1.0,\): give a tuple"),
        ((dq.Motor(), None), "joint 'j0' has 2 motors: give one Motor or None per axis, 1 in all"),
    ],
)
def test_bad_descriptions(motors: Any, text: str) -> None:
    with pytest.raises(dq.ModelError, match=text):
        chain({"motors": motors})
    free = chain({}, base="free").description
    with pytest.raises(dq.ModelError, match="joint 'root_joint' has"):
        Robot.from_description(replace(free, base_motors=motors))
