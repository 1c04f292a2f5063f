"""Mistakes are told at the door, in one sentence that names the thing and the remedy."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.algebra.scalar import cos, sin
from dqdyn.errors import Error, UnknownNameError

ARM = dq.robots.arm7()
TABLE = dq.Plane([0.0, 0.0, 1.0], distance=0.0)
REST = [ct.RestTask()]
LINE, AXIS = ct.line("tool"), dq.Line([1.0, 0.0, 0.0], [0.0, 0.0, 2.0])


def _height(p: dq.DQ, *_: object) -> object:
    return p.primary.z


UNKNOWN: dict[str, tuple[Callable[[], object], str]] = {
    "frame of a task": (lambda: ct.velocity_controller(ARM, [ct.PoseTask("tol", dq.Pose())]), "did you mean 'tool'"),
    "frame of an inequality": (lambda: ct.velocity_controller(ARM, REST, [ct.KeepAbove("tol", TABLE)]), "'tool'"),
    "frame of a segment": (lambda: ct.linearise(ARM, ct.KeepOut(ct.segment("tool", "elbw"), TABLE, 0.1)), "'elbw'"),
    "pair of primitives": (lambda: ct.KeepOut(ct.plane("tool"), TABLE, 0.1), "plane_to_plane"),
    "angle of a point": (lambda: ct.DistanceTask("tool", TABLE, angle=True), "point_to_plane_angle"),
    "policy": (lambda: ct.velocity_controller(ARM, REST, infeasible="relaxed"), "did you mean 'relax'"),
    "solver": (lambda: ct.velocity_controller(ARM, REST, [ct.JointLimits()], solver="qpoases"), "known: daqp, piqp"),
    "error of a pose": (lambda: ct.PoseTask("tool", dq.Pose(), error="logs"), "did you mean 'log'"),
    "method": (lambda: ct.torque_controller(ARM, REST, method="gaus"), "did you mean 'gauss'"),
    "kind of signal": (lambda: ct.FunctionTask(_height, [ct.point("tool")], [("pt", 0)]), "did you mean 'point'"),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_unknown_names(case: str) -> None:
    make, text = UNKNOWN[case]
    with pytest.raises(UnknownNameError, match=text):
        make()


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "line of zero direction": (lambda: ct.line("tool", (0.0, 0.0, 0.0)), "direction of a line"),
    "obstacle line of zero direction": (
        lambda: ct.LineTask("tool", [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
        "The direction of the target of the line on tool is zero",
    ),
    "normal that is not a unit": (lambda: ct.plane("tool", (0.0, 0.0, 2.0)), "normal of a plane"),
    "obstacle normal that is not a unit": (
        lambda: ct.KeepAbove("tool", [0.0, 0.0, 2.0, 0.1]),
        "The normal of the plane in the workspace has length 2: divide it by that length",
    ),
    "moving normal that is not a unit": (
        lambda: ct.KeepAbove("tool", lambda t: [0.0, 0.0, 1.0 + 0.5, 0.1 * t]),
        "The normal of the plane in the workspace at t = 0 has length 1.5",
    ),
    "rotation that is not a unit": (lambda: ct.RotationTask("tool", [1.0, 1.0, 0.0, 0.0]), "has length 1.41421"),
    "pose of the wrong size": (lambda: ct.PoseTask("tool", [1.0, 0.0]), "has 8 components"),
    "target of the wrong kind": (lambda: ct.PoseTask("tool", TABLE), "is a pose"),
    "target that is no number": (lambda: ct.TranslationTask("tool", [0.0, math.nan, 0.0]), "must be finite"),
    "direction by an unknown word": (lambda: ct.line("tool", "up"), "A direction is 'x', 'y', 'z'"),
    "obstacle of no kind": (lambda: ct.KeepOut("tool", 3.0, 0.1), "is a Point, Line, Plane or Segment"),
    "nothing on the robot": (lambda: ct.KeepOut(dq.Point([0, 0, 0]), TABLE, 0.1), "both in the workspace"),
    "gain of zero": (lambda: ct.PoseTask("tool", dq.Pose(), gain=0.0), "gain of pose of tool must be a number above 0"),
    "gains that oscillate": (
        lambda: ct.KeepAbove("tool", TABLE, gains=(1.0, 1.0)),
        r"oscillate: k_d² = 1 must exceed 4 k_p = 4",
    ),
    "gains by an unknown word": (lambda: ct.KeepAbove("tool", TABLE, gains="best"), "are 'auto' or a pair"),
    "one gain of two": (lambda: ct.KeepAbove("tool", TABLE, gains=(1.0,)), "are two numbers"),
    "negative weight": (lambda: ct.RestTask(weight=-1.0), "weight of rest must be a number above 0"),
    "negative region": (lambda: ct.RestTask(within=-1.0), "within of rest must be numbers from 0"),
    "region of the wrong size": (
        lambda: ct.linearise(ARM, ct.TranslationTask("tool", [0, 0, 0], within=[0.1, 0.1])),
        "one per component of the error, 3; found 2",
    ),
    "region without planes": (lambda: ct.Region("tool", []), "at least one plane"),
    "no tasks": (lambda: ct.velocity_controller(ARM, []), "at least one task"),
    "tasks that are none": (lambda: ct.velocity_controller(ARM, ["tool"]), "tasks are Tasks or lists of them"),
    "constraints that are none": (
        lambda: ct.velocity_controller(ARM, REST, [3]),
        "constraints are inequalities, limits, or Tasks",
    ),
    "negative damping": (lambda: ct.velocity_controller(ARM, REST, damping=-1.0), "damping must be a number from 0"),
    "limits of the wrong size": (
        lambda: ct.velocity_controller(ARM, REST, [ct.JointLimits([0.0, 1.0])]),
        "lower of joint limits are one number or 7",
    ),
    "limits without room": (
        lambda: ct.velocity_controller(ARM, REST, [ct.JointLimits(margin=5.0)]),
        "leave no room for joint 'joint1'",
    ),
    "limit of zero": (lambda: ct.velocity_controller(ARM, REST, [ct.VelocityLimits(0.0)]), "must be above 0"),
    "posture of the wrong size": (lambda: ct.velocity_controller(ARM, [ct.PostureTask([0.0])]), "has 7 components"),
    "function without features": (lambda: ct.FunctionTask(len, []), "needs features of the robot"),
    "function of the wrong result": (
        lambda: ct.linearise(ARM, ct.FunctionTask(lambda p: "no", [ct.point("tool")])),
        "return a scalar, a list of scalars or a dual quaternion",
    ),
    "moving without velocity": (
        lambda: ct.KeepOut("tool", lambda t: np.array([math.sin(float(t)), 0.0, 0.0]), 0.1),
        "its velocity or acceleration is not given",
    ),
    "moving without acceleration": (
        lambda: ct.KeepOut("tool", ct.Moving(lambda t: [math.sin(t), 0, 0], lambda t: [math.cos(t), 0, 0]), 0.1),
        "moves, but its acceleration is not given: .* pass Moving",
    ),
    "function that branches": (
        lambda: ct.linearise(ARM, ct.FunctionTask(lambda p: 1.0 if p.primary.x > 0.0 else 0.0, [ct.point("tool")])),
        r"cannot be traced: .* instead of if",
    ),
    "negative distance": (lambda: ct.KeepOut("tool", dq.Point([0, 0, 0]), -0.1), "must be from 0 on"),
    "reach of zero": (
        lambda: ct.KeepOut(LINE, AXIS, 0.1, reach=0.0),
        "must be above 0 and at most 1e[+]06 m, or math.inf",
    ),
    "negative reach": (lambda: ct.KeepIn(LINE, AXIS, 0.1, reach=-1.0), "whole line; found -1.0"),
    "reach that is no number": (lambda: ct.KeepOut(LINE, AXIS, 0.1, reach=math.nan), "whole line; found nan"),
    "reach by a word": (
        lambda: ct.KeepOut(LINE, AXIS, 0.1, reach="far"),  # type: ignore[arg-type]
        "The reach of the distance of the line on tool and the line in the workspace must be .*; found 'far'",
    ),
    "reach beyond all digits": (lambda: ct.KeepOut(LINE, AXIS, 0.1, reach=1e9), "or math.inf for the whole line"),
    "reach of a point": (
        lambda: ct.KeepOut("tool", AXIS, 0.1, reach=1.0),
        "for the zone of two lines: leave it out for the distance of the point on tool and the line in the workspace",
    ),
    "reach of a segment": (lambda: ct.KeepIn(LINE, ct.segment("tool", "joint4"), 0.1, reach=2.0), "of two lines"),
    "reach above a plane": (lambda: ct.KeepAbove("tool", TABLE, reach=2.0), "of two lines"),  # type: ignore[call-arg]
    "negative angle": (lambda: ct.Cone("tool", [0.0, 0.0, 1.0], -0.1), "must be between 0 and π rad; found -0.1"),
    "negative torque limit": (lambda: ct.torque_controller(ARM, REST, [ct.TorqueLimits(-1.0)]), "must be from 0"),
    "accelerations without velocities": (
        lambda: ct.acceleration_controller(ARM, REST)(0.0, np.zeros(7)),
        r"A controller by acceleration needs v: call it with \(t, q, v\)",
    ),
    "q of the wrong size": (lambda: ct.velocity_controller(ARM, REST)(0.0, [0.0] * 6), "has 7 components"),
    # features of the wrong kind
    "pose of a point": (
        lambda: ct.PoseTask(ct.point("tool"), dq.Pose()),
        "The frame of a PoseTask is a frame of the robot, by its name, before the target; found",
    ),
    "pose of a number": (
        lambda: ct.PoseTask(3, dq.Pose()),
        "The frame of a PoseTask is a frame of the robot, by its name, before the target; found 3",
    ),  # type: ignore[arg-type]
    "rotation of a line": (lambda: ct.RotationTask(LINE, [1.0, 0.0, 0.0, 0.0]), "The frame of a RotationTask is"),
    "translation of a line": (
        lambda: ct.TranslationTask(LINE, [0, 0, 0]),
        r"a point of the robot, ct.point\(frame, …\)",
    ),
    "line of a point": (lambda: ct.LineTask(ct.point("tool"), AXIS), "What a LineTask moves is a frame or a line"),
    "line of the workspace": (lambda: ct.LineTask(AXIS, AXIS), "What a LineTask moves is a frame or a line"),  # type: ignore[arg-type]
    "plane of a line": (lambda: ct.PlaneTask(LINE, TABLE), "What a PlaneTask moves is a frame or a plane"),
    "point of a point": (lambda: ct.point(ct.point("tool")), "A point of the robot is fixed to a frame"),  # type: ignore[arg-type]
    "segment of lines": (lambda: ct.segment(LINE, "tool"), "An end of a segment is a frame or a point"),
    "region of a line": (lambda: ct.Region(LINE, [TABLE]), "What a region keeps inside is a frame or a point"),
    "region of points": (lambda: ct.Region("tool", [dq.Point([0, 0, 0])]), "A region takes planes of the workspace"),
    "region of the robot": (lambda: ct.Region("tool", [ct.plane("joint1")]), "A region takes planes of the workspace"),
    "region of one plane": (lambda: ct.Region("tool", TABLE), "The planes of a region are a list"),  # type: ignore[arg-type]
    "above a point": (lambda: ct.KeepAbove("tool", dq.Point([0, 0, 0])), "KeepAbove takes a point and a plane"),
    "torso that is a point": (
        lambda: ct.TorsoArm(ct.point("joint1"), "joint4", "tool", 0.1),
        "The torso is a frame, a line of the robot or a Line",
    ),
    "cone about a point": (lambda: ct.Cone("tool", dq.Point([0, 0, 1.0]), 0.1), "The axis of a cone is a direction"),
    "cone about a short axis": (lambda: ct.Cone("tool", [0, 0, 0.5], 0.1), "axis of a cone has length 0.5: divide"),
    "cone about a short moving axis": (lambda: ct.Cone("tool", lambda t: [0, 0, 2.0 + t], 0.1), "has length 2: divide"),
    "cone of a point": (lambda: ct.Cone(ct.point("tool"), [0, 0, 1.0], 0.1), "The line of a cone is a frame or a line"),
    "function of names": (
        lambda: ct.FunctionTask(_height, ["tool"]),  # type: ignore[list-item]
        r"The task '_height' is a function of features such as ct.point\(frame\) and ct.pose\(frame\); found 'tool'",
    ),
    "function that is none": (lambda: ct.FunctionTask(3, [LINE]), "takes a function of features"),  # type: ignore[arg-type]
    "signals that are no pairs": (
        lambda: ct.FunctionTask(_height, [ct.point("tool")], [[0.0, 0.0, 1.0]]),  # type: ignore[list-item]
        r"signals of '_height' are pairs \(kind, value\); found \[0.0, 0.0, 1.0\]",
    ),
    "function that fails": (
        lambda: ct.linearise(ARM, ct.FunctionTask(lambda p: [p][1], [ct.point("tool")])),
        "cannot be traced: IndexError: list index out of range; use",
    ),
    "function with a misprint": (
        lambda: ct.linearise(ARM, ct.FunctionTask(lambda p: p.primry, [ct.point("tool")])),
        "cannot be traced: AttributeError: .*primry",
    ),
    "a model for a robot": (lambda: ct.velocity_controller(ARM.model, REST), "is made for a Robot, as dq.load"),  # type: ignore[arg-type]
    "a name for a robot": (lambda: ct.torque_controller("arm7", REST), "for a Robot, as .*; found 'arm7'"),  # type: ignore[arg-type]
    "constraints of None": (
        lambda: ct.velocity_controller(ARM, REST, None),
        "constraints are inequalities, limits, or Tasks",
    ),  # type: ignore[arg-type]
    "tasks of None": (lambda: ct.velocity_controller(ARM, None), "tasks are Tasks or lists of them"),  # type: ignore[arg-type]
    "damping by a word": (lambda: ct.velocity_controller(ARM, REST, damping="a"), "damping must be a number from 0"),  # type: ignore[arg-type]
    "linearised limits": (lambda: ct.linearise(ARM, ct.JointLimits()), "linearise takes a task or an inequality"),  # type: ignore[arg-type]
    "linearised for a model": (lambda: ct.linearise(ARM.model, REST[0]), "is made for a Robot"),  # type: ignore[arg-type]
    "limits by a word": (
        lambda: ct.velocity_controller(ARM, REST, [ct.VelocityLimits("a")]),
        "limit of velocity limits must be real numbers; found 'a'",
    ),
    "margin by a word": (lambda: ct.JointLimits(margin="a"), "margin of joint limits must be a number; found 'a'"),  # type: ignore[arg-type]
    "negative reach of stopping": (
        lambda: ct.StoppingBounds(reach=-1.0),
        "reach of stopping bounds must be a number from 0",
    ),
    "no limit of accelerations": (lambda: ct.AccelerationLimits(None), "need a limit: robots have none of their own"),
    # tasks that cannot be equalities
    "line as an equality": (
        lambda: ct.velocity_controller(ARM, REST, [ct.LineTask("tool", AXIS)]),
        "'line on tool' cannot be met exactly, its rows depend on each other: make it the first level",
    ),
    "plane as an equality": (
        lambda: ct.velocity_controller(ARM, REST, [ct.PlaneTask("tool", TABLE)]),
        "'plane on tool' cannot be met exactly",
    ),
    "difference as an equality": (
        lambda: ct.velocity_controller(ARM, REST, [ct.PoseTask("tool", dq.Pose(), error="difference")]),
        "'pose of tool' cannot be met exactly, .*: use error='log'",
    ),
    "difference of hands as an equality": (
        lambda: ct.velocity_controller(
            ARM, REST, [ct.RelativePoseTask("tool", "joint4", dq.Pose(), error="difference")]
        ),
        "cannot be met exactly, .*: use error='log'",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input(case: str) -> None:
    make, text = WRONG[case]
    with pytest.raises(Error, match=text) as caught:
        make()
    assert str(caught.value).rstrip().endswith((".", "?"))


def test_one_part_counts_as_a_list_of_them() -> None:
    q, v = np.linspace(-0.2, 0.3, 7), np.zeros(7)
    one = ct.acceleration_controller(ARM, REST[0], ct.JointLimits())  # type: ignore[arg-type]
    np.testing.assert_array_equal(one(0.0, q, v), ct.acceleration_controller(ARM, REST, [ct.JointLimits()])(0.0, q, v))
    task = ct.FunctionTask(_height, ct.point("tool"))
    assert ct.linearise(ARM, task)(0.0, q).value[0] == pytest.approx(ARM.pose("tool", q).translation[2])


def test_axes_of_cones() -> None:
    """A direction that moves, one that is measured, and a frame are what the line through the origin is."""
    q, v = np.linspace(-0.2, 0.3, 7), np.linspace(0.4, -0.3, 7)
    turning = lambda t: [0.0, sin(t), cos(t)]
    line = ct.linearise(ARM, ct.Cone("tool", lambda t: dq.Line(turning(t), (0.0, 0.0, 0.0)), 0.1))(0.4, q, v)
    rate, acceleration = [0.0, math.cos(0.4), -math.sin(0.4)], [0.0, -math.sin(0.4), -math.cos(0.4)]
    still = lambda c: lambda t: c
    seen = ct.Measured([0.0, 0.0, 1.0])
    axes = [turning, ct.Moving(turning, still(rate), still(acceleration)), seen]
    cones = [ct.linearise(ARM, ct.Cone("tool", axis, 0.1)) for axis in axes]
    seen.update(turning(0.4), rate, acceleration)
    for cone in cones:
        found = cone(0.4, q, v)
        np.testing.assert_allclose(found.value, line.value, atol=1e-12)
        np.testing.assert_allclose(found.residual, line.residual, atol=1e-12)
        np.testing.assert_allclose(found.drift, line.drift, atol=1e-12)
    frame, same = (ct.linearise(ARM, ct.Cone("tool", axis, 0.1)) for axis in ("joint4", ct.line("joint4")))
    np.testing.assert_array_equal(frame(0.0, q).value, same(0.0, q).value)
    c = ct.velocity_controller(ARM, REST, [ct.Cone("tool", seen, 3.0)], infeasible="hold")
    c(0.0, q)
    seen.update([0.0, 0.0, 2.0])
    c(0.1, q)
    assert c.report.status == "held"
    assert "has length 2" in c.report.reason


def test_targets_in_forbidden_zones() -> None:
    """Warned of when the controller is built, for positions, poses and offset points of the same frame."""
    low = [0.3, 0.2, -0.1]
    cases = [
        (ct.TranslationTask("tool", low), ct.KeepAbove("tool", TABLE), "by 0.1"),
        (ct.PoseTask("tool", dq.Pose(translation=low)), ct.KeepAbove("tool", TABLE, 0.05), "by 0.15"),
        (ct.PoseTask("tool", dq.Pose()), ct.KeepAbove(ct.point("tool", (0, 0, -0.2)), TABLE), "by 0.2"),
        (ct.PoseTask("tool", dq.Pose(rotation=[0, 1, 0, 0])), ct.Cone("tool", [0, 0, 1.0], 0.1), "cone"),
        (ct.TranslationTask("tool", low), ct.KeepOut("tool", dq.Point(low), 0.1), "by 0.01"),
    ]
    for task, zone, text in cases:
        with pytest.warns(ct.ControlWarning, match=f"The target of .* lies in the zone that .*{text}"):
            ct.velocity_controller(ARM, [task], [zone])
    # no warning, which would be an error here: allowed targets, other frames, orientation not known
    ct.velocity_controller(ARM, [ct.TranslationTask("tool", [0.3, 0.2, 0.1])], [ct.KeepAbove("tool", TABLE)])
    ct.velocity_controller(ARM, [ct.TranslationTask("tool", low)], [ct.KeepAbove("joint4", TABLE)])
    ct.velocity_controller(ARM, [ct.TranslationTask("tool", low)], [ct.Cone("tool", [0.0, 0.0, 1.0], 0.1)])
