"""Jacobians and residuals of tasks and inequalities equal those of DQ Robotics, where it has them."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from control_tools import MOVING, seven
from dqrobotics import DQ as Theirs
from dqrobotics.robot_modeling import DQ_Kinematics, DQ_SerialManipulatorDH

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.algebra.jet import derivative
from dqdyn.robot import Robot

T = 0.4
K = Theirs(np.array([0.0, 0.0, 0.0, 1.0]))


@cache
def arms() -> tuple[Robot, DQ_SerialManipulatorDH]:
    theta, d, a, alpha = seven()
    ours = dq.from_dh(np.stack([theta, d, a, alpha], axis=1))
    return ours, DQ_SerialManipulatorDH(np.vstack([seven(), np.zeros(7)]))


def tip() -> str:
    return list(arms()[0].frames)[-1]


def element(kind: str, c: np.ndarray) -> Theirs:
    if kind == "plane":
        return Theirs(np.array([0.0, *c[:3], c[3], 0.0, 0.0, 0.0]))
    return Theirs(np.array([0.0, *c[:3], 0.0, *c[3:]])) if kind == "line" else Theirs(np.array([0.0, *c]))


def given(kind: str) -> tuple[Any, Theirs, Theirs]:
    """A thing that moves, for ours; what it is and its rate at T, for theirs."""
    f = MOVING[kind]
    value = np.array([float(x) for x in f(T)])
    rate = np.array(derivative(lambda c: f(c[0]), [T], [1.0]))
    whole = {"line": lambda t: dq.Line.from_plucker(f(t)[:3], f(t)[3:])}
    return whole.get(kind, f), element(kind, value), element(kind, rate)


def configurations() -> np.ndarray:
    return np.random.default_rng(5).uniform(-1.5, 1.5, (8, 7))


def their_thing(kind: str, q: np.ndarray) -> tuple[np.ndarray, Theirs]:
    """Jacobian and value of the origin, the z axis or the xy plane of the last frame."""
    theirs = arms()[1]
    x, j = theirs.fkm(q), theirs.pose_jacobian(q)
    if kind == "point":
        return DQ_Kinematics.translation_jacobian(j, x), x.translation()
    r, p = x.rotation(), x.translation()
    l = r * K * r.conj()
    if kind == "line":
        moment = 0.5 * (p * l - l * p)
        return DQ_Kinematics.line_jacobian(j, x, K), Theirs(np.array([*l.vec8()[:4], *moment.vec8()[:4]]))
    return DQ_Kinematics.plane_jacobian(j, x, K), Theirs(np.array([*l.vec8()[:4], p.vec4() @ l.vec4(), 0, 0, 0]))


OURS = {"point": ct.point, "line": ct.line, "plane": ct.plane}
PAIRS = [
    ("point", "point"),
    ("point", "line"),
    ("point", "plane"),
    ("line", "point"),
    ("line", "line"),
    ("plane", "point"),
]


@pytest.mark.equation("Quiroz", "4.1")
@pytest.mark.equation("Quiroz", "4.2")
@pytest.mark.filterwarnings("ignore:.*violated at the start")
@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_first_order_inequality(a: str, b: str) -> None:
    """−J v ≤ η d̃ + ζ with their J and ζ, with an obstacle and a safe distance that move."""
    robot, _ = arms()
    obstacle, b_value, b_rate = given(b)
    safe, safe_rate = MOVING["number"](T), derivative(lambda c: [MOVING["number"](c[0])], [T], [1.0])[0]
    squared = "plane" not in (a, b)
    whole: Any = {"reach": math.inf} if a == b == "line" else {}  # their lines have no ends
    zone = ct.KeepOut(OURS[a](tip()), obstacle, MOVING["number"], gain=1.3, **whole)
    c = ct.velocity_controller(robot, [ct.RestTask()], [zone])
    for q in configurations():
        c(T, q)
        j, thing = their_thing(a, q)
        of_jacobian, of_residual = (thing, b_value), (thing, b_value, b_rate)
        if not squared:
            of_residual = (thing, b_rate)
        if a == "plane":
            of_jacobian = (b_value,)
        jacobian = getattr(DQ_Kinematics, f"{a}_to_{b}_distance_jacobian")(j, *of_jacobian).ravel()
        residual = getattr(DQ_Kinematics, f"{a}_to_{b}_residual")(*of_residual)
        views = c.composition.views
        np.testing.assert_allclose(-views["A"][0], jacobian, atol=1e-9)
        h = views["h"][0]
        expected = 1.3 * h + residual - (2.0 * safe * safe_rate if squared else safe_rate)
        assert views["upper"][-1] == pytest.approx(expected, abs=1e-9)


@pytest.mark.equation("Quiroz", "4.33")
def test_cone() -> None:
    """J_φ v ≤ −(η f̃ + ζ_φ) with their angle functions, which belong to f = 2 − 2 cos φ."""
    robot, _ = arms()
    axis, value, rate = given("line")
    c = ct.velocity_controller(robot, [ct.RestTask()], [ct.Cone(tip(), axis, 3.0, gain=0.7)])
    for q in configurations():
        c(T, q)
        j, thing = their_thing("line", q)
        views = c.composition.views
        np.testing.assert_allclose(
            views["A"][0], DQ_Kinematics.line_to_line_angle_jacobian(j, thing, value).ravel(), atol=1e-9
        )
        residual = DQ_Kinematics.line_to_line_angle_residual(thing, value, rate)
        f = np.sum((thing.vec8()[1:4] - value.vec8()[1:4]) ** 2)
        assert views["h"][0] == pytest.approx(2 - 2 * np.cos(3.0) - f)
        assert views["upper"][-1] == pytest.approx(-(0.7 * (f - 2 + 2 * np.cos(3.0)) + residual), abs=1e-9)


def test_segments() -> None:
    """Their function takes the closest points' Jacobians; a moving end of ours gives the same row."""
    robot, theirs = arms()
    obstacle = dq.Segment([0.6, -0.5, 0.3], [0.6, 0.5, 0.4])
    a, b = (0.0, 0.0, -0.2), (0.0, 0.0, 0.2)
    f = ct.linearise(robot, ct.KeepOut(ct.segment(ct.point(tip(), a), ct.point(tip(), b)), obstacle, 0.1))
    point = lambda c: Theirs(np.array([0.0, *c]))
    for q in configurations():
        x = theirs.fkm(q)
        ends = [x.translation() + x.rotation() * point(c) * x.rotation().conj() for c in (a, b)]
        j_ends = [robot.point_jacobian(tip(), q, c) for c in (a, b)]
        l = ends[1] - ends[0]
        length = np.linalg.norm(l.vec3())
        direction = l * (1.0 / length)
        line = direction + Theirs(np.array([0, 0, 0, 0, *(0.5 * (ends[0] * direction - direction * ends[0])).vec4()]))
        line_jacobian = np.vstack([np.zeros((1, 7)), robot.line_jacobian(tip(), q, ct.line(tip(), "z").local)[:3]])
        line_jacobian = np.vstack(
            [line_jacobian, np.zeros((1, 7)), robot.line_jacobian(tip(), q, ct.line(tip(), "z").local)[3:]]
        )
        workspace = [point(obstacle.a.position), point(obstacle.b.position)]
        w = workspace[1] - workspace[0]
        wl = w * (1.0 / np.linalg.norm(w.vec3()))
        whole = wl + Theirs(np.array([0, 0, 0, 0, *(0.5 * (workspace[0] * wl - wl * workspace[0])).vec4()]))
        padded = [np.vstack([np.zeros((1, 7)), jj]) for jj in j_ends]
        function: Any = DQ_Kinematics.line_segment_to_line_segment_distance_jacobian
        expected = function(line_jacobian, padded[0], padded[1], line, ends[0], ends[1], whole, *workspace)
        np.testing.assert_allclose(f(0.0, q).jacobian[:1], np.atleast_2d(expected), atol=1e-8)


def test_pose_and_posture_tasks() -> None:
    """The error vec8(x − x_d) has their pose Jacobian; translation and rotation are its parts."""
    robot, theirs = arms()
    goal = theirs.fkm(np.full(7, 0.2))
    pose = ct.linearise(robot, ct.PoseTask(tip(), goal.vec8(), error="difference"))
    move = ct.linearise(robot, ct.TranslationTask(tip(), goal.translation().vec3()))
    line = ct.linearise(robot, ct.LineTask(tip(), dq.Line([0.0, 0.0, 1.0], [0.0, 0.0, 0.0])))
    plane = ct.linearise(robot, ct.PlaneTask(tip(), dq.Plane([0.0, 0.0, 1.0], distance=0.0)))
    for q in configurations():
        x, j = theirs.fkm(q), theirs.pose_jacobian(q)
        found = pose(0.0, q)
        # x and −x are one pose: which of them ours has depends on the frame's continuous motion from q = 0
        sign = np.sign(found.jacobian.ravel() @ j.ravel())
        np.testing.assert_allclose(found.jacobian, sign * j, atol=1e-10)
        nearer = min((x.vec8() - s * goal.vec8() for s in (1.0, -1.0)), key=lambda e: np.linalg.norm(e[:4]))
        np.testing.assert_allclose(found.value, sign * nearer, atol=1e-10)
        np.testing.assert_allclose(move(0.0, q).jacobian, DQ_Kinematics.translation_jacobian(j, x)[1:], atol=1e-10)
        jl, jp = DQ_Kinematics.line_jacobian(j, x, K), DQ_Kinematics.plane_jacobian(j, x, K)
        np.testing.assert_allclose(line(0.0, q).jacobian, np.delete(jl, [0, 4], axis=0), atol=1e-10)
        np.testing.assert_allclose(plane(0.0, q).jacobian, jp[1:5], atol=1e-10)
        v = np.linspace(-1.0, 1.0, 7)
        jd = theirs.pose_jacobian_derivative(q, v)
        np.testing.assert_allclose(pose(0.0, q, v).jacobian_derivative, sign * jd, atol=1e-9)
