"""The task on the support area: the printed form, derivatives against SciPy's hull, growth at both orders, mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from control_tools import accelerate, check_derivatives, follow, rows_of
from scipy.spatial import ConvexHull
from trees import assert_close, random_state, rate, run, tree

import dqdyn as dq
from dqdyn import contacts
from dqdyn import control as ct
from dqdyn.algebra.jet import derivative, gradient
from dqdyn.algebra.scalar import sin
from dqdyn.control.tasks.literal_support_area import PrintedSupportArea
from dqdyn.errors import Error, UnknownNameError
from dqdyn.geometry.hull import convex_hull_of

ROBOTS = ("every kind, mimic", "free base", "planar base")
FIXED = [(-0.4, -0.3), (0.5, -0.2), (0.1, 0.6)]


def four(rng: np.random.Generator) -> tuple[list[float], list[float], list[float], list[float]]:
    """Corners p_a, p_b, p_c, p_d of a convex polygon, counter-clockwise."""
    angles = np.sort(rng.uniform(0.0, 0.5, 4)) + np.arange(4) * 0.5 * math.pi
    corners = np.column_stack([np.cos(angles), np.sin(angles)]) * rng.uniform(0.6, 1.0)
    a, b, c, d = (corners @ rng.standard_normal((2, 2)).T + rng.standard_normal(2)).tolist()
    return a, b, c, d


# --- as printed ------------------------------------------------------------------------------------------------------


@pytest.mark.equation("Quiroz", "4.41")
@pytest.mark.equation("Quiroz", "4.46")
@pytest.mark.equation("Quiroz", "4.52")
def test_printed_gradient_is_half_the_diagonal_turned() -> None:
    """Perpendicular to p_b–p_d, half as long, the same wherever p_c is, and that of the shoelace formula."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        corners = four(rng)
        printed, hull = PrintedSupportArea(*corners), convex_hull_of(corners)
        assert printed.area == pytest.approx(hull.area, rel=1e-12)
        diagonal = np.subtract(corners[3], corners[1])
        found = np.array(printed.gradient)
        assert abs(found @ diagonal) <= 1e-9 * (diagonal @ diagonal)
        assert np.linalg.norm(found) == pytest.approx(0.5 * np.linalg.norm(diagonal), rel=1e-9)
        assert_close(found, hull.gradient[2], 1e-9)
        outwards = np.subtract(corners[2], np.add(corners[1], corners[3]) / 2.0)
        for length in (0.3, 0.9, 2.5):  # p_c anywhere on its side of the diagonal
            moved = (np.add(corners[1], corners[3]) / 2.0 + length * outwards + 0.2 * length * diagonal).tolist()
            again = PrintedSupportArea(corners[0], corners[1], moved, corners[3])
            assert_close(again.gradient, found, 1e-9)


@pytest.mark.equation("Quiroz", "4.42")
@pytest.mark.equation("Quiroz", "4.43")
@pytest.mark.equation("Quiroz", "4.44")
@pytest.mark.equation("Quiroz", "4.45")
@pytest.mark.equation("Quiroz", "4.47")
@pytest.mark.equation("Quiroz", "4.48")
@pytest.mark.equation("Quiroz", "4.49")
@pytest.mark.equation("Quiroz", "4.51")
def test_printed_rates_are_those_of_jets() -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        (a, b, c, d), moved = four(rng), rng.standard_normal(2).tolist()
        printed = PrintedSupportArea(a, b, c, d)
        of = lambda name, a=a, b=b, d=d: lambda p: [getattr(PrintedSupportArea(a, b, p, d), name)]
        along = lambda name, of=of, c=c, moved=moved: derivative(of(name), c, moved)[0]
        assert_close(printed.side_rates(moved), [along("a"), along("b")], 1e-9)
        assert_close(printed.angle_rate(moved), along("phi_c"), 1e-9)
        assert_close(np.dot(printed.j_u, moved), along("u"), 1e-9)
        assert_close(printed.area_rate(moved), along("area"), 1e-9)
        assert_close(np.dot(printed.gradient, moved), along("area"), 1e-9)
        assert_close(np.add(printed.j_a1, _turning(printed)), printed.gradient, 1e-9)
        assert_close(gradient(lambda p, of=of: of("area")(p)[0], c), printed.gradient, 1e-9)


def _turning(printed: PrintedSupportArea) -> np.ndarray:
    """J_A2 through ϕ̇_c along both axes."""
    half = 0.5 * printed.a * printed.b * printed.u
    return np.array([half * printed.angle_rate([1.0, 0.0]), half * printed.angle_rate([0.0, 1.0])])


@pytest.mark.equation("Quiroz", "4.50")
def test_triangles_without_area_are_where_the_printed_form_has_no_gradient() -> None:
    """u = ±1, and the shoelace formula does not mind."""
    a, b, d = [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]
    flat = PrintedSupportArea(a, b, [3.0, 0.0], d)  # beyond p_b: b + c = a
    assert flat.b + flat.c == pytest.approx(flat.a)
    assert flat.u == pytest.approx(1.0)
    assert not np.isfinite(flat.gradient).all()
    thin = [0.2, 1e-12]
    assert np.abs(np.subtract(PrintedSupportArea(a, b, thin, d).gradient, [0.0, 1.0])).max() > 1e-9
    assert_close(convex_hull_of([a, b, thin, d]).gradient[2], [0.0, 1.0], 1e-15)


@pytest.mark.equation("Quiroz", "4.41")
@pytest.mark.equation("Quiroz", "4.53")
@pytest.mark.equation("Quiroz", "4.54")
def test_printed_jacobian_is_that_of_the_task() -> None:
    robot = dq.robots.arm6()
    for seed in range(3):
        q = robot.random_configuration(seed)
        position = robot.pose("tool", q).translation[:2]
        around = lambda angle, p=position: (p + 0.5 * np.array([math.cos(angle), math.sin(angle)])).tolist()
        p_d, p_a, p_b = around(2.0), around(3.2), around(4.4)
        printed = PrintedSupportArea(p_a, p_b, position.tolist(), p_d)
        jacobian = robot.translation_jacobian("tool", q)
        at = rows_of(robot, ct.SupportAreaTask(["tool", p_a, p_b, p_d]), 0.0, q, np.zeros(6))
        assert_close(at["value"], [printed.area], 1e-9)
        assert_close(at["jacobian"][0], printed.jacobian(jacobian.tolist()), 1e-9)


# --- derivatives -----------------------------------------------------------------------------------------------------


def corners_of(rng: np.random.Generator) -> list[object]:
    """Corners on two frames: a face, an edge and a point, with some that stay."""
    face = contacts.face("tool", half_length=0.3, half_width=0.2, center=rng.standard_normal(3))
    edge = contacts.edge("link_2", rng.standard_normal((2, 3)))
    return [face, edge, ct.point("link_1", rng.standard_normal(3)), *FIXED]


def points_at(robot: dq.Robot, task: ct.SupportAreaTask, q: np.ndarray) -> np.ndarray:
    """(n, 2) of the corners of the robot, by its poses alone, then of the fixed ones."""
    moved = []
    for corner in task.area.corners:
        pose = robot.pose(corner.frame, q)  # type: ignore[attr-defined]
        moved.append((pose.translation + pose.rotation_matrix @ corner.local)[:2])  # type: ignore[attr-defined]
    return np.array([*moved, *FIXED])


@pytest.mark.parametrize("name", ROBOTS)
def test_area_jacobian_rate_and_drift(name: str) -> None:
    """Against SciPy's hull of poses, Jacobians of points, and differences of these, to 1e-9."""
    robot = tree(name)
    task = ct.SupportAreaTask(corners_of(np.random.default_rng(7)), 0.5)
    for seed in range(3):
        q, v, _ = random_state(robot, np.random.default_rng(seed))
        v = 0.3 * v
        at, hull = rows_of(robot, task, 0.0, q, v), ConvexHull(points_at(robot, task, q))
        jacobian, drift = at["jacobian"], at["drift"]
        assert_close(at["value"], [hull.volume - 0.5], 1e-9)
        assert_close(jacobian, [_gradient(robot, task, q)], 1e-9)
        later = lambda s, q=q, v=v: run(robot, "integrate", q, v, s)
        area = lambda s, later=later: ConvexHull(points_at(robot, task, later(s))).volume
        scale = max(1.0, np.abs(jacobian).max() * np.abs(v).max())
        assert_close(at["rate"], jacobian @ v, 1e-12, scale)
        assert_close(jacobian @ v, [rate(area, 1e-4)], 1e-9, scale)
        slope = lambda s, later=later, v=v: float(_gradient(robot, task, later(s)) @ v)
        assert_close(drift, [rate(slope, 1e-4)], 1e-9, max(scale, abs(float(drift[0]))))


@pytest.mark.long
@pytest.mark.parametrize("name", ROBOTS)
def test_compiled_derivatives(name: str) -> None:
    robot = tree(name)
    task = ct.SupportAreaTask(corners_of(np.random.default_rng(7)), lambda t: 0.5 + 0.1 * sin(t))
    for seed in range(2):
        q, v, _ = random_state(robot, np.random.default_rng(seed))
        check_derivatives(robot, task, q, 0.3 * v, h=1e-4)


def _gradient(robot: dq.Robot, task: ct.SupportAreaTask, q: np.ndarray) -> np.ndarray:
    """Shoelace gradient of SciPy's hull times Jacobians of the points, from twists in the world's axes."""
    points = points_at(robot, task, q)
    corners = ConvexHull(points).vertices
    result = np.zeros(robot.nv)
    for before, here, after in zip(np.roll(corners, 1), corners, np.roll(corners, -1), strict=True):
        if here >= len(task.area.corners):
            continue
        corner = task.area.corners[here]
        pose, twists = robot.pose(corner.frame, q), robot.twist_jacobian(corner.frame, q, expressed="aligned")  # type: ignore[attr-defined]
        arm = pose.rotation_matrix @ corner.local  # type: ignore[attr-defined]
        velocity = twists[3:] + np.cross(twists[:3].T, arm).T
        across = 0.5 * (points[after] - points[before])
        result += across[1] * velocity[0] - across[0] * velocity[1]
    return result


def test_corners_enter_and_leave() -> None:
    """A point of an arm crosses an edge: inside it counts nothing, outside half the edge; the area has no jump."""
    robot = dq.robots.arm6()
    q = robot.random_configuration(3)
    p = robot.pose("tool", q).translation[:2]
    jacobian = robot.translation_jacobian("tool", q)
    for out, counts in ((1e-7, 1.0), (-1e-7, 0.0)):
        edge = p[1] - out  # the line y = edge, of length 0.8
        fixed = [(p[0] - 0.5, edge), (p[0] + 0.3, edge), (p[0], edge - 0.4)]
        task = ct.SupportAreaTask(["tool", *fixed])
        at = ct.linearise(robot, task)(0.0, q)
        assert_close(at.value, [0.16 + 0.4 * max(out, 0.0)], 1e-12)
        assert_close(at.jacobian[0], counts * 0.4 * jacobian[1], 1e-6)
        assert task.corners_on_hull(robot, q) == (("tool",) if counts else ())
        assert task.polygon(robot, q).area == pytest.approx(at.value[0], abs=1e-12)


@pytest.mark.equation("Quiroz", "fig. 4.10")
def test_contacts_that_are_off_do_not_count() -> None:
    robot = dq.robots.humanoid()
    feet = [contacts.face(f, half_length=0.1, half_width=0.05) for f in ("left_foot", "right_foot")]
    hand = contacts.point("left_hand")
    q = robot.random_configuration(1)
    both = ct.SupportAreaTask([*feet, hand.with_mode("off")]).polygon(robot, q)
    assert_close(both.area, contacts.support_polygon(robot, q, feet, level=False).area, 1e-12)
    three = ct.SupportAreaTask([*feet, hand]).polygon(robot, q)
    assert_close(three.area, contacts.support_polygon(robot, q, [*feet, hand], level=False).area, 1e-12)
    with pytest.raises(Error, match="level=False projects"):
        contacts.support_polygon(robot, q, [*feet, hand])


def test_the_area_in_a_function() -> None:
    """The feature by itself: half of the area between the tool and two points, as a function of the user's."""
    robot = dq.robots.arm6()
    q = robot.random_configuration(4)
    area = ct.support_area(["tool", (0.0, 0.9), (0.4, -0.8)])
    half = ct.FunctionTask(lambda a: 0.5 * a, area)
    whole = ct.SupportAreaTask(["tool", (0.0, 0.9), (0.4, -0.8)])
    ours, theirs = (rows_of(robot, task, 0.0, q, np.ones(6)) for task in (half, whole))
    for name in ("value", "jacobian", "rate", "drift"):
        assert_close(2.0 * ours[name], theirs[name], 1e-12)


# --- growth ----------------------------------------------------------------------------------------------------------

START = np.array([0.3, -0.6, 1.2, 0.2, 0.5, 0.1])


def area_of(task: ct.SupportAreaTask, q: np.ndarray) -> float:
    return task.polygon(dq.robots.arm6(), q).area


def growing() -> ct.SupportAreaTask:
    return ct.SupportAreaTask(["tool", (0.0, 0.3), (-0.2, -0.2), (0.1, -0.3)], gain=-0.5)


def test_the_area_grows_exponentially() -> None:
    """A(0) e^{0.5 t} with η = −0.5, by velocities."""
    robot, task = dq.robots.arm6(), growing()
    controller = ct.velocity_controller(robot, [task], damping=1e-6)
    start = area_of(task, START)
    end = area_of(task, follow(robot, controller, START, 0.5, 1e-3))
    assert end / start == pytest.approx(math.exp(0.25), rel=2e-4)


@pytest.mark.parametrize("level", ["acceleration", "torque"])
def test_the_area_comes_onto_its_growth_by_accelerations(level: str) -> None:
    """Ä = ρȦ − k (Ȧ − ρA) from rest: A = A(0) (k e^{ρt} + ρ e^{−kt})/(ρ + k), with k = 2ρ."""
    robot, task, rho, t = dq.robots.arm6(), growing(), 0.5, 0.5
    make = {"acceleration": ct.acceleration_controller, "torque": ct.torque_controller}[level]
    controller = make(robot, [task], damping=1e-6)
    start, k = area_of(task, START), 2.0 * rho
    q, _ = accelerate(robot, controller, START, np.zeros(6), t, 1e-3)
    expected = start * (k * math.exp(rho * t) + rho * math.exp(-k * t)) / (rho + k)
    assert area_of(task, q) == pytest.approx(expected, rel=1e-5)


def test_the_area_goes_to_a_target() -> None:
    robot = dq.robots.arm6()
    task = ct.SupportAreaTask(["tool", (0.0, 0.3), (-0.2, -0.2), (0.1, -0.3)], 0.25, gain=4.0)
    q = follow(robot, ct.velocity_controller(robot, [task], damping=1e-6), START, 2.0, 5e-3)
    assert area_of(task, q) == pytest.approx(0.25, abs=1e-4)


# --- mistakes --------------------------------------------------------------------------------------------------------

SOLE = contacts.face("tool", half_length=0.1, half_width=0.05)
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "two corners": (lambda: ct.SupportAreaTask(["tool", (0.0, 1.0)]), "at least three corners in all; found 2"),
    "nothing on the robot": (lambda: ct.SupportAreaTask(FIXED), "needs a corner on the robot"),
    "nothing": (lambda: ct.SupportAreaTask([]), "needs a corner on the robot"),
    "a contact that is off": (lambda: ct.SupportAreaTask([SOLE.with_mode("off")]), "no contact that is on"),
    "None": (lambda: ct.SupportAreaTask(None), "What supports is a contact, a frame or a point"),  # type: ignore[arg-type]
    "a number": (lambda: ct.SupportAreaTask(["tool", 3.0, 4.0]), "What supports is a contact"),
    "words": (lambda: ct.SupportAreaTask(["tool", [["a", "b"]], (0, 1)]), "What supports is a contact"),
    "NaN": (lambda: ct.SupportAreaTask(["tool", (0.0, math.nan), (0.0, 1.0)]), "must be finite"),
    "four components": (lambda: ct.SupportAreaTask(["tool", (0, 0, 0, 0), (0, 1)]), "fixed point \\(x, y\\) in m"),
    "a line": (lambda: ct.SupportAreaTask([ct.line("tool"), *FIXED]), "What supports is a frame or a point"),
    "a contact between bodies": (
        lambda: ct.SupportAreaTask([contacts.point("tool", partner="link_1"), *FIXED]),
        "is on the robot: it does not support",
    ),
    "no gain": (lambda: ct.SupportAreaTask([SOLE], gain=0.0), "above 0 to reach an area, below 0 to let it grow"),
    "gain that is no number": (lambda: ct.SupportAreaTask([SOLE], gain=math.nan), "is a finite number in 1/s"),
    "target below zero": (lambda: ct.SupportAreaTask([SOLE], -0.1), "an area from 0 m² on; found -0.1"),
    "growth with a target": (lambda: ct.SupportAreaTask([SOLE], 1.0, gain=-0.5), "has no target: leave out area"),
    "growth with gains": (
        lambda: ct.SupportAreaTask([SOLE], gain=-0.5, gains=(3.0, 2.0)),
        "has no target: leave out gains",
    ),
    "growth within": (lambda: ct.SupportAreaTask([SOLE], gain=-0.5, within=0.1), "leave out within"),
    "gain of -inf": (lambda: ct.SupportAreaTask([SOLE], gain=-math.inf), "is a finite number in 1/s"),
    "area of NaN": (lambda: ct.SupportAreaTask([SOLE], math.nan), "target of the support area must be finite"),
    "area of words": (lambda: ct.SupportAreaTask([SOLE], "large"), "target of the support area"),  # type: ignore[arg-type]
    "in one line": (
        lambda: ct.linearise(dq.robots.arm6(), ct.SupportAreaTask(["tool", ct.point("tool", (0, 0, 0.1)), "tool"])),
        "corners of the support area are in one line",
    ),
    "robot of None": (
        lambda: ct.SupportAreaTask([SOLE]).polygon(None, START),  # type: ignore[arg-type]
        "A controller is made for a Robot",
    ),
    "q too short": (lambda: ct.SupportAreaTask([SOLE]).polygon(dq.robots.arm6(), [0.0]), "takes one q of 'arm6'"),
    "q of NaN": (
        lambda: ct.SupportAreaTask([SOLE]).corners_on_hull(dq.robots.arm6(), [math.nan] * 6),
        "must be finite numbers",
    ),
    "level of words": (
        lambda: contacts.support_polygon(dq.robots.arm6(), START, [SOLE], level="no"),  # type: ignore[arg-type]
        "level is True or False",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_are_explained(name: str) -> None:
    make, expected = WRONG[name]
    with pytest.raises(Error, match=expected):
        make()


def test_unknown_frames() -> None:
    with pytest.raises(UnknownNameError, match="hnad"):
        ct.linearise(dq.robots.arm6(), ct.SupportAreaTask(["hnad", *FIXED]))
