"""Targets that a constraint forbids: warned of when a controller is built, and only then."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.control.core.command_constraint import CommandBound, CommandConstraint
from dqdyn.control.core.inequality import Inequality

ARM = dq.robots.arm7()
Q0 = np.array([0.1, 0.4, 0.2, -1.2, 0.3, 0.8, 0.1])
TABLE = dq.Plane([0.0, 0.0, 1.0], distance=0.0)
BALL = dq.Point([0.5, 0.0, 0.3])
UP = [0.0, 0.0, 1.0]
TIP = ct.point("tool", (0.0, 0.0, 0.1))
HEIGHT = float(ARM.pose("tool", Q0).translation[2])
TURNED = [np.cos(0.25), np.sin(0.25), 0.0, 0.0]  # by 0.5 rad about x

CASES: dict[str, tuple[Callable[[], ct.Task], Callable[[], object], float]] = {
    "posture and joint limits": (
        lambda: ct.PostureTask([*Q0[:6], 4.0]),
        lambda: ct.JointLimits(),
        4.0 - ARM.limits.upper[6],
    ),
    "posture and cones of joints": (
        lambda: ct.PostureTask([*Q0[:6], 3.1]),
        lambda: ct.ConeJointLimits(),
        2.0 * (np.cos(ARM.limits.upper[6]) - np.cos(3.1)),
    ),
    "posture and a zone of a frame": (
        lambda: ct.PostureTask(Q0),
        lambda: ct.KeepAbove("tool", TABLE, HEIGHT + 0.2),
        0.2,
    ),
    "posture and the center of mass": (
        lambda: ct.PostureTask(Q0),
        lambda: ct.KeepAbove(ct.CenterOfMass(), dq.Plane([0.0, 0.0, -1.0], distance=0.0)),
        float(ARM.center_of_mass(Q0)[2]),
    ),
    "point beside the origin of a frame": (
        lambda: ct.TranslationTask(TIP, [0.0, 0.0, -0.5]),
        lambda: ct.KeepAbove(ct.point("tool", (0.0, 0.0, 0.1)), TABLE),
        0.5,
    ),
    "center of mass": (
        lambda: ct.CenterOfMassTask([0.0, 0.0, -1.0]),
        lambda: ct.KeepAbove(ct.CenterOfMass(), TABLE, 0.1),
        1.1,
    ),
    "rotation and cone": (
        lambda: ct.RotationTask("tool", TURNED),
        lambda: ct.Cone("tool", UP, 0.1),
        2.0 * (np.cos(0.1) - np.cos(0.5)),
    ),
    "line and cone": (
        lambda: ct.LineTask("tool", dq.Line([0.0, 0.0, -1.0], [0.3, 0.0, 0.0])),
        lambda: ct.Cone("tool", UP, 0.1),
        2.0 + 2.0 * np.cos(0.1),
    ),
    "angle and cone": (
        lambda: ct.DistanceTask(ct.line("tool"), dq.Line(UP, [0.0, 0.0, 0.0]), 0.5, angle=True),
        lambda: ct.Cone("tool", UP, 0.1),
        2.0 * (np.cos(0.1) - np.cos(0.5)),
    ),
    "distance from a plane": (
        lambda: ct.DistanceTask(TABLE, "tool", 0.0),
        lambda: ct.KeepAbove("tool", TABLE, 0.1),
        0.1,
    ),
    "distance from a point": (
        lambda: ct.DistanceTask("tool", BALL, 0.05),
        lambda: ct.KeepOut(BALL, "tool", 0.3),
        0.3**2 - 0.05**2,
    ),
    "distance to keep near": (
        lambda: ct.DistanceTask("tool", BALL, 0.5),
        lambda: ct.KeepIn("tool", BALL, 0.3),
        0.5**2 - 0.3**2,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_forbidden_targets_are_told(case: str) -> None:
    """One warning, with by how much, at the line that builds the controller."""
    task, constraint, amount = CASES[case]
    with pytest.warns(ct.ControlWarning) as told:
        ct.velocity_controller(ARM, [task()], [constraint()])
    assert len(told) == 1
    text = str(told[0].message)
    assert text.startswith(f"The target of {task().name!r} lies in the zone that ")
    assert text.endswith(f" forbids, by {amount:.4g}.")
    assert told[0].filename == __file__


ALLOWED: dict[str, tuple[ct.Task, Inequality]] = {
    "rotation says nothing about places": (ct.RotationTask("tool", TURNED), ct.KeepAbove("tool", TABLE, 9.0)),
    "rotation inside": (ct.RotationTask("tool", TURNED), ct.Cone("tool", UP, 0.6)),
    "another axis": (ct.RotationTask("tool", TURNED), ct.Cone(ct.line("tool", "x"), [1.0, 0.0, 0.0], 0.1)),
    "another point": (ct.TranslationTask(TIP, [0.0, 0.0, -0.5]), ct.KeepAbove("tool", TABLE)),
    "another line": (ct.LineTask("tool", dq.Line(UP, [0.0, 0.0, 0.0])), ct.Cone(ct.line("tool", "x"), UP, 0.1)),
    "another ball": (ct.DistanceTask("tool", BALL, 0.05), ct.KeepOut("tool", dq.Point([1.0, 0.0, 0.3]), 0.3)),
    "distance, not angle": (
        ct.DistanceTask(ct.line("tool"), dq.Line(UP, [0.0, 0.0, 0.0]), 0.5),
        ct.Cone("tool", UP, 0.1),
    ),
    "distance on the boundary": (ct.DistanceTask("tool", BALL, 0.3), ct.KeepOut("tool", BALL, 0.3)),
    "posture on the boundary": (ct.PostureTask(Q0), ct.KeepAbove("tool", TABLE, HEIGHT)),
}


@pytest.mark.parametrize("case", ALLOWED)
def test_allowed_targets_are_not(case: str) -> None:
    task, constraint = ALLOWED[case]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ct.velocity_controller(ARM, [task], [constraint])


# --- tasks and constraints from outside the package -------------------------------------------------------------------


class HandAt(ct.Task):
    """A point of the tool at a place."""

    def __init__(self, place: list[float]) -> None:
        super().__init__("hand", (TIP,), ())
        self.place = place

    def error(self, robot: list[Any], given: list[Any]) -> list[Any]:
        return [a - b for a, b in zip(robot[0], self.place, strict=True)]

    def components_at_target(self, feature: Any) -> Any:
        return TIP.implied(self.place, feature)


class Column(ct.Inequality):
    """A feature that has a place is outside of the vertical column of 0.2 m around the origin."""

    def __init__(self, feature: Any) -> None:
        super().__init__("column", (feature,), ())

    def value(self, robot: list[Any], given: list[Any]) -> list[Any]:
        x, y, _ = robot[0]
        return [x * x + y * y - 0.2**2]


class ElbowBent(CommandConstraint):
    """The third joint above 0.2 rad."""

    def __init__(self) -> None:
        super().__init__("elbow bent")

    def bounds(self, context: Any) -> list[CommandBound]:
        return [CommandBound(self.name, left=-(context.q[2] - 0.2), axis=2)]

    def clearances_at_target(self, task: ct.Task, model: object) -> Iterable[tuple[str, float]]:
        q = task.components_at_target(ct.Configuration())
        return [] if q is None else [(self.name, q[2] - 0.2)]


TOOL_AT_ORIGIN = dq.Pose(translation=[0.0, 0.0, 0.5])
OUTSIDE: dict[str, tuple[ct.Task, CommandConstraint, str, float]] = {
    "task of ours, their constraint": (ct.TranslationTask(TIP, [0.1, 0.0, 0.5]), Column(TIP), "column", 0.03),
    "task of theirs, our constraint": (HandAt([0.3, 0.0, -0.5]), ct.KeepAbove(TIP, TABLE, name="table"), "table", 0.5),
    "both theirs": (HandAt([0.1, 0.0, 0.5]), Column(TIP), "column", 0.03),
    "a pose": (ct.PoseTask("tool", TOOL_AT_ORIGIN), Column(TIP), "column", 0.04),
    "a posture": (ct.PostureTask([0.0] * 7), ElbowBent(), "elbow bent", 0.2),
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_tasks_and_constraints_from_outside_are_told_too(case: str) -> None:
    """The package knows neither class: each says itself where it is met, and how far that is beyond its boundary."""
    task, constraint, name, amount = OUTSIDE[case]
    text = f"The target of {task.name!r} lies in the zone that {name!r} forbids, by {amount:.4g}."
    with pytest.warns(ct.ControlWarning) as told:
        ct.velocity_controller(ARM, [task], [constraint])
    assert [str(warning.message) for warning in told] == [text]


@pytest.mark.parametrize(
    ("task", "constraint"),
    [
        (HandAt([0.3, 0.0, 0.5]), Column(TIP)),
        (HandAt([0.1, 0.0, 0.5]), Column(ct.point("tool"))),
        (ct.RotationTask("tool", TURNED), Column(TIP)),
        (HandAt([0.1, 0.0, 0.5]), ElbowBent()),
    ],
)
def test_what_they_leave_open_is_not(task: ct.Task, constraint: CommandConstraint) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ct.velocity_controller(ARM, [task], [constraint])
