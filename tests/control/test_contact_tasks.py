"""Tasks of contacts: planes on surfaces, regions, feet and hands that hold or slide, and the center of mass."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from biped import biped
from control_tools import MOVING, accelerate, arm, check_derivatives, follow, rows_of
from scipy.optimize import linprog
from standing import pole
from trees import assert_close, random_state, tree

import dqdyn as dq
from dqdyn import contacts
from dqdyn import control as ct
from dqdyn.algebra.scalar import cos, sin
from dqdyn.analysis.standing.setting import Standing, multi_contact_humanoid
from dqdyn.contacts.support_polygon import SupportPolygon, convex_hull
from dqdyn.control.tasks.surface import normal_error
from dqdyn.errors import Error, UnknownNameError

TABLE = dq.Plane((0.0, 0.0, 1.0), distance=0.3)
SLOPE = dq.Plane((0.6, 0.0, 0.8), distance=0.4)
TOOL = ct.plane("tool", (0.0, 0.6, -0.8), (0.1, -0.2, 0.3))
TRIANGLE = [(-0.5, -0.4), (0.6, -0.3), (0.0, 0.7)]

# --- planes on surfaces -----------------------------------------------------------------------------------------------


def unit(rng: np.random.Generator) -> np.ndarray:
    n = rng.standard_normal(3)
    return n / np.linalg.norm(n)


def test_the_error_of_normals_is_as_long_as_their_difference() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        n, n_d = unit(rng), unit(rng)
        e = normal_error(n.tolist(), n_d.tolist())
        assert np.linalg.norm(e) == pytest.approx(np.linalg.norm(n - n_d), rel=1e-9)
    assert normal_error([0.0, 0.6, 0.8], [0.0, 0.6, 0.8]) == pytest.approx([0.0, 0.0], abs=1e-15)
    for n in ([0.0, 0.6, 0.8], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]):  # opposite ones are as far apart as can be
        assert np.linalg.norm(normal_error(n, [-c for c in n])) == pytest.approx(2.0)


@pytest.mark.equation("Quiroz", "4.55")
@pytest.mark.equation("Quiroz", "4.56")
def test_three_rows_span_those_of_the_printed_four() -> None:
    """Where the planes meet: both errors vanish, and their Jacobians have the same row space, of rank three."""
    robot = tree("every kind")
    for seed in range(3):
        q = robot.random_configuration(seed)
        surface = robot.pose("tool", q) * dq.Plane((0.0, 0.6, -0.8), (0.1, -0.2, 0.3))
        three = rows_of(robot, ct.SurfaceTask(TOOL, surface), 0.0, q, np.zeros(robot.nv))
        four = rows_of(robot, ct.PlaneTask(TOOL, surface), 0.0, q, np.zeros(robot.nv))
        assert_close(three["value"], np.zeros(3), 1e-12)
        assert_close(four["value"], np.zeros(4), 1e-12)
        assert np.linalg.matrix_rank(three["jacobian"], tol=1e-9) == 3
        assert np.linalg.matrix_rank(four["jacobian"], tol=1e-9) == 3
        assert np.linalg.matrix_rank(np.vstack([three["jacobian"], four["jacobian"]]), tol=1e-9) == 3


def test_the_distance_does_not_depend_on_the_origin() -> None:
    """The robot and the surface moved together have the same error."""
    robot, q = tree("free base"), random_state(tree("free base"), np.random.default_rng(3))[0]
    base = robot.joints[0].q
    moved, shift = q.copy(), np.array([3.0, -2.0, 5.0])
    moved[base.start + 4 : base.stop] += shift
    here = dq.Plane((0.6, 0.0, 0.8), distance=0.4)
    there = dq.Plane((0.6, 0.0, 0.8), distance=0.4 + float(np.array([0.6, 0.0, 0.8]) @ shift))
    at = lambda x, plane: rows_of(robot, ct.SurfaceTask("tool", plane), 0.0, x, np.zeros(robot.nv))["value"]
    assert_close(at(moved, there), at(q, here), 1e-12)


TERMS: dict[str, Callable[[], Any]] = {
    "surface": lambda: ct.SurfaceTask(TOOL, MOVING["plane"]),
    "surface near x": lambda: ct.SurfaceTask("tool", lambda t: [cos(0.2 * t), 0.0, sin(0.2 * t), 0.3 + 0.1 * t]),
    "surface for two hands": lambda: ct.SurfaceTask(ct.absolute_frame("tool", "camera"), MOVING["plane"]),
    "contact region": lambda: ct.ContactRegion(
        contacts.face("tool", half_length=0.2, half_width=0.1),
        [MOVING["plane"], SLOPE],
        TABLE,
        margin=MOVING["number"],
        distance=0.02,
    ),
    "center of mass region": lambda: ct.CenterOfMassRegion(TRIANGLE, MOVING["number"]),
}


@pytest.mark.parametrize("robot", ["free base", "every kind, mimic"])
@pytest.mark.parametrize("name", TERMS)
@pytest.mark.equation("Quiroz", "4.56")
def test_derivatives(name: str, robot: str) -> None:
    machine, term = tree(robot), TERMS[name]()
    q, v, _ = random_state(machine, np.random.default_rng(1))
    check_derivatives(machine, term, q, 0.3 * v)


LEVELS = {
    "velocity": ct.velocity_controller,
    "acceleration": ct.acceleration_controller,
    "torque": ct.torque_controller,
}


def moved_by(level: str, robot: dq.Robot, tasks: Any, constraints: Any, q: np.ndarray, duration: float) -> np.ndarray:
    """q after following a controller of a level from rest."""
    controller = LEVELS[level](robot, tasks, constraints)
    if level == "velocity":
        return follow(robot, controller, q, duration, 2e-3)
    return accelerate(robot, controller, q, np.zeros(robot.nv), duration, 2e-3)[0]


@pytest.mark.parametrize("level", LEVELS)
def test_a_tool_is_laid_on_a_slope(level: str) -> None:
    robot, q = arm(), np.array([0.3, -0.6, 1.2, 0.2, 0.5, 0.1])
    task = ct.SurfaceTask(ct.plane("tool", "-z"), SLOPE, gain=3.0)
    q = moved_by(level, robot, [task], [], q, 4.0)
    pose = robot.pose("tool", q)
    assert_close(-pose.rotation_matrix[:, 2], [0.6, 0.0, 0.8], 1e-4)
    assert pose.translation @ [0.6, 0.0, 0.8] == pytest.approx(0.4, abs=1e-4)


def test_opposite_normals_find_their_way() -> None:
    """From upside down, where the error has no gradient that leads back."""
    robot, q = arm(), np.array([0.3, -0.6, 1.2, 0.2, 0.5, 0.1])
    pose = robot.pose("tool", q)
    n = pose.rotation_matrix[:, 2]
    task = ct.SurfaceTask("tool", dq.Plane(-n, pose.translation), gain=2.0)
    start = rows_of(robot, task, 0.0, q, np.zeros(6))
    assert np.linalg.norm(start["value"]) == pytest.approx(2.0)
    assert np.linalg.matrix_rank(start["jacobian"], tol=1e-6) == 3
    controller = ct.velocity_controller(robot, [task], damping=0.02)
    end = robot.pose("tool", follow(robot, controller, q, 5.0, 5e-3))
    assert_close(end.rotation_matrix[:, 2], -n, 1e-3)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.equation("Quiroz", "4.61")
def test_a_tool_slides_on_its_surface(level: str) -> None:
    """As an equality, while it is pulled off the surface, and with one more task for the place on it."""
    robot, q = arm(), np.array([0.3, -0.6, 1.2, 0.2, 0.5, 0.1])
    pose = robot.pose("tool", q)
    surface = dq.Plane(pose.rotation_matrix[:, 2], pose.translation)
    pull = ct.TranslationTask("tool", pose.translation + [0.05, 0.1, 0.1])
    end = robot.pose("tool", moved_by(level, robot, [pull], [ct.SurfaceTask("tool", surface)], q, 1.0))
    assert_close(end.rotation_matrix[:, 2], pose.rotation_matrix[:, 2], 1e-4)  # what steps of 2 ms leave
    assert (end.translation - pose.translation) @ pose.rotation_matrix[:, 2] == pytest.approx(0.0, abs=2e-5)
    assert np.linalg.norm(end.translation - pose.translation) > 0.03


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.equation("Quiroz", "4.60")
def test_a_tool_is_held(level: str) -> None:
    """By all six rows, in an arm of seven joints, whose elbow moves on."""
    robot = dq.robots.arm7()
    q = robot.random_configuration(2)
    pose = robot.pose("tool", q)
    posture = ct.PostureTask(robot.random_configuration(5))
    end = moved_by(level, robot, [posture], [ct.PoseTask("tool", pose, gain=2.0)], q, 1.0)
    assert_close(robot.pose("tool", end).translation, pose.translation, 1e-3)
    assert_close(robot.pose("tool", end).rotation_matrix, pose.rotation_matrix, 1e-3)
    assert np.abs(end - q).max() > 0.02


# --- regions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.equation("Quiroz", "4.57")
@pytest.mark.equation("Quiroz", "4.39")
def test_all_corners_stay_in_the_region(level: str) -> None:
    """Above the surface and inside of its borders while the tool is pulled out, and one row is at its limit."""
    robot, q = arm(), np.array([0.3, -0.6, 1.2, 0.2, 0.5, 0.1])
    hand = contacts.face("tool", half_length=0.05, half_width=0.03)
    start = np.array([p.vector for p in hand.corner_positions(robot, q)])
    walls = [
        dq.Plane((1.0, 0.0, 0.0), distance=start[:, 0].min() - 0.05),
        dq.Plane((0.0, -1.0, 0.0), distance=-start[:, 1].max() - 0.06),
    ]
    ground = dq.Plane((0.0, 0.0, 1.0), distance=start[:, 2].min() - 0.04)
    region = ct.ContactRegion(hand, walls, ground, margin=0.02, distance=0.01, gain=4.0)
    pull = ct.TranslationTask("tool", robot.pose("tool", q).translation + [-0.3, 0.3, -0.3], gain=2.0)
    end = moved_by(level, robot, [pull], [region], q, 2.0)
    corners = [p.vector for p in hand.corner_positions(robot, end)]
    h = region.value([list(p) for p in corners], [signal.at(0.0).value for signal in region.signals])
    assert len(h) == len(region.row_names()) == 12
    assert min(h) > -1e-3
    assert min(h) < 5e-3
    single = [np.asarray(robot.pose("tool", end) * dq.Point(c))[2] - ground.distance - 0.01 for c in hand.corners]
    assert_close(h[2::3], single, 1e-12)


# --- the center of mass -----------------------------------------------------------------------------------------------


def test_rows_of_the_center_of_mass_are_those_of_planes() -> None:
    """As Region has them for vertical planes through the edges, and others far away."""
    robot = tree("free base")
    q, v, _ = random_state(robot, np.random.default_rng(2))
    region = ct.CenterOfMassRegion(TRIANGLE, 0.05, edges=5)
    planes = [dq.Plane((a, b, 0.0), distance=d) for a, b, d in region.polygon.sides]
    ours, others = (rows_of(robot, term, 0.0, q, v) for term in (region, ct.Region(ct.CenterOfMass(), planes, 0.05)))
    for name in ("value", "jacobian", "rate", "drift"):
        assert_close(ours[name][:3], others[name], 1e-12)
    assert ours["value"][3:].min() > 900.0


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.equation("Quiroz", "4.62")
def test_the_center_of_mass_stays_inside_as_the_polygon_changes(level: str) -> None:
    """Pulled over an edge; then the polygon grows, without another program, and the center of mass goes on."""
    robot, q = arm(), np.array([0.3, -0.6, 1.2, 0.2, 0.5, 0.1])
    center = robot.center_of_mass(q)
    square = 0.06 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    region = ct.CenterOfMassRegion(center[:2] + square, 0.01, gain=4.0)
    x, y = center[:2] + [0.1, 0.04]
    pull = ct.FunctionTask(lambda c: [c.components[1] - x, c.components[2] - y], ct.CenterOfMass(), gain=2.0)
    controller = LEVELS[level](robot, [pull, ct.RestTask(weight=1e-4)], [region])
    program = controller.composition.program  # type: ignore[attr-defined]

    def go_on(q: np.ndarray) -> np.ndarray:
        if level == "velocity":
            return follow(robot, controller, q, 2.0, 5e-3)
        return accelerate(robot, controller, q, np.zeros(6), 2.0, 5e-3)[0]

    q = go_on(q)
    assert region.polygon.distance(robot.center_of_mass(q)[:2]) == pytest.approx(0.01, abs=1e-3)
    wider = np.vstack([region.polygon.corners, center[:2] + [0.16, 0.0]])
    region.update(wider)
    assert len(region.polygon.corners) == 5
    q = go_on(q)
    assert controller.composition.program is program  # type: ignore[attr-defined]
    assert robot.center_of_mass(q)[0] > center[0] + 0.07
    assert region.polygon.distance(robot.center_of_mass(q)[:2]) > 0.009


def test_regions_of_a_moving_center() -> None:
    """Rates of the center of mass alone: the polygon stands still between updates."""
    robot = tree("free base")
    q, v, _ = random_state(robot, np.random.default_rng(4))
    region = ct.CenterOfMassRegion(TRIANGLE)
    at = rows_of(robot, region, 0.0, q, v)
    assert_close(at["residual"], np.zeros(12), 1e-15)
    assert_close(at["rate"][:3], region.polygon.sides[:, :2] @ robot.center_of_mass_velocity(q, v)[:2], 1e-9)


def test_edges_that_stay_keep_their_rows() -> None:
    region = ct.CenterOfMassRegion([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)], edges=6)
    before = np.reshape(region.signals[0].at(0.0).value, (6, 3))
    region.update([(-1.0, -1.0), (1.0, -1.0), (2.0, 0.0), (1.0, 1.0), (-1.0, 1.0)])
    after = np.reshape(region.signals[0].at(0.0).value, (6, 3))
    same = [i for i in range(6) if np.allclose(before[i], after[i])]
    assert len(same) >= 3
    assert sum(after[:, 2] > -100.0) == 5
    region.update(contacts.SupportPolygon(np.array(TRIANGLE)))
    assert sum(np.reshape(region.signals[0].at(0.0).value, (6, 3))[:, 2] > -100.0) == 3


# --- whole-body control -----------------------------------------------------------------------------------------------


@pytest.mark.long
def test_laws_hold_in_whole_body_control() -> None:
    """The rows that a controller asks for, J a + drift = −k_d ė − k_p e, of all tasks here at once; bounds hold."""
    robot = biped()
    q = robot.neutral()
    q[6] = 0.8
    feet = {side: contacts.face(f"{side}_sole", half_length=0.1, half_width=0.05) for side in ("left", "right")}
    grow = ct.SupportAreaTask([feet["left"], feet["right"]], gain=-0.5)
    center = robot.center_of_mass(q)[:2]
    region = ct.CenterOfMassRegion(center + 0.3 * np.array([[-1, -1], [1, -1], [0, 1]]), 0.01)
    above = ct.ContactRegion(feet["right"], surface=dq.Plane((0.0, 0.0, 1.0), distance=-0.5))
    tasks = [[grow], [ct.RestTask()]]
    controller = ct.whole_body_controller(robot, tasks, [region, above], contacts=[feet["left"]], damping=1e-6)
    v = np.zeros(robot.nv)
    controller(0.0, q, v)
    assert controller.report.status == "solved"
    at, a = ct.linearise(robot, grow)(0.0, q, v), controller.accelerations
    k_d, k_p = grow.gains
    assert (k_d, k_p) == (0.5, -0.5)
    assert_close(at.jacobian @ a + at.drift, -k_d * at.jacobian @ v - k_p * at.value, 1e-6)
    for bound in (region, above):
        rows = rows_of(robot, bound, 0.0, q, v)
        d, p = bound.gains
        assert (rows["jacobian"] @ a + rows["drift"] + d * rows["rate"] + p * rows["value"]).min() > -1e-8


def test_equalities_in_whole_body_control() -> None:
    """A pole whose body stays in a plane, as an equality beside its foot."""
    robot, q, feet = pole()
    body = robot.pose("body", q)
    level = ct.SurfaceTask("body", dq.Plane((0.0, 0.0, 1.0), distance=float(body.translation[2]) + 0.02))
    rest = ct.RestTask()
    controller = ct.whole_body_controller(robot, [rest], [level], contacts=feet)
    v = np.zeros(robot.nv)
    controller(0.0, q, v)
    rows = rows_of(robot, level, 0.0, q, v)
    assert controller.report.status == "solved"
    assert_close(rows["jacobian"] @ controller.accelerations, -level.gains[1] * rows["value"], 1e-8)


# --- feet -------------------------------------------------------------------------------------------------------------


@cache
def standing() -> Standing:
    return multi_contact_humanoid()


def pulled(level: str, feet: Sequence[ct.Task]) -> np.ndarray:
    """q of the humanoid after its hand was pulled for three seconds, with the center of mass over its feet."""
    robot, q = standing().robot, standing().q0
    pull = ct.TranslationTask("right_hand", robot.pose("right_hand", q).translation + [0.8, -0.2, 0.3])
    constraints = [*feet, ct.CenterOfMassRegion(standing().polygon, 0.02)]
    controller = LEVELS[level](robot, [pull, ct.RestTask(weight=1e-2)], constraints)
    if level == "velocity":
        return follow(robot, controller, q, 3.0, 0.01)
    return accelerate(robot, controller, q, np.zeros(robot.nv), 3.0, 5e-3)[0]


@pytest.mark.long
@pytest.mark.parametrize("level", ["velocity", "acceleration"])
@pytest.mark.equation("Quiroz", "4.58")
@pytest.mark.equation("Quiroz", "4.59")
@pytest.mark.equation("Quiroz", "4.60")
def test_printed_equalities_let_both_feet_slide(level: str) -> None:
    """By more than a decimeter, together and without turning; held by their poses they stay."""
    robot, q, feet = standing().robot, standing().q0, standing().feet
    start = [robot.pose(foot, q) for foot in feet]
    printed = [
        ct.RelativePoseTask(*feet, robot.relative_pose(*feet, q)),
        ct.RotationTask(ct.absolute_frame(*feet), robot.absolute_pose(*feet, q)),
    ]
    end = pulled(level, printed)
    slides = [robot.pose(foot, end).translation - at.translation for foot, at in zip(feet, start, strict=True)]
    assert np.linalg.norm(slides[0]) > 0.12
    assert_close(slides[0], slides[1], 1e-4)
    for foot, at in zip(feet, start, strict=True):
        assert_close(robot.pose(foot, end).rotation_matrix, at.rotation_matrix, 1e-4)
    assert_close(robot.relative_pose(*feet, end).vec8(), robot.relative_pose(*feet, q).vec8(), 1e-4)
    held = pulled(level, [ct.PoseTask(foot, at) for foot, at in zip(feet, start, strict=True)])
    assert standing().feet_moved(held[None]) < 1e-4


# --- mistakes ---------------------------------------------------------------------------------------------------------

HAND = contacts.face("tool", half_length=0.05, half_width=0.03)
SQUARE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "surface of None": (lambda: ct.SurfaceTask(None, TABLE), "What a SurfaceTask lays on a surface is a frame"),  # type: ignore[arg-type]
    "surface of a point": (lambda: ct.SurfaceTask(ct.point("tool"), TABLE), "is a frame or a plane of the robot"),
    "no surface": (lambda: ct.SurfaceTask("tool", None), "The surface for tool is a plane"),  # type: ignore[arg-type]
    "a point as a surface": (lambda: ct.SurfaceTask("tool", dq.Point([0, 0, 1])), "surface for tool is a plane"),
    "a normal of NaN": (lambda: ct.SurfaceTask("tool", [0, 0, math.nan, 1]), "surface for tool must be finite"),
    "a long normal": (lambda: ct.SurfaceTask("tool", [0, 0, 2, 1]), "has length 2: divide it"),
    "gain of a surface": (lambda: ct.SurfaceTask("tool", TABLE, gain=-1.0), "must be a number above 0"),
    "region of nothing": (lambda: ct.ContactRegion(HAND), "needs planes around it, or a surface"),
    "region of no corner": (lambda: ct.ContactRegion([], surface=TABLE), "at least one point of the robot"),
    "region of None": (lambda: ct.ContactRegion(None, [TABLE]), "A corner of a contact region is a frame"),  # type: ignore[arg-type]
    "planes of a plane": (lambda: ct.ContactRegion(HAND, TABLE), "planes of a contact region are a list"),  # type: ignore[arg-type]
    "planes of None": (lambda: ct.ContactRegion(HAND, None), "planes of a contact region are a list"),  # type: ignore[arg-type]
    "planes of points": (lambda: ct.ContactRegion(HAND, [dq.Point([0, 0, 1])]), "Plane 1 of the region of tool is a"),
    "margin of NaN": (lambda: ct.ContactRegion(HAND, [TABLE], margin=math.nan), "margin of a contact region must be"),
    "distance of words": (lambda: ct.ContactRegion(HAND, [TABLE], distance="x"), "distance of a contact region"),  # type: ignore[arg-type]
    "polygon of None": (lambda: ct.CenterOfMassRegion(None), "polygon of the center of mass"),  # type: ignore[arg-type]
    "polygon of two": (lambda: ct.CenterOfMassRegion(SQUARE[:2]), "has no area: give at least three points"),
    "polygon of nothing": (lambda: ct.CenterOfMassRegion([]), "polygon of the center of mass is a SupportPolygon"),
    "margin without room": (
        lambda: ct.CenterOfMassRegion(SQUARE, 5.0),
        "5 m inside of all its edges: take",
    ),
    "polygon in a line": (lambda: ct.CenterOfMassRegion([(0, 0), (1, 1), (2, 2)]), "has no area"),
    "polygon in space": (lambda: ct.CenterOfMassRegion(np.zeros((4, 3))), "points \\(n, 2\\), finite and in m"),
    "polygon of NaN": (lambda: ct.CenterOfMassRegion([(0, 0), (1, 0), (0, math.nan)]), "finite and in m"),
    "polygon of words": (lambda: ct.CenterOfMassRegion([("a", "b")] * 3), "polygon of the center of mass"),
    "margin of words": (lambda: ct.CenterOfMassRegion(SQUARE, "x"), "margin of the center of mass"),  # type: ignore[arg-type]
    "edges of two": (lambda: ct.CenterOfMassRegion(SQUARE, edges=2), "whole number from 3"),
    "edges of None": (lambda: ct.CenterOfMassRegion(SQUARE, edges=None), "whole number from 3"),  # type: ignore[arg-type]
    "edges of NaN": (lambda: ct.CenterOfMassRegion(SQUARE, edges=math.nan), "whole number from 3"),  # type: ignore[arg-type]
    "too few edges": (lambda: ct.CenterOfMassRegion(SQUARE, edges=3), "has 4 edges, more than the 3 prepared for"),
    "updated by a line": (lambda: ct.CenterOfMassRegion(SQUARE).update([(0, 0), (1, 1)]), "has no area"),
}


@pytest.mark.parametrize("seed", range(20))
def test_margins_up_to_the_inscribed_circle_leave_room(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(3 + seed % 6, 2))
    sides = SupportPolygon(convex_hull(points)).sides
    largest = linprog(
        [0.0, 0.0, -1.0], np.c_[-sides[:, :2], np.ones(len(sides))], -sides[:, 2], bounds=[(None, None)] * 3
    )
    ct.CenterOfMassRegion(points, -0.999 * largest.fun)
    with pytest.raises(Error, match="take a smaller margin"):
        ct.CenterOfMassRegion(points, -1.001 * largest.fun)


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_are_explained(name: str) -> None:
    make, expected = WRONG[name]
    with pytest.raises(Error, match=expected):
        make()


def test_a_polygon_that_cannot_be_leaves_the_last_one() -> None:
    region = ct.CenterOfMassRegion(SQUARE, edges=4)
    before = region.polygon, list(region.signals[0].at(0.0).value)
    for wrong in ([(0.0, 0.0), (1.0, 1.0)], [(0.0, 0.0), (2.0, 0.0), (3.0, 1.0), (1.0, 3.0), (0.0, 1.0)]):
        with pytest.raises(Error):
            region.update(wrong)
    assert region.polygon is before[0]
    assert list(region.signals[0].at(0.0).value) == before[1]


@pytest.mark.parametrize(
    "term",
    [
        ct.SurfaceTask("hnad", TABLE),
        ct.ContactRegion(contacts.point("hnad"), [TABLE]),
        ct.ContactRegion("hnad", [TABLE]),
    ],
    ids=["surface", "contact", "frame"],
)
def test_unknown_frames(term: Any) -> None:
    with pytest.raises(UnknownNameError, match="hnad"):
        ct.linearise(arm(), term)


def test_an_infeasible_polygon_is_reported() -> None:
    """The center of mass of an arm outside of the polygon: a warning that it has to get back."""
    robot = arm()
    region = ct.CenterOfMassRegion([(5.0, 5.0), (6.0, 5.0), (5.0, 6.0)])
    controller = ct.velocity_controller(robot, [ct.RestTask()], [region])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        controller(0.0, np.zeros(6))
    assert any("center of mass in the polygon" in str(w.message) for w in told)
