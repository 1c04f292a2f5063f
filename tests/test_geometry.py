"""Points, lines, planes and segments as values: construction, motion, batches and bad input."""

import math
import pickle
import warnings

import dqrobotics
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from seeds import generator

from dqdyn.algebra.adjoint import Ad, Adsharp
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.parts import conj_sharp
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.algebra.values import Pose, Twist
from dqdyn.errors import Error
from dqdyn.geometry.closest import closest_points, line_projected_in_plane, point_projected_in_line
from dqdyn.geometry.distances import distance, point_to_line_squared_distance
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.geometry.segment import Segment

RNG = generator(__name__)


@pytest.fixture(autouse=True)
def seeded(request):
    """Every test draws its own numbers, whatever ran before it."""
    global RNG
    RNG = generator(request.node.name)


def unit(*shape):
    v = RNG.normal(size=(*shape, 3))
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def random_pose(*shape, size=1.0):
    r = RNG.normal(size=(*shape, 4))
    return Pose(rotation=r / np.linalg.norm(r, axis=-1, keepdims=True), translation=size * RNG.normal(size=(*shape, 3)))


def some(kind, *shape):
    """A random value of a kind."""
    p = RNG.normal(size=(*shape, 3))
    if kind is Point:
        return Point(p)
    if kind is Segment:
        return Segment(p, RNG.normal(size=(*shape, 3)))
    return kind(unit(*shape), p)


KINDS = (Point, Line, Plane, Segment)

# --- construction ---------------------------------------------------------------------------------------------------


@pytest.mark.equation("Quiroz", "4.24")
def test_a_line_is_its_direction_and_moment():
    l, p = unit(), RNG.normal(size=3)
    line = Line(l, p)
    np.testing.assert_array_equal(line.direction, l)
    np.testing.assert_allclose(line.moment, np.cross(p, l), atol=1e-15)
    for other in (p + 3.7 * l, p - 120.0 * l):  # any point of the line gives the same moment
        np.testing.assert_allclose(Line(l, other).moment, line.moment, atol=1e-13)
    assert dqrobotics.is_line(dqrobotics.DQ(line.vec8()))
    foot = np.asarray(line.closest_point_to_origin)
    assert abs(foot @ l) < 1e-15
    np.testing.assert_allclose(np.cross(foot, l), line.moment, atol=1e-15)


def test_ways_to_a_line_agree():
    a, b = RNG.normal(size=(2, 3))
    line = Line.from_points(a, b)
    np.testing.assert_allclose(line.direction, (b - a) / np.linalg.norm(b - a), atol=1e-15)
    np.testing.assert_allclose(np.cross(b, line.direction), line.moment, atol=1e-14)
    assert Line.from_plucker(line.direction, line.moment) == line
    assert Line(line.direction, a) == line
    assert Line.from_points(Point(a), Point(b)) == line == Segment(a, b).line


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e-8, 1.0, 1e8, 1e200])
def test_a_line_through_very_close_or_far_points_has_a_unit_direction(size):
    line = Line.from_points([0.0, 0.0, 0.0], [size, -2 * size, 2 * size])
    np.testing.assert_allclose(line.direction, np.array([1, -2, 2]) / 3, rtol=1e-9)
    assert not line.moment.any()


def test_ways_to_a_plane_agree():
    n, p = unit(), RNG.normal(size=3)
    plane = Plane(n, p)
    assert isinstance(plane.distance, float)
    assert plane.distance == pytest.approx(n @ p, abs=1e-15)
    assert Plane(n, distance=plane.distance) == plane
    assert dqrobotics.is_plane(dqrobotics.DQ(plane.vec8()))
    a, b, c = RNG.normal(size=(3, 3))
    through = Plane.from_points(a, b, c)
    assert np.abs(np.array([a, b, c]) @ through.normal - through.distance).max() < 1e-14
    assert np.linalg.det([b - a, c - a, through.normal]) > 0


def test_side_of_a_plane():
    plane = Plane([0, 0, 1], [4, 5, 2])
    assert [plane.side([9, 9, z]) for z in (1, 2, 3)] == [-1.0, 0.0, 1.0]
    np.testing.assert_array_equal(plane.side([[0, 0, 1], [0, 0, 3]]), [-1, 1])


def test_a_segment_has_ends_a_line_and_a_length():
    segment = Segment([1, 0, 0], Point([1, 3, 4]))
    assert segment.a == Point([1, 0, 0])
    assert segment.b == Point([1, 3, 4])
    assert segment.length == 5.0
    assert segment.line == Line([0, 0.6, 0.8], [1, 0, 0])
    point = Segment([1, 2, 3], [1, 2, 3])
    assert point.length == 0.0
    with pytest.raises(Error, match="distinct"):
        _ = point.line


def test_values_print_so_that_they_can_be_typed_again():
    assert repr(Point([1, 2, 3.5])) == "Point([1.0, 2.0, 3.5])"
    assert repr(Line([0, 0, 1], [1, 2, 9])) == "Line(direction=[0.0, 0.0, 1.0], point=[1.0, 2.0, 0.0])"
    assert repr(Plane([0, 0, 1], [1, 2, 9])) == "Plane(normal=[0.0, 0.0, 1.0], distance=9.0)"
    assert repr(Segment([0, 0, 1], [1, 2, 9])) == "Segment(a=[0.0, 0.0, 1.0], b=[1.0, 2.0, 9.0])"
    for value in (
        Point([1, 2, 3]),
        Line([0, 1, 0], [1, 0, 3]),
        Plane([1, 0, 0], [1, 2, 3]),
        Segment([1, 2, 3], [0] * 3),
    ):
        assert eval(repr(value)) == value
    assert repr(some(Line, 3, 2)) == "<Line batch of shape (3, 2)>"
    assert repr(some(Point, 4)) == "<Point batch of shape (4,)>"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(), (3, 2)])
def test_values_compare_and_pickle(kind, shape):
    value, other = some(kind, *shape), some(kind, *shape)
    again = pickle.loads(pickle.dumps(value))
    assert again == value != other
    assert type(again) is kind
    assert value != 1
    assert value != some(kind, 5)
    if not shape:
        assert hash(again) == hash(value)
        assert len({again, value, other}) == 2
    assert all(some(a) != some(b) for a in KINDS for b in KINDS if a is not b)


def test_batches_have_a_shape_and_parts():
    for kind in KINDS:
        batch = some(kind, 3, 2)
        assert batch.shape == (3, 2)
        assert batch[1].shape == (2,)
        assert batch[1, 0].shape == ()
        np.testing.assert_array_equal(batch[1, 0].vec8(), batch.vec8()[1, 0])
    lines = Line([0, 0, 1], RNG.normal(size=(5, 3)))  # one direction, many points
    assert lines.shape == (5,)
    assert lines.direction.shape == lines.moment.shape == (5, 3)
    assert lines.closest_point_to_origin.position.shape == (5, 3)
    planes = Plane([0, 0, 1], distance=np.arange(4.0))
    assert planes.normal.shape == (4, 3)
    assert planes.distance.tolist() == [0, 1, 2, 3]
    assert Plane(unit(4), distance=1.0).distance.shape == (4,)
    segments = Segment([0, 0, 0], unit(4))
    np.testing.assert_allclose(segments.length, np.ones(4))
    assert segments.a.shape == (4,)


def test_symbols_make_values():
    x, y = sympy.symbols("x y", real=True)
    line = Line.from_points(Point([x, 0, 0]), Point([x, y**2 + 1, 0]))
    assert [float(sympy.simplify(c)) for c in line.direction] == [0, 1, 0]
    assert sympy.simplify(distance(line, Point([0, 5, 0])) - sympy.Abs(x)) == 0
    assert repr(Point([x, y, 0])) == "Point([x, y, 0])"
    assert Plane([0, 0, 1], distance=x).distance == x


# --- motion ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0.0, 1e-9, 1.0, 1e4])
def test_a_pose_moves_points_lines_planes_and_segments(size):
    x = random_pose(size=size)
    R, t, tolerance = x.rotation_matrix, x.translation, 1e-14 * (1 + size)
    p, n = RNG.normal(size=3), unit()
    move = lambda v: R @ v + t
    np.testing.assert_allclose((x * Point(p)).position, move(p), atol=tolerance)
    np.testing.assert_allclose((x * Line(n, p)).vec8(), Line(R @ n, move(p)).vec8(), atol=tolerance)
    np.testing.assert_allclose((x * Plane(n, p)).vec8(), Plane(R @ n, move(p)).vec8(), atol=tolerance)
    moved = x * Segment(p, n)
    np.testing.assert_allclose([moved.a, moved.b], [move(p), move(n)], atol=tolerance)


def test_motion_is_the_adjoint_of_the_papers():
    x, point, line, plane = random_pose(size=5.0), some(Point), some(Line), some(Plane)
    one = Quaternion(1.0, 0.0, 0.0, 0.0)
    moved = x.dq * DQ.of(one, point.dq.primary) * conj_sharp(x.dq)
    np.testing.assert_allclose(moved.vec8()[5:], (x * point).position, atol=1e-14)
    np.testing.assert_allclose(Ad(x.dq, line.dq).vec8(), (x * line).vec8(), atol=1e-14)
    np.testing.assert_allclose(Adsharp(x.dq, plane.dq).vec8(), (x * plane).vec8(), atol=1e-14)
    theirs = dqrobotics.DQ(x.vec8())
    np.testing.assert_allclose(
        dqrobotics.Adsharp(theirs, dqrobotics.DQ(plane.vec8())).vec8(), (x * plane).vec8(), atol=1e-14
    )


@pytest.mark.parametrize("kind", KINDS)
def test_motion_is_an_action_also_of_batches(kind):
    x, y, thing = random_pose(3, 2), random_pose(2), some(kind, 3, 1)
    np.testing.assert_allclose((x * (y * thing)).vec8(), ((x * y) * thing).vec8(), atol=1e-13)
    np.testing.assert_allclose((x.inverse() * (x * thing)).vec8(), np.broadcast_to(thing.vec8(), (3, 2, 8)), atol=1e-13)
    one = (x * thing)[2, 1].vec8()
    np.testing.assert_allclose(one, (x[2, 1] * thing[2, 0]).vec8(), atol=1e-15)


def test_what_is_on_a_thing_stays_on_it():
    x, p, l = random_pose(), RNG.normal(size=3), unit()
    point = x * Point(p)
    assert distance(point, x * Line(l, p - 3 * l)) < 1e-14
    assert abs(distance(point, x * Plane(l, p))) < 1e-14


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Line([0, 0, 0], [1, 2, 3]), "direction of a line .* found 0: .* not zero"),
        (lambda: Line([0, 0, 2], [1, 2, 3]), "found 2: divide it by its norm, or use Line.from_points"),
        (lambda: Line([[1, 0, 0], [0, 0, 0]], [1, 2, 3]), "row 1"),
        (lambda: Line(np.zeros((2, 2, 3)) + [[1, 0, 0], [0, 3, 0]], [1, 2, 3]), r"row \(0, 1\)"),
        (lambda: Line.from_points([1, 2, 3], [1, 2, 3]), "two distinct points"),
        (lambda: Line.from_plucker([0, 0, 1], [0, 0, 1]), "perpendicular"),
        (lambda: Line.from_plucker([0, 0, 1.1], [0, 0, 0]), "length 1"),
        (lambda: Line([0.6, 0.8, 0], [1.7e308, -1.7e308, 0]), "too far"),
        (lambda: Plane([0.6, 0.8, 0], [[1.7e308, 1.7e308, 0]]), "too far"),
        (lambda: Line(unit(2), np.zeros((3, 3))), r"shapes \(2,\) and \(3,\)"),
        (lambda: Plane([0, 0, 0], [1, 2, 3]), "normal of a plane"),
        (lambda: Plane([0, 0, 5], [1, 2, 3]), "Plane.from_points"),
        (lambda: Plane([0, 0, 1]), "either a point or distance"),
        (lambda: Plane([0, 0, 1], [0, 0, 0], distance=1.0), "not both"),
        (lambda: Plane([0, 0, 1], distance=math.nan), "finite"),
        (lambda: Plane([0, 0, 1], distance="far"), "real numbers"),
        (lambda: Plane([0, 0, 1], distance=1j), "real numbers"),
        (lambda: Plane([0, 0, 1], distance=[[1], [2, 3]]), "rows of different lengths"),
        (lambda: Point(np.array([1j, 0, 0])), "real numbers"),
        (lambda: Plane(unit(2), distance=np.zeros(3)), r"shapes \(2,\) and \(3,\)"),
        (lambda: Plane.from_points([0, 0, 0], [1, 1, 1], [2, 2, 2]), "not on one line"),
        (lambda: Plane.from_points([0, 0, 0], [0, 0, 0], [2, 2, 2]), "not on one line"),
        (lambda: Point([1, 2]), "3 components"),
        (lambda: Point(5.0), "3 components"),
        (lambda: Point(["a", "b", "c"]), "real numbers"),
        (lambda: Point([math.inf, 0, 0]), "finite"),
        (lambda: Segment([0, 0, 0], [0, math.nan, 0]), "finite"),
        (lambda: Segment(np.zeros((2, 3)), np.zeros((3, 3))), r"shapes \(2,\) and \(3,\)"),
        (lambda: random_pose(3) * some(Line, 2), r"shapes \(3,\) and \(2,\)"),
        (lambda: some(Plane, 2).side(np.zeros((3, 3))), r"shapes \(3,\) and \(2,\)"),
        (lambda: distance([0, 0, 0], some(Line)), "list and Line"),
        (lambda: distance(Twist([0] * 6), some(Line)), "Twist and Line"),
        (lambda: distance(some(Line, 2), some(Point, 3)), "cannot be combined"),
        (lambda: closest_points(some(Line), 3), "Line and int"),
        (lambda: point_to_line_squared_distance([0, 0, 0], some(Line)), r"needs a point, found list.*Point\("),
        (lambda: point_to_line_squared_distance(some(Point), some(Plane)), "needs a line, found Plane"),
        (lambda: line_projected_in_plane(Line([0, 0, 1], [1, 2, 3]), Plane([0, 0, 1], [0, 0, 0])), "to a point"),
        (lambda: some(Point)[0], "no elements"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(make, words):
    with pytest.raises(Error, match=words) as caught:
        make()
    assert str(caught.value).count("\n") == 0


def test_a_wrong_number_of_arguments_is_a_type_error():
    with pytest.raises(TypeError):
        point_to_line_squared_distance(some(Point))
    point, line = some(Point), some(Line)
    by_name = point_to_line_squared_distance(line=line, point=point)
    assert by_name == point_to_line_squared_distance(point, line)


ANY_FLOAT = st.floats(allow_nan=True, allow_infinity=True, width=64)
ANY_VECTOR = st.one_of(
    st.lists(ANY_FLOAT, min_size=0, max_size=5),
    st.lists(st.lists(ANY_FLOAT, min_size=3, max_size=3), min_size=0, max_size=3),
    st.sampled_from([[0, 0, 1], [1, 0, 0], [0.0, 0.0, 0.0], None, "x", 3, [None, 1, 2], [1j, 0, 0], [[1], [1, 2], 3]]),
)


@settings(max_examples=300, deadline=None)
@given(ANY_VECTOR, ANY_VECTOR)
def test_any_input_gives_a_finite_value_or_an_error(a, b):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for make in (Line, Line.from_points, Line.from_plucker, Plane, Segment, lambda a, b: Plane(a, distance=b)):
            try:
                value = make(a, b)
            except Error:
                continue
            assert np.isfinite(value.vec8()).all()
            repr(value)
            assert value == value[...] if value.shape else value == pickle.loads(pickle.dumps(value))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), st.floats(1e-5, 1e5))
def test_a_direction_that_is_not_unit_is_refused_and_from_points_takes_it(v, scale):
    v = np.array(v)
    length = np.linalg.norm(v)
    if abs(length - 1.0) > 1.1e-6:
        with pytest.raises(Error, match="length 1"):
            Line(v, [0, 0, 0])
    if length > 1e-300:
        assert abs(np.linalg.norm(Line.from_points([0, 0, 0], v * scale).direction) - 1.0) < 1e-15


def test_functions_answer_values_with_values_and_raw_elements_with_raw_elements():
    point, line = some(Point), some(Line)
    value = point_projected_in_line(point, line)
    raw = point_projected_in_line(point.dq.primary, line.dq)
    assert isinstance(value, Point)
    assert isinstance(raw, Quaternion)
    assert value.dq.primary == raw == point_projected_in_line(point.dq, line.dq)
    assert isinstance(line_projected_in_plane(line, some(Plane)), Line)
