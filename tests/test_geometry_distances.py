"""Distances, angles, projections and closest points against DQ Robotics, exact arithmetic and plain search."""

import itertools
from fractions import Fraction

import dqrobotics
import numpy as np
import pytest
from dqrobotics.utils import DQ_Geometry
from hypothesis import given, settings
from hypothesis import strategies as st
from seeds import generator

from dqdyn.algebra.values import Pose
from dqdyn.geometry import closest, distances
from dqdyn.geometry.closest import (
    closest_points,
    closest_points_between_lines,
    closest_points_between_segments,
    line_plane_intersection,
    line_projected_in_plane,
    point_projected_in_line,
    point_projected_in_plane,
    point_projected_in_segment,
)
from dqdyn.geometry.distances import (
    distance,
    line_to_line_angle,
    line_to_line_angle_function,
    line_to_line_squared_distance,
    line_to_plane_angle,
    line_to_plane_distance,
    line_to_segment_squared_distance,
    plane_to_plane_angle,
    plane_to_plane_distance,
    point_to_line_squared_distance,
    point_to_plane_distance,
    point_to_point_squared_distance,
    point_to_segment_squared_distance,
    segment_to_plane_distance,
    segment_to_segment_squared_distance,
)
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.geometry.segment import Segment

RNG = generator(__name__)

KINDS = (Point, Line, Plane, Segment)
EPS = 2.3e-16


@pytest.fixture(autouse=True)
def seeded(request):
    """Every test draws its own numbers, whatever ran before it."""
    global RNG
    RNG = generator(request.node.name)


def unit(*shape):
    v = RNG.normal(size=(*shape, 3))
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def random_pose(size=1.0):
    return Pose(rotation=normalized(RNG.normal(size=4)), translation=size * RNG.normal(size=3))


def normalized(v):
    return v / np.linalg.norm(v)


def some(kind, *shape):
    p = RNG.normal(size=(*shape, 3))
    if kind is Point:
        return Point(p)
    if kind is Segment:
        return Segment(p, RNG.normal(size=(*shape, 3)))
    return kind(unit(*shape), p)


def theirs(value):
    return dqrobotics.DQ(value.vec8())


def ends(segment):
    return segment.a.position, segment.b.position


def gap(pair):
    return np.linalg.norm(np.asarray(pair[0]) - np.asarray(pair[1]), axis=-1)


# --- against DQ Robotics ------------------------------------------------------------------------------------------


@pytest.mark.equation("Quiroz", "table 3.1")
@pytest.mark.equation("Quiroz", "4.20")
@pytest.mark.equation("Quiroz", "3.8")
@pytest.mark.equation("Quiroz", "4.26")
def test_distances_and_angles_are_those_of_dq_robotics():
    for _ in range(200):
        p, q, l, k, plane = some(Point), some(Point), some(Line), some(Line), some(Plane)
        oracle = DQ_Geometry
        for ours, other in (
            (point_to_point_squared_distance(p, q), oracle.point_to_point_squared_distance(theirs(p), theirs(q))),
            (point_to_line_squared_distance(p, l), oracle.point_to_line_squared_distance(theirs(p), theirs(l))),
            (point_to_plane_distance(p, plane), oracle.point_to_plane_distance(theirs(p), theirs(plane))),
            (line_to_line_squared_distance(l, k), oracle.line_to_line_squared_distance(theirs(l), theirs(k))),
            (line_to_line_angle(l, k), oracle.line_to_line_angle(theirs(l), theirs(k))),
        ):
            assert isinstance(ours, float)
            assert ours == pytest.approx(other, rel=1e-11, abs=1e-12)


def test_projections_and_closest_points_are_those_of_dq_robotics():
    for _ in range(200):
        p, l, k = some(Point), some(Line), some(Line)
        projected = DQ_Geometry.point_projected_in_line(theirs(p), theirs(l))
        np.testing.assert_allclose(point_projected_in_line(p, l).position, projected.vec3(), atol=1e-12)
        if np.linalg.norm(np.cross(l.direction, k.direction)) < 0.1:
            continue  # far away, where 1e-12 is too much to ask
        for ours, other in zip(
            closest_points_between_lines(l, k),
            DQ_Geometry.closest_points_between_lines(theirs(l), theirs(k)),
            strict=True,
        ):
            np.testing.assert_allclose(ours.position, other.vec3(), atol=1e-12)


def test_segments_are_those_of_dq_robotics():
    for _ in range(200):
        s, t = some(Segment), some(Segment)
        arguments = [theirs(v) for v in (s.line, s.a, s.b, t.line, t.a, t.b)]
        other = DQ_Geometry.line_segment_to_line_segment_squared_distance(*arguments)
        assert segment_to_segment_squared_distance(s, t) == pytest.approx(other, abs=1e-12, rel=1e-12)
        points = DQ_Geometry.closest_points_between_line_segments(*arguments)
        for ours, point in zip(closest_points_between_segments(s, t), points, strict=True):
            np.testing.assert_allclose(ours.position, point.vec3(), atol=1e-11)


# --- against exact arithmetic and search --------------------------------------------------------------------------


def exact_segment_distance(a1, b1, a2, b2):
    """Squared distance in rational numbers: the least over ends, and over the inside where it has a minimum."""
    a1, b1, a2, b2 = ([Fraction(float(c)) for c in p] for p in (a1, b1, a2, b2))
    dot = lambda x, y: sum(i * j for i, j in zip(x, y, strict=True))
    minus = lambda x, y: [i - j for i, j in zip(x, y, strict=True)]
    at = lambda x, d, t: [i + t * j for i, j in zip(x, d, strict=True)]

    def to_segment(p, a, b):
        u = minus(b, a)
        t = min(max(dot(minus(p, a), u) / dot(u, u), Fraction(0)), Fraction(1)) if dot(u, u) else Fraction(0)
        d = minus(p, at(a, u, t))
        return dot(d, d)

    found = [to_segment(a1, a2, b2), to_segment(b1, a2, b2), to_segment(a2, a1, b1), to_segment(b2, a1, b1)]
    u, v, w = minus(b1, a1), minus(b2, a2), minus(a1, a2)
    determinant = dot(u, u) * dot(v, v) - dot(u, v) ** 2
    if determinant:
        s = (dot(u, v) * dot(v, w) - dot(v, v) * dot(u, w)) / determinant
        t = (dot(u, u) * dot(v, w) - dot(u, v) * dot(u, w)) / determinant
        if 0 <= s <= 1 and 0 <= t <= 1:
            d = minus(at(a1, u, s), at(a2, v, t))
            found.append(dot(d, d))
    return float(min(found))


@pytest.mark.parametrize(
    "angle", [0.0, 1e-15, 1e-12, 1e-9, 1e-8, 3e-8, 1e-6, 1e-3, 1.0, np.pi / 2, np.pi - 1e-7, np.pi]
)
@pytest.mark.parametrize("height", [0.0, 1e-9, 0.3])
def test_segments_at_all_angles_are_exact(angle, height):
    for _ in range(40):
        turn = random_pose().rotation_matrix
        u = np.array([1.0, 0.0, 0.0])
        v = np.array([np.cos(angle), np.sin(angle), 0.0]) * RNG.choice([0.1, 1.0, 7.0])
        center = np.array([*RNG.uniform(-1, 1, size=2) * RNG.choice([0.0, 1.0, 3.0]), height])
        shift = RNG.normal(size=3)
        points = [turn @ p + shift for p in (-u, u, center - v, center + v)]
        s, t = Segment(*points[:2]), Segment(*points[2:])
        exact = exact_segment_distance(*points)
        # squared distances between bodies of size L are exact to a few units of L² × rounding
        assert segment_to_segment_squared_distance(s, t) == pytest.approx(exact, abs=1e-13, rel=1e-13)
        p, q = closest_points_between_segments(s, t)
        assert distance(p, q) ** 2 == pytest.approx(exact, abs=1e-13, rel=1e-13)
        assert distance(p, s) < 1e-14
        assert distance(q, t) < 1e-14


def zoom(function, low, high, steps=26, n=9):
    """The least value of a convex function on a box, by grids that shrink; no derivatives, no formulas."""
    low, high = np.array(low, float), np.array(high, float)
    start_low, start_high, best = low.copy(), high.copy(), np.inf
    for _ in range(steps):
        axes = [np.linspace(a, b, n) for a, b in zip(low, high, strict=True)]
        values = function(*np.meshgrid(*axes, indexing="ij"))
        index = np.unravel_index(np.argmin(values), values.shape)
        best = min(best, values[index])
        middle = np.array([axis[i] for axis, i in zip(axes, index, strict=True)])
        half = (high - low) / 2 * 0.6
        low, high = np.maximum(middle - half, start_low), np.minimum(middle + half, start_high)
    return best


def along(a, b, t):
    return a + t[..., None] * (b - a)


@pytest.mark.parametrize("case", range(25))
def test_segment_pairs_against_search(case):
    (a, b), (c, d), p, l, plane = ends(some(Segment)), ends(some(Segment)), some(Point), some(Line), some(Plane)
    s = Segment(a, b)
    pair = zoom(lambda t, r: np.sum((along(a, b, t) - along(c, d, r)) ** 2, axis=-1), [0, 0], [1, 1], steps=60)
    assert segment_to_segment_squared_distance(s, Segment(c, d)) == pytest.approx(pair, abs=1e-9)
    point = zoom(lambda t: np.sum((along(a, b, t) - p.position) ** 2, axis=-1), [0], [1])
    assert point_to_segment_squared_distance(p, s) == pytest.approx(point, abs=1e-9)
    foot = l.closest_point_to_origin.position
    line = zoom(lambda t: np.sum(np.cross(along(a, b, t) - foot, l.direction) ** 2, axis=-1), [0], [1])
    assert line_to_segment_squared_distance(l, s) == pytest.approx(line, abs=1e-9)
    lowest = zoom(lambda t: along(a, b, t) @ plane.normal - plane.distance, [0], [1])
    assert segment_to_plane_distance(s, plane) == pytest.approx(lowest, abs=1e-12)
    nearest = zoom(lambda t: np.abs(along(a, b, t) @ plane.normal - plane.distance), [0], [1], steps=60)
    assert gap(closest_points(s, plane)) == pytest.approx(nearest, abs=1e-9)


@pytest.mark.parametrize("angle", [0.0, 1e-16, 1e-12, 1e-9, 1e-7, 1e-4, 1.0, np.pi / 2, np.pi - 1e-9, np.pi])
@pytest.mark.parametrize("height", [0.0, 1e-7, 0.5, 100.0])
def test_a_segment_and_a_line_at_all_angles(angle, height):
    for start, end in ((-1.0, 1.0), (0.5, 2.0), (-3.0, -1.0), (1.0, 1.0)):
        x = random_pose()
        direction = np.array([np.cos(angle), np.sin(angle), 0.0])
        foot = np.array([0.0, 0.0, height])
        segment = x * Segment(foot + start * direction, foot + end * direction)
        line = x * Line([1.0, 0.0, 0.0], [RNG.normal(), 0.0, 0.0])
        nearest = min(max(start, 0.0), end)
        expected = height**2 + (nearest * np.sin(angle)) ** 2
        found = line_to_segment_squared_distance(line, segment)
        assert found == pytest.approx(expected, abs=1e-13 * (1 + height), rel=1e-13)
        p, q = closest_points(line, segment)
        assert distance(p, q) == pytest.approx(np.sqrt(found), abs=1e-13 * (1 + height))
        assert distance(p, line) < 1e-13 * (1 + height)
        assert distance(q, segment) < 1e-13 * (1 + height)


# --- lines and planes: parallel, opposite, crossing, coincident -----------------------------------------------------

ANGLES = [
    0.0,
    1e-16,
    1e-12,
    1e-9,
    1e-8,
    2e-8,
    1e-6,
    1e-3,
    1.0,
    np.pi / 2,
    np.pi - 1e-3,
    np.pi - 1e-6,
    np.pi - 1e-12,
    np.pi,
]


@pytest.mark.equation("Quiroz", "4.26")
@pytest.mark.equation("Quiroz", "4.28")
@pytest.mark.equation("Quiroz", "4.29")
@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("height", [0.0, 1e-9, 1.0, 1e3])
@pytest.mark.parametrize("shift", [0.0, 1.0, 1e4])
def test_lines_at_all_angles_and_heights(angle, height, shift):
    for _ in range(5):
        x = random_pose(shift)
        l = x * Line([1.0, 0.0, 0.0], [RNG.normal(), 0.0, 0.0])
        k = x * Line([np.cos(angle), np.sin(angle), 0.0], [0.0, 0.0, height])
        # The direction of the common normal is known to rounding/sine; below 1e-8 rad the lines count as parallel.
        tolerance = 50 * EPS * (1 + height + shift) / max(abs(np.sin(angle)), 1e-8)
        for a, b in ((l, k), (k, l)):
            assert distance(a, b) == pytest.approx(height, abs=tolerance)
            assert gap(closest_points(a, b)) == pytest.approx(height, abs=tolerance)
            assert line_to_line_angle(a, b) == pytest.approx(angle, abs=4e-15)
            f = line_to_line_angle_function(a, b)
            assert f == pytest.approx(2.0 - 2.0 * np.cos(angle), abs=2e-14)
            assert np.sqrt(f) == pytest.approx(2.0 * np.sin(angle / 2), abs=4e-15)  # tells near 0 apart


def test_parallel_and_opposite_lines():
    for _ in range(50):
        l, p, q = unit(), *RNG.normal(size=(2, 3))
        expected = np.linalg.norm(np.cross(p - q, l))
        for sign in (1.0, -1.0):
            a, b = Line(l, p), Line(sign * l, q)
            assert distance(a, b) == pytest.approx(expected, abs=1e-14)
            on_a, on_b = closest_points(a, b)
            assert distance(on_a, on_b) == pytest.approx(expected, abs=1e-14)
            assert distance(on_a, a) + distance(on_b, b) < 1e-14
        assert distance(Line(l, p), Line(l, p)) == 0.0
        assert distance(Line(l, p), Line(-l, p + 3 * l)) < 1e-14


def test_closest_points_of_lines_are_perpendicular_to_both():
    for _ in range(100):
        a, b = some(Line), some(Line)
        p, q = closest_points(a, b)
        normal = p.position - q.position
        assert abs(normal @ a.direction) + abs(normal @ b.direction) < 1e-11
        assert distance(p, a) + distance(q, b) < 1e-12


def test_projections():
    for _ in range(100):
        p, l, plane, segment = some(Point), some(Line), some(Plane), some(Segment)
        q = point_projected_in_line(p, l)
        assert abs((p.position - q.position) @ l.direction) < 1e-14
        assert distance(q, l) < 1e-14
        q = point_projected_in_plane(p, plane)
        assert np.linalg.norm(np.cross(p.position - q.position, plane.normal)) < 1e-14
        assert abs(distance(q, plane)) < 1e-14
        assert distance(point_projected_in_segment(p, segment), segment) < 1e-14
        shadow = line_projected_in_plane(l, plane)
        for t in (-2.0, 0.0, 5.0):
            on_line = Point(l.closest_point_to_origin.position + t * l.direction)
            assert distance(point_projected_in_plane(on_line, plane), shadow) < 1e-12
        assert abs(shadow.direction @ plane.normal) < 1e-14
        assert np.linalg.norm(shadow.direction) == pytest.approx(1.0, abs=1e-14)
        assert shadow.direction @ l.direction > 0


def test_lines_and_planes():
    for _ in range(100):
        plane = some(Plane)
        n = plane.normal
        l = some(Line)
        shared = line_plane_intersection(l, plane)
        size = 1 + np.linalg.norm(shared.position)
        assert abs(distance(shared, plane)) < 1e-13 * size
        assert distance(shared, l) < 1e-13 * size
        assert line_to_plane_distance(l, plane) == 0.0
        assert line_to_plane_angle(l, plane) == pytest.approx(np.arcsin(l.direction @ n), abs=1e-12)
        # parallel, at a known height
        inside = normalized(np.cross(n, unit()))
        height = RNG.choice([-1.0, 0.0, 2.0])
        parallel = Line(inside, plane.distance * n + height * n + 3 * np.cross(n, inside))
        assert line_to_plane_distance(parallel, plane) == pytest.approx(height, abs=1e-14)
        p, q = closest_points(parallel, plane)
        assert p.position == pytest.approx(parallel.closest_point_to_origin.position, abs=1e-14)
        assert distance(p, q) == pytest.approx(abs(height), abs=1e-14)
        assert line_to_plane_angle(parallel, plane) == pytest.approx(0.0, abs=1e-15)
        assert line_to_plane_angle(Line(n, [0, 0, 0]), plane) == pytest.approx(np.pi / 2, abs=1e-15)
        assert line_to_plane_angle(Line(-n, [0, 0, 0]), plane) == pytest.approx(-np.pi / 2, abs=1e-15)


def test_planes_and_planes():
    for _ in range(50):
        a, b, h = some(Plane), some(Plane), RNG.normal()
        assert distance(a, b) == 0.0
        p, q = closest_points(a, b)
        assert abs(distance(p, a)) + abs(distance(p, b)) + distance(p, q) < 1e-12 * (1 + np.linalg.norm(p.position))
        n, d = a.normal, a.distance
        for sign in (1.0, -1.0):
            parallel = Plane(sign * n, distance=sign * (d + h))
            # signed by the second plane: where is the first, seen along the normal of the second?
            assert plane_to_plane_distance(parallel, a) == pytest.approx(h, abs=1e-15)
            assert plane_to_plane_distance(a, parallel) == pytest.approx(-sign * h, abs=1e-15)
            assert gap(closest_points(a, parallel)) == pytest.approx(abs(h), abs=1e-14)
            assert plane_to_plane_angle(a, parallel) == pytest.approx(0.0 if sign > 0 else np.pi, abs=1e-15)
        tilted = Plane(normalized(n + 1e-12 * unit()), distance=d + h)  # parallel up to rounding
        assert distance(tilted, a) == pytest.approx(h, abs=1e-11)
        p, q = closest_points(tilted, a)
        assert distance(p, q) == pytest.approx(abs(h), abs=1e-11)
        assert np.linalg.norm(p.position) < 10.0


@pytest.mark.parametrize("angle", ANGLES)
def test_angles_of_planes_and_lines_are_exact_near_zero_and_pi(angle):
    x = random_pose()
    a, b = x * Plane([0, 0, 1], [0, 0, 0]), x * Plane([np.sin(angle), 0, np.cos(angle)], [0, 0, 0])
    assert plane_to_plane_angle(a, b) == pytest.approx(angle, abs=4e-15)
    line = x * Line([np.sin(angle), 0, np.cos(angle)], [0, 0, 1])
    assert line_to_plane_angle(line, a) == pytest.approx(np.pi / 2 - angle, abs=4e-15)


@pytest.mark.equation("Quiroz", "3.8")
def test_the_distance_to_a_plane_is_signed():
    plane = Plane([0, 0, 1], [0, 0, 2])
    assert distance(Point([5, 5, 3]), plane) == 1.0
    assert distance(plane, Point([5, 5, 0])) == -2.0
    assert distance(Segment([0, 0, 5], [0, 0, 3]), plane) == 1.0
    assert distance(Segment([0, 0, 5], [0, 0, -3]), plane) == -5.0  # the lower end
    p, q = closest_points(plane, Segment([1, 0, 5], [1, 0, -3]))  # they meet
    assert p.position.tolist() == q.position.tolist() == [1, 0, 2]


def test_degenerate_segments_are_points():
    for _ in range(30):
        p, q, s, l, plane = some(Point), some(Point), some(Segment), some(Line), some(Plane)
        as_segment, other = Segment(p, p), Segment(q, q)
        assert distance(as_segment, q) == pytest.approx(distance(p, q), abs=1e-15)
        assert distance(as_segment, other) == pytest.approx(distance(p, q), abs=1e-15)
        for thing in (s, l, plane):
            assert distance(as_segment, thing) == pytest.approx(distance(p, thing), abs=1e-15)
            assert distance(thing, as_segment) == pytest.approx(distance(p, thing), abs=1e-15)
        assert distance(as_segment, as_segment) == 0.0


# --- every pair -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), list(itertools.product(KINDS, KINDS)))
def test_every_pair_has_a_distance_and_closest_points(first, second):
    for _ in range(30):
        a, b = some(first), some(second)
        p, q = closest_points(a, b)
        assert type(p) is type(q) is Point
        size = 1e-13 * (1 + np.linalg.norm(p.position)) ** 2
        assert abs(distance(p, a)) < size or first is Segment
        assert abs(distance(q, b)) < size or second is Segment
        if Segment in (first, second) and Plane in (first, second):
            continue  # the distance is that of the lower end, tested elsewhere
        assert abs(distance(a, b)) == pytest.approx(distance(p, q), abs=size)
        assert distance(b, a) == pytest.approx(distance(a, b), abs=size)
        for symmetric, swapped in zip((p, q), reversed(closest_points(b, a)), strict=True):
            if first is not second:
                assert symmetric == swapped


def test_the_naming_grid_is_complete():
    names = [kind.__name__.lower() for kind in KINDS]
    for a, b in itertools.combinations_with_replacement(names, 2):
        found = [
            f"{x}_to_{y}_{kind}"
            for x, y in ((a, b), (b, a))
            for kind in ("distance", "squared_distance")
            if hasattr(distances, f"{x}_to_{y}_{kind}")
        ]
        assert len(set(found)) == 1, (a, b, found)
        assert getattr(distances, found[0]).__doc__
    assert set(distances._SQUARED_DISTANCES) | set(distances._SIGNED_DISTANCES) == set(closest._PAIRS)


@pytest.mark.parametrize("size", [0.0, 1e-9, 1.0, 1e3, 1e6])
@pytest.mark.parametrize(("first", "second"), list(itertools.combinations_with_replacement(KINDS, 2)))
def test_distances_do_not_depend_on_the_frame(first, second, size):
    for _ in range(10):
        x, a, b = random_pose(size), some(first), some(second)
        conditioning = 1.0
        if first is second is Line:
            conditioning = np.linalg.norm(np.cross(a.direction, b.direction))
        tolerance = 200 * EPS * (1 + size) / conditioning
        assert distance(x * a, x * b) == pytest.approx(distance(a, b), abs=tolerance)


@pytest.mark.parametrize("size", [0.0, 1.0, 1e3, 1e6])
def test_angles_and_parallel_things_do_not_depend_on_the_frame(size):
    l, n = unit(), unit()
    across = normalized(np.cross(l, n))
    things = [
        Line(l, n),
        Line(-l, across),
        Plane(across, 2 * across),
        Plane(-across, n),
        Segment(n, n + l),
        Segment(across + 2 * l, across - l),
    ]
    for a, b in itertools.combinations(things, 2):
        x = random_pose(size)
        # a squared error, as the distance of things that touch is the root of rounding
        assert distance(x * a, x * b) == pytest.approx(distance(a, b), abs=100 * EPS * (1 + size)), (a, b)
    x = random_pose(size)
    for angle, (a, b) in ((line_to_line_angle, things[:2]), (plane_to_plane_angle, things[2:4])):
        assert angle(x * a, x * b) == pytest.approx(angle(a, b), abs=1e-14)
    assert line_to_plane_angle(x * things[0], x * things[2]) == pytest.approx(0.0, abs=1e-14)


COORDINATE = st.one_of(st.floats(-10, 10), st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-9, 1e-160]))
POSITION = st.tuples(COORDINATE, COORDINATE, COORDINATE)


@settings(max_examples=400, deadline=None)
@given(POSITION, POSITION, POSITION, POSITION)
def test_any_two_segments_are_exact(a, b, c, d):
    found = segment_to_segment_squared_distance(Segment(a, b), Segment(c, d))
    assert found == pytest.approx(exact_segment_distance(a, b, c, d), abs=2e-12)  # size² × rounding
    swapped = segment_to_segment_squared_distance(Segment(d, c), Segment(b, a))
    assert found == pytest.approx(swapped, abs=2e-12)
    for point in (a, b):
        assert found <= point_to_segment_squared_distance(Point(point), Segment(c, d)) + 2e-12
