"""One body of a scene: a shape with a pose that is constant, follows a function of time, or is found by physics."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from dqdyn.algebra.values import Pose
from dqdyn.errors import Error, one_line, unknown_name
from dqdyn.model.description import Shape
from dqdyn.model.inertia import ORIGIN, Inertia, Vector
from dqdyn.model.inertia import box as box_inertia
from dqdyn.model.inertia import cylinder as cylinder_inertia
from dqdyn.model.inertia import sphere as sphere_inertia
from dqdyn.scenes import checks

FRICTION = 0.8
"""Coefficient of friction of bodies unless given: rubber soles on a floor."""

LEAST_RESTITUTION, MOST_RESTITUTION = 0.15, 0.99
"""Of bodies that bounce: contacts as springs with dampers can do no less, and more would be without end."""

SIZES = {"plane": 0, "box": 3, "sphere": 1, "cylinder": 2}
"""Shapes, and how many lengths each has."""

_UNIFORM: dict[str, Callable[[float, tuple[float, ...]], Inertia]] = {
    "box": box_inertia,
    "sphere": lambda mass, size: sphere_inertia(mass, size[0]),
    "cylinder": lambda mass, size: cylinder_inertia(mass, size[0], size[1]),
}

Motion = Literal["fixed", "driven", "free", "hinged"]


@dataclass(frozen=True)
class Hinge:
    """A body turns about a line at rest: ``point`` in m and ``axis``, both in the world.

    ``speed`` in rad/s is that at the start, ``damping`` in N m s/rad.
    """

    point: Vector = ORIGIN
    axis: Vector = (0.0, 1.0, 0.0)
    speed: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", checks.vector(self.point, "The point of a hinge"))
        object.__setattr__(self, "axis", checks.direction(self.axis, "The axis of a hinge"))
        object.__setattr__(self, "speed", checks.finite(self.speed, "The speed of a hinge (rad/s)"))
        object.__setattr__(self, "damping", checks.not_negative(self.damping, "The damping of a hinge (N m s/rad)"))


@dataclass(frozen=True)
class SceneBody:
    """A rigid body of a scene; the constructors of :mod:`dqdyn.scenes` make the usual ones.

    ``shape`` and ``size`` in m: "plane" (), the half-space below z = 0 of its pose; "box" (x, y, z); "sphere"
    (radius,); "cylinder" (radius, length along z). The pose is that of the shape's center in the world.

    ``pose``: constant; or a function of the time t in s, which the body follows whatever pushes it; with a ``mass``
    in kg (uniform over the shape) it is that at the start, and the body then moves freely, or about its ``hinge``.
    ``velocity`` in m/s and ``angular_velocity`` in rad/s, in world axes, are those of a free body at the start.

    ``friction`` is Coulomb's μ; ``torsional_friction`` (m) is the torque about the normal per normal force,
    ``rolling_friction`` (m) that about the tangents. ``restitution``: 0, or from 0.15 to 0.99, the speed after a bounce
    by that before; of two bodies the one that bounces counts. ``front``: for walls, the direction in axes of
    the body in which robots are: zones keep them on that side. ``visuals`` are drawn only.
    """

    name: str
    shape: str
    size: tuple[float, ...] = ()
    pose: Pose | Callable[[Any], Any] = Pose()
    friction: float = FRICTION
    torsional_friction: float = 0.0
    rolling_friction: float = 0.0
    restitution: float = 0.0
    mass: float | None = None
    hinge: Hinge | None = None
    velocity: Vector = ORIGIN
    angular_velocity: Vector = ORIGIN
    front: Vector | None = None
    visuals: tuple[Shape, ...] = ()
    color: tuple[float, float, float, float] | None = None

    def __post_init__(self) -> None:
        name = checks.named(self.name)
        if not isinstance(self.shape, str) or self.shape not in SIZES:
            raise unknown_name(f"shape for {name!r} of a scene", self.shape, SIZES)
        self._set("size", self._sizes())
        pose = self.pose
        if not callable(pose):
            self._set("pose", checks.constant_pose(pose, f"The pose of {name!r}"))
        for what, unit in (("friction", ""), ("torsional_friction", " (m)"), ("rolling_friction", " (m)")):
            words = f"The {what.replace('_', ' ')} of {name!r}{unit}"
            self._set(what, checks.not_negative(getattr(self, what), words))
        bounce = checks.not_negative(self.restitution, f"The restitution of {name!r}")
        if bounce and not LEAST_RESTITUTION <= bounce <= MOST_RESTITUTION:
            range_ = f"0, or from {LEAST_RESTITUTION:g} to {MOST_RESTITUTION:g}"
            raise Error(f"The restitution of {name!r} is {range_}; found {bounce:g}.", body=name)
        self._set("restitution", bounce)
        for what, unit in (("velocity", "m/s"), ("angular_velocity", "rad/s")):
            value = checks.vector(getattr(self, what), f"The {what.replace('_', ' ')} of {name!r} ({unit})")
            self._set(what, value)
            if any(value) and self.motion != "free":
                remedy = "give it a mass" if self.hinge is None else "give the speed of its hinge"
                raise Error(f"{name!r} is not free to move, so it takes no {what}: {remedy}.", body=name)
        if self.front is not None:
            self._set("front", checks.direction(self.front, f"The front of {name!r}"))
        self._set("visuals", checks.shapes(self.visuals, f"The visuals of {name!r}"))
        if self.color is not None:
            self._set("color", checks.color(self.color, f"The color of {name!r}"))
        self._check_motion()

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _sizes(self) -> tuple[float, ...]:
        try:
            sizes = tuple(self.size)
        except TypeError:
            sizes = (self.size,)  # type: ignore[assignment]
        if len(sizes) != SIZES[self.shape]:
            wanted = f"{SIZES[self.shape]} lengths in m"
            raise Error(f"The {self.shape} {self.name!r} has {wanted}; found {self.size!r}.", body=self.name)
        return tuple(checks.positive(length, f"Every length of {self.name!r} (m)") for length in sizes)

    def _check_motion(self) -> None:
        name = self.name
        if self.hinge is not None and not isinstance(self.hinge, Hinge):
            raise Error(f"The hinge of {name!r} is a Hinge; found {one_line(repr(self.hinge), 80)}.", body=name)
        if self.mass is None:
            if self.hinge is not None:
                raise Error(f"{name!r} turns about a hinge, so it needs a mass in kg.", body=name)
        else:
            self._set("mass", checks.positive(self.mass, f"The mass of {name!r} (kg)"))
            if callable(self.pose):
                raise Error(f"{name!r} follows a function of time, so its mass has no effect: leave it out.", body=name)
            if self.shape == "plane":
                raise Error(f"{name!r} is a plane, which has no mass: take a box.", body=name)
        if callable(self.pose):
            self.at(0.0)

    @property
    def motion(self) -> Motion:
        """ "fixed", "driven" by a function of time, "free" or "hinged"."""
        if self.mass is not None:
            return "free" if self.hinge is None else "hinged"
        return "driven" if callable(self.pose) else "fixed"

    @property
    def inertia(self) -> Inertia:
        """Of the mass, uniform over the shape; in axes of the body."""
        return Inertia() if self.mass is None else _UNIFORM[self.shape](self.mass, self.size)

    def at(self, t: Any = 0.0) -> Pose:
        """Pose in the world at the time t in s; of a body that physics moves, the pose at the start."""
        if not callable(self.pose):
            return self.pose
        what = f"The pose of {self.name!r}"
        if not isinstance(t, (int, float)):
            return checks.pose_of(self.pose(t), what)  # a symbol
        try:
            value = self.pose(t)
        except Exception as problem:
            problem.add_note(f"raised by the pose of {self.name!r} at t = {t:g} s")
            raise
        return checks.constant_pose(value, f"{what} at t = {t:g} s")

    def at_angle(self, angle: float) -> Pose:
        """Pose of a hinged body after turning by an angle in rad from where it starts."""
        if self.hinge is None:
            raise Error(f"{self.name!r} has no hinge.", body=self.name)
        c, s = math.cos(angle / 2.0), math.sin(angle / 2.0)
        turn = Pose(rotation=(c, *(s * a for a in self.hinge.axis)))
        to_point = Pose(translation=self.hinge.point)
        result: Pose = to_point * turn * to_point.inverse() * self.at()
        return result
