"""The values that robots return name their frames, and external wrenches must fit theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.algebra.rates import twist_of_rate

WRENCH = np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])


@pytest.fixture(scope="module")
def robot() -> dq.Robot:
    return dq.robots.arm7()


@pytest.fixture
def state(robot: dq.Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(141)
    return robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


EXPRESSED = {"body": "tool", "world": "world", "aligned": "tool (world axes)"}


@pytest.mark.parametrize("expressed", EXPRESSED)
def test_twists_and_their_rates(robot: dq.Robot, state: Any, expressed: Any) -> None:
    q, v, a = state
    names = ("tool", "world", EXPRESSED[expressed])
    frame: Any = robot.frames["tool"]
    for given in ("tool", frame):
        assert robot.twist(given, q, v, expressed).frames == names
        assert robot.twist_rate(given, q, v, a, expressed).frames == names
    batch = robot.twist("tool", np.stack([q, q]), v, expressed)
    assert batch.shape == (2,)
    assert batch[1] == robot.twist("tool", q, v, expressed)
    np.testing.assert_allclose(batch.vec6()[0], robot.twist_jacobian("tool", q, expressed) @ v, rtol=0, atol=1e-12)


def test_poses(robot: dq.Robot, state: Any) -> None:
    q = state[0]
    assert robot.pose("tool", q).frames == ("tool", "world")
    assert robot.pose(robot.frames["tool"], q).frames == ("tool", "world")
    assert {name: x.frames for name, x in robot.poses(q).items()} == {name: (name, "world") for name in robot.frames}
    assert robot.relative_pose("tool", "link3", q).frames == ("tool", "link3")
    assert robot.absolute_pose("tool", "link3", q).frames == (None, "world")
    relative = robot.pose("link3", q).inverse() * robot.pose("tool", q)
    assert relative.frames == ("tool", "link3")
    np.testing.assert_allclose(relative.vec8(), robot.relative_pose("tool", "link3", q).vec8(), rtol=0, atol=1e-12)
    with pytest.raises(dq.Error, match="pose of 'link3' and a pose in 'world' cannot be chained"):
        robot.pose("link3", q) * robot.pose("tool", q)


def test_expressions_are_linked_by_the_pose(robot: dq.Robot, state: Any) -> None:
    q, v, _ = state
    x = robot.pose("tool", q)
    body, world = robot.twist("tool", q, v), robot.twist("tool", q, v, "world")
    assert (x * body).frames == body.expressed_in("world", x).frames == world.frames
    np.testing.assert_allclose((x * body).vec6(), world.vec6(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(world.expressed_in("tool", x).vec6(), body.vec6(), rtol=0, atol=1e-12)
    with pytest.raises(dq.Error, match="expressed in 'tool' and a twist expressed in 'world'"):
        body + world
    with pytest.raises(dq.Error, match=r"pose of 'tool' does not move a twist expressed in 'tool \(world axes\)'"):
        x * robot.twist("tool", q, v, "aligned")


def test_the_difference_of_two_bodies_is_their_relative_twist(robot: dq.Robot, state: Any) -> None:
    q, v, _ = state
    twists = [robot.twist(frame, q, v, "world") for frame in ("tool", "link3")]
    relative = twists[0] - twists[1]
    assert relative.frames == ("tool", "link3", "world")
    assert (relative + twists[1]).frames == twists[0].frames
    x_rate = dq.DQ(robot.relative_pose_jacobian("tool", "link3", q) @ v)
    expected = twist_of_rate(robot.relative_pose("tool", "link3", q).dq, x_rate)  # in link3
    seen = relative.expressed_in("link3", robot.pose("link3", q))
    np.testing.assert_allclose(seen.vec6(), expected.vec6(), rtol=0, atol=1e-12)
    with pytest.raises(dq.Error, match="twist of 'tool' against 'world' and one of 'link3' against 'world' do not add"):
        twists[0] + twists[1]


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "joint_wrenches"])
def test_external_wrenches_fit_their_frame(robot: dq.Robot, state: Any, name: str) -> None:
    q, v, a = state
    function, x = getattr(robot, name), robot.pose("tool", q)
    expected = function(q, v, a, wrenches={"tool": WRENCH})
    here = dq.Wrench(WRENCH, body="hand", expressed="tool")
    np.testing.assert_array_equal(function(q, v, a, wrenches={"tool": here}), expected)
    with pytest.raises(dq.StateError, match="taken as expressed in 'tool'; it is expressed in 'world'") as caught:
        function(q, v, a, wrenches={"tool": x * here})
    assert (caught.value.frame, caught.value.found) == ("tool", "world")
    back = (x * here).expressed_in("tool", x)
    np.testing.assert_allclose(function(q, v, a, wrenches={"tool": back}), expected, rtol=0, atol=1e-9)


def test_aligned_wrenches_have_their_own_frame(robot: dq.Robot, state: Any) -> None:
    q, v, a = state
    wrench = dq.Wrench(WRENCH, expressed="tool (world axes)")
    expected = robot.inverse_dynamics(q, v, a, {"tool": WRENCH}, expressed="aligned")
    np.testing.assert_array_equal(robot.inverse_dynamics(q, v, a, {"tool": wrench}, expressed="aligned"), expected)
    with pytest.raises(dq.StateError, match=r"expressed in 'tool'; it is expressed in 'tool \(world axes\)'"):
        robot.inverse_dynamics(q, v, a, {"tool": wrench})
    turn = dq.Pose(rotation=robot.pose("tool", q).rotation, body="tool", reference="tool (world axes)")
    turned = dq.Wrench(WRENCH, expressed="tool").expressed_in("tool (world axes)", turn)
    there = robot.inverse_dynamics(q, v, a, {"tool": turned}, expressed="aligned")
    np.testing.assert_allclose(there, robot.inverse_dynamics(q, v, a, {"tool": WRENCH}), rtol=0, atol=1e-9)
