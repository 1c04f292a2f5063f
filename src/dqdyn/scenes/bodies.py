"""The usual bodies of scenes. Lengths in m, masses in kg, angles in rad."""

from __future__ import annotations

import math
from typing import Any, TypedDict, Unpack

import numpy as np

from dqdyn.algebra.values import Pose
from dqdyn.errors import Error, one_line
from dqdyn.model.description import Shape, placement
from dqdyn.model.inertia import ORIGIN, Vector
from dqdyn.scenes import checks
from dqdyn.scenes.body import Hinge, SceneBody
from dqdyn.scenes.checks import Place, PoseLike

UP: Vector = (0.0, 0.0, 1.0)
_MOST_STEPS = 1000


class BodyOptions(TypedDict, total=False):
    """Options of every body: see :class:`dqdyn.scenes.SceneBody`."""

    friction: float
    torsional_friction: float
    rolling_friction: float
    restitution: float
    color: tuple[float, float, float, float] | None


class FreeOptions(BodyOptions, total=False):
    """Options of bodies that may be free to move."""

    mass: float | None
    velocity: Vector
    angular_velocity: Vector


def ground(height: float = 0.0, *, normal: Any = UP, name: str = "ground", **options: Unpack[BodyOptions]) -> SceneBody:
    """A plane without end through (0, 0, ``height``); ``normal`` points out of it, upwards unless given."""
    n = checks.direction(normal, "The normal of the ground")
    at = _facing(n, (0.0, 0.0, checks.finite(height, "The height of the ground (m)")))
    return SceneBody(name, "plane", pose=at, front=UP, **options)


def box(size: Any, at: Place, *, name: str = "box", **options: Unpack[FreeOptions]) -> SceneBody:
    """A box with edges ``size`` (x, y, z) and its center ``at`` a position, a pose, or a function of time."""
    return SceneBody(name, "box", checks.vector(size, f"The size of {name!r} (m)"), _place(at, name), **options)


def wall(
    at: Any,
    normal: Any,
    *,
    width: float = 2.0,
    height: float = 2.0,
    thickness: float = 0.1,
    name: str = "wall",
    **options: Unpack[BodyOptions],
) -> SceneBody:
    """A wall; ``at`` is the middle of the lower edge of its front, ``normal`` points out of that front, to the robot.

    The wall stands upright along z where the normal is horizontal.
    """
    n = np.array(checks.direction(normal, f"The normal of {name!r}"))
    foot = np.array(checks.vector(at, f"The place of {name!r} (m)"))
    size = tuple(checks.positive(x, f"Every length of {name!r} (m)") for x in (width, height, thickness))
    pose = _facing((float(n[0]), float(n[1]), float(n[2])), ORIGIN)
    center = foot + pose.rotation_matrix @ np.array([0.0, size[1] / 2.0, -size[2] / 2.0])
    return SceneBody(name, "box", size, Pose(rotation=pose.rotation, translation=center), front=UP, **options)


def stairs(
    count: int,
    rise: float,
    run: float,
    *,
    width: float = 1.0,
    at: PoseLike = ORIGIN,
    name: str = "stairs",
    **options: Unpack[BodyOptions],
) -> tuple[SceneBody, ...]:
    """Steps that go up along x of ``at``, which is the middle of the foot of the first: ``rise`` high, ``run`` deep.

    Each step is a box from the floor up, named "stairs 1", "stairs 2", …
    """
    if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or not 1 <= count <= _MOST_STEPS:
        text = f"The number of steps of {name!r} is a whole number from 1 to {_MOST_STEPS}"
        raise Error(f"{text}; found {one_line(repr(count), 80)}.", found=count)
    checks.named(name)
    up, deep, wide = (checks.positive(x, f"Every length of {name!r} (m)") for x in (rise, run, width))
    foot = checks.constant_pose(at, f"The place of {name!r}")
    return tuple(
        SceneBody(
            f"{name} {i + 1}",
            "box",
            (deep, wide, (i + 1) * up),
            foot * Pose(translation=((i + 0.5) * deep, 0.0, (i + 1) * up / 2.0)),
            **options,
        )
        for i in range(int(count))
    )


def ball(radius: float, at: Place, *, name: str = "ball", **options: Unpack[FreeOptions]) -> SceneBody:
    """A ball with its center ``at``; with a ``mass`` it is free to move, and ``velocity`` throws it."""
    return SceneBody(name, "sphere", (radius,), _place(at, name), **options)


def pendulum(
    length: float,
    mass: float,
    pivot: Any,
    *,
    angle: float = 0.0,
    speed: float = 0.0,
    axis: Any = (0.0, 1.0, 0.0),
    radius: float = 0.1,
    damping: float = 0.0,
    name: str = "pendulum",
    **options: Unpack[BodyOptions],
) -> SceneBody:
    """A ball of ``radius`` on a rod without mass, ``length`` from the ``pivot`` to the ball's center.

    It starts at ``angle`` from hanging down, turned about the horizontal ``axis``, with ``speed`` in rad/s, and
    swings under gravity; ``damping`` in N m s/rad. Only the ball touches. Small swings take
    2π √((length² + 0.4 radius²) / (g length)).
    """
    long = checks.positive(length, f"The length of {name!r} (m)")
    at = checks.vector(pivot, f"The pivot of {name!r} (m)")
    hinge = Hinge(at, axis, speed, damping)
    if abs(hinge.axis[2]) > 1e-6:
        raise Error(f"The axis of {name!r} is horizontal; found {list(hinge.axis)}.", body=name)
    turn = checks.finite(angle, f"The angle of {name!r} (rad)")
    rod = Shape("cylinder", (0.01, long), placement((0.0, 0.0, long / 2.0)), color=(0.45, 0.45, 0.5, 1.0))
    hanging = Pose(translation=(at[0], at[1], at[2] - long))
    body = SceneBody(name, "sphere", (radius,), hanging, mass=mass, hinge=hinge, visuals=(rod,), **options)
    if turn == 0.0:
        return body
    kept = {"mass": mass, "hinge": hinge, "visuals": (rod,)}
    return SceneBody(name, "sphere", (radius,), body.at_angle(turn), **kept, **options)  # type: ignore[arg-type]


def wheel(
    radius: float,
    at: Any,
    *,
    axis: Any = (1.0, 0.0, 0.0),
    width: float = 0.03,
    mass: float = 2.0,
    speed: float = 0.0,
    damping: float = 0.0,
    name: str = "wheel",
    **options: Unpack[BodyOptions],
) -> SceneBody:
    """A disk that turns about its ``axis`` through its center ``at``; ``speed`` in rad/s, ``damping`` in N m s/rad."""
    center = checks.vector(at, f"The center of {name!r} (m)")
    hinge = Hinge(center, axis, speed, damping)
    r, w = checks.positive(radius, f"The radius of {name!r} (m)"), checks.positive(width, f"The width of {name!r} (m)")
    spokes = tuple(
        Shape("box", (1.9 * r, 0.12 * r, 1.2 * w), placement(rpy=(0.0, 0.0, turn)), color=(0.25, 0.27, 0.32, 1.0))
        for turn in (0.0, math.pi / 2.0)
    )
    pose = _facing(hinge.axis, center)
    return SceneBody(name, "cylinder", (r, w), pose, mass=mass, hinge=hinge, visuals=spokes, **options)


def _place(at: Any, name: str) -> Any:
    return at if callable(at) else checks.constant_pose(at, f"The place of {name!r}")


def _facing(normal: Vector, origin: Vector) -> Pose:
    """A pose with z along ``normal``, x level, and y as far up as can be; the world's axes for the vertical."""
    z = np.array(normal)
    x = np.cross(UP, z)
    size = float(np.linalg.norm(x))
    x = np.array([1.0, 0.0, 0.0]) if size < 1e-9 else x / size
    matrix = np.eye(4)
    matrix[:3, :3] = np.stack([x, np.cross(z, x), z], axis=-1)
    matrix[:3, 3] = origin
    return Pose.from_matrix(matrix)
