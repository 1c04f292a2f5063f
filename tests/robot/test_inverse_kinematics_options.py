"""Batches, masks, postures, several starts and closed loops in inverse kinematics; and the error behind it."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pinocchio
import pytest
from scipy.spatial.transform import Rotation
from trees import TREES, random_robot, tree

import dqdyn as dq
from dqdyn.errors import Error, UnknownNameError
from dqdyn.robot import Robot
from dqdyn.robot.inverse import InverseKinematicsBatch

ARM = dq.robots.arm7()
RNG = np.random.default_rng(11)
MANY = np.array([ARM.random_configuration(RNG) for _ in range(12)])
GOALS = ARM.pose("tool", MANY)


def off(robot: Robot, frame: str, q: np.ndarray, goal: dq.Pose, axes: str = "body") -> np.ndarray:
    """[φ, p] by SciPy."""
    here = robot.pose(frame, q)
    turn = Rotation.from_matrix(goal.rotation_matrix.T @ here.rotation_matrix).as_rotvec()
    place = goal.rotation_matrix.T @ (here.translation - goal.translation)
    both = np.concatenate([turn, place])
    return both if axes == "body" else np.concatenate([goal.rotation_matrix @ turn, goal.rotation_matrix @ place])


# --- the error ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TREES)
def test_the_error_and_its_matrix(name: str) -> None:
    robot = tree(name)
    frame = list(robot.frames)[-1]
    rng = np.random.default_rng(12)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    goals = [
        robot.pose(frame, robot.random_configuration(rng)) * dq.Pose.from_rpy(rng.normal(size=3), rng.normal(size=3)),
        robot.pose(frame, q),
        robot.pose(frame, q) * dq.Pose.from_rpy([1e-9, 0.0, 2e-9], [0.0, 1.0, 0.0]),
        robot.pose(frame, q) * dq.Pose.from_rpy([3.1, 0.0, 0.0], [100.0, 0.0, 0.0]),
    ]
    for goal in goals:
        found = robot.pose_error(frame, q, goal)
        assert np.allclose(found, off(robot, frame, q, goal), rtol=1e-9, atol=1e-9)
        h = 1e-6
        ahead, behind = (robot.pose_error(frame, robot.integrate(q, v, t), goal) for t in (h, -h))
        rate = robot.pose_error_matrix(frame, q, goal) @ v
        assert np.allclose(rate, (ahead - behind) / (2 * h), rtol=1e-6, atol=1e-6 * max(1.0, np.abs(found).max()))


def test_the_error_takes_poses_in_any_form() -> None:
    goal, q = GOALS[0], MANY[1]
    expected = ARM.pose_error("tool", q, goal)
    for form in (goal.vec8(), -goal.vec8(), goal.matrix, goal.dq, goal.to_pinocchio(), goal.vec8().tolist()):
        assert np.allclose(ARM.pose_error("tool", q, form), expected, atol=1e-12)
    assert ARM.pose_error("tool", MANY, GOALS).shape == (12, 6)
    assert not ARM.pose_error("tool", MANY, GOALS).round(12).any()


@pytest.mark.parametrize(
    ("goal", "sentence"),
    [
        (2.0 * GOALS[0].vec8(), "the goal has a quaternion of norm 2"),
        (np.zeros(7), "8 components"),
        (None, "goal of 'arm7' must be real numbers"),
        (np.full(8, np.nan), "nan"),
    ],
)
def test_bad_goals_of_the_error(goal: Any, sentence: str) -> None:
    with pytest.raises(Error, match=sentence):
        ARM.pose_error("tool", MANY[0], goal)


# --- batches --------------------------------------------------------------------------------------------------------


def test_batches_give_what_single_calls_give() -> None:
    found = ARM.inverse_kinematics("tool", GOALS)
    assert isinstance(found, InverseKinematicsBatch)
    assert found.reached.all()
    assert found.success
    assert found.reason == "All 12 reached: Reached within 1e-09."
    assert found.q.shape == (12, 7)
    assert len(found) == 12
    for i, one in enumerate(found):
        alone = ARM.inverse_kinematics("tool", GOALS[i])
        assert np.allclose(one.q, alone.q, atol=1e-6)
        assert one.restarts == alone.restarts
        assert found[i] is one
        assert np.array_equal(found.q[i], one.q)


def test_shapes_of_batches() -> None:
    grid = dq.Pose(GOALS.vec8().reshape(3, 4, 8))
    found = ARM.inverse_kinematics("tool", grid, MANY.reshape(3, 4, 7) + 0.05)
    assert isinstance(found, InverseKinematicsBatch)
    assert found.q.shape == (3, 4, 7)
    assert found.reached.shape == (3, 4)
    assert np.abs(ARM.pose_error("tool", found.q, grid)).max() < 1e-9
    assert found[2, 1].q.shape == (7,)
    with pytest.raises(Error, match="outcome of one goal"):
        found[0]
    starts = ARM.inverse_kinematics("tool", GOALS[0], MANY[:3])
    assert starts.q.shape == (3, 7)
    none = ARM.inverse_kinematics("tool", dq.Pose(np.zeros((0, 8))))
    assert none.q.shape == (0, 7)
    assert none.reason == "There was no pose to reach."
    with pytest.raises(Error, match="cannot be combined"):
        ARM.inverse_kinematics("tool", GOALS, MANY[:5])


def test_failures_in_a_batch_are_named() -> None:
    far = dq.Pose(translation=[[5.0, 0.0, 0.0], [0.0, 6.0, 0.0]])
    goals = dq.Pose(np.concatenate([GOALS.vec8()[:2], far.vec8()]))
    found = ARM.inverse_kinematics("tool", goals, restarts=3)
    assert isinstance(found, InverseKinematicsBatch)
    assert not found
    assert found.reached.tolist() == [True, True, False, False]
    assert found.reason.startswith("2 of 4 not reached; the first, at row 2: Not reached: off by ")
    assert found.translation_error > 3.0


# --- masks ----------------------------------------------------------------------------------------------------------

MASKS = [[1, 1, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 1], [0, 0, 0, 0, 0, 1], [1, 1, 1, 0, 0, 0]]


@pytest.mark.parametrize("axes", ["body", "aligned"])
@pytest.mark.parametrize("mask", MASKS, ids=str)
@pytest.mark.parametrize("name", ["arm7", "arm6", "humanoid_arm"])
def test_only_what_the_mask_asks(name: str, mask: list[int], axes: Any) -> None:
    robot, frame = {
        "arm7": lambda: (ARM, "tool"),
        "arm6": lambda: (dq.robots.arm6(), "tool"),
        "humanoid_arm": lambda: (random_robot(54, 6, ("revolute", "spherical", "prismatic")), "tool"),
    }[name]()
    rng = np.random.default_rng(13)
    for _ in range(3):
        goal = robot.pose(frame, robot.random_configuration(rng))
        found = robot.inverse_kinematics(frame, goal, robot.random_configuration(rng), mask=mask, mask_expressed=axes)
        assert found, found.reason
        assert np.abs(off(robot, frame, found.q, goal, axes)[np.array(mask, bool)]).max() < 1.01e-9
        assert (found.q >= robot.limits.lower).all()
        assert (found.q <= robot.limits.upper).all()


def test_a_mask_reaches_what_the_whole_pose_does_not() -> None:
    """A plane arm reaches every place of its plane, but not in every orientation."""
    arm = dq.from_dh([[0, 0, 0.5, 0], [0, 0, 0.5, 0]])
    goal = dq.Pose.from_rpy([0.0, 0.0, 2.0], [0.3, 0.4, 0.0])
    assert not arm.inverse_kinematics("tool", goal, restarts=3)
    found = arm.inverse_kinematics("tool", goal, mask=[1, 1, 0, 1, 1, 1])
    assert found, found.reason
    assert np.allclose(arm.pose("tool", found.q).translation, [0.3, 0.4, 0.0])
    position = arm.inverse_kinematics("tool", goal, position_only=True)
    assert np.allclose(arm.pose("tool", position.q).translation, [0.3, 0.4, 0.0])


# --- postures and several starts ------------------------------------------------------------------------------------


def test_the_posture_is_approached_as_far_as_the_goal_allows() -> None:
    """At the result nothing is left of the way to the posture that neither the goal nor a limit forbids."""
    posture = ARM.random_configuration(14)
    found = ARM.inverse_kinematics("tool", GOALS, posture=posture)
    plain = ARM.inverse_kinematics("tool", GOALS)
    assert isinstance(found, InverseKinematicsBatch)
    assert found, found.reason
    assert np.abs(ARM.pose_error("tool", found.q, GOALS)).max() < 1e-9
    assert (np.linalg.norm(found.q - posture, axis=1) < np.linalg.norm(plain.q - posture, axis=1) - 0.1).sum() > 6
    for q in found.q:
        way, matrix = posture - q, ARM.twist_jacobian("tool", q)
        left = way - np.linalg.pinv(matrix) @ matrix @ way  # one direction is free: along it,
        outward = (q <= ARM.limits.lower) & (left < 0.0) | (q >= ARM.limits.upper) & (left > 0.0)
        assert np.linalg.norm(left) < 1e-5 or outward.any()  # there is no way left, or a limit ends it


def test_a_posture_that_meets_the_goal_is_the_result() -> None:
    posture = MANY[3]
    for found in (
        ARM.inverse_kinematics("tool", GOALS[3], posture=posture),
        ARM.inverse_kinematics("tool", GOALS[3], MANY[4], posture=posture, starts=2),
        ARM.inverse_kinematics("tool", GOALS[3], posture + 0.1, posture=posture),
    ):
        assert np.allclose(found.q, posture, atol=1e-5)


@pytest.mark.long
def test_several_starts_find_several_solutions() -> None:
    """The six-axis arm has eight; the nearest to the start comes first."""
    arm = dq.robots.arm6()
    q = np.array([0.3, -0.6, 0.8, 0.4, 0.7, -0.2])
    goal = arm.pose("tool", q)
    found = arm.inverse_kinematics("tool", goal, q + 0.05, starts=60, restarts=0)
    assert found.solutions.shape[0] >= 4
    assert np.allclose(found.q, q, atol=1e-6)
    assert np.array_equal(found.q, found.solutions[0])
    way = np.linalg.norm(found.solutions - (q + 0.05), axis=1)
    assert (np.diff(way) >= 0.0).all()
    for solution in found.solutions:
        assert np.abs(off(arm, "tool", solution, goal)).max() < 1.01e-9
    gaps = np.abs(found.solutions[:, None] - found.solutions[None]).max(axis=2)
    assert gaps[~np.eye(len(gaps), dtype=bool)].min() > 1e-5
    again = arm.inverse_kinematics("tool", goal, q + 0.05, starts=60, restarts=0)
    assert np.array_equal(again.solutions, found.solutions)


# --- loops, other libraries, words ----------------------------------------------------------------------------------


@pytest.mark.long
def test_loops_stay_closed() -> None:
    robot = dq.robots.five_bar()
    q, _ = robot.project(robot.random_configuration(15) * 0.2)
    frame = "tool"
    goal = robot.pose(frame, q)
    start, _ = robot.project(np.zeros(robot.nq))
    found = robot.inverse_kinematics(frame, goal, start, position_only=True)
    assert found, found.reason
    assert np.abs(robot.constraint_residual(found.q)).max() < 1e-8
    assert np.allclose(robot.pose(frame, found.q).translation, goal.translation, atol=1e-8)
    assert found.constraint_error <= 1e-9
    far = robot.inverse_kinematics(frame, dq.Pose(translation=[9.0, 0.0, 0.0]), start, position_only=True, restarts=1)
    assert not far


def test_goals_of_other_libraries() -> None:
    goal = GOALS[5]
    for form in (goal.to_pinocchio(), goal.to_spatialmath(), goal.matrix):
        assert ARM.inverse_kinematics("tool", form)
    model_goal = pinocchio.SE3(goal.matrix)
    assert ARM.inverse_kinematics("tool", model_goal).q.shape == (7,)


def test_all_options_are_in_the_signature() -> None:
    parameters = inspect.signature(Robot.inverse_kinematics).parameters
    assert list(parameters)[1:] == [
        *("frame", "pose", "q0", "mask", "mask_expressed", "posture", "starts", "restarts"),
        *("tolerance", "iterations", "rng", "position_only"),
    ]
    assert all(p.kind is not p.VAR_KEYWORD for p in parameters.values())


ORDER: dict[str, tuple[Any, type[Error], str]] = {
    "pose": (
        lambda q: ARM.pose(q, "tool"),
        UnknownNameError,
        r"pose takes the frame first, by its name, then q, as in robot.pose\('tool', q\); found an array of shape",
    ),
    "list": (lambda q: ARM.pose(q.tolist(), "tool"), UnknownNameError, "takes the frame first"),
    "jacobian": (lambda q: ARM.twist_jacobian(q, "tool"), UnknownNameError, r"robot.twist_jacobian\('tool', q\)"),
    "twist": (lambda q: ARM.twist(q, q, "tool"), UnknownNameError, r"robot.twist\('tool', q, v\)"),
    "point": (lambda q: ARM.point(q, "tool"), UnknownNameError, r"robot.point\('tool', q, point\)"),
    "two": (lambda q: ARM.relative_pose("tool", q, "tool"), UnknownNameError, r"relative_pose\('tool', 'joint7', q\)"),
    "number": (lambda q: ARM.pose(3, q), UnknownNameError, "found 3 in place of the frame"),
    "expression": (lambda q: ARM.twist_jacobian("tool", "body", q), UnknownNameError, "known: body, world, aligned"),
    "goal": (
        lambda q: ARM.inverse_kinematics(GOALS[0], "tool"),
        UnknownNameError,
        "before other arguments; found Pose",
    ),
    "start": (lambda q: ARM.inverse_kinematics("tool", q, GOALS[0]), Error, "takes the goal before the start"),
    "frame": (lambda q: ARM.add_frame("pen", GOALS[0], "tool"), UnknownNameError, "before other arguments"),
    "payload": (lambda q: ARM.with_payload(1.0, "tool"), UnknownNameError, "before other arguments; found 1.0"),
    "lock": (lambda q: ARM.lock("joint1"), Error, r"as in robot.lock\(\{'finger': 0.0\}\)"),
    "many places": (lambda q: ARM.add_frame("pen", "tool", GOALS), Error, "is one pose; found a batch"),
}


@pytest.mark.parametrize("name", ORDER)
def test_arguments_in_the_wrong_order_get_a_sentence(name: str) -> None:
    call, kind, sentence = ORDER[name]
    with pytest.raises(kind, match=sentence):
        call(MANY[0])
