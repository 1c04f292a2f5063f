"""Relative and absolute pose of two hands: DQ Robotics, finite differences, the exact rate of a square root."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from dqrobotics import DQ as Theirs
from dqrobotics.robot_modeling import DQ_CooperativeDualTaskSpace, DQ_SerialManipulatorDH
from trees import assert_close, random_placement, random_v, rate_along, run

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.exponential import pow
from dqdyn.algebra.hamilton import haminus4, hamiplus4
from dqdyn.algebra.poses import pose, position
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.kinematics.cooperative import absolute, half, relative
from dqdyn.model.description import Description, Joint, Link, placement
from dqdyn.robot import Robot

# θ, d, a, α of six joints
DH = np.array(
    [
        [0.0, 0.1, 0.2, -0.3, 0.4, 0.0],
        [0.3, 0.0, 0.1, 0.4, 0.0, 0.1],
        [0.0, 0.4, 0.05, 0.0, 0.02, 0.0],
        [1.57, 0.0, 1.2, -1.57, 1.57, 0.3],
    ]
)
HANDS = {"frame1": "left_6", "frame2": "right_6"}


@cache
def arms() -> tuple[Robot, DQ_CooperativeDualTaskSpace, list[DQ_SerialManipulatorDH]]:
    """Two arms on one torso, here and there. Their pair does not keep the arms that it needs, so we do."""
    rng = np.random.default_rng(1)
    joints, links, theirs = [], [Link("torso")], []
    for side in ("left", "right"):
        base = random_placement(rng)
        arm = DQ_SerialManipulatorDH(np.vstack([DH, np.zeros(6)]))
        arm.set_reference_frame(Theirs(base.vec8()))
        theirs.append(arm)
        for i, (theta, d, a, alpha) in enumerate(DH.T, 1):
            turned = placement(rpy=(0.0, 0.0, theta))
            parent = "torso" if i == 1 else f"{side}_{i - 1}"
            origin = base * turned if i == 1 else turned
            beyond = placement((a, 0.0, d), rpy=(alpha, 0.0, 0.0))
            name = f"{side}_{i}"
            joints.append(Joint(f"{name}_joint", "revolute", parent, name, origin=origin, child_origin=beyond))
            links.append(Link(name))
    robot = Robot.from_description(Description("two arms", tuple(links), tuple(joints)))
    return robot, DQ_CooperativeDualTaskSpace(*theirs), theirs


def configurations(n: int = 20) -> np.ndarray:
    return np.random.default_rng(2).uniform(-1.2, 1.2, (n, 12))


def test_poses_and_relative_jacobian_equal_dq_robotics() -> None:
    robot, theirs, _ = arms()
    for q in configurations():
        expected = theirs.pose1(q).vec8()
        assert_close(run(robot, "pose", q, frame="left_6"), expected)
        assert_close(run(robot, "relative_pose", q, **HANDS), theirs.relative_pose(q).vec8())
        assert_close(run(robot, "absolute_pose", q, **HANDS), theirs.absolute_pose(q).vec8())
        found = run(robot, "relative_pose_jacobian", q, **HANDS)
        assert_close(found, theirs.relative_pose_jacobian(q))


def test_absolute_jacobian_is_exact_and_theirs_is_not() -> None:
    robot, theirs, _ = arms()
    errors = []
    for q in configurations():
        v = random_v(robot, np.random.default_rng(3))
        truth = rate_along(lambda c: run(robot, "absolute_pose", c, **HANDS), robot, q, v)
        size = np.abs(truth).max()
        ours = run(robot, "absolute_pose_jacobian", q, **HANDS) @ v
        assert np.abs(ours - truth).max() / size < 1e-7
        errors.append(np.abs(theirs.absolute_pose_jacobian(q) @ v - truth).max() / size)
    assert np.median(errors) > 1e-2


def test_rate_of_the_square_root() -> None:
    """ṡ = (H⁺₄(s) + H⁻₄(s))⁻¹ ṙ, and the determinant is 16 Re(s)²."""
    robot, _, _ = arms()
    for q in configurations():
        relative_j = run(robot, "relative_pose_jacobian", q, **HANDS)
        r = DQ(run(robot, "relative_pose", q, **HANDS)).P()
        s = pow(r, 0.5)
        both = hamiplus4(s) + haminus4(s)
        assert np.linalg.det(both) == pytest.approx(16 * s.primary.w**2, rel=1e-9)
        s_rates = np.linalg.solve(both, relative_j[:4])
        r2, r2_rates = (
            DQ(run(robot, "pose", q, frame="right_6")).P(),
            run(robot, "rotation_jacobian", q, frame="right_6"),
        )
        # the rotation of x_a is r₂ s
        expected = haminus4(s) @ r2_rates + hamiplus4(r2) @ s_rates
        assert_close(run(robot, "absolute_pose_jacobian", q, **HANDS)[:4], expected, 1e-12)


def test_absolute_pose_is_half_way() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        x1, x2 = random_placement(rng), random_placement(rng)
        x_r, x_a = relative(x1, x2), absolute(x1, x2)
        step = x2.conj() * x_a
        assert_close((step.P() * step.P()).vec8(), x_r.P().vec8(), 1e-14)
        assert_close((position(step) * 2.0).vector, position(x_r).vector, 1e-14)
        assert step.primary.w >= 0.0
        assert_close(step.vec8(), pow(x_r, 0.5).vec8(), 1e-13)
        assert_close((x2 * x_r).vec8(), x1.vec8(), 1e-14)


def hinge() -> Robot:
    """One hand turns about a line beside the other, as far as one likes."""
    at, tip = placement((0.2, 0.1, 0.0), (0.3, 0.2, 0.1)), placement((0.4, 0.0, 0.3), (0.0, 0.5, 0.0))
    joint = Joint("turn", "revolute", "right", "left", origin=at, child_origin=at.conj(), axis=(0.6, 0.0, 0.8))
    carried = Joint("carry", "revolute", "base", "right", origin=tip)
    return Robot.from_description(Description("hinge", (Link("base"), Link("right"), Link("left")), (carried, joint)))


def test_branch_is_continuous_up_to_a_full_turn() -> None:
    """Through a relative rotation of π, where the shorter way round would jump, up to nearly 2π."""
    robot, hands = hinge(), {"frame1": "left", "frame2": "right"}
    angles = np.arange(-1.0, 2 * math.pi - 0.05, 0.01)
    q = np.stack([np.full_like(angles, 0.3), angles], axis=-1)
    assert_close(np.abs(run(robot, "relative_pose", q, **hands)[:, 0]), np.abs(np.cos(angles / 2)), 1e-12)
    x = run(robot, "absolute_pose", q, **hands)
    # Rotation by half the angle: no step of the unit quaternion is longer than a quarter of the step of the angle.
    steps = np.linalg.norm(np.diff(x[:, :4], axis=0), axis=1)
    assert steps.max() < 0.01 / 4 * 1.001
    assert np.linalg.norm(np.diff(x[:, 4:], axis=0), axis=1).max() < 0.02
    for c in q[:: len(q) // 12]:
        v = np.array([0.2, 1.0])
        truth = rate_along(lambda y: run(robot, "absolute_pose", y, **hands), robot, c, v, h=1e-3)
        assert_close(run(robot, "absolute_pose_jacobian", c, **hands) @ v, truth, 1e-9)
        jacobian = lambda y: run(robot, "absolute_pose_jacobian", y, **hands)
        rates = run(robot, "absolute_pose_jacobian_derivative", c, v, **hands)
        assert_close(rates, rate_along(jacobian, robot, c, v, h=1e-3), 1e-8)


def test_branch_depends_on_the_sign_of_the_rotation() -> None:
    """x and −x are one pose, but not one half of it: hence poses must be continuous along a motion."""
    x = pose(Quaternion(math.cos(1.0), math.sin(1.0), 0.0, 0.0), pure(0.1, 0.2, 0.3))
    there, back = half(x).primary, half(-x).primary
    assert math.acos(there.w) == pytest.approx(0.5)
    assert math.acos(back.w) == pytest.approx((math.pi - 1.0) / 2)
    assert there.w > 0
    assert back.w > 0


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-8, 1e-4, math.pi - 1e-6, math.pi, 2 * math.pi - 1e-3])
def test_strata_of_the_relative_rotation(angle: float) -> None:
    """Half of a rotation by any angle, and its derivatives, are finite and exact."""
    robot, hands = hinge(), {"frame1": "left", "frame2": "right"}
    q = np.array([0.3, angle])
    s = DQ(run(robot, "pose", q, frame="right")).conj() * DQ(run(robot, "absolute_pose", q, **hands))
    assert s.primary.w == pytest.approx(math.cos(angle / 4), abs=1e-12)
    assert np.linalg.norm(s.vec8()[1:4]) == pytest.approx(math.sin(angle / 4), abs=1e-12)
    jacobian = run(robot, "absolute_pose_jacobian", q, **hands)
    truth = rate_along(lambda c: run(robot, "absolute_pose", c, **hands), robot, q, np.array([0.5, 1.0]), h=1e-4)
    assert_close(jacobian @ [0.5, 1.0], truth, 1e-7)


def test_hands_on_the_same_frame_and_on_the_world() -> None:
    robot = arms()[0]
    q = configurations(1)[0]
    same = run(robot, "relative_pose", q, frame1="left_6", frame2="left_6")
    assert_close(same, [1, 0, 0, 0, 0, 0, 0, 0], 1e-14)
    assert_close(run(robot, "relative_pose_jacobian", q, frame1="left_6", frame2="left_6"), np.zeros((8, 12)), 1e-14)
    to_world = run(robot, "relative_pose", q, frame1="left_6", frame2="world")
    assert_close(to_world, run(robot, "pose", q, frame="left_6"), 1e-14)
    jacobian = run(robot, "relative_pose_jacobian", q, frame1="left_6", frame2="world")
    assert_close(jacobian, run(robot, "pose_jacobian", q, frame="left_6"), 1e-14)
