"""Inverse kinematics on many robots: reached within limits, or said why not."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from robot_data import urdf_file
from trees import random_robot

import dqdyn as dq
from dqdyn.algebra.values import Pose
from dqdyn.errors import Error, UnknownNameError
from dqdyn.formats.urdf.reader import read_urdf
from dqdyn.model.build import build
from dqdyn.model.description import Description, Joint, Link, placement
from dqdyn.robot import Robot
from dqdyn.robot.inverse import InverseKinematics

# name: frame of the hand
ARMS = {
    "panda": "panda_hand_tcp",
    "ur5_robot": "tool0",
    "talos_reduced on a free base": "gripper_right_fingertip_1_link",
    "tiago on a planar base": "hand_palm_link",
    "arm6": "tool",
    "arm7": "tool",
    "holonomic_manipulator": "tool",
    "humanoid": "left_hand",
    "bimanual": "left_hand",
    "ball and slide": "tool",
    "moving subspaces": "tool",
    "mimic": "tool",
}


@cache
def arm(name: str) -> Robot:
    if name == "ball and slide":
        return random_robot(51, 4, ("spherical", "prismatic", "revolute"))
    if name == "moving subspaces":
        return random_robot(52, 4, ("universal", "planar", "helical"))
    if name == "mimic":
        return random_robot(53, 9, ("revolute", "prismatic", "helical"), mimics=2)
    if name in dq.robots.names():
        return getattr(dq.robots, name)()
    stem, _, base = name.partition(" on a ")
    return Robot(build(read_urdf(urdf_file(stem)), base=base.removesuffix(" base") or "fixed", quiet=True))


def errors(robot: Robot, frame: str, q: np.ndarray, target: Pose) -> tuple[float, float]:
    """Angle and distance to the target, without the solver's own measure."""
    off = target.matrix[:3, :3].T @ robot.pose(frame, q).matrix[:3, :3]
    skew = off - off.T
    angle = float(np.linalg.norm([skew[2, 1], skew[0, 2], skew[1, 0]]) / 2)  # its sine, exact for small angles
    assert np.trace(off) > 0
    return angle, float(np.linalg.norm(robot.pose(frame, q).translation - target.translation))


def within_limits(robot: Robot, q: np.ndarray) -> bool:
    return bool((q >= robot.limits.lower).all() and (q <= robot.limits.upper).all())


@pytest.mark.parametrize("name", ARMS)
def test_reachable_poses_are_reached(name: str) -> None:
    robot, frame = arm(name), ARMS[name]
    rng = np.random.default_rng(1)
    for _ in range(4):
        target = robot.pose(frame, robot.random_configuration(rng))
        found = robot.inverse_kinematics(frame, target)
        assert found, found.reason
        assert found.success
        assert found.reason == "Reached within 1e-09."
        assert within_limits(robot, found.q)
        rotation, translation = errors(robot, frame, found.q, target)
        assert rotation < 1.01e-9
        assert translation < 1.01e-9
        assert found.rotation_error <= 1e-9
        assert found.translation_error <= 1e-9
        for joint in robot.joints:
            if joint.motion.quaternion is not None:
                assert np.linalg.norm(found.q[joint.q][joint.motion.quaternion]) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("name", ["panda", "ur5_robot", "ball and slide", "mimic"])
def test_positions_alone(name: str) -> None:
    robot, frame = arm(name), ARMS[name]
    target = robot.pose(frame, robot.random_configuration(2))
    turned = target * Pose(rotation=[0.6, 0.8, 0.0, 0.0])
    found = robot.inverse_kinematics(frame, turned, position_only=True)
    assert found, found.reason
    assert np.linalg.norm(robot.pose(frame, found.q).translation - target.translation) < 1e-8
    assert within_limits(robot, found.q)


def test_starts_where_it_is_told_and_stays_there_if_it_is_right() -> None:
    robot, frame = arm("panda"), ARMS["panda"]
    q = robot.random_configuration(3)
    found = robot.inverse_kinematics(frame, robot.pose(frame, q), q)
    assert found
    assert np.array_equal(found.q, q)
    assert found.restarts == 0
    near = q + 0.01
    close = robot.inverse_kinematics(frame, robot.pose(frame, q), near)
    assert close
    assert np.abs(close.q - q).max() < 0.1  # the nearest solution, not any other


def test_a_seed_decides() -> None:
    robot, frame = arm("arm6"), ARMS["arm6"]
    target = robot.pose(frame, robot.random_configuration(4))
    first, second = (robot.inverse_kinematics(frame, target, rng=5) for _ in range(2))
    assert np.array_equal(first.q, second.q)


def test_tolerance_is_kept() -> None:
    robot, frame = arm("panda"), ARMS["panda"]
    target = robot.pose(frame, robot.random_configuration(5))
    loose = robot.inverse_kinematics(frame, target, tolerance=1e-3)
    tight = robot.inverse_kinematics(frame, target, tolerance=1e-12)
    assert loose
    assert tight
    assert max(loose.rotation_error, loose.translation_error) <= 1e-3
    assert max(tight.rotation_error, tight.translation_error) <= 1e-12
    assert loose.iterations <= tight.iterations


def test_out_of_reach() -> None:
    robot, frame = arm("panda"), ARMS["panda"]
    target = Pose(translation=[5.0, 0.0, 0.5])
    found = robot.inverse_kinematics(frame, target, restarts=2)
    assert not found
    assert found.reason.startswith("Not reached: off by ")
    assert "m" in found.reason
    assert found.translation_error + found.rotation_error > 1.0
    assert found.restarts == 2
    assert within_limits(robot, found.q)


def slider(lower: float | None = None, upper: float | None = None) -> Robot:
    joint = Joint("slide", "prismatic", "base", "cart", axis=(1.0, 0.0, 0.0), lower=lower, upper=upper)
    return Robot.from_description(Description("slider", (Link("base"), Link("cart")), (joint,)))


def test_joints_at_their_limits_are_named() -> None:
    found = slider(-1.0, 1.0).inverse_kinematics("cart", Pose(translation=[3.0, 0.0, 0.0]), restarts=1)
    assert not found
    assert found.at_limits == ("slide",)
    assert "joints at their limits: slide" in found.reason
    assert found.q == pytest.approx([1.0])
    assert found.translation_error == pytest.approx(2.0)


def test_directions_that_no_joint_has_are_said_to_be_out_of_reach() -> None:
    found = slider().inverse_kinematics("cart", Pose(translation=[3.0, 1.0, 0.0]), restarts=1)
    assert not found
    assert "the Jacobian has rank 1" in found.reason
    assert found.q == pytest.approx([3.0], abs=1e-6)  # the closest
    assert found.translation_error == pytest.approx(1.0)


def test_a_limit_on_the_way_is_gone_around() -> None:
    """Two joints do what one cannot do alone: the held one leaves the work to the other."""
    joints = (
        Joint("short", "prismatic", "base", "a", axis=(1.0, 0.0, 0.0), lower=-0.1, upper=0.1),
        Joint("long", "prismatic", "a", "b", axis=(1.0, 0.0, 0.0), lower=-5.0, upper=5.0),
    )
    robot = Robot.from_description(Description("two", (Link("base"), Link("a"), Link("b")), joints))
    found = robot.inverse_kinematics("b", Pose(translation=[4.0, 0.0, 0.0]), restarts=0)
    assert found, found.reason
    assert found.q.sum() == pytest.approx(4.0)


def test_start_outside_of_the_limits_is_moved_inside() -> None:
    robot = slider(-1.0, 1.0)
    found = robot.inverse_kinematics("cart", Pose(translation=[0.5, 0.0, 0.0]), [7.0])
    assert found
    assert found.q == pytest.approx([0.5])


def test_frames_that_nothing_moves() -> None:
    robot = arm("panda")
    found = robot.inverse_kinematics("panda_link0", Pose(translation=[0.0, 0.0, 1.0]), restarts=1)
    assert not found
    assert "fixed to the world" in found.reason
    assert "1 m" in found.reason
    assert robot.inverse_kinematics("panda_link0", robot.pose("panda_link0", robot.neutral()))


def test_robot_without_moving_joints() -> None:
    joint = Joint("weld", "fixed", "a", "b", origin=placement((1.0, 0.0, 0.0)))
    robot = Robot.from_description(Description("statue", (Link("a"), Link("b")), (joint,)))
    assert robot.inverse_kinematics("b", Pose(translation=[1.0, 0.0, 0.0]))
    found = robot.inverse_kinematics("b", Pose(translation=[2.0, 0.0, 0.0]))
    assert not found
    assert "no moving joint" in found.reason
    assert found.q.shape == (0,)


@pytest.mark.parametrize(
    "options",
    [
        {"tolerance": 0.0},
        {"tolerance": -1.0},
        {"tolerance": np.nan},
        {"iterations": 0},
        {"restarts": -1},
        {"tolerance": np.inf},
        {"rng": "dice"},
        {"rng": -1},
        {"position_only": "yes"},
        {"starts": True},
        {"starts": 0},
        {"starts": 2.5},
        {"iterations": "many"},
        {"restarts": None},
        {"tolerance": None},
        {"mask": [1, 1, 1]},
        {"mask": [0, 0, 0, 0, 0, 0]},
        {"mask": [0, 0, 0, 1, 1, 0.5]},
        {"mask": "position"},
        {"mask": [1] * 6, "position_only": True},
        {"mask_expressed": "world"},
        {"mask_expressed": None},
        {"posture": np.zeros(3)},
        {"posture": "home"},
        {"q0": dq.Pose()},
        {"q0": np.zeros((2, 3))},
        {"q0": np.zeros(3)},
        {"q0": np.full(8, np.nan)},
        {"q0": "home"},
    ],
    ids=repr,
)
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    robot, frame = arm("panda"), ARMS["panda"]
    with pytest.raises(Error):
        robot.inverse_kinematics(frame, robot.pose(frame, robot.neutral()), **options)


@pytest.mark.parametrize("target", ["there", None, np.zeros(8), np.zeros((3, 3)), [1.0, 0.0, 0.0], np.full(8, np.nan)])
def test_bad_targets_are_refused(target: Any) -> None:
    with pytest.raises(Error):
        arm("panda").inverse_kinematics(ARMS["panda"], target)


def test_targets_in_many_forms() -> None:
    robot = slider()
    target = Pose(translation=[0.5, 0.0, 0.0])
    for form in (target, target.dq, target.vec8(), target.matrix, -target.vec8()):
        found = robot.inverse_kinematics("cart", form)
        assert isinstance(found, InverseKinematics)
        assert found.q == pytest.approx([0.5])
    with pytest.raises(UnknownNameError, match="did you mean 'cart'"):
        robot.inverse_kinematics("card", target)
