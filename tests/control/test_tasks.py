"""Errors, Jacobians, residuals of moving targets and their rates, of every task and inequality, against differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from control_tools import MOVING, check_derivatives
from trees import random_state, tree

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.scalar import sin
from dqdyn.control.core.kinematics import State
from dqdyn.control.core.term import Term
from dqdyn.robot import Robot

ROBOTS = ("every kind, mimic", "free base")


def on_robot(kind: str, frame: str = "tool") -> object:
    at = (0.1, -0.2, 0.3)
    if (kind, frame) == ("segment", "camera"):
        return ct.segment(ct.point("link_1", (0.2, 0.3, -0.1)), ct.point("link_2", (-0.1, 0.2, 0.4)))
    return {
        "point": ct.point(frame, at),
        "line": ct.line(frame, (0.6, 0.0, 0.8), at),
        "plane": ct.plane(frame, (0.0, 0.6, -0.8), at),
        "segment": ct.segment(ct.point("tool", at), ct.point("camera")),
    }[kind]


def pair_function(x: DQ, p: DQ) -> list[object]:
    """Some function of a pose and a point of the algebra."""
    moved = x * p * x.conj()
    return [sin(moved.primary.x) + moved.dual.y, moved.primary.z * moved.primary.x]


TASKS: dict[str, Callable[[Robot], Term]] = {
    "pose, log": lambda r: ct.PoseTask("tool", MOVING["pose"]),
    "pose, difference": lambda r: ct.PoseTask("tool", MOVING["pose"], error="difference"),
    "translation": lambda r: ct.TranslationTask("tool", MOVING["point"]),
    "translation of a point": lambda r: ct.TranslationTask(ct.point("tool", (0.1, 0.2, 0.3)), MOVING["point"]),
    "rotation": lambda r: ct.RotationTask("tool", MOVING["rotation"]),
    "line": lambda r: ct.LineTask(ct.line("tool", (0.6, 0.0, 0.8), (0.1, 0.0, 0.2)), MOVING["line"]),
    "plane": lambda r: ct.PlaneTask(ct.plane("tool", (0.6, 0.0, 0.8), (0.1, 0.0, 0.2)), MOVING["plane"]),
    "distance": lambda r: ct.DistanceTask("tool", MOVING["point"], MOVING["number"]),
    "distance to a plane": lambda r: ct.DistanceTask("tool", MOVING["plane"], MOVING["number"]),
    "posture": lambda r: ct.PostureTask(r.random_configuration(5)),
    "center of mass": lambda r: ct.CenterOfMassTask(MOVING["point"]),
    "relative pose": lambda r: ct.RelativePoseTask("tool", "camera", MOVING["pose"]),
    "absolute pose": lambda r: ct.AbsolutePoseTask("tool", "camera", MOVING["pose"]),
    "absolute pose, difference": lambda r: ct.AbsolutePoseTask("tool", "camera", MOVING["pose"], error="difference"),
    "function": lambda r: ct.FunctionTask(pair_function, [ct.pose("tool"), ct.point("camera")]),
    "function of signals": lambda r: ct.FunctionTask(pair_function, [ct.pose("tool")], [("point", MOVING["point"])]),
    "region": lambda r: ct.TranslationTask("tool", MOVING["point"], within=[0.05, 0.0, 10.0]),
}


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", TASKS)
def test_derivatives_of_tasks(name: str, robot: str) -> None:
    machine = tree(robot)
    task = TASKS[name](machine)
    for seed in range(2):
        q, v, _ = random_state(machine, np.random.default_rng(seed))
        check_derivatives(machine, task, q, 0.3 * v)


PAIRS = ["point", "line", "plane", "segment"], ["point", "line", "plane", "segment"]
ABLE = {
    ("point", "point"),
    ("point", "line"),
    ("point", "plane"),
    ("point", "segment"),
    ("line", "point"),
    ("line", "line"),
    ("line", "segment"),
    ("plane", "point"),
    ("plane", "segment"),
    ("segment", "point"),
    ("segment", "line"),
    ("segment", "plane"),
    ("segment", "segment"),
}


@pytest.mark.equation("Quiroz", "4.22")
@pytest.mark.equation("Quiroz", "4.23")
@pytest.mark.equation("Quiroz", "4.4")
@pytest.mark.equation("Quiroz", "4.5")
@pytest.mark.parametrize("keep", [ct.KeepOut, ct.KeepIn])
@pytest.mark.parametrize(("a", "b"), sorted(ABLE))
def test_derivatives_of_zones_in_the_workspace(a: str, b: str, keep: type) -> None:
    """h = ±(D − D_safe) with obstacle and safe distance moving."""
    machine = tree("every kind, mimic")
    value = {"line": lambda t: dq.Line.from_plucker(MOVING["line"](t)[:3], MOVING["line"](t)[3:])}
    value["segment"] = lambda t: dq.Segment(MOVING["segment"](t)[:3], MOVING["segment"](t)[3:])
    zone = keep(on_robot(a), value.get(b, MOVING[b]), MOVING["number"])
    for seed in range(2):
        q, v, _ = random_state(machine, np.random.default_rng(seed))
        check_derivatives(machine, zone, q, 0.3 * v)


@pytest.mark.parametrize(("a", "b"), sorted(ABLE))
def test_derivatives_of_zones_on_the_robot(a: str, b: str) -> None:
    """Self-collision: both things on the robot. In two of six states segments are nearest inside."""
    machine = tree("planar base")
    zone = ct.KeepOut(on_robot(a, "tool"), on_robot(b, "camera"), 0.1)
    for seed in range(6):
        q, v, _ = random_state(machine, np.random.default_rng(seed))
        check_derivatives(machine, zone, q, 0.3 * v)


OTHERS: dict[str, Callable[[], Term]] = {
    "cone": lambda: ct.Cone("tool", MOVING_LINE, MOVING["number"]),
    "cone on the robot": lambda: ct.Cone("tool", ct.line("camera", "x"), 0.4),
    "region": lambda: ct.Region("tool", [MOVING["plane"], dq.Plane([0.0, 0.0, 1.0], distance=0.2)], MOVING["number"]),
    "torso and arm": lambda: ct.TorsoArm("link_1", "camera", ct.point("tool", (0.0, 0.0, 0.5)), MOVING["number"]),
}


def MOVING_LINE(t: object) -> dq.Line:
    c = MOVING["line"](t)
    return dq.Line.from_plucker(c[:3], c[3:])


@pytest.mark.equation("Quiroz", "4.31")
@pytest.mark.equation("Quiroz", "4.32")
@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", OTHERS)
def test_derivatives_of_other_inequalities(name: str, robot: str) -> None:
    machine = tree(robot)
    for seed in range(2):
        q, v, _ = random_state(machine, np.random.default_rng(seed))
        check_derivatives(machine, OTHERS[name](), q, 0.3 * v)


def error(robot: Robot, task: ct.Task, q: np.ndarray) -> np.ndarray:
    """On plain numbers: no compiler."""
    bound, state = task.bound_to(robot.model), State(robot.model, q.tolist())
    seen = [thing.kinematics(state).value for thing in bound.features]
    return np.array(bound.value(seen, [signal.at(0.0).value for signal in bound.signals]))


def test_errors_vanish_at_the_target_and_nowhere_near() -> None:
    machine = tree("every kind, mimic")
    q = machine.random_configuration(3)
    x = machine.pose("tool", q)
    tasks = [
        ct.PoseTask("tool", x),
        ct.PoseTask("tool", (-1.0) * x.vec8()),  # the same pose
        ct.PoseTask("tool", x, error="difference"),
        ct.TranslationTask("tool", x.translation),
        ct.RotationTask("tool", x.rotation),
        ct.RotationTask("tool", x),
        ct.LineTask("tool", x * dq.Line([0.0, 0.0, 1.0], [0.0, 0.0, 0.0])),
        ct.PlaneTask("tool", x * dq.Plane([0.0, 0.0, 1.0], distance=0.0)),
        ct.DistanceTask("tool", dq.Point(x.translation + [0.3, 0.0, 0.4]), 0.5),
        ct.PostureTask(q),
        ct.CenterOfMassTask(machine.center_of_mass(q)),
        ct.RelativePoseTask("tool", "camera", machine.relative_pose("tool", "camera", q)),
        ct.AbsolutePoseTask("tool", "camera", machine.absolute_pose("tool", "camera", q)),
    ]
    other = machine.random_configuration(4)
    for task in tasks:
        np.testing.assert_allclose(error(machine, task, q), 0.0, atol=1e-12)
        assert np.abs(error(machine, task, other)).max() > 1e-3, task.name


def test_pose_error_is_angle_and_distance() -> None:
    robot = dq.robots.arm6()
    q = robot.random_configuration(1)
    x = robot.pose("tool", q)
    turned = x * dq.Pose(rotation=[np.cos(0.35), 0.0, np.sin(0.35), 0.0], translation=[0.1, 0.2, 0.3])
    error = ct.linearise(robot, ct.PoseTask("tool", turned))(0.0, q).value
    assert np.linalg.norm(error[:3]) == pytest.approx(0.7)
    assert np.linalg.norm(error[3:]) == pytest.approx(np.linalg.norm([0.1, 0.2, 0.3]))


def test_region_asks_for_nothing_inside() -> None:
    robot = dq.robots.arm6()
    q = robot.random_configuration(1)
    p = robot.pose("tool", q).translation
    inside = ct.linearise(robot, ct.TranslationTask("tool", p + 0.01, within=0.02))(0.0, q)
    np.testing.assert_array_equal(inside.value, 0.0)
    np.testing.assert_array_equal(inside.jacobian, 0.0)
    outside = ct.linearise(robot, ct.TranslationTask("tool", p - 0.05, within=0.02))(0.0, q)
    np.testing.assert_allclose(outside.value, 0.03, atol=1e-12)


def test_signals_agree_however_they_are_given() -> None:
    """A function of the algebra, functions with derivatives, measurements: the same rows; unknown motion: at rest."""
    robot = dq.robots.arm6()
    q, v = robot.random_configuration(1), np.full(6, 0.2)
    t = 0.7
    f = MOVING["point"]
    position = lambda s: np.array([float(c) for c in f(s)])
    velocity = lambda s: np.array([0.3 * np.cos(s), -0.2 * s, -0.4 * np.sin(2.0 * s)])
    acceleration = lambda s: np.array([-0.3 * np.sin(s), -0.2, -0.8 * np.cos(2.0 * s)])
    given = [
        f,
        ct.Moving(f),
        ct.Moving(lambda s: position(s), velocity, acceleration),
        ct.Measured(position(t), velocity(t), acceleration(t)),
    ]
    found = [ct.linearise(robot, ct.KeepOut("tool", g, 0.2))(t, q, v) for g in given]
    for other in found[1:]:
        np.testing.assert_allclose(other.residual, found[0].residual, atol=1e-12)
        np.testing.assert_allclose(other.drift, found[0].drift, atol=1e-12)
    assert abs(found[0].residual[0]) > 1e-3
    at_rest = ct.linearise(robot, ct.KeepOut("tool", position(t), 0.2))(t, q, v)
    unknown = [
        ct.Moving(f, known=False),
        ct.Moving(lambda s: position(s), known=False),
        ct.Measured(position(t), velocity(t), acceleration(t), known=False),
    ]
    for g in unknown:
        other = ct.linearise(robot, ct.KeepOut("tool", g, 0.2))(t, q, v)
        np.testing.assert_allclose(other.value, found[0].value, atol=1e-14)
        np.testing.assert_array_equal(other.residual, 0.0)
        np.testing.assert_allclose(other.drift, at_rest.drift, atol=1e-13)


def test_measured_moves_without_a_new_program() -> None:
    robot = dq.robots.arm6()
    ball = ct.Measured([0.5, 0.0, 0.5])
    controller = ct.velocity_controller(robot, [ct.TranslationTask("tool", ball)])
    q = robot.random_configuration(1)
    program = controller.composition.program
    controller(0.0, q)
    first = controller.errors["translation of tool"]
    ball.update([0.6, 0.1, 0.5])
    controller(0.1, q)
    assert controller.composition.program is program
    np.testing.assert_allclose(controller.errors["translation of tool"] - first, [-0.1, -0.1, 0.0], atol=1e-12)


def test_posture_of_some_joints() -> None:
    """The others keep what other tasks want; "motors" leaves the base alone."""
    robot = dq.robots.arm7(base="free")
    q, v = robot.neutral(), np.zeros(robot.nv)
    target = robot.integrate(q, 0.1 * np.ones(robot.nv), 1.0)
    everything = ct.acceleration_controller(robot, ct.PostureTask(target), damping=1e-6)(0.0, q, v)
    some = ct.acceleration_controller(robot, ct.PostureTask(target, joints=["joint2", "joint5"]), damping=1e-6)(
        0.0, q, v
    )
    motors = ct.acceleration_controller(robot, ct.PostureTask(target, joints="motors"), damping=1e-6)(0.0, q, v)
    chosen = [k for name in ("joint2", "joint5") for k in range(robot.nv)[robot.model.joint(name).v]]
    np.testing.assert_allclose(some[chosen], everything[chosen], rtol=1e-9)
    assert np.abs(np.delete(some, chosen)).max() == 0.0
    np.testing.assert_allclose(motors[6:], everything[6:], rtol=1e-9)
    assert np.abs(motors[:6]).max() == 0.0
    with pytest.raises(dq.Error, match="'elbow'"):
        ct.acceleration_controller(robot, ct.PostureTask(target, joints=["elbow"]))
    for bad in ([], 3, [1], {"joint1": 2.0}):
        with pytest.raises(dq.Error, match="names of joints"):
            ct.acceleration_controller(robot, ct.PostureTask(target, joints=bad))  # type: ignore[arg-type]
