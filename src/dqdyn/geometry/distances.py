"""Distances and angles between points, lines, planes and segments, over any scalar; named as in DQ Robotics.

Points are pure quaternions, lines l + εm, planes n + εd, segments pairs of points; the values of users do as well.
Distances are squared, which keeps them smooth where they vanish, except those to planes, which are signed. All have
finite derivatives everywhere: where a distance has a kink they are those of one side.
"""

from __future__ import annotations

from typing import Any

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion, cross3, dot3
from dqdyn.algebra.scalar import Scalar, atan2, divide, less, select, sqrt
from dqdyn.geometry import closest
from dqdyn.geometry.arguments import Pair, raw_line, raw_plane, raw_point, raw_segment, takes
from dqdyn.geometry.closest import PARALLEL, no_such_pair
from dqdyn.geometry.primitives import Line, Plane, Point, Primitive
from dqdyn.geometry.segment import Segment

_TINY = 1e-300  # a square whose root can still be divided by


def _squared(v: Quaternion) -> Scalar:
    return dot3(v, v)


def _length(v: Quaternion) -> Scalar:
    """‖v‖ with the derivative 0 where v vanishes, which has none."""
    s = _squared(v)
    zero = less(s, _TINY)
    return select(zero, 0.0, sqrt(select(zero, 1.0, s)))


# --- distances of a point -----------------------------------------------------------------------------------------


@takes(raw_point, raw_point)
def point_to_point_squared_distance(point1: Quaternion, point2: Quaternion) -> Scalar:
    """D = ‖p₁ − p₂‖² [Quiroz, eq. (4.20)] [Quiroz, table 3.1]."""
    return _squared(point1 - point2)


@takes(raw_point, raw_line)
def point_to_line_squared_distance(point: Quaternion, line: DQ) -> Scalar:
    """D = ‖p × l − m‖² [Quiroz, table 3.1]."""
    return _squared(cross3(point, line.primary) - line.dual)


@takes(raw_point, raw_plane)
def point_to_plane_distance(point: Quaternion, plane: DQ) -> Scalar:
    """d = ⟨p, n⟩ − d_π, positive on the side of the normal [Quiroz, eq. (3.8)] [Quiroz, table 3.1]."""
    return dot3(point, plane.primary) - plane.dual.w


@takes(raw_point, raw_segment)
def point_to_segment_squared_distance(point: Quaternion, segment: Pair) -> Scalar:
    """‖p − q‖² for the closest point q of the segment."""
    return _squared(point - closest.point_projected_in_segment(point, segment))


# --- distances of a line ------------------------------------------------------------------------------------------


@takes(raw_line, raw_line)
def line_to_line_squared_distance(line1: DQ, line2: DQ) -> Scalar:
    """D = (⟨l₁, m₂⟩ + ⟨m₁, l₂⟩)²/‖l₁ × l₂‖² [Quiroz, table 3.1].

    Lines within 1e-8 rad of parallel or opposite: ‖l₁ × (m₁ ∓ m₂)‖². Between the two the distance jumps.
    """
    l1, m1, l2, m2 = line1.primary, line1.dual, line2.primary, line2.dual
    sine = _squared(cross3(l1, l2))
    parallel = less(sine, PARALLEL)
    reciprocal = dot3(l1, m2) + dot3(m1, l2)
    sign = select(less(dot3(l1, l2), 0.0), -1.0, 1.0)
    crossing = divide(reciprocal * reciprocal, select(parallel, 1.0, sine))
    return select(parallel, _squared(cross3(l1, m1 - m2 * sign)), crossing)


@takes(raw_line, raw_plane)
def line_to_plane_distance(line: DQ, plane: DQ) -> Scalar:
    """Signed distance of a line that is parallel to the plane (within 1e-8 rad); 0 for any other, which meets it."""
    l, n = line.primary, plane.primary
    slope = dot3(l, n)
    height = dot3(cross3(l, line.dual), n) - plane.dual.w
    return select(less(slope * slope, PARALLEL), height, 0.0)


@takes(raw_line, raw_segment)
def line_to_segment_squared_distance(line: DQ, segment: Pair) -> Scalar:
    """The least :func:`point_to_line_squared_distance` of the points of the segment."""
    return point_to_line_squared_distance(closest.closest_points_between_line_and_segment(line, segment)[1], line)


# --- distances of planes and segments -----------------------------------------------------------------------------


@takes(raw_plane, raw_plane)
def plane_to_plane_distance(plane1: DQ, plane2: DQ) -> Scalar:
    """Signed distance of plane1 from a parallel plane2 (within 1e-8 rad), along the normal of plane2.

    0 for any other planes, which meet.
    """
    n1, n2 = plane1.primary, plane2.primary
    sign = select(less(dot3(n1, n2), 0.0), -1.0, 1.0)
    parallel = less(_squared(cross3(n1, n2)), PARALLEL)
    return select(parallel, sign * plane1.dual.w - plane2.dual.w, 0.0)


@takes(raw_segment, raw_plane)
def segment_to_plane_distance(segment: Pair, plane: DQ) -> Scalar:
    """The signed distance of the lower end: positive only if the whole segment is on the side of the normal."""
    a, b = (point_to_plane_distance(end, plane) for end in segment)
    return select(less(a, b), a, b)


@takes(raw_segment, raw_segment)
def segment_to_segment_squared_distance(segment1: Pair, segment2: Pair) -> Scalar:
    """‖p − q‖² for the closest points of two segments, which may be parallel, cross, or be points."""
    p, q = closest.closest_points_between_segments(segment1, segment2)
    return _squared(p - q)


# --- angles -------------------------------------------------------------------------------------------------------


@takes(raw_line, raw_line)
def line_to_line_angle(line1: DQ, line2: DQ) -> Scalar:
    """φ in [0, π] between directions [Quiroz, eq. (4.26)], by atan2 instead of arccos to be exact near 0 and π.

    At 0 and π it has no derivative: 0 stands in. :func:`line_to_line_angle_function` is smooth there.
    """
    return _angle(line1.primary, line2.primary)


@takes(raw_line, raw_line)
def line_to_line_angle_function(line1: DQ, line2: DQ) -> Scalar:
    """f(φ) = ‖l₁ − l₂‖² [Quiroz, eq. (4.28)] = 2 − 2 cos φ [Quiroz, eq. (4.29)], smooth and increasing on [0, π].

    So a bound on f is one on φ [Quiroz, lemma 4.2].
    """
    return _squared(line1.primary - line2.primary)


@takes(raw_plane, raw_plane)
def plane_to_plane_angle(plane1: DQ, plane2: DQ) -> Scalar:
    """Angle in [0, π] between the normals."""
    return _angle(plane1.primary, plane2.primary)


@takes(raw_line, raw_plane)
def line_to_plane_angle(line: DQ, plane: DQ) -> Scalar:
    """Angle in [−π/2, π/2] of a line with a plane, positive where its direction leads to the side of the normal."""
    l, n = line.primary, plane.primary
    return atan2(dot3(l, n), _length(cross3(l, n)))


def _angle(a: Quaternion, b: Quaternion) -> Scalar:
    return atan2(_length(cross3(a, b)), dot3(a, b))


# --- any pair of values -------------------------------------------------------------------------------------------

_SQUARED_DISTANCES: dict[tuple[type, type], Any] = {
    (Point, Point): point_to_point_squared_distance,
    (Point, Line): point_to_line_squared_distance,
    (Point, Segment): point_to_segment_squared_distance,
    (Line, Line): line_to_line_squared_distance,
    (Line, Segment): line_to_segment_squared_distance,
    (Segment, Segment): segment_to_segment_squared_distance,
}
_SIGNED_DISTANCES: dict[tuple[type, type], Any] = {
    (Point, Plane): point_to_plane_distance,
    (Line, Plane): line_to_plane_distance,
    (Plane, Plane): plane_to_plane_distance,
    (Segment, Plane): segment_to_plane_distance,
}


def distance(a: Primitive, b: Primitive) -> Any:
    """Distance in m between two of :class:`Point`, :class:`Line`, :class:`Plane`, :class:`Segment`, in either order.

    A float, or shape (...) for batches. Distances to a plane are signed, see the functions above.
    """
    for first, second in ((a, b), (b, a)):
        pair = type(first), type(second)
        if pair in _SQUARED_DISTANCES:
            return sqrt(_SQUARED_DISTANCES[pair](first, second))
        if pair in _SIGNED_DISTANCES:
            return _SIGNED_DISTANCES[pair](first, second)
    raise no_such_pair("distance", a, b)
