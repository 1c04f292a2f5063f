"""Zones that keep points of a robot away from the bodies of a scene."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from dqdyn.algebra.real import real_number
from dqdyn.algebra.value import Value
from dqdyn.control.core.inequality import Inequality, ZoneOptions
from dqdyn.control.features.features import Feature
from dqdyn.control.features.on_robot import PointLike
from dqdyn.control.features.signals import Measured, SignalLike
from dqdyn.control.inequalities.zones import KeepAbove, KeepOut
from dqdyn.errors import Error, one_line, unknown_name
from dqdyn.geometry.primitives import Plane, Point
from dqdyn.geometry.segment import Segment
from dqdyn.model.inertia import Vector
from dqdyn.scenes.body import SceneBody
from dqdyn.scenes.scene import Scene


def scene_zones(
    scene: Scene,
    points: PointLike | Iterable[PointLike],
    distance: float = 0.0,
    *,
    bodies: Iterable[str] | None = None,
    measured: Mapping[str, Measured] | None = None,
    **options: Unpack[ZoneOptions],
) -> list[Inequality]:
    """Inequalities that keep ``points`` at least ``distance`` m away from bodies of a scene, one per point and body.

    ``points`` are frames of the robot, or features such as ``ct.segment("elbow", "tool")``; ``bodies`` are names, by
    default all. Ground and walls become half-spaces on the side of their front; balls are exact; boxes and cylinders
    are kept away by the capsule around them along their longest edge or their axis, which is larger than they are.

    Bodies that follow a function of time move in the zone as well, with their velocity; the function has to be one of
    the algebra (``sin``, ``cos``, … of :mod:`dqdyn.algebra.scalar`). Where a body that physics moves is, has to be
    measured: ``measured={"ball": ball}`` with ``ball = ct.Measured(dq.Point(p))``, updated as the loop runs, for
    instance from ``observation.scene``; for boxes and cylinders it is the ``dq.Segment`` of :func:`obstacle_of`.
    """
    if not isinstance(scene, Scene):
        raise Error(f"scene_zones takes a Scene first; found {one_line(repr(scene), 80)}.", found=scene)
    margin = real_number(distance, "The distance of zones around a scene")
    if not math.isfinite(margin):
        raise Error(f"The distance of zones around a scene must be finite; found {margin}.", found=margin)
    on_robot = [points] if isinstance(points, (str, Feature)) or not hasattr(points, "__iter__") else list(points)
    if bodies is not None and not isinstance(bodies, Iterable):
        raise Error(f"The bodies of zones are names; found {one_line(repr(bodies), 80)}.", found=bodies)
    names = scene.names if bodies is None else [bodies] if isinstance(bodies, str) else list(bodies)
    if measured is not None and not isinstance(measured, Mapping):
        wanted = "measured is a dictionary from names of bodies to Measured"
        raise Error(f"{wanted}; found {one_line(repr(measured), 80)}.", found=measured)
    seen = {} if measured is None else dict(measured)
    for name in seen:
        if name not in names:
            raise unknown_name("body of the scene that is measured", name, names)
    return [_zone(point, scene[name], margin, seen.get(name), options) for name in names for point in on_robot]


def obstacle_of(body: SceneBody) -> tuple[Value, float]:
    """A plane, point or segment in the body's axes, and the radius in m around it that covers the body."""
    if not isinstance(body, SceneBody):
        raise Error(f"obstacle_of takes a body of a scene; found {one_line(repr(body), 80)}.", found=body)
    if body.shape == "plane":
        return Plane((0.0, 0.0, 1.0), distance=0.0), 0.0
    if body.shape == "sphere":
        return Point((0.0, 0.0, 0.0)), body.size[0]
    if body.shape == "cylinder":
        radius, length = body.size
        return _segment(2, length), radius
    if body.front is not None:
        reach = sum(abs(n) * edge / 2.0 for n, edge in zip(body.front, body.size, strict=True))
        return Plane(body.front, distance=reach), 0.0
    longest = max(range(3), key=lambda i: body.size[i])
    across = [edge for i, edge in enumerate(body.size) if i != longest]
    return _segment(longest, body.size[longest]), math.hypot(*across) / 2.0


def _segment(axis: int, length: float) -> Segment:
    end: Vector = tuple(length / 2.0 if i == axis else 0.0 for i in range(3))  # type: ignore[assignment]
    return Segment(tuple(-c for c in end), end)


def _zone(point: Any, body: SceneBody, margin: float, seen: Measured | None, options: ZoneOptions) -> Inequality:
    element, radius = obstacle_of(body)
    where: SignalLike
    if body.motion in ("free", "hinged"):
        if not isinstance(seen, Measured):
            remedy = f"pass measured={{{body.name!r}: ct.Measured(...)}}, or leave it out of bodies="
            raise Error(f"physics moves {body.name!r}, so a zone has to be told where it is: {remedy}.", body=body.name)
        where = seen
    elif seen is not None:
        raise Error(f"the motion of {body.name!r} is known, so it is not measured: leave it out.", body=body.name)
    elif body.motion == "driven":
        where = lambda t: body.at(t) * element
    else:
        where = body.at() * element
    shown = point if isinstance(point, str) else getattr(point, "place", "point")
    named: ZoneOptions = {"name": f"{shown} away from {body.name}", **options}
    if isinstance(element, Plane):
        return KeepAbove(point, where, margin, **named)
    if radius + margin < 0.0:
        raise Error(f"{body.name!r} lets points enter by {radius:g} m at most; found {margin:g}.", body=body.name)
    return KeepOut(point, where, radius + margin, **named)
