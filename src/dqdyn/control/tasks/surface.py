"""The task that lays a plane of the robot on a surface: hands on tables and walls, soles on the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

from dqdyn.algebra.quaternion import Quaternion, cross3, pure
from dqdyn.algebra.scalar import Scalar, divide, less, select, sqrt, total
from dqdyn.control.core.errors import refused
from dqdyn.control.core.task import Task, TaskOptions
from dqdyn.control.core.term import Parts
from dqdyn.control.features.features import Attached, Feature
from dqdyn.control.features.on_robot import PointLike, plane, required
from dqdyn.control.features.signals import SignalLike, as_signal

_OPPOSITE = 1e-12
"""1 + cos φ of normals up to which they count as opposite."""


class SurfaceTask(Task):
    """A plane of the robot on a plane of the workspace: three independent rows, also as an equality.

    A frame stands for its xy plane, so that z of a palm, along which the surface pushes, comes along the normal of the
    surface. The error is [e₁, e₂, d]: e of length ‖n − n_d‖ = 2 sin(φ/2), with φ the angle of the normals, along two
    axes in the surface; and the distance d in m of the robot's plane, at its point next to the origin of its frame,
    from the surface. Among the constraints it lets a hand slide on the surface [Quiroz, eq. (4.61)].

    π − π_d [Quiroz, eq. (4.55)] has the four components of :class:`PlaneTask`, of which three are independent: their
    Jacobian [Quiroz, eq. (4.56)] has the same rows as this one where the planes meet, and they vanish together; away
    from there d_π − d_πd depends on where the origin of the world is, this distance does not. Normals that are opposite
    have no shortest way to meet: there the first axis is taken.
    """

    def __init__(self, robot: PointLike, surface: SignalLike, **options: Unpack[TaskOptions]) -> None:
        feature = required(plane, robot, "What a SurfaceTask lays on a surface")
        if not isinstance(feature, Attached):
            raise refused("What a SurfaceTask lays on a surface is fixed to a frame, ct.plane(frame, …)", robot)
        target = as_signal("plane", surface, f"the surface for {feature.place}")
        super().__init__(f"surface of {feature.place}", (feature, _nearest_point(feature)), (target,), **options)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        (n, p), (n_d, distance) = (robot[0][:3], robot[1]), (given[0][:3], given[0][3])
        return [*normal_error(n, n_d), _dot(p, n_d) - distance]

    def components_at_target(self, feature: Feature) -> list[Scalar] | None:
        return self.features[0].implied(self.signals[0].at(0.0).value, feature)


def normal_error(n: Sequence[Scalar], n_d: Sequence[Scalar]) -> list[Scalar]:
    """Two components in the plane across n_d, of length ‖n − n_d‖, that vanish where the unit vectors are equal."""
    t1, t2 = (axis.vector for axis in _tangents(n_d))
    e1, e2, near = _dot(n, t1), _dot(n, t2), 1.0 + _dot(n, n_d)
    is_opposite = less(near, _OPPOSITE)
    # sin φ · 1/cos(φ/2) = 2 sin(φ/2), and cos²(φ/2) = (1 + cos φ)/2
    scale = sqrt(divide(2.0, select(is_opposite, 2.0, near)))
    return [select(is_opposite, 2.0 + e1, e1 * scale), select(is_opposite, e2, e2 * scale)]


def _tangents(n: Sequence[Scalar]) -> tuple[Quaternion, Quaternion]:
    """Two unit vectors at right angles to n and to each other: the first without x, or without y where n is near x."""
    x, y, z = n
    is_near_x = less(0.5, x * x)
    a, b = select(is_near_x, x, y), z
    length = sqrt(a * a + b * b)
    u, w = divide(z, length), divide(a, length)
    t1 = pure(select(is_near_x, -u, 0.0), select(is_near_x, 0.0, u), select(is_near_x, w, -w))
    return t1, cross3(pure(*n), t1)


def _nearest_point(feature: Attached) -> Any:
    """The point of an attached plane next to the origin of its frame."""
    n, d = feature.local[:3], feature.local[3]
    return replace(feature, kind="point", local=tuple(d * c for c in n))


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return total(x * y for x, y in zip(a, b, strict=True))
