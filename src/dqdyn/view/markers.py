"""What to draw besides the robot: points, lines, planes, spheres, frames, arrows, screws and paths.

Each is constant, or has one value per sample of the trajectory. ``on="tool"`` fixes it to a frame of the robot.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.algebra.values import Pose, Twist, Wrench
from dqdyn.arrays import Array, RealArray
from dqdyn.errors import Error
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.view.triangles import Color

RED: Color = (0.87, 0.23, 0.20, 1.0)
GREEN: Color = (0.20, 0.65, 0.30, 1.0)
BLUE: Color = (0.18, 0.42, 0.86, 1.0)
ORANGE: Color = (0.96, 0.55, 0.10, 1.0)
PURPLE: Color = (0.58, 0.30, 0.80, 1.0)
TEAL: Color = (0.05, 0.60, 0.62, 1.0)
GOLD: Color = (0.95, 0.75, 0.15, 1.0)
CLEAR_BLUE, CLEAR_TEAL = (*BLUE[:3], 0.35), (*TEAL[:3], 0.35)

MarkerKind = Literal["ball", "stick", "arrow", "sheet"]
Points: TypeAlias = Point | RealArray
"""One position or several, (..., 3) in m."""
On: TypeAlias = str | None
"""The frame of the robot that carries what is drawn; None is the world."""
ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Marker:
    """One shape to draw: a "ball", "stick", "arrow" or "sheet".

    ``at`` (1 or n, 3) is its center, or the start of a stick or arrow; ``along`` (1 or n, 3) leads to the end, or is
    the normal of a sheet; both in m, and both may be given as one value (3,). ``size`` is the radius, or the side of a
    sheet. Coordinates are those of ``on``.
    """

    kind: MarkerKind
    group: str
    name: str
    at: Array
    along: Array
    size: float
    color: Color
    on: str | int | None = None  # a frame, or a moving body by its index; None is the world

    def __post_init__(self) -> None:
        at, along = (np.atleast_2d(_array(value, 3)) for value in (self.at, self.along))
        if at.ndim > 2 or along.ndim > 2 or len({len(at), len(along)} - {1}) > 1:
            shapes = f"{at.shape} and {along.shape}"
            raise Error(f"The {self.name!r} to draw has one value, or one per sample; found {shapes}.", name=self.name)
        if not self.size > 0.0:
            raise Error(f"The size of {self.name!r} is positive; found {self.size!r}.", name=self.name)
        for name, value in {"at": at, "along": along, "color": _color(self.color, self.name)}.items():
            object.__setattr__(self, name, value)

    @property
    def samples(self) -> int:
        return max(len(self.at), len(self.along))

    def sample(self, i: int) -> tuple[Array, Array]:
        """``at`` and ``along`` of sample i."""
        return self.at[min(i, len(self.at) - 1)], self.along[min(i, len(self.along) - 1)]


class Markers:
    """A list of markers to pass to the viewers; every method adds one object and returns the list."""

    def __init__(self) -> None:
        self.markers: list[Marker] = []

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
        for i, color in enumerate((RED, GREEN, BLUE)):
            axis = size * x.rotation_matrix[..., i]
            self._add("arrow", "added frames", name, x.translation, axis, 0.03 * size, color, on)
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
    ) -> Markers:
        """An arrow from a point along a vector, both (..., 3) in m."""
        return self._add("arrow", group, name, start, vector, radius, color, on)

    def twist(
        self, twist: Twist | RealArray, at: Points = ORIGIN, *, scale: float = 0.2, name: str = "twist", on: On = None
    ) -> Markers:
        """A twist [ω, v] at its reference point: ω orange and v blue, ``scale`` m per rad/s or m/s."""
        omega, v = _halves(twist.vec6() if isinstance(twist, Twist) else twist)
        self.arrow(at, scale * omega, name=f"{name} ω", color=ORANGE, on=on, group="added twists")
        return self.arrow(at, scale * v, name=f"{name} v", color=BLUE, on=on, group="added twists")

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
        self.arrow(at, scale * force, name=f"{name} f", color=RED, on=on, group="added wrenches")
        return self.arrow(at, scale * torque, name=f"{name} τ", color=PURPLE, on=on, group="added wrenches")

    def path(
        self, points: RealArray, *, name: str = "path", radius: float = 0.004, color: Color = GOLD, most: int = 200
    ) -> Markers:
        """A constant polyline through points (k, 3), thinned to ``most`` pieces."""
        corners = _array(points, 3)
        if corners.ndim != 2 or len(corners) < 2:
            raise Error(f"A path has at least two points, as an array (k, 3); found shape {corners.shape}.")
        corners = corners[np.unique(np.linspace(0, len(corners) - 1, most + 1).astype(int))]
        for a, b in pairwise(corners):
            self._add("stick", "paths", name, a, b - a, radius, color, None)
        return self

    def _add(self, *marker: Any) -> Markers:
        self.markers.append(Marker(*marker))
        return self


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
