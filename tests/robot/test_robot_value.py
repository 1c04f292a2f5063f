"""A robot is a value: it compares, hashes, pickles, prints, and never changes."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from trees import JOINT_KINDS, ONE_AXIS, TREES, assert_close, random_description, random_robot, run, tree

from dqdyn.errors import UnknownNameError
from dqdyn.model.description import Description, Joint, Link, Mimic, Shape
from dqdyn.robot import Robot


@pytest.mark.parametrize("name", TREES)
def test_pickle_and_copies(name: str) -> None:
    robot = tree(name)
    q = robot.random_configuration(0)
    pose = robot.pose("tool", q).vec8()  # so that it has compiled functions, which do not travel
    for other in (pickle.loads(pickle.dumps(robot)), copy.copy(robot), copy.deepcopy(robot)):
        assert other == robot
        assert hash(other) == hash(robot)
        assert_close(other.pose("tool", q).vec8(), pose, 0)
        assert other.description == robot.description
        assert dict(other.frames) == dict(robot.frames)


def test_equality_is_that_of_motion() -> None:
    description = random_description(41, 5)
    robot = Robot.from_description(description)
    assert robot == Robot.from_description(description)
    links = list(description.links)
    links[1] = Link(links[1].name, links[1].inertia, visuals=(Shape("box", (1.0, 1.0, 1.0)),))
    dressed = Robot.from_description(description.with_changes(links=tuple(links), name="other", source="file.urdf"))
    assert dressed == robot
    assert hash(dressed) == hash(robot)
    different: list[Any] = [
        random_robot(42, 5),
        robot.with_gravity([0.0, 0.0, 0.0]),
        robot.with_payload("tool", 0.1),
        robot.with_base("free"),
        robot.add_frame("new", "tool", np.eye(4)),
        Robot.from_description(description.with_changes(joints=_changed(description, damping=9.0))),
        Robot.from_description(description.with_changes(joints=_changed(description, upper=0.1))),
        "robot",
        None,
    ]
    for other in different:
        assert robot != other
    assert len({robot, dressed, *different[:7]}) == 8


def _changed(description: Description, **changes: Any) -> tuple[Joint, ...]:
    first = next(i for i, joint in enumerate(description.joints) if joint.kind in ONE_AXIS)
    joints = list(description.joints)
    joints[first] = Joint(**{**joints[first].__dict__, **changes})
    return tuple(joints)


def test_a_robot_never_changes() -> None:
    robot = tree("every kind, mimic")
    before = pickle.dumps(robot)
    for attribute in ("name", "nq", "model", "gravity", "anything"):
        with pytest.raises(AttributeError, match="never changes"):
            setattr(robot, attribute, 1)
    with pytest.raises(TypeError):
        robot.frames["tool"] = robot.frames["camera"]  # type: ignore[index]
    for array in (robot.limits.lower, robot.limits.upper, robot.limits.velocity, robot.limits.effort):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    robot.gravity[2] = 0.0  # a copy
    robot.neutral()[0] = 5.0
    with pytest.raises(AttributeError):
        robot.joints[0].name = "other"  # type: ignore[misc]
    q = robot.random_configuration(0)
    robot.lock({robot.joints[0].name: q[robot.joints[0].q]})
    robot.with_payload("tool", 1.0)
    assert robot.gravity[2] == -9.81
    assert pickle.dumps(robot) == before


def test_repr_says_what_it_is() -> None:
    robot = tree("free base")
    text = repr(robot)
    for part in (robot.name, f"nq={robot.nq}", f"nv={robot.nv}", "free", f"{robot.mass:.4g} kg"):
        assert part in text


@pytest.mark.parametrize("name", TREES)
def test_indices_are_consistent(name: str) -> None:
    robot = tree(name)
    own = [joint for joint in robot.joints if not joint.is_mimic]
    assert [i for j in own for i in range(j.q.start, j.q.stop)] == list(range(robot.nq))
    assert [i for j in own for i in range(j.v.start, j.v.stop)] == list(range(robot.nv))
    assert len(robot.bodies) == len(robot.joints)
    for i, joint in enumerate(robot.joints):
        assert joint.index == i
        assert joint.parent < i
        assert robot.model.joint(joint.name) is joint
        if joint.master is not None:
            master = robot.joints[joint.master.joint]
            assert not master.is_mimic
            assert (joint.q, joint.v) == (master.q, master.v)
    assert robot.mass == pytest.approx(sum(body.inertia.mass for body in robot.bodies))
    with pytest.raises(UnknownNameError):
        robot.model.joint("no such joint")


@pytest.mark.parametrize("name", TREES)
def test_random_configurations_are_within_limits(name: str) -> None:
    robot = tree(name)
    drawn = np.array([robot.random_configuration(seed) for seed in range(100)])
    assert drawn.shape == (100, robot.nq)
    assert (drawn >= robot.limits.lower).all()
    assert (drawn <= robot.limits.upper).all()
    assert_close(robot.random_configuration(7), robot.random_configuration(7), 0)  # a seed decides
    rng = np.random.default_rng(7)
    first, second = robot.random_configuration(rng), robot.random_configuration(rng)
    assert_close(first, robot.random_configuration(7), 0)
    assert np.abs(first - second).max() > 0
    for joint in robot.joints:
        if joint.motion.quaternion is not None:
            assert_close(np.linalg.norm(drawn[:, joint.q][:, joint.motion.quaternion], axis=1), np.ones(100), 1e-14)
    limited = np.isfinite(robot.limits.lower) & np.isfinite(robot.limits.upper)
    span = (robot.limits.upper - robot.limits.lower)[limited]
    assert (np.ptp(drawn[:, limited], axis=0) > 0.8 * span).all()


def test_limits_are_those_of_the_joints() -> None:
    joints = (
        Joint("a", "revolute", "l0", "l1", lower=-1.0, upper=2.0, velocity=3.0, effort=4.0),
        Joint("b", "cylindrical", "l1", "l2", lower=(-1.0, -0.1), upper=(1.0, 0.1), velocity=(2.0, 0.2), effort=9.0),
        Joint("c", "spherical", "l2", "l3", effort=7.0),
        Joint("d", "revolute", "l3", "l4", lower=-5.0, upper=5.0, mimic=Mimic("a")),
        Joint("e", "prismatic", "l4", "l5"),
    )
    robot = Robot.from_description(Description("limits", tuple(Link(f"l{i}") for i in range(6)), joints))
    inf = math.inf
    assert robot.limits.lower.tolist() == [-1.0, -1.0, -0.1, -inf, -inf, -inf, -inf, -inf]
    assert robot.limits.upper.tolist() == [2.0, 1.0, 0.1, inf, inf, inf, inf, inf]
    assert robot.limits.velocity.tolist() == [3.0, 2.0, 0.2, inf, inf, inf, inf]
    assert robot.limits.effort.tolist() == [4.0, 9.0, 9.0, 7.0, 7.0, 7.0, inf]
    assert robot.neutral().tolist() == [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("name", ["one joint", "moving subspaces"])
def test_poses_of_all_frames(name: str) -> None:
    robot = tree(name)
    q = robot.random_configuration(3)
    poses = robot.poses(q)
    assert list(poses) == list(robot.frames)
    for frame, x in poses.items():
        assert_close(x.vec8(), run(robot, "pose", q, frame=frame), 1e-12)


def test_trees_cover_what_they_say() -> None:
    """The shared random trees are what other tests take them for."""
    robots = [tree(name) for name in TREES]
    assert {joint.kind for robot in robots for joint in robot.joints} == set(JOINT_KINDS) - {"fixed"}
    assert {robot.base for robot in robots} == {"fixed", "free", "planar"}
    parents = [[joint.parent for joint in robot.joints] for robot in robots]
    assert any(len(set(p)) < len(p) for p in parents), "no tree branches"
    assert any(joint.child_origin.vec8()[0] != 1.0 for r in robots for joint in r.description.joints)
    masters = [(joint.index, joint.master.joint) for r in robots for joint in r.joints if joint.master]
    assert any(own < master for own, master in masters), "no mimic joint comes before its master"
    described = {joint.name: joint for joint in tree("every kind, mimic").description.joints}
    chains = [j for j in described.values() if j.mimic and described[j.mimic.joint].mimic]
    assert chains, "no mimic joint follows another one"
    assert random_robot(1) == random_robot(1)
    assert random_robot(1) != random_robot(2)
    assert all(not robot.warnings for robot in robots)
