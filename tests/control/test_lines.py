"""Zones of two lines: the distance of the lines within the reach of the robot's, that of its ends beyond."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from control_tools import MOVING, check_derivatives
from trees import random_state, tree

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import cos, sin
from dqdyn.control.core.term import Term
from dqdyn.geometry import distances as geometry

ARM = dq.robots.arm7()
Q0 = np.array([0.1, 0.4, 0.2, -1.2, 0.3, 0.8, 0.1])
X = ARM.pose("tool", Q0)
ALONG, AT = (0.6, 0.0, 0.8), (0.1, -0.2, 0.3)
MOVING_LINE = lambda t: dq.Line.from_plucker(MOVING["line"](t)[:3], MOVING["line"](t)[3:])


def expected(line: dq.Line, near: np.ndarray, reach: float, other: dq.Line) -> tuple[bool, float, list[float]]:
    """Whether the nearest points are within the reach of the point ``near`` of a line; D; D of both ends."""
    l, k = line.direction, other.direction
    foot = line.closest_point_to_origin.position
    foot = foot + l * (l @ (near - foot))
    p = other.closest_point_to_origin.position
    along = np.linalg.solve(np.stack([l, -k, np.cross(l, k)], axis=1), p - foot)[0]
    ends = [geometry.point_to_line_squared_distance(dq.Point(foot + s * reach * l), other) for s in (-1.0, 1.0)]
    inside = bool(abs(along) < reach)
    return inside, geometry.line_to_line_squared_distance(line, other) if inside else min(ends), ends


@pytest.mark.parametrize(
    ("sides", "reach"),
    [("obstacle", None), ("obstacle", 0.2), ("obstacle first", None), ("robot", 0.2), ("hands", None)],
)
def test_distance(sides: str, reach: float | None) -> None:
    """That of the lines where their nearest points are within reach, else that of the nearer end; then of each end."""
    robot = tree("every kind, mimic")
    between = ct.absolute_frame("tool", "camera")
    mine, axis = ct.line(between if sides == "hands" else "tool", ALONG, AT), ct.line("link_1", "y", (0.3, 0.0, 0.1))
    pair = {"obstacle first": (MOVING_LINE, mine), "robot": (mine, axis)}.get(sides, (mine, MOVING_LINE))
    f, whole = (ct.linearise(robot, ct.KeepOut(*pair, 0.1, reach=r)) for r in (reach, math.inf))
    seen = []
    for seed in range(40):
        q, v, _ = random_state(robot, np.random.default_rng(seed))
        t = 0.1 * seed
        x = robot.absolute_pose("tool", "camera", q) if sides == "hands" else robot.pose("tool", q)
        other = MOVING_LINE(t)
        if sides == "robot":
            other = robot.pose("link_1", q) * dq.Line([0.0, 1.0, 0.0], [0.3, 0.0, 0.1])
        inside, D, ends = expected(x * dq.Line(ALONG, AT), x.translation, 2.0 if reach is None else reach, other)
        seen.append(inside)
        found, papers = f(t, q, v), whole(t, q, v)
        np.testing.assert_allclose(found.value, np.array([D, *ends]) - 0.01, rtol=1e-9, atol=1e-11)
        if inside:  # not only the distance is the papers' but also its rows
            np.testing.assert_allclose(found.jacobian[:1], papers.jacobian, rtol=1e-8, atol=1e-9)
            np.testing.assert_allclose(found.drift[:1], papers.drift, rtol=1e-7, atol=1e-7)
    assert min(seen.count(True), seen.count(False)) > 1


def test_within_means_near_enough_within_reach() -> None:
    """Keep-in has one row, D_safe − D, of the same distance."""
    robot, line = tree("every kind, mimic"), ct.line("tool", ALONG, AT)
    out, into = (ct.linearise(robot, keep(line, MOVING_LINE, 0.5)) for keep in (ct.KeepOut, ct.KeepIn))
    for seed in range(5):
        q, v, _ = random_state(robot, np.random.default_rng(seed))
        np.testing.assert_allclose(into(0.4, q, v).value, -out(0.4, q, v).value[:1], atol=1e-14)


def test_names() -> None:
    """They speak of lines, in the order given, and say which end of which line."""
    line, other = ct.line("tool"), ct.line("joint1", "x")
    zone = ct.KeepOut(line, dq.Line([1.0, 0.0, 0.0], [0.0, 0.0, 3.0]), 0.1)
    name = "keep-out: distance of the line on tool and the line in the workspace"
    ends = [": first end of the line on tool", ": last end of the line on tool"]
    assert zone.row_names() == [name, *(name + end for end in ends)]
    controller = ct.velocity_controller(ARM, [ct.RestTask()], [zone])
    controller(0.0, Q0)
    assert list(controller.distances) == zone.row_names()
    assert ct.KeepOut(other, line, 0.1).row_names()[2] == (
        "keep-out: distance of the line on joint1 and the line on tool: last end of the line on joint1"
    )
    assert ct.KeepOut(MOVING_LINE, line, 0.1, name="rod").row_names() == ["rod", *("rod" + end for end in ends)]
    on_hands = ct.KeepOut(ct.line(ct.absolute_frame("left", "right")), other, 0.1, name="rod")
    assert on_hands.row_names()[1] == "rod: first end of the line on the absolute frame of left and right"
    assert ct.KeepIn(line, other, 0.1, name="near").row_names() == ["near"]
    assert ct.KeepOut(line, other, 0.1, name="whole", reach=math.inf).row_names() == ["whole"]


# --- lines that are parallel, or nearly -------------------------------------------------------------------------------


def beside(tilt: float, towards: float) -> dq.Line:
    """A line 0.3 m beside the z axis of the tool, tilted by some rad towards it, or past it for π/2."""
    direction = [math.sin(tilt) * math.cos(towards), math.sin(tilt) * math.sin(towards), math.cos(tilt)]
    return X * dq.Line(direction, [0.3, 0.0, 0.0])


def test_infinite_lines_jump_and_their_parts_do_not() -> None:
    """A turn of 1e-5 rad decides whether infinite lines meet; of the parts it moves no point by more than 2e-5 m."""
    h: dict[float, list[float]] = {}
    for reach in (2.0, math.inf):
        zones = [ct.KeepOut(ct.line("tool"), beside(1e-5, towards), 0.0, reach=reach) for towards in (0.0, math.pi / 2)]
        h[reach] = [math.sqrt(max(0.0, ct.linearise(ARM, zone)(0.0, Q0).value[0])) for zone in zones]
    np.testing.assert_allclose(h[2.0], 0.3, atol=2e-5)
    np.testing.assert_allclose(h[math.inf], [0.0, 0.3], atol=1e-5)


NEARLY: dict[str, Callable[[], Term]] = {
    "crossing at 0.2 rad": lambda: ct.KeepOut(ct.line("tool"), beside(0.2, math.pi / 2), 0.1),
    "crossing at 0.02 rad": lambda: ct.KeepOut(ct.line("tool"), beside(0.02, math.pi / 2), 0.1),
    "crossing beyond the reach": lambda: ct.KeepOut(ct.line("tool"), beside(0.02, 0.0), 0.1),
    "crossing beyond the reach, by a hair": lambda: ct.KeepOut(ct.line("tool"), beside(2e-3, 0.0), 0.1),
    "opposite": lambda: ct.KeepOut(ct.line("tool", "-z"), beside(0.02, 0.0), 0.1),
    "on the robot": lambda: ct.KeepOut(ct.line("tool"), ct.line("joint6", (0.0, math.sin(0.3), math.cos(0.3))), 0.1),
    "keep in": lambda: ct.KeepIn(ct.line("tool"), beside(0.02, 0.0), 0.1),
    "infinite": lambda: ct.KeepOut(ct.line("tool"), beside(0.2, math.pi / 2), 0.1, reach=math.inf),
}


@pytest.mark.parametrize("name", NEARLY)
def test_derivatives_near_parallel(name: str) -> None:
    """To 1e-7; differences must not reach across the point where the nearest end becomes the other."""
    v = np.array([0.3, -0.2, 0.1, 0.4, -0.3, 0.2, 0.1])
    for q in (Q0, Q0 + 1e-5 * v, Q0 + 1e-4 * v):
        check_derivatives(ARM, NEARLY[name](), q, v, h=1e-4)


@pytest.mark.parametrize("tilt", [0.0, 1e-12, 1e-8, 1e-6])
@pytest.mark.parametrize("towards", [0.0, 1.0, math.pi / 2])
def test_rows_of_the_ends_are_smooth_across_parallel(tilt: float, towards: float) -> None:
    """The row of the distance is that of some point; those of both ends have the same derivatives as anywhere else."""
    v = np.array([0.3, -0.2, 0.1, 0.4, -0.3, 0.2, 0.1])
    f = ct.linearise(ARM, ct.KeepOut(ct.line("tool"), beside(tilt, towards), 0.1))
    at, tiny = f(0.0, Q0, v), 1e-5
    assert all(np.isfinite(part).all() for part in (at.value, at.jacobian, at.drift))
    assert at.value[0] == pytest.approx(0.08, abs=1e-5)
    later, before = (f(0.0, Q0 + s * tiny * v, v) for s in (1.0, -1.0))
    np.testing.assert_allclose((later.value - before.value)[1:] / (2 * tiny), (at.jacobian @ v)[1:], atol=1e-7)
    np.testing.assert_allclose(
        ((later.jacobian - before.jacobian) @ v)[1:] / (2 * tiny), at.drift[1:], rtol=0, atol=1e-6
    )


# --- what it keeps out ------------------------------------------------------------------------------------------------


def rod(t: Any) -> dq.Line:
    """Comes to 0.15 m of the axis of the tool and swings about parallel to it, towards it and past it."""
    tilt, turn = 0.12 * cos(3.0 * t), 1.5 * t
    local = [sin(tilt) * cos(turn), sin(tilt) * sin(turn), cos(tilt)]
    l = [sum(float(c) * x for c, x in zip(row, local, strict=True)) for row in X.rotation_matrix]
    p = [float(c) + float(e) * (0.3 - 0.05 * t) for c, e in zip(X.translation, X.rotation_matrix[:, 0], strict=True)]
    return dq.Line.from_plucker(l, [p[1] * l[2] - p[2] * l[1], p[2] * l[0] - p[0] * l[2], p[0] * l[1] - p[1] * l[0]])


def least_distance(t: float, q: np.ndarray, reach: float) -> float:
    """Of points along the axis of the tool from the rod."""
    x, other = ARM.pose("tool", q), rod(t)
    points = x.translation + np.linspace(-reach, reach, 201)[:, None] * x.rotation_matrix[:, 2]
    away = points - other.closest_point_to_origin.position
    return float(np.linalg.norm(np.cross(away, other.direction), axis=1).min())


def measured_rod(t: float) -> list[list[float]]:
    """Components, rates and accelerations, as a camera tells them."""
    parts = lambda c: [*rod(c[0]).dq.primary.vector, *rod(c[0]).dq.dual.vector]
    first = lambda c: derivative(parts, c, [1.0])
    return [parts([t]), first([t]), derivative(first, [t], [1.0])]


@pytest.mark.parametrize(
    ("level", "given"),
    [("velocity", "function"), ("acceleration", "function"), ("torque", "function"), ("acceleration", "measured")],
)
def test_rod_that_passes_by_parallel(level: str, given: str) -> None:
    """The part of the tool's axis stays 0.2 m away from the rod at all levels; without the zone it would not."""
    tasks = [ct.TranslationTask("tool", X.translation, gain=2.0), ct.RestTask(gain=2.0, weight=0.02)]
    camera, dt, reach = ct.Measured(rod(0.0)), 4e-3, 0.5
    zone = ct.KeepOut(ct.line("tool"), ct.Moving(rod) if given == "function" else camera, 0.2, gain=4.0, reach=reach)
    c = getattr(ct, f"{level}_controller")(ARM, tasks, [zone])
    q, v, least, free = Q0, np.zeros(7), np.inf, np.inf
    for k in range(round(3.0 / dt)):
        t = k * dt
        camera.update(*measured_rod(t))
        least, free = min(least, least_distance(t, q, reach)), min(free, least_distance(t, Q0, reach))
        u = c(t, q) if level == "velocity" else c(t, q, v)
        assert c.report.status == "solved"
        if level == "velocity":
            q = ARM.integrate(q, u, dt)
        else:
            a = ARM.forward_dynamics(q, v, u) if level == "torque" else u
            q, v = ARM.integrate(q, v + 0.5 * dt * a, dt), v + dt * a
    assert free < 0.16
    assert least > 0.2 - 1e-3
