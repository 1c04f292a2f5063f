"""Projections, intersections and closest points, over any scalar.

Points are pure quaternions, lines l + εm, planes n + εd, segments pairs of points; the values of users do as well.
Where the answer is not unique one of the answers is returned, as said in each function.
"""

from __future__ import annotations

from typing import Any

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion, cross3, dot3
from dqdyn.algebra.removable import safe_ratio
from dqdyn.algebra.scalar import Scalar, divide, less, select, sqrt
from dqdyn.errors import Error
from dqdyn.geometry.arguments import Pair, raw_line, raw_plane, raw_point, raw_segment, takes
from dqdyn.geometry.primitives import Line, Plane, Point, Primitive
from dqdyn.geometry.segment import Segment

PARALLEL = 1e-16
"""Squared sine of the angle below which directions count as parallel.

At that angle, 1e-8 rad, the rounding error of the formula for crossing lines has grown to the error of the formula for
parallel ones. Between segments of length L it changes no squared distance by more than 1e-16 L², and it keeps second
derivatives bounded for what is parallel up to rounding, which would otherwise cross with a curvature of 1/angle².
"""


def clamp(x: Scalar) -> Scalar:
    """x, limited to [0, 1]."""
    return select(less(x, 0.0), 0.0, select(less(1.0, x), 1.0, x))


def _clamped_ratio(a: Scalar, b: Scalar, smallest: Scalar) -> Scalar:
    """a/b limited to [0, 1] for b ≥ 0; where b is not above ``smallest``, the end to which the sign of a points."""
    large = less(smallest, b)
    return select(large, clamp(divide(a, select(large, b, 1.0))), select(less(a, 0.0), 0.0, 1.0))


# --- projections and intersections --------------------------------------------------------------------------------


@takes(raw_point, raw_line)
def point_projected_in_line(point: Quaternion, line: DQ) -> Quaternion:
    """l × m + ⟨p, l⟩ l: the point of the line that is closest to p."""
    l, m = line.primary, line.dual
    along: Quaternion = l * dot3(point, l)
    return cross3(l, m) + along


@takes(raw_point, raw_plane)
def point_projected_in_plane(point: Quaternion, plane: DQ) -> Quaternion:
    """p − (⟨p, n⟩ − d) n: the point of the plane that is closest to p."""
    n = plane.primary
    above: Quaternion = n * (dot3(point, n) - plane.dual.w)
    return point - above


@takes(raw_point, raw_segment)
def point_projected_in_segment(point: Quaternion, segment: Pair) -> Quaternion:
    """The point of the segment that is closest to p."""
    a, b = segment
    u = b - a
    along: Quaternion = u * clamp(safe_ratio(dot3(point - a, u), dot3(u, u)))
    return a + along


@takes(raw_line, raw_plane)
def line_projected_in_plane(line: DQ, plane: DQ) -> DQ:
    """The line below a line in a plane, with a unit direction.

    A line along the normal projects to a point: there the raw result is 0, and values raise an error.
    """
    l, n = line.primary, plane.primary
    across = cross3(l, n)
    s = dot3(across, across)
    upright = less(s, PARALLEL)
    scale = select(upright, 0.0, divide(1.0, sqrt(select(upright, 1.0, s))))
    direction = cross3(n, across) * scale
    return DQ.of(direction, cross3(point_projected_in_plane(cross3(l, line.dual), plane), direction))


@takes(raw_line, raw_plane)
def line_plane_intersection(line: DQ, plane: DQ) -> Quaternion:
    """The point that a line and a plane share.

    Parallel ones (within 1e-8 rad) give the point of the line that is closest to the origin: it is in the plane only if
    the whole line is.
    """
    l, n = line.primary, plane.primary
    start = cross3(l, line.dual)
    along: Quaternion = l * safe_ratio(plane.dual.w - dot3(start, n), dot3(l, n), PARALLEL**0.5)
    return start + along


# --- closest points -----------------------------------------------------------------------------------------------


@takes(raw_line, raw_line)
def closest_points_between_lines(line1: DQ, line2: DQ) -> Pair:
    """The closest points of two lines, first on line1, then on line2.

    Parallel lines (within 1e-8 rad): the point of line1 that is closest to the origin, and the point of line2 below it.
    """
    l1, l2 = line1.primary, line2.primary
    start1, start2 = cross3(l1, line1.dual), cross3(l2, line2.dual)
    n = cross3(l1, l2)
    along = safe_ratio(dot3(cross3(start2 - start1, l2), n), dot3(n, n), PARALLEL)
    p = start1 + l1 * along
    return p, point_projected_in_line(p, line2)


@takes(raw_line, raw_plane)
def closest_points_between_line_and_plane(line: DQ, plane: DQ) -> Pair:
    """:func:`line_plane_intersection`, and its projection, which differs from it only where they are parallel."""
    p = line_plane_intersection(line, plane)
    return p, point_projected_in_plane(p, plane)


@takes(raw_line, raw_segment)
def closest_points_between_line_and_segment(line: DQ, segment: Pair) -> Pair:
    """The closest points of a line and a segment, first on the line. Parallel ones: at one end of the segment."""
    a, b = segment
    u, l = b - a, line.primary
    # The vector from the line to a + tu, turned by a right angle about l, is offset + t drift.
    offset, drift = cross3(a, l) - line.dual, cross3(u, l)
    t = _clamped_ratio(-dot3(offset, drift), dot3(drift, drift), PARALLEL * dot3(u, u))
    p = a + u * t
    return point_projected_in_line(p, line), p


@takes(raw_plane, raw_plane)
def closest_points_between_planes(plane1: DQ, plane2: DQ) -> Pair:
    """A shared point of two planes, twice.

    Parallel planes (within 1e-8 rad): the point of plane1 closest to the origin, and the one of plane2 below it.
    """
    n1, n2 = plane1.primary, plane2.primary
    start, across = n1 * plane1.dual.w, cross3(n1, n2)
    # Walk inside plane1 in the direction in which plane2 comes closer fastest.
    share = safe_ratio(plane2.dual.w - dot3(start, n2), dot3(across, across), PARALLEL)
    p = start + cross3(across, n1) * share
    return p, point_projected_in_plane(p, plane2)


@takes(raw_segment, raw_plane)
def closest_points_between_segment_and_plane(segment: Pair, plane: DQ) -> Pair:
    """The closest points of a segment and a plane, first on the segment; twice the shared point where they meet."""
    a, b = segment
    height_a = dot3(a, plane.primary) - plane.dual.w
    height_b = dot3(b, plane.primary) - plane.dual.w
    p = a + (b - a) * clamp(safe_ratio(height_a, height_a - height_b))
    return p, point_projected_in_plane(p, plane)


@takes(raw_segment, raw_segment)
def closest_points_between_segments(segment1: Pair, segment2: Pair) -> Pair:
    """The closest points of two segments, first on segment1; both may be points. Parallel ones: at an end of one.

    The parameter on the first line is limited to its segment, projected to the second segment, and back: for a convex
    quadratic function on a square that is the minimum.
    """
    (a1, b1), (a2, b2) = segment1, segment2
    u, v = b1 - a1, b2 - a2
    n, uu, vv = cross3(u, v), dot3(u, u), dot3(v, v)
    s = _clamped_ratio(dot3(cross3(a2 - a1, v), n), dot3(n, n), PARALLEL * (uu * vv))
    q = a2 + v * clamp(safe_ratio(dot3(a1 + u * s - a2, v), vv))
    return a1 + u * clamp(safe_ratio(dot3(q - a1, u), uu)), q


_PAIRS: dict[tuple[type, type], Any] = {
    (Point, Point): lambda p, q: (p, q),
    (Point, Line): lambda p, line: (p, point_projected_in_line(p, line)),
    (Point, Plane): lambda p, plane: (p, point_projected_in_plane(p, plane)),
    (Point, Segment): lambda p, segment: (p, point_projected_in_segment(p, segment)),
    (Line, Line): closest_points_between_lines,
    (Line, Plane): closest_points_between_line_and_plane,
    (Line, Segment): closest_points_between_line_and_segment,
    (Plane, Plane): closest_points_between_planes,
    (Segment, Plane): closest_points_between_segment_and_plane,
    (Segment, Segment): closest_points_between_segments,
}


def closest_points(a: Primitive, b: Primitive) -> tuple[Point, Point]:
    """The closest points of two of :class:`Point`, :class:`Line`, :class:`Plane`, :class:`Segment`: on a, then on b."""
    points: tuple[Point, Point]
    for first, second, order in ((a, b, 1), (b, a, -1)):
        if (type(first), type(second)) in _PAIRS:
            points = _PAIRS[type(first), type(second)](first, second)[::order]
            return points
    raise no_such_pair("closest_points", a, b)


def no_such_pair(function: str, a: object, b: object) -> Error:
    """The error for values that are not two primitives."""
    names = type(a).__name__, type(b).__name__
    return Error(
        f"{function} takes any two of Point, Line, Plane and Segment, found {names[0]} and {names[1]}: "
        "make the other one first, as in Point([x, y, z]).",
        found=names,
    )
