"""Limits of joints that others follow, and of those that have none of their own."""

from __future__ import annotations

import numpy as np
import pytest
from control_tools import follow
from trees import tree

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.control.limits.coordinates import own
from dqdyn.model.description import Description, Joint, Link, Mimic


def gripper(ratio: float, offset: float, **follower: float) -> dq.Robot:
    """A finger in 0 … 1, and one that follows it."""
    joints = (
        Joint("left", "prismatic", "palm", "left finger", axis=(1.0, 0.0, 0.0), lower=0.0, upper=1.0, velocity=2.0),
        Joint(
            "right",
            "prismatic",
            "palm",
            "right finger",
            axis=(1.0, 0.0, 0.0),
            mimic=Mimic("left", ratio, offset),
            **follower,  # type: ignore[arg-type]
        ),
    )
    return dq.Robot.from_description(
        Description("gripper", (Link("palm"), Link("left finger"), Link("right finger")), joints)
    )


@pytest.mark.parametrize(
    ("ratio", "offset", "lower", "upper"),
    [(1.0, 0.0, 0.2, 0.6), (-0.5, 0.1, -0.2, 0.0), (2.0, -0.1, -9.0, 0.7), (-1.0, 0.0, -0.3, 5.0)],
)
def test_both_fingers_stay_inside(ratio: float, offset: float, lower: float, upper: float) -> None:
    robot = gripper(ratio, offset, lower=lower, upper=upper, velocity=0.4)
    ends = sorted(((lower - offset) / ratio, (upper - offset) / ratio))
    for target, end in ((-3.0, max(0.0, ends[0])), (3.0, min(1.0, ends[1]))):
        with pytest.warns(ct.ControlWarning, match="The target of 'posture' lies in the zone"):
            c = ct.velocity_controller(robot, [ct.PostureTask([target], gain=5.0)], [ct.JointLimits(gain=5.0)])
        q = follow(robot, c, np.array([0.5 * sum(np.clip(ends, 0.0, 1.0))]), 3.0, 0.01)
        assert q[0] == pytest.approx(end, abs=1e-5)
    assert own(robot.model, "velocity")[0] == pytest.approx(min(2.0, 0.4 / abs(ratio)))


@pytest.mark.parametrize(("share", "status"), [(0.99, "relaxed"), (1.01, "solved")])
def test_gains_for_a_fast_pass_through_the_center(share: float, status: str) -> None:
    """Where the gradient vanishes, the second-order form is feasible from η_p h = 2w² on, as the docstrings say."""
    arm, w = dq.robots.arm7(), 2.5
    middle, v = np.array([0.0, 0.4, 0.2, -1.2, 0.3, 0.8, 0.1]), np.array([w, 0, 0, 0, 0, 0, 0])  # of the first joint
    f = lambda angle: 2.0 - 2.0 * np.cos(angle)
    across, _, axis = arm.pose("tool", middle).rotation_matrix.T
    turn = np.linalg.pinv(arm.twist_jacobian("tool", middle)) @ [*(w * across), 0.0, 0.0, 0.0]
    p = dq.Point(arm.pose("tool", middle).translation)
    slide = np.linalg.pinv(arm.translation_jacobian("tool", middle)) @ [0.0, w, 0.0]
    cases = [
        (ct.ConeJointLimits, f(arm.limits.upper[0]), v),
        (lambda gains: ct.Cone("tool", axis, 0.4, gains=gains), f(0.4), turn),
        (lambda gains: ct.KeepIn("tool", p, 0.3, gains=gains), 0.3**2, slide),
    ]
    for make, h, speed in cases:
        eta = share * 2.0 * w**2 / h
        zone = make(gains=(3.0 * np.sqrt(eta), eta))
        c = ct.acceleration_controller(arm, [ct.RestTask()], [zone])
        c(0.0, middle, speed)
        assert c.report.status == status, zone


def test_limits_of_a_follower_without_limits() -> None:
    robot = gripper(-2.0, 0.3)
    for what, expected in (("lower", 0.0), ("upper", 1.0), ("velocity", 2.0)):
        assert own(robot.model, what)[0] == expected


def test_without_followers_limits_are_the_robots() -> None:
    robot = tree("every kind")
    for what in ("lower", "upper", "velocity", "effort"):
        np.testing.assert_array_equal(own(robot.model, what), getattr(robot.limits, what))
