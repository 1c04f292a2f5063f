"""The absolute and the relative frame of two hands as things that inequalities and tasks take like any frame."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from control_tools import MOVING, accelerate, check_derivatives, follow
from trees import random_state, tree

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.control.core.kinematics import State
from dqdyn.control.core.term import Term
from dqdyn.control.features.hands import HandsPose
from dqdyn.errors import Error

HANDS = ("tool", "camera")
MOVING_LINE = lambda t: dq.Line.from_plucker(MOVING["line"](t)[:3], MOVING["line"](t)[3:])
MOVING_SEGMENT = lambda t: dq.Segment(MOVING["segment"](t)[:3], MOVING["segment"](t)[3:])
AT, ALONG = (0.1, -0.2, 0.3), (0.6, 0.0, 0.8)
FRAMES = {"absolute": ct.absolute_frame(*HANDS), "relative": ct.relative_frame(*HANDS)}
QUANTITIES: dict[str, Callable[[HandsPose], Term]] = {
    "keep out of a point": lambda x: ct.KeepOut(x, MOVING["point"], MOVING["number"]),
    "keep in": lambda x: ct.KeepIn(ct.point(x, AT), MOVING["point"], MOVING["number"]),
    "keep out of a line": lambda x: ct.KeepOut(ct.line(x, ALONG, AT), MOVING_LINE, 0.1),
    "line and point": lambda x: ct.KeepOut(ct.line(x, ALONG, AT), MOVING["point"], 0.1),
    "plane and point": lambda x: ct.KeepOut(ct.plane(x, ALONG, AT), MOVING["point"], 0.1),
    "segment": lambda x: ct.KeepOut(ct.segment(x, ct.point("link_2", AT)), MOVING_SEGMENT, 0.1),
    "self-collision": lambda x: ct.KeepOut(x, ct.line("link_1"), 0.1),
    "above": lambda x: ct.KeepAbove(x, MOVING["plane"]),
    "cone": lambda x: ct.Cone(x, MOVING_LINE, MOVING["number"]),
    "region": lambda x: ct.Region(x, [MOVING["plane"], dq.Plane([0.0, 0.0, 1.0], distance=0.2)], 0.1),
    "torso and arm": lambda x: ct.TorsoArm("link_1", x, "tool", 0.1),
    "translation": lambda x: ct.TranslationTask(x, MOVING["point"]),
    "line": lambda x: ct.LineTask(x, MOVING["line"]),
    "plane": lambda x: ct.PlaneTask(x, MOVING["plane"]),
    "distance": lambda x: ct.DistanceTask(x, MOVING["plane"]),
    "function": lambda x: ct.FunctionTask(lambda pose, p: pose * p, [ct.pose(x), ct.point(x, AT)]),
}


@pytest.mark.parametrize(
    ("name", "frame"),
    [(name, "absolute") for name in QUANTITIES]  # of the relative frame one for each primitive
    + [(name, "relative") for name in ("keep out of a point", "cone", "segment", "plane", "function")],
)
def test_derivatives(name: str, frame: str) -> None:
    """First and second order, to 1e-7 of differences."""
    machine = tree("every kind, mimic")
    quantity = QUANTITIES[name](FRAMES[frame])
    for seed in range(2):
        q, v, _ = random_state(machine, np.random.default_rng(seed))
        check_derivatives(machine, quantity, q, 0.3 * v)


@pytest.mark.long
@pytest.mark.parametrize("name", ["keep out of a point", "cone", "region", "self-collision"])
def test_derivatives_near_singularities(name: str) -> None:
    """A stretched arm; hands that are one and the same, whose relative pose is the identity."""
    arm, v = dq.robots.arm7(), np.array([0.3, -0.2, 0.1, 0.4, -0.3, 0.2, 0.1])
    link = {"self-collision": lambda x: ct.KeepOut(x, ct.line("joint2"), 0.1)}
    for hands in (("tool", "tool"), ("tool", "joint4")):
        quantity = (QUANTITIES | link)[name](ct.absolute_frame(*hands))
        for q in (np.zeros(7), 1e-7 * v, 1e-3 * v):
            check_derivatives(arm, quantity, q, v, h=2e-3)


@pytest.mark.parametrize("frame", FRAMES)
def test_where_they_are(frame: str) -> None:
    """Points, lines and planes on the frame are those of the robot's own absolute and relative pose."""
    machine = tree("every kind, mimic")
    q, _, _ = random_state(machine, np.random.default_rng(4))
    x = (machine.absolute_pose if frame == "absolute" else machine.relative_pose)(*HANDS, q)
    seen = lambda thing: thing.kinematics(State(machine.model, q.tolist())).value
    np.testing.assert_allclose(seen(FRAMES[frame]), x.vec8(), atol=1e-13)
    np.testing.assert_allclose(seen(ct.point(FRAMES[frame], AT)), (x * dq.Point(AT)).position, atol=1e-13)
    moved = x * dq.Line(ALONG, AT)
    np.testing.assert_allclose(seen(ct.line(FRAMES[frame], ALONG, AT)), [*moved.direction, *moved.moment], atol=1e-13)
    plane = x * dq.Plane(ALONG, AT)
    np.testing.assert_allclose(
        seen(ct.plane(FRAMES[frame], ALONG, AT)), [*plane.normal, float(plane.distance)], atol=1e-13
    )


@pytest.mark.parametrize("level", ["velocity", "acceleration"])
def test_zones_of_the_frame_between_the_hands(level: str) -> None:
    """What lies between the hands is asked into a ball and to tilt: it stays out of the one and within the other."""
    robot = dq.robots.small_bimanual()
    q0 = np.array([0.1, 0.1, 0.2, 0.33, 0.1, *(2 * (-0.45, -0.05, 0.41, -1.2))])
    hands = ("left_hand", "right_hand")
    x, between = robot.absolute_pose(*hands, q0), ct.absolute_frame(*hands)
    up = x.rotation_matrix.T @ [0.0, 0.0, 1.0]
    ball = x.translation + [0.0, 0.0, -0.06]
    goal = dq.Pose(translation=ball + [0.005, 0.0, 0.0]) * dq.Pose(rotation=[np.cos(0.3), np.sin(0.3), 0, 0])
    goal = goal * dq.Pose(rotation=x.rotation)
    task = ct.AbsolutePoseTask(*hands, goal, gain=2.0)
    zones = [ct.KeepOut(between, dq.Point(ball), 0.03, gain=3.0), ct.Cone(ct.line(between, up), [0, 0, 1], 0.1)]
    make = ct.velocity_controller if level == "velocity" else ct.acceleration_controller
    with pytest.warns(ct.ControlWarning, match="'absolute pose of left_hand and right_hand' lies in the zone"):
        controller = make(robot, [task] if level == "velocity" else [[task], [ct.RestTask(gain=2.0)]], zones)
    free = make(robot, [task] if level == "velocity" else [[task], [ct.RestTask(gain=2.0)]])
    found = {}
    for name, c in (("free", free), ("bound", controller)):
        if level == "velocity":
            q = follow(robot, c, q0, 3.0, 5e-3)
        else:
            q, _ = accelerate(robot, c, q0, np.zeros(robot.nv), 4.0, 5e-3)
        end = robot.absolute_pose(*hands, q)
        tilt = np.arccos((end.rotation_matrix @ up)[2])
        found[name] = np.linalg.norm(end.translation - ball), tilt
    assert found["free"][0] < 0.02
    assert found["free"][1] > 0.3
    assert found["bound"][0] > 0.03 - 1e-4
    assert found["bound"][1] < 0.1 + 1e-4


def test_unknown_hand() -> None:
    with pytest.raises(Error, match="'elbow'"):
        ct.velocity_controller(
            tree("free base"), [ct.RestTask()], [ct.Cone(ct.absolute_frame("tool", "elbow"), [0.0, 0.0, 1.0], 0.1)]
        )
