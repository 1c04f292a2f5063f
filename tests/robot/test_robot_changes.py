"""Locking joints, payloads, gravity, frames and bases: what must stay the same does, and what changes is physics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from trees import (
    TREES,
    assert_close,
    random_inertia,
    random_placement,
    random_q,
    random_robot,
    random_state,
    random_v,
    run,
    tree,
)

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import position
from dqdyn.algebra.quaternion import rotate
from dqdyn.algebra.values import Pose
from dqdyn.errors import Error, ModelError, ModelWarning, StateError, UnknownNameError
from dqdyn.geometry.primitives import Point
from dqdyn.model.description import Description, Joint, Link, Mimic
from dqdyn.model.inertia import Inertia, as_tensor, as_vector
from dqdyn.robot import Robot


def held(robot: Robot, locked: Robot, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """q and v of the joints that are left, by name, and where they were in v."""
    names = [joint.name for joint in locked.joints if not joint.is_mimic]
    joints = [robot.model.joint(name) for name in names]
    columns = [i for joint in joints for i in range(joint.v.start, joint.v.stop)]
    return np.concatenate([*(q[j.q] for j in joints), []]), v[columns], columns


def assert_same_motion(robot: Robot, locked: Robot, q: np.ndarray, v: np.ndarray) -> None:
    """With the locked joints at rest both robots have the same poses, twists, mass and momentum."""
    short_q, short_v, columns = held(robot, locked, q, v)
    rest = np.zeros(robot.nv)
    rest[columns] = short_v
    for frame in robot.frames:
        assert_close(run(locked, "pose", short_q, frame=frame), run(robot, "pose", q, frame=frame), 1e-12)
        found = run(locked, "twist_jacobian", short_q, frame=frame)
        assert_close(found, run(robot, "twist_jacobian", q, frame=frame)[:, columns], 1e-12)
        found = run(locked, "twist_jacobian_derivative", short_q, short_v, frame=frame)
        assert_close(found, run(robot, "twist_jacobian_derivative", q, rest, frame=frame)[:, columns], 1e-12)


@pytest.mark.parametrize("name", [n for n in TREES if n != "one joint"])
def test_locking_each_joint_in_turn(name: str) -> None:
    robot = tree(name)
    rng = np.random.default_rng(1)
    q, v, _ = random_state(robot, rng)
    for joint in robot.joints:
        if joint.is_mimic:
            continue
        locked = robot.lock({joint.name: q[joint.q]})
        followers = [j.name for j in robot.joints if j.master is not None and j.master.joint == joint.index]
        assert locked.nv == robot.nv - joint.motion.nv
        assert not {joint.name, *followers} & {j.name for j in locked.joints}
        assert_same_motion(robot, locked, q, v)
        assert set(locked.frames) == set(robot.frames)


@pytest.mark.parametrize("name", TREES)
def test_locking_all_joints_gives_a_statue(name: str) -> None:
    robot = tree(name)
    q = random_q(robot, np.random.default_rng(2))
    statue = robot.lock({j.name: q[j.q] for j in robot.joints if not j.is_mimic})
    assert (statue.nq, statue.nv, statue.base) == (0, 0, "fixed")
    for frame in robot.frames:
        assert_close(run(statue, "pose", [], frame=frame), run(robot, "pose", q, frame=frame), 1e-12)


def test_locked_mass_moves_with_the_body_that_carries_it() -> None:
    robot = tree("every kind")
    rng = np.random.default_rng(3)
    q, v, _ = random_state(robot, rng)
    joint = robot.joints[5]
    locked = robot.lock({joint.name: q[joint.q]})
    short_q, short_v, columns = held(robot, locked, q, v)
    rest = np.zeros(robot.nv)
    rest[columns] = short_v
    assert locked.mass == pytest.approx(robot.mass, rel=1e-14)
    assert_close(run(locked, "center_of_mass", short_q), run(robot, "center_of_mass", q), 1e-12)
    found = run(locked, "centroidal_momentum", short_q, short_v)
    assert_close(found, run(robot, "centroidal_momentum", q, rest), 1e-12)


def test_locking_a_joint_of_a_free_base() -> None:
    robot = random_robot(31, 4, ("revolute", "spherical"), base="free")
    rng = np.random.default_rng(4)
    q, v, _ = random_state(robot, rng)
    root = robot.joints[0]
    assert root.name == "root_joint"
    locked = robot.lock({"root_joint": q[root.q]})
    assert locked.base == "fixed"
    assert_same_motion(robot, locked, q, v)
    other = robot.lock({robot.joints[1].name: q[robot.joints[1].q]})
    assert other.base == "free"
    assert_same_motion(robot, other, q, v)
    differential = random_robot(31, 4, ("revolute",)).with_base("differential")
    assert differential.model.constraints
    assert not differential.lock({"root_joint": [0.0, 0.0, 0.0]}).model.constraints


def chain_of_mimics() -> Description:
    """a ← b ← c: c follows b, which follows a."""
    joints: tuple[Joint, ...] = (
        Joint("a", "revolute", "l0", "l1", axis=(0.6, 0.0, 0.8)),
        Joint("b", "prismatic", "l1", "l2", mimic=Mimic("a", -0.5, 0.2)),
        Joint("c", "revolute", "l2", "l3", axis=(0.0, 1.0, 0.0), mimic=Mimic("b", 2.0, -0.1)),
        Joint("d", "revolute", "l3", "l4", axis=(1.0, 0.0, 0.0)),
    )
    rng = np.random.default_rng(5)
    joints = tuple(replace(j, origin=random_placement(rng), child_origin=random_placement(rng)) for j in joints)
    return Description("mimics", tuple(Link(f"l{i}", random_inertia(rng)) for i in range(5)), joints)


def test_locking_the_master_holds_all_that_follow() -> None:
    robot = Robot.from_description(chain_of_mimics())
    assert robot.nv == 2
    locked = robot.lock({"a": 0.7})
    assert [j.name for j in locked.joints] == ["d"]
    assert_same_motion(robot, locked, np.array([0.7, 0.3]), np.array([0.0, 1.0]))


def test_locking_a_follower_holds_what_follows_it_and_frees_its_master() -> None:
    robot, loose = (Robot.from_description(chain_of_mimics(), mimic=m) for m in (True, False))
    locked = robot.lock({"b": 0.4})
    assert [j.name for j in locked.joints] == ["a", "d"]
    # all four by hand: c is at 2 · 0.4 − 0.1
    for frame in robot.frames:
        found = run(locked, "pose", [0.7, 0.3], frame=frame)
        assert_close(found, run(loose, "pose", [0.7, 0.4, 0.7, 0.3], frame=frame), 1e-14)


def test_locking_where_mimic_joints_are_free() -> None:
    loose = Robot.from_description(chain_of_mimics(), mimic=False)
    q = np.array([0.7, 0.4, -0.2, 0.3])
    for name in "abcd":
        locked = loose.lock({name: q[loose.model.joint(name).q]})
        assert locked.nv == 3
        assert_same_motion(loose, locked, q, np.array([0.1, 0.2, 0.3, 0.4]))


def test_locking_nothing_changes_nothing() -> None:
    for name in TREES:
        assert tree(name).lock({}) == tree(name)


@pytest.mark.parametrize(
    "value", [[0.0, 0.0], np.nan, np.inf, "open", None, [], [[0.0]], 1j], ids=lambda value: repr(value)[:20]
)
def test_a_joint_is_locked_by_as_many_numbers_as_it_has(value: Any) -> None:
    robot = tree("one axis")
    name = next(j.name for j in robot.joints if not j.is_mimic)
    with pytest.raises(StateError, match=name):
        robot.lock({name: value})


def test_mistakes_in_locking_are_told() -> None:
    robot = tree("every kind")
    with pytest.raises(UnknownNameError, match="did you mean"):
        robot.lock({robot.joints[0].name + "x": 0.0})
    ball = next(j for j in robot.joints if j.kind == "spherical")
    with pytest.raises(StateError, match="norm one") as caught:
        robot.lock({ball.name: [2.0, 0.0, 0.0, 0.0]})
    assert caught.value.joint == ball.name
    with pytest.warns(ModelWarning, match="the frame 'world' is that of the link"):
        named_world = Robot.from_description(Description("odd", (Link("world"),), base="free"))
    with pytest.raises(ModelError, match="rename it"):
        named_world.lock({"root_joint": [1.0, 0, 0, 0, 0, 0, 0]})


# --- payloads ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("frame", ["tool", "camera"])
def test_payload_is_a_body_on_the_frame(name: str, frame: str) -> None:
    robot = tree(name)
    rng = np.random.default_rng(6)
    q, v, _ = random_state(robot, rng)
    load = random_inertia(rng)
    loaded = robot.with_payload(frame, load.mass, load.com, load.tensor)
    moving = robot.frames[frame].body >= 0
    assert loaded.mass == pytest.approx(robot.mass + load.mass * moving, rel=1e-14)
    for other in robot.frames:
        assert_close(run(loaded, "pose", q, frame=other), run(robot, "pose", q, frame=other), 0)
    if not moving:
        return
    at = run(robot, "point_on", q, load.com, frame=frame)
    speed = run(robot, "point_jacobian", q, load.com, frame=frame) @ v
    center = (robot.mass * run(robot, "center_of_mass", q) + load.mass * at) / loaded.mass
    assert_close(run(loaded, "center_of_mass", q), center, 1e-13)
    # Momentum about the world origin adds up.
    r = DQ(run(robot, "pose", q, frame=frame)).primary
    omega = run(robot, "twist", q, v, frame=frame)[:3]
    spin = np.array(rotate(r, DQ(np.array(load.tensor) @ omega).primary).vector)
    about_origin = lambda h, c: np.concatenate([h[:3], h[3:] + np.cross(c, h[:3])])
    before = about_origin(run(robot, "centroidal_momentum", q, v), run(robot, "center_of_mass", q))
    after = about_origin(run(loaded, "centroidal_momentum", q, v), center)
    added = np.concatenate([load.mass * speed, spin + load.mass * np.cross(at, speed)])
    assert_close(after, before + added, 1e-12)


@pytest.mark.equation("Silva", "14")
def test_inertia_of_a_moved_body() -> None:
    """A body of point masses: its inertia moved is the inertia of the moved points."""
    rng = np.random.default_rng(12)
    masses, points = rng.uniform(0.5, 2.0, 6), rng.normal(size=(6, 3))

    def inertia(at: np.ndarray) -> Inertia:
        center = masses @ at / masses.sum()
        arms = at - center
        tensor = sum(m * (d @ d * np.eye(3) - np.outer(d, d)) for m, d in zip(masses, arms, strict=True))
        return Inertia(masses.sum(), as_vector(center), as_tensor(tensor))

    x = random_placement(rng)
    moved = np.array([(Pose(x) * Point(p)).position for p in points])
    found, expected = inertia(points).moved_by(x), inertia(moved)
    assert found.mass == pytest.approx(expected.mass)
    assert_close(found.com, expected.com, 1e-13)
    assert_close(found.tensor, expected.tensor, 1e-13)


def test_payload_by_moments_and_twice() -> None:
    robot = tree("every kind")
    q, v = random_q(robot, np.random.default_rng(7)), random_v(robot, np.random.default_rng(8))
    by_moments = robot.with_payload("tool", 2.0, (0.1, 0.0, 0.0), (0.1, 0.2, 0.25))
    by_tensor = robot.with_payload("tool", 2.0, (0.1, 0.0, 0.0), np.diag([0.1, 0.2, 0.25]))
    assert by_moments == by_tensor
    twice = robot.with_payload("tool", 1.0, (0.1, 0.0, 0.0)).with_payload("tool", 1.0, (0.1, 0.0, 0.0))
    once = robot.with_payload("tool", 2.0, (0.1, 0.0, 0.0))
    assert_close(run(twice, "centroidal_momentum", q, v), run(once, "centroidal_momentum", q, v), 1e-13)
    assert twice.mass == pytest.approx(robot.mass + 2.0)
    # on a joint's frame, which is beside the link's where the joint has a child side
    joint = next(j for j in robot.description.joints if j.child_origin.vec8()[0] != 1.0 and j.kind != "fixed")
    on_joint = robot.with_payload(joint.name, 1.5, (0.0, 0.1, 0.0))
    at = run(robot, "point_on", q, (0.0, 0.1, 0.0), frame=joint.name)
    center = (robot.mass * run(robot, "center_of_mass", q) + 1.5 * at) / (robot.mass + 1.5)
    assert_close(run(on_joint, "center_of_mass", q), center, 1e-13)


@pytest.mark.parametrize(
    ("mass", "com", "inertia"),
    [
        (-1.0, (0, 0, 0), (0, 0, 0)),
        (np.nan, (0, 0, 0), (0, 0, 0)),
        ("heavy", (0, 0, 0), (0, 0, 0)),
        (1.0, (0, 0), (0, 0, 0)),
        (1.0, (0, 0, np.inf), (0, 0, 0)),
        (1.0, np.zeros((2, 3)), (0, 0, 0)),
        (1.0, (0, 0, 0), (0, 0)),
        (1.0, (0, 0, 0), [[1, 2, 3], [0, 1, 0], [0, 0, 1]]),
        (1.0, (0, 0, 0), "round"),
    ],
)
def test_impossible_payloads_are_refused(mass: Any, com: Any, inertia: Any) -> None:
    with pytest.raises(Error):
        tree("one axis").with_payload("tool", mass, com, inertia)


def test_doubtful_payloads_are_warned_of_once() -> None:
    with pytest.warns(ModelWarning, match="triangle inequality"):
        robot = tree("one axis").with_payload("tool", 1.0, (0, 0, 0), (0.1, 0.1, 0.5))
    assert any("triangle" in text for text in robot.warnings)
    robot.with_gravity([0.0, 0.0, 0.0])  # the same doubt is not told again


# --- gravity, frames, bases -------------------------------------------------------------------------------------------


def test_gravity() -> None:
    robot = tree("every kind")
    moon = robot.with_gravity([0.0, 0.0, -1.62])
    assert moon.gravity.tolist() == [0.0, 0.0, -1.62]
    assert robot.gravity.tolist() == [0.0, 0.0, -9.81]
    assert moon != robot
    assert moon.with_gravity(robot.gravity) == robot
    for bad in ([0.0, 0.0], [0.0, 0.0, np.nan], "down", np.zeros((2, 3)), None, 9.81):
        with pytest.raises(Error, match="gravity"):
            robot.with_gravity(bad)


@pytest.mark.parametrize("name", TREES)
def test_frames_can_be_added_anywhere_on_the_robot(name: str) -> None:
    robot = tree(name)
    rng = np.random.default_rng(9)
    q = random_q(robot, rng)
    for on in robot.frames:
        if on == "world":
            continue
        x = random_placement(rng)
        added = robot.add_frame("new", on, x)
        expected = DQ(run(robot, "pose", q, frame=on)) * x
        assert_close(run(added, "pose", q, frame="new"), expected.vec8(), 1e-13)
        for other in robot.frames:
            assert_close(run(added, "pose", q, frame=other), run(robot, "pose", q, frame=other), 0)


def test_poses_of_frames_may_be_written_in_many_ways() -> None:
    robot = tree("every kind")
    x = random_placement(np.random.default_rng(10))
    ways = (x, Pose(x), x.vec8(), x.vec8().tolist(), Pose(x).matrix)
    frames = [robot.add_frame("new", "tool", way).frames["new"].placement.vec8() for way in ways]
    for found in frames:
        assert_close(np.sign(found @ frames[0]) * found, frames[0], 1e-14)
    at = Pose(x).matrix
    assert_close(position(robot.add_frame("new", "link_0", at).frames["new"].placement).vector, at[:3, 3], 1e-14)
    for bad in ("here", np.zeros(8), np.eye(4) * 2.0, [1.0, 0.0], None, x * 2.0, np.full(8, np.nan)):
        with pytest.raises(Error):
            robot.add_frame("new", "tool", bad)
    with pytest.raises(ModelError, match="already") as caught:
        robot.add_frame("tool", "link_0", x)
    assert caught.value.name == "tool"
    with pytest.raises(ModelError, match="not on a link"):
        robot.add_frame("new", "world", x)


def test_bases() -> None:
    robot = random_robot(32, 5, ("revolute", "prismatic"), mimics=1)
    rng = np.random.default_rng(11)
    q = random_q(robot, rng)
    sizes = {"fixed": (0, 0), "free": (7, 6), "planar": (3, 3), "differential": (3, 3)}
    for base, (nq, nv) in sizes.items():
        moved = robot.with_base(base)
        assert (moved.base, moved.nq, moved.nv) == (base, robot.nq + nq, robot.nv + nv)
        assert bool(moved.model.constraints) == (base == "differential")
        full = np.concatenate([random_q(moved, rng)[:nq], q])
        x = DQ([1, 0, 0, 0, 0, 0, 0, 0]) if base == "fixed" else DQ(run(moved, "pose", full, frame="root_joint"))
        for frame in robot.frames:
            if frame == "world":
                continue
            expected = (x * DQ(run(robot, "pose", q, frame=frame))).vec8()
            found = run(moved, "pose", full, frame=frame)
            assert_close(np.sign(found @ expected) * found, expected, 1e-13)
        assert moved.with_base("fixed") == robot
    # On a fixed base the root link is at rest, and not part of the moving mass.
    root = robot.description.links[0].inertia.mass
    assert robot.with_base("free").mass == pytest.approx(robot.mass + root)
    with pytest.raises(UnknownNameError, match="did you mean 'free'"):
        robot.with_base("fre")


def test_changes_keep_mimic_joints_as_they_are() -> None:
    loose = Robot.from_description(chain_of_mimics(), mimic=False)
    assert loose.with_gravity([0, 0, 0]).nv == loose.nv == 4
    assert loose.add_frame("new", "l4", np.eye(4)).nv == 4
    assert loose.with_base("planar").nv == 7
