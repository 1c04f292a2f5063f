"""Where the camera looks: at the whole motion, or at the robot where the motion is wide."""

from __future__ import annotations

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.view.bounds import Bounds, bounds_of
from dqdyn.view.motion import body_poses
from dqdyn.view.shapes import appearance_of

ROBOT = dq.robots.holonomic_manipulator()


def bounds(way: float) -> Bounds:
    """Of a drive along x."""
    q = np.tile(ROBOT.neutral(), (11, 1))
    q[:, 0] = np.linspace(0.0, way, 11)
    return bounds_of(appearance_of(ROBOT), body_poses(ROBOT, q))


def test_a_short_drive_is_seen_whole() -> None:
    still, moved = bounds(0.0), bounds(2.0)
    assert moved.center[0] == pytest.approx(still.center[0] + 1.0)
    assert moved.radius > still.radius


def test_a_long_drive_begins_with_the_robot() -> None:
    assert bounds(50.0) == bounds(0.0)


def test_a_high_motion_is_seen_whole() -> None:
    """The ball shown is as high as the motion, with some room, though the robot needs less where it starts."""
    robot = dq.robots.humanoid()
    q = np.tile(robot.neutral(), (11, 1))
    place = robot.joints[0].q.start + 6
    q[:, place] += np.linspace(0.0, 1.0, 11)
    appearance, poses = appearance_of(robot), body_poses(robot, q)
    found = bounds_of(appearance, poses)
    low, high = (bounds_of(appearance, poses[[k]]) for k in (0, -1))
    assert high.center[2] == pytest.approx(low.center[2] + 1.0)
    tall = np.ptp([poses[:, :, 6].min(), poses[:, :, 6].max()])
    assert 2.0 * found.radius > 1.1 * tall
    assert found.center[2] == pytest.approx(low.center[2] + 0.5)


def test_a_robot_without_shapes_has_a_place() -> None:
    rock = dq.Robot.from_description(dq.Description("rock", (dq.Link("rock"),), ()))
    found = bounds_of(appearance_of(rock), np.zeros((1, 0, 7)))
    assert np.isfinite(found.radius)
    assert found.radius > 0.0
