"""Robots with loops, contacts and rolling in other coordinates: the same motion as the robot itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from constrained_cases import NAMES, constrained, lawful, robot_of
from coordinate_cases import CHOICES, FEW, chosen, plain, sample, tree_with_balls
from trees import assert_close, rate

from dqdyn import constraints as kinds
from dqdyn.constraints import assembled
from dqdyn.constraints.forward import CONSTRAINED_FORWARD
from dqdyn.errors import Error, StateError
from dqdyn.model.description import Description, Joint, Link, placement
from dqdyn.model.inertia import box
from dqdyn.robot import Robot
from dqdyn.robot.coordinates import RobotInCoordinates

T = 0.37


def choices_of(name: str) -> tuple[Any, ...]:
    return tuple(c for c in FEW if not (name == "rolling" and c == "dual-quaternion"))


CASES = [(name, choice) for name in NAMES for choice in choices_of(name)]
OTHERS = [("face contact and knife edge", choice) for choice in CHOICES if choice not in FEW]
"""The other Euler sequences."""


def along(robot: RobotInCoordinates, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, h: float) -> Any:
    """(q, q̇) a time h later, for a motion with q̈ at h = 0."""
    return q + h * qd + 0.5 * h * h * qdd, qd + h * qdd


@pytest.mark.parametrize(("name", "choice"), [*CASES, *OTHERS], ids=str)
def test_both_methods_move_as_the_robot(name: str, choice: Any) -> None:
    seed = len(str(choice)) % 2  # two robots of each kind
    robot = chosen(robot_of(name, 41 + seed), choice)
    own, s = robot.robot, lawful(robot, seed, T, outside=1.0)
    t = [T] if any(c.timed for c in own.constraints) else ()
    options = {"time": True} if t else {}
    net = plain(robot, "minimal_forces", s.q, s.tau)
    a = CONSTRAINED_FORWARD["udwadia-kalaba"](own.model, s.own_q.tolist(), s.v.tolist(), net.tolist(), t=T)
    A = plain(robot, "constraint_matrix", s.q)
    own_A, b = (np.array(x) for x in assembled.acceleration(own.model, s.own_q.tolist(), s.v.tolist(), T))
    A_robot = plain(robot, "robot_constraint_matrix", s.q, [T])
    assert_close(A_robot, own_A @ plain(robot, "velocity_matrix", s.q), 1e-11)
    M, h = plain(robot, "mass_matrix", s.q), plain(robot, "bias_forces", s.q, s.qd)
    results = []
    for method in ("minimal", "kkt"):
        both = plain(robot, "forward_dynamics", s.q, s.qd, s.tau, *([t] if t else []), method=method, **options)
        qdd, of_coordinates, of_robot = np.split(both, [robot.nq, robot.nq + robot.nc])
        assert_close(plain(robot, "acceleration", s.q, s.qd, qdd), a, 2e-8)
        assert_close(M @ qdd + h, s.tau + A.T @ of_coordinates + A_robot.T @ of_robot, 1e-8, np.abs(h).max())
        assert_close(A @ qdd, plain(robot, "constraint_bias", s.q, s.qd), 1e-8, np.abs(qdd).max())
        asked = plain(robot, "robot_constraint_bias", s.q, s.qd, [T])
        assert_close(A_robot @ qdd, asked, 1e-7, np.abs(qdd).max() + np.abs(b).max())
        results.append(both)
    assert_close(results[0], results[1], 1e-6, np.abs(results[0]).max())


@pytest.mark.parametrize(("name", "choice"), CASES, ids=str)
def test_bias_is_the_rate_of_the_rows(name: str, choice: Any) -> None:
    """d/dt (A E q̇ − b) is A E q̈ minus the bias, for any q̈ that keeps the conditions of the coordinates."""
    robot = chosen(robot_of(name), choice)
    s = lawful(robot, 3, T)
    a = np.random.default_rng(5).normal(size=robot.nv)
    qdd = plain(robot, "second_rate", s.q, s.qd, s.v, a)
    moved = lambda h: plain(robot, "robot_constraint_velocity", *along(robot, s.q, s.qd, qdd, h), [T + h])
    rows, bias = (
        plain(robot, "robot_constraint_matrix", s.q, [T]),
        plain(robot, "robot_constraint_bias", s.q, s.qd, [T]),
    )
    assert_close(rate(moved, 1e-3), rows @ qdd - bias, 1e-7)
    violation = plain(robot, "robot_constraint_velocity", s.q, s.qd, [T])
    assert_close(violation, np.zeros(len(rows)), 1e-7)
    if all(c.holonomic for c in robot.robot.constraints):
        error = lambda h: plain(robot, "robot_constraint_residual", *along(robot, s.q, s.qd, qdd, h)[:1], [T + h])
        assert_close(rate(error, 1e-3), violation, 1e-7)


@pytest.mark.parametrize("choice", FEW, ids=str)
@pytest.mark.parametrize("frame", ["tool", "camera", "world"])
def test_points_and_frames(choice: Any, frame: str) -> None:
    """J q̇ and J q̈ + J̇ q̇ are velocity and acceleration by finite differences of the pose along the motion."""
    robot = chosen(tree_with_balls(), choice)
    own, s, point = robot.robot, sample(robot, 11), (0.1, -0.3, 0.2)
    qdd = plain(robot, "second_rate", s.q, s.qd, s.v, np.random.default_rng(6).normal(size=robot.nv))
    later = lambda h: along(robot, s.q, s.qd, qdd, h)
    place = lambda h: (own.pose(frame, plain(robot, "minimal", later(h)[0]), check=False).matrix @ [*point, 1.0])[:3]
    J = plain(robot, "point_jacobian", s.q, frame=frame, point=point)
    J_rate = plain(robot, "point_jacobian_rate", s.q, s.qd, frame=frame, point=point)
    bias = plain(robot, "point_bias", s.q, s.qd, frame=frame, point=point)
    assert_close(rate(place, 1e-3), J @ s.qd, 1e-8)
    speed = lambda h: plain(robot, "point_jacobian", later(h)[0], frame=frame, point=point) @ later(h)[1]
    assert_close(rate(speed, 1e-3), J @ qdd + bias, 1e-8)
    assert_close(J_rate @ s.qd, bias, 1e-10)
    assert_close(rate(lambda h: plain(robot, "point_jacobian", s.q + h * s.qd, frame=frame, point=point)), J_rate, 1e-8)
    for expressed in ("body", "world", "aligned"):
        given = {"frame": frame, "expressed": expressed}
        K = plain(robot, "twist_jacobian", s.q, **given)
        assert_close(K @ s.qd, own.twist(frame, s.own_q, s.v, expressed).vec6(), 1e-10)
        twist = lambda h, given=given: plain(robot, "twist_jacobian", later(h)[0], **given) @ later(h)[1]
        of_q = plain(robot, "twist_bias", s.q, s.qd, **given)
        assert_close(rate(twist, 1e-3), K @ qdd + of_q, 1e-7)
        assert_close(plain(robot, "twist_jacobian_rate", s.q, s.qd, **given) @ s.qd, of_q, 1e-10)


@pytest.mark.long
@pytest.mark.parametrize("choice", FEW, ids=str)
def test_projection_keeps_the_branch(choice: Any) -> None:
    robot = chosen(constrained("rod", joints=1), choice)
    s, rng = lawful(robot, 4), np.random.default_rng(7)
    q, qd = robot.project(s.q + 0.02 * rng.normal(size=robot.nq), s.qd + 0.1 * rng.normal(size=robot.nq))
    assert np.abs(q - s.q).max() < 0.3  # angles keep their turns, quaternions their sign
    robot.require_consistent(q, qd, tolerance=1e-9)
    assert np.abs(robot.robot_constraint_residual(q)).max() < 1e-9
    assert np.abs(robot.robot_constraint_velocity(q, qd)).max() < 1e-9
    if robot.nc:
        assert np.abs(robot.constraint_residual(q)).max() < 1e-9
        assert np.abs(robot.constraint_matrix(q) @ qd).max() < 1e-9
    again, rates = robot.project(q, qd)
    assert_close(again, q, 1e-10)
    assert_close(rates, qd, 1e-9)
    rows = robot.project(np.array([q, s.q]))
    assert_close(rows[1], s.q, 1e-9)
    away = q.copy()
    away[robot.slices["root_joint"]][-3:] += 0.1  # the position, or a quaternion's dual part
    with pytest.raises(StateError, match=r"distance|dual quaternion"):
        robot.require_consistent(away)


@pytest.mark.filterwarnings("ignore::dqdyn.ModelWarning")
@pytest.mark.parametrize("choice", FEW, ids=str)
def test_mass_matrix_that_is_singular_without_the_constraints(choice: Any) -> None:
    """A joint without inertia behind a gear: both methods give the motion of the independent coordinates."""
    links = (
        Link("base", box(3.0, (0.3, 0.2, 0.1))),
        Link("arm", box(1.0, (0.4, 0.1, 0.1), (0.2, 0.0, 0.0))),
        Link("hand"),
    )
    joints = (
        Joint("elbow", "revolute", "base", "arm", placement((0.1, 0.0, 0.0)), axis=(0.0, 0.6, 0.8)),
        Joint("turn", "revolute", "arm", "hand", placement((0.3, 0.0, 0.0)), axis=(0.0, 1.0, 0.0)),
    )
    tree = Robot.from_description(Description("massless hand", links, joints, base="free"), strict=False)
    own = tree.with_constraints(kinds.JointCoupling(("turn", "elbow"), (1.0, 0.5)))
    robot = own.in_coordinates(choice)
    s = lawful(robot, 3)
    basis = np.vstack([np.eye(7), -0.5 * np.eye(7)[6:]])  # v of all joints by that of the base and the elbow
    mass, bias = own.mass_matrix(s.own_q), own.bias_forces(s.own_q, s.v)
    assert np.linalg.matrix_rank(mass) == 7
    a = basis @ np.linalg.solve(basis.T @ mass @ basis, basis.T @ (s.own_tau - bias))
    for method in ("minimal", "kkt"):
        qdd = plain(robot, "forward_dynamics", s.q, s.qd, s.tau, method=method)[: robot.nq]
        assert_close(plain(robot, "acceleration", s.q, s.qd, qdd), a, 1e-8)


@pytest.mark.long
def test_compiled_methods() -> None:
    """Motion, batches, the smallest torques, and multipliers by name, of a robot that touches the world."""
    own = constrained("point contact", joints=2)
    robot = chosen(own, "quaternion")
    assert robot.robot_constraint_rows == ("contact tool",) * 3
    assert len(robot.condition_rows) == robot.nc
    assert robot.condition_rows[0] == "root_joint: quaternion"
    s, f = lawful(robot, 8), np.array([3.0, 4.0, 5.0])
    push = {"camera": f}
    a = own.forward_dynamics(s.own_q, s.v, s.own_tau, {"camera": np.r_[f, 0, 0, 0]}, expressed="aligned")
    second, multiplier = robot.forward_dynamics(s.q, s.qd, s.tau, push)
    assert_close(robot.to_minimal(s.q, s.qd, second)[2], a, 1e-9)
    with_push = s.own_tau + own.twist_jacobian("camera", s.own_q, "aligned")[3:].T @ f
    assert_close(multiplier[robot.nc :], own.constraint_multipliers(s.own_q, s.v, with_push), 1e-7)
    rows, _ = robot.forward_dynamics(np.array([s.q, s.q]), s.qd, s.tau, push)
    assert_close(rows[1], second, 1e-12)
    motors = [j.name for j in own.joints if j.kind != "free"] + ["root_joint"]
    least = robot.inverse_dynamics(s.q, s.qd, second, push, actuated=motors)
    assert np.linalg.norm(robot.minimal_forces(s.q, least)) < np.linalg.norm(s.own_tau)
    assert_close(robot.forward_dynamics(s.q, s.qd, least, push)[0], second, 1e-8)


def test_door() -> None:
    robot = chosen(constrained("moving"), "quaternion")
    s = lawful(robot, 1, T)
    with pytest.raises(Error, match="needs the time"):
        robot.function("forward_dynamics")
    assert robot.forward_dynamics(s.q, s.qd, s.tau, t=T)[1].shape == (robot.nc + 1,)
    for bad in (None, "now", np.nan):
        with pytest.raises((Error, TypeError)):
            robot.robot_constraint_matrix(s.q, bad)
    for point in ((0.0, 1.0), None, 5, "abc", (np.nan, 0.0, 0.0)):
        with pytest.raises(Error, match="point of frame 'tool'"):
            robot.point_bias("tool", s.q, s.qd, point)  # type: ignore[arg-type]
    with pytest.raises(Error, match="no frame"):
        robot.twist_bias("tule", s.q, s.qd)
    free = chosen(tree_with_balls(), "quaternion")
    q = free.from_minimal(free.robot.neutral())
    assert free.robot_constraint_matrix(q).shape == (0, free.nq)
    assert free.robot_constraint_residual(np.array([q, q])).shape == (2, 0)
    assert free.robot_constraint_rows == ()
    with pytest.raises(Error):
        free.robot_constraint_matrix(q, np.nan)
