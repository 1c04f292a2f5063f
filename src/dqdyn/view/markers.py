"""What to draw besides the robot: points, lines, planes, spheres, capsules, polygons, frames, arrows and paths.

Each is constant, or has one value per sample of the trajectory. ``on="tool"`` fixes it to a frame of the robot.
Zones are translucent and targets green; what is violated at a moment is red then, see :meth:`Markers.violated`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from dqdyn.algebra.real import real_array, real_number
from dqdyn.algebra.values import Pose, Twist, Wrench
from dqdyn.arrays import Array, RealArray
from dqdyn.errors import Error
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.view.ground_polygons import OnGround, corners_over_time
from dqdyn.view.triangles import Color

RED: Color = (0.87, 0.23, 0.20, 1.0)
GREEN: Color = (0.20, 0.65, 0.30, 1.0)
BLUE: Color = (0.18, 0.42, 0.86, 1.0)
ORANGE: Color = (0.96, 0.55, 0.10, 1.0)
PURPLE: Color = (0.58, 0.30, 0.80, 1.0)
TEAL: Color = (0.05, 0.60, 0.62, 1.0)
GOLD: Color = (0.95, 0.75, 0.15, 1.0)
LEAST_RED = 0.45
"""Opacity of what is violated, so that a faint zone is seen too."""
CLEAR_GREEN = (*GREEN[:3], 0.3)
CLEAR_BLUE, CLEAR_TEAL = (*BLUE[:3], 0.35), (*TEAL[:3], 0.35)

MarkerKind = Literal["ball", "stick", "capsule", "arrow", "sheet", "triangle"]
Flags: TypeAlias = npt.NDArray[np.bool_]
Points: TypeAlias = Point | RealArray
"""One position or several, (..., 3) in m."""
On: TypeAlias = str | None
"""The frame of the robot that carries what is drawn; None is the world."""
ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Marker:
    """One shape to draw: a "ball", "stick", "capsule", "arrow", "sheet" or "triangle".

    ``at`` (1 or n, 3) is its center, or the start of a stick, capsule or arrow, or a corner of a triangle; ``along``
    (1 or n, 3) leads to the end or the second corner, or is the normal of a sheet; ``across`` leads to the third
    corner. All are in m, and may be given as one value (3,). ``size`` is the radius, or the side of a sheet.
    Coordinates are those of ``on``. ``violated`` (1 or n) tells when it is drawn in red. An arrow that stands for a
    quantity has its ``unit``, and ``scale`` m for one of it.
    """

    kind: MarkerKind
    group: str
    name: str
    at: Array
    along: Array
    size: float
    color: Color
    on: str | int | None = None  # a frame, or a moving body by its index; None is the world
    across: Array = field(default_factory=lambda: np.zeros((1, 3)))
    violated: Flags = field(default_factory=lambda: np.zeros(1, dtype=bool))
    unit: str = ""
    scale: float = 1.0

    def __post_init__(self) -> None:
        rows = {name: np.atleast_2d(_array(getattr(self, name), 3)) for name in ("at", "along", "across")}
        flags = _flags(self.violated, self.name)
        counts = {len(row) for row in (*rows.values(), flags)}
        if any(row.ndim > 2 for row in rows.values()) or len(counts - {1}) > 1:
            shapes = " and ".join(str(row.shape) for row in (rows["at"], rows["along"]))
            if len(flags) > 1:
                shapes += f", violated {flags.shape}"
            raise Error(f"The {self.name!r} to draw has one value, or one per sample; found {shapes}.", name=self.name)
        for name in ("size", "scale"):
            if not getattr(self, name) > 0.0:
                text = f"The {name} of {self.name!r} is positive; found {getattr(self, name)!r}."
                raise Error(text, name=self.name)
        for name, value in {**rows, "violated": flags, "color": _color(self.color, self.name)}.items():
            object.__setattr__(self, name, value)

    @property
    def samples(self) -> int:
        return max(len(self.at), len(self.along), len(self.across), len(self.violated))

    def third(self, i: int) -> Array:
        """``across`` of sample i."""
        return np.asarray(self.across[min(i, len(self.across) - 1)])

    def color_at(self, i: int) -> Color:
        """Its color at sample i: red while violated, as opaque as it is."""
        if not self.violated[min(i, len(self.violated) - 1)]:
            return self.color
        return (*RED[:3], max(self.color[3], LEAST_RED))

    def sample(self, i: int) -> tuple[Array, Array]:
        """``at`` and ``along`` of sample i."""
        return self.at[min(i, len(self.at) - 1)], self.along[min(i, len(self.along) - 1)]


class Markers:
    """A list of markers to pass to the viewers; every method adds one object and returns the list."""

    def __init__(self) -> None:
        self.markers: list[Marker] = []
        self._last = 0  # where the object added last begins

    def violated(self, when: Flags | Sequence[bool]) -> Markers:
        """The object added last is red at the samples where ``when`` (n,) is true, e.g. during a collision."""
        if not self.markers:
            raise Error("Nothing has been added yet: call violated() after what may be violated.")
        for k in range(self._last, len(self.markers)):
            self.markers[k] = replace(self.markers[k], violated=_flags(when, self.markers[k].name))
        return self

    def point(
        self, position: Points, *, name: str = "point", radius: float = 0.015, color: Color = RED, on: On = None
    ) -> Markers:
        """A point, given by a Point or (..., 3) in m."""
        return self._add("ball", "points", name, position, np.zeros(3), radius, color, on)

    def sphere(
        self, center: Points, radius: float, *, name: str = "sphere", color: Color = CLEAR_BLUE, on: On = None
    ) -> Markers:
        """A sphere in m."""
        return self._add("ball", "spheres", name, center, np.zeros(3), radius, color, on)

    def target(
        self, position: Points, *, name: str = "target", radius: float = 0.025, color: Color = GREEN, on: On = None
    ) -> Markers:
        """Where something should go: a green ball."""
        return self._add("ball", "targets", name, position, np.zeros(3), radius, color, on)

    def capsule(
        self,
        start: Points,
        end: Points,
        radius: float,
        *,
        name: str = "capsule",
        color: Color = CLEAR_BLUE,
        on: On = None,
    ) -> Markers:
        """All points within ``radius`` of the straight way between two points: a zone around a limb."""
        a, b = _array(start, 3), _array(end, 3)
        return self._add("capsule", "capsules", name, a, b - a, radius, color, on)

    def polygon(
        self,
        corners: RealArray,
        *,
        name: str = "polygon",
        radius: float = 0.004,
        color: Color = CLEAR_GREEN,
        on: On = None,
    ) -> Markers:
        """A convex polygon by its corners in turn, (k, 3), or (n, k, 3) over time; repeat one where there are fewer."""
        points = _array(corners, 3)
        if points.ndim not in (2, 3) or points.shape[-2] < 3:
            raise Error(f"A polygon has at least three corners, (k, 3) or (n, k, 3); found shape {points.shape}.")
        corner = np.moveaxis(points, -2, 0)
        edge = (*color[:3], 1.0)
        begin = len(self.markers)
        for a, b in zip(corner, (*corner[1:], corner[0]), strict=True):
            self._add("stick", "polygons", name, a, b - a, radius, edge, on)
        for b, c in pairwise(corner[1:]):
            self._add("triangle", "polygons", name, corner[0], b - corner[0], 1.0, color, on, c - corner[0])
        self._last = begin
        return self

    def support_polygon(
        self,
        polygon: OnGround | Sequence[OnGround],
        center: Points | None = None,
        *,
        height: float = 0.001,
        name: str = "support polygon",
        radius: float = 0.004,
        color: Color = CLEAR_GREEN,
    ) -> Markers:
        """A support polygon on the ground: a SupportPolygon or corners (k, 2) in m, or a list with one per sample.

        Those of a list may have different numbers of corners. ``center``: the center of mass (3,), or (n, 3) over
        time, of which the projection is shown. ``height`` in m over z = 0, where the ground would hide it.
        """
        above = real_number(height, "The height of a support polygon to draw")
        self.polygon(corners_over_time(polygon, above), name=name, radius=radius, color=color)
        if center is None:
            return self
        begin, below = self._last, _array(center, 3) * [1.0, 1.0, 0.0] + [0.0, 0.0, above]
        self._add("ball", "polygons", f"{name}: center of mass", below, np.zeros(3), 3.0 * radius, GOLD, None)
        self._last = begin
        return self

    def line(
        self,
        line: Line | RealArray,
        *,
        length: float = 2.0,
        name: str = "line",
        radius: float = 0.004,
        color: Color = PURPLE,
        on: On = None,
        group: str = "lines",
    ) -> Markers:
        """A line, given by a Line or (..., 6) = [l, m]: ``length`` of it, about the point next to the origin."""
        line = line if isinstance(line, Line) else Line.from_plucker(*_halves(line))
        l = _array(line.direction, 3)
        start = _array(line.closest_point_to_origin.position, 3) - 0.5 * length * l
        return self._add("stick", group, name, start, length * l, radius, color, on)

    def segment(
        self,
        start: Points,
        end: Points,
        *,
        name: str = "segment",
        radius: float = 0.004,
        color: Color = PURPLE,
        on: On = None,
    ) -> Markers:
        """The straight way between two points."""
        a, b = _array(start, 3), _array(end, 3)
        return self._add("stick", "lines", name, a, b - a, radius, color, on)

    def plane(
        self,
        plane: Plane | RealArray,
        *,
        side: float = 1.0,
        center: Points = ORIGIN,
        name: str = "plane",
        color: Color = CLEAR_TEAL,
        on: On = None,
    ) -> Markers:
        """A plane, given by a Plane or (..., 4) = [n, d]: a square about the point next to ``center``."""
        if not isinstance(plane, Plane):
            numbers = _array(plane, 4)
            plane = Plane(numbers[..., :3], distance=numbers[..., 3])
        n, c = _array(plane.normal, 3), _array(center, 3)
        distance = np.asarray(plane.distance)[..., None] - np.sum(c * n, axis=-1, keepdims=True)
        return self._add("sheet", "planes", name, c + distance * n, n, side, color, on)

    def frame(
        self, pose: Pose | RealArray | None = None, *, size: float = 0.15, name: str = "frame", on: On = None
    ) -> Markers:
        """Axes of a frame, x red, y green, z blue, given by a Pose or vec8 (..., 8)."""
        x = Pose() if pose is None else pose if isinstance(pose, Pose) else Pose(pose)
        begin = len(self.markers)
        for i, color in enumerate((RED, GREEN, BLUE)):
            axis = size * x.rotation_matrix[..., i]
            self._add("arrow", "added frames", name, x.translation, axis, 0.03 * size, color, on)
        self._last = begin
        return self

    def arrow(
        self,
        start: Points,
        vector: RealArray,
        *,
        name: str = "arrow",
        radius: float = 0.008,
        color: Color = ORANGE,
        on: On = None,
        group: str = "arrows",
        unit: str = "",
        scale: float = 1.0,
    ) -> Markers:
        """An arrow from a point along a vector (..., 3), in m, or in ``unit`` with ``scale`` m for one of it."""
        at, length = _array(start, 3), scale * _array(vector, 3)
        return self._append(Marker("arrow", group, name, at, length, radius, color, on, unit=unit, scale=scale))

    def twist(
        self, twist: Twist | RealArray, at: Points = ORIGIN, *, scale: float = 0.2, name: str = "twist", on: On = None
    ) -> Markers:
        """A twist [ω, v] at its reference point: ω orange and v blue, ``scale`` m per rad/s or m/s."""
        omega, v = _halves(twist.vec6() if isinstance(twist, Twist) else twist)
        group = "added twists"
        self.arrow(at, omega, name=f"{name} ω", color=ORANGE, on=on, group=group, unit="rad/s", scale=scale)
        self.arrow(at, v, name=f"{name} v", color=BLUE, on=on, group=group, unit="m/s", scale=scale)
        self._last = len(self.markers) - 2
        return self

    def wrench(
        self,
        wrench: Wrench | RealArray,
        at: Points = ORIGIN,
        *,
        scale: float = 0.01,
        name: str = "wrench",
        on: On = None,
    ) -> Markers:
        """A wrench [f, τ] at its reference point: f red and τ purple, ``scale`` m per N or N m."""
        force, torque = _halves(wrench.vec6() if isinstance(wrench, Wrench) else wrench)
        group = "added wrenches"
        self.arrow(at, force, name=f"{name} f", color=RED, on=on, group=group, unit="N", scale=scale)
        self.arrow(at, torque, name=f"{name} τ", color=PURPLE, on=on, group=group, unit="N m", scale=scale)
        self._last = len(self.markers) - 2
        return self

    def path(
        self, points: RealArray, *, name: str = "path", radius: float = 0.004, color: Color = GOLD, most: int = 200
    ) -> Markers:
        """A constant polyline through points (k, 3), thinned to ``most`` pieces."""
        corners = _array(points, 3)
        if corners.ndim != 2 or len(corners) < 2:
            raise Error(f"A path has at least two points, as an array (k, 3); found shape {corners.shape}.")
        corners = corners[np.unique(np.linspace(0, len(corners) - 1, most + 1).astype(int))]
        begin = len(self.markers)
        for a, b in pairwise(corners):
            self._add("stick", "paths", name, a, b - a, radius, color, None)
        self._last = begin
        return self

    def _add(self, *marker: Any) -> Markers:
        return self._append(Marker(*marker))

    def _append(self, marker: Marker) -> Markers:
        self._last = len(self.markers)
        self.markers.append(marker)
        return self


def _flags(given: Any, name: str) -> Flags:
    """(1,) or (n,) of truths; numbers other than 0 are true."""
    array = np.atleast_1d(real_array(given, f"When {name!r} is violated"))
    if array.ndim != 1 or np.isnan(array).any():
        raise Error(f"When {name!r} is violated is an array (n,) of truths; found shape {array.shape}.", name=name)
    return np.asarray(array != 0.0, dtype=np.bool_)


def _array(value: Points, size: int) -> Array:
    array = real_array(value, "Something to draw")
    if array.ndim == 0 or array.shape[-1] != size:
        raise Error(f"Something to draw needs {size} numbers; found shape {array.shape}.", found=array.shape)
    if not np.isfinite(array).all():
        raise Error(f"Something to draw needs finite numbers; found {array}.", found=array)
    return array


def _halves(value: RealArray) -> tuple[Array, Array]:
    vec6 = _array(value, 6)
    return vec6[..., :3], vec6[..., 3:]


def _color(color: Color, name: str) -> Color:
    values = tuple(real_array(color, f"The color of {name!r}").tolist())
    if len(values) == 3:
        values = (*values, 1.0)
    if len(values) != 4 or not all(0.0 <= c <= 1.0 for c in values):
        raise Error(f"The color of {name!r} is (red, green, blue) or with opacity, from 0 to 1; found {color!r}.")
    return values
