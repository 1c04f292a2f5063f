"""The wrench that each joint transmits, through Robot: against Pinocchio, and its share along the axes."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
from pinocchio_tools import comparable, pinocchio_model
from trees import ONE_AXIS, assert_close, random_description, random_state

import dqdyn as dq
from dqdyn.robot import Robot

KINDS = (*ONE_AXIS, "universal", "spherical", "planar", "free")


@pytest.mark.parametrize(("seed", "base"), [(1, "fixed"), (2, "free"), (3, "planar")])
def test_as_pinocchio(seed: int, base: str) -> None:
    ours = Robot.from_description(comparable(random_description(seed, 9, KINDS, mimics=0, base=base)), strict=True)
    theirs = pinocchio_model(ours)
    layout = ours.to_pinocchio(theirs)
    q, v, a = random_state(ours, np.random.default_rng(seed))
    data = theirs.createData()
    pinocchio.rnea(theirs, data, layout.q(q), layout.v(q, v), layout.a(q, v, a))
    found = ours.joint_wrenches(q, v, a)
    assert found.shape == (len(ours.joints), 6)
    for joint, row in zip(ours.joints, found, strict=True):
        force = data.f[theirs.getJointId(joint.name)]
        assert_close(row, np.concatenate([force.linear, force.angular]))


def test_share_along_the_axis_is_the_torque() -> None:
    robot = dq.robots.arm6().without_friction()
    rng = np.random.default_rng(4)
    q, v, a = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    push = {"tool": [3.0, -2.0, 1.0, 0.1, 0.2, 0.3]}
    for wrenches in (None, push):
        rows = robot.joint_wrenches(q, v, a, wrenches)
        tau = robot.inverse_dynamics(q, v, a, wrenches, method="gauss")
        share = [np.dot(row[3:], joint.motion.axis) for row, joint in zip(rows, robot.joints, strict=True)]
        np.testing.assert_allclose(share, tau - robot_armature(robot) * a, rtol=0, atol=1e-10)


def robot_armature(robot: dq.Robot) -> np.ndarray:
    return np.array([joint.armature[0] for joint in robot.joints])


def test_batches_and_wrong_frames() -> None:
    robot = dq.robots.two_link()
    rng = np.random.default_rng(5)
    q, v, a = (rng.normal(size=(5, robot.nv)) for _ in range(3))
    rows = robot.joint_wrenches(q, v, a)
    assert rows.shape == (5, 2, 6)
    np.testing.assert_allclose(rows[3], robot.joint_wrenches(q[3], v[3], a[3]), rtol=0, atol=1e-12)
    with pytest.raises(dq.Error, match="nowhere"):
        robot.joint_wrenches(q, v, a, {"nowhere": np.zeros(6)})
