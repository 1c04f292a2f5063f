"""Derivatives where something is singular: stretched arms, errors of zero and near π, things that touch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from control_tools import check_derivatives

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.control.core.term import Term

ARM = dq.robots.arm7()
STRETCHED = np.zeros(7)
V = np.array([0.3, -0.2, 0.1, 0.4, -0.3, 0.2, 0.1])


def turned(angle: float) -> dq.Pose:
    return ARM.pose("tool", STRETCHED) * dq.Pose(rotation=[np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0])


def line_at(angle: float) -> dq.Line:
    x = ARM.pose("tool", STRETCHED)
    return dq.Line(x.rotation_matrix @ [np.sin(angle), 0.0, np.cos(angle)], x.translation + [0.1, 0.2, 0.0])


def segment_at(angle: float, away: float, along: float = 0.0) -> dq.Segment:
    """30 cm along x of the tool, turned about its z by an angle, moved along both."""
    direction, x = np.array([np.cos(angle), np.sin(angle), 0.0]), ARM.pose("tool", STRETCHED)
    middle = np.array([along, 0.0, away])
    return dq.Segment(*((x * dq.Point(middle + 0.15 * sign * direction)).position for sign in (-1.0, 1.0)))


X = ARM.pose("tool", STRETCHED)
BAR = ct.segment(ct.point("tool", (-0.2, 0.0, 0.0)), ct.point("tool", (0.2, 0.0, 0.0)))
CASES: dict[str, Callable[[], Term]] = {
    **{f"pose error of {a:g}": lambda a=a: ct.PoseTask("tool", turned(a)) for a in (0.0, 1e-9, 1e-5, 1e-2, 3.0)},
    **{f"rotation error of {a:g}": lambda a=a: ct.RotationTask("tool", turned(a)) for a in (0.0, 1e-7, 3.1)},
    **{f"angle of {a:g}": lambda a=a: ct.Cone("tool", line_at(a), 0.2) for a in (0.0, 1e-9, 1e-4, np.pi)},
    "absolute pose of equal hands": lambda: ct.AbsolutePoseTask("tool", "tool", X),
    "absolute pose": lambda: ct.AbsolutePoseTask("tool", "joint4", X),
    "point on a point": lambda: ct.KeepOut("tool", dq.Point(X.translation), 0.1),
    "point on a line": lambda: ct.KeepOut("tool", dq.Line([1.0, 0.0, 0.0], X.translation), 0.1),
    "crossing lines": lambda: ct.KeepOut(ct.line("tool", "x"), dq.Line([0.0, 1.0, 0.0], X.translation), 0.1),
    **{f"segments at {a:g} rad": lambda a=a: ct.KeepOut(BAR, segment_at(a, 0.1), 0.05) for a in (1.5, 0.2, 0.02)},
    "crossing segments": lambda: ct.KeepOut(BAR, segment_at(0.7, 0.0), 0.05),
    "parallel segments one after the other": lambda: ct.KeepOut(BAR, segment_at(0.0, 0.1, 0.5), 0.05),
    "end of a segment on a segment": lambda: ct.KeepOut(BAR, segment_at(0.7, 0.0, 0.15 * np.cos(0.7)), 0.05),
    "segment on a line": lambda: ct.KeepOut(BAR, dq.Line([0.0, 1.0, 0.0], X.translation), 0.05),
    "aligned joints": lambda: ct.KeepOut(ct.point("tool", (0.1, 0.0, 0.0)), ct.point("joint2"), 0.1),
    "center of mass": lambda: ct.CenterOfMassTask([0.0, 0.0, 0.5]),
    "posture": lambda: ct.PostureTask(STRETCHED),
}


@pytest.mark.parametrize("case", CASES)
def test_derivatives_near_singularities(case: str) -> None:
    # The nearest points of segments at a small angle run fast: differences must not reach where they get to an end.
    h = 1e-4 if case.startswith("segments at") else 2e-3
    for q in (STRETCHED, STRETCHED + 1e-7 * V, STRETCHED + 1e-3 * V):
        check_derivatives(ARM, CASES[case](), q, V, h=h)


@pytest.mark.parametrize("level", ["velocity", "acceleration"])
def test_commands_stay_finite_at_singularities(level: str) -> None:
    """A stretched arm that is asked to reach further; damping keeps the command of moderate size."""
    make = ct.velocity_controller if level == "velocity" else ct.acceleration_controller
    task = ct.PoseTask("tool", dq.Pose(rotation=X.rotation, translation=X.translation + [0.0, 0.0, 0.5]))
    for q in (STRETCHED, STRETCHED + 1e-9, STRETCHED + 1e-4):
        u = make(ARM, [task], [ct.JointLimits()], damping=0.05)(0.0, q, np.zeros(7))
        assert np.abs(u).max() < 20.0
