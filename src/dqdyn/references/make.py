"""References as users ask for them: between two points, through way points, and as fast as limits allow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array, RealArray, RealNumber
from dqdyn.errors import Error
from dqdyn.references.in_motion import fastest
from dqdyn.references.knots import Knots
from dqdyn.references.limits import Bounds, as_fast_as_allowed, require_in_reach, require_slow
from dqdyn.references.path import TimedPath
from dqdyn.references.space import Space, SpaceLike
from dqdyn.references.turns import unwrapped
from dqdyn.splines import Piecewise, profile
from dqdyn.splines.profiles import refined

Axes = npt.NDArray[np.int_]
Limit = RealNumber | RealArray | None
"""One number, or one per velocity; None for the robot's own velocities, and for no limit of anything else."""


def between(
    space: SpaceLike,
    start: Any,
    end: Any,
    duration: float | None = None,
    *,
    velocity: Limit = None,
    acceleration: Limit = None,
    jerk: Limit = None,
    wrap: bool = False,
    reach: bool = True,
) -> TimedPath:
    """From ``start`` to ``end`` along 10 s³ − 15 s⁴ + 6 s⁵: at rest at both ends, without a jump of acceleration.

    Of poses it is screw interpolation; so is the way of a free joint, and a quaternion turns about one axis. Without a
    ``duration`` (s) it is as fast as the limits allow; with one, a path that breaks them is refused. The options are
    those of :func:`cubic`.
    """
    times = None if duration is None else [0.0, duration]
    return quintic(
        space,
        [start, end],
        times,
        velocity=velocity,
        acceleration=acceleration,
        jerk=jerk,
        wrap=wrap,
        reach=reach,
    )


def cubic(
    space: SpaceLike,
    points: Sequence[Any] | RealArray,
    times: RealArray | None = None,
    *,
    ends: tuple[Any, Any] = (0.0, 0.0),
    velocity: Limit = None,
    acceleration: Limit = None,
    jerk: Limit = None,
    wrap: bool = False,
    reach: bool = True,
) -> TimedPath:
    """The cubic spline through way points (N, nq) at times (N,) in s; velocity and acceleration are continuous.

    ``space``: a robot, or "pose", "rotation", "point", "number" for what tasks take. ``ends``: the velocities (nv) at
    both ends. Limits in rad/s or m/s, and so on, hold on every axis: without ``times`` the spline is as fast as they
    allow, with them a spline that breaks one is refused. ``velocity`` is the robot's own unless given; ``math.inf``
    for none. ``wrap`` takes the shorter way round for angles without limits, so that q may end a full turn off the
    last point. ``reach=False`` lets it leave the limits of the robot's coordinates.
    """
    knots, bounds = _knots(space, points, times, wrap, velocity, acceleration, jerk)
    v = knots.smooth_velocities(*_ends(knots.space, ends, "ends"))
    _require_rest_or_times(v, times)
    return _limited(_path(knots, knots.cubic(v)), bounds, times, reach)


def quintic(
    space: SpaceLike,
    points: Sequence[Any] | RealArray,
    times: RealArray | None = None,
    *,
    velocities: RealArray | None = None,
    accelerations: RealArray | None = None,
    velocity: Limit = None,
    acceleration: Limit = None,
    jerk: Limit = None,
    wrap: bool = False,
    reach: bool = True,
) -> TimedPath:
    """Quintics through way points with given ``velocities`` and ``accelerations`` (N, nv) there.

    Those not given are the cubic spline's at the points between, and 0 at both ends, where the path then starts and
    stops without a jump of acceleration. The other arguments are those of :func:`cubic`.
    """
    knots, bounds = _knots(space, points, times, wrap, velocity, acceleration, jerk)
    rest = np.zeros(knots.space.nv)
    v = knots.smooth_velocities(rest, rest) if velocities is None else _rows(knots, velocities, "velocities")
    if accelerations is None:
        a = knots.cubic_accelerations(v)
        a[[0, -1]] = 0.0
    else:
        a = _rows(knots, accelerations, "accelerations")
    _require_rest_or_times(np.zeros(0) if velocities is None and accelerations is None else np.ones(1), times)
    return _limited(_path(knots, knots.quintic(v, a)), bounds, times, reach)


def trapezoids(
    space: SpaceLike,
    points: Sequence[Any] | RealArray,
    *,
    velocity: Limit = None,
    acceleration: Limit,
    straight: bool = False,
    wrap: bool = False,
    reach: bool = True,
) -> TimedPath:
    """From point to point with trapezoids of velocity, at rest at each: :func:`time_optimal` without limits of jerk."""
    return time_optimal(
        space, points, velocity=velocity, acceleration=acceleration, straight=straight, wrap=wrap, reach=reach
    )


def time_optimal(
    space: SpaceLike,
    points: Sequence[Any] | RealArray,
    *,
    velocity: Limit = None,
    acceleration: Limit,
    jerk: Limit = None,
    ends: tuple[Any, Any] = (0.0, 0.0),
    straight: bool = False,
    wrap: bool = False,
    reach: bool = True,
) -> TimedPath:
    """From point to point in the least time within limits of velocity, acceleration and jerk, at rest at each point.

    Each joint follows an S-curve of its own, a trapezoid of velocity without a limit of jerk; those that could arrive
    earlier are slowed down, so that all arrive together. A joint with a quaternion moves along its screw, a pose
    too; their limits hold on each axis of the twist. ``straight``: all joints share one profile, so that the way is a
    straight line in the space, which may take longer. ``ends``: the velocities (nv) at the first and at the last
    point, 0 for joints with quaternions; other ends than rest need the package ruckig.
    """
    where = Space.of(space)
    moving = _moving_ends(where, ends, _flag("straight", straight))
    given = where.points(points)
    stops = unwrapped(where, given) if _flag("wrap", wrap) else given
    bounds = Bounds.of(where, velocity, acceleration, jerk)
    if not (np.isfinite(bounds.acceleration) | np.isfinite(bounds.jerk)).all():
        k = int((~np.isfinite(bounds.acceleration)).argmax())
        raise Error(f"the acceleration of {where.axes[k]!r} has no limit: give one.", axis=where.axes[k])
    groups = _groups(where, straight)
    times, coefficients, bases = [np.zeros(1)], [], []
    ways, rest = where.difference(stops[:-1], stops[1:]), np.zeros(where.nv)
    for k, (start, way) in enumerate(zip(stops[:-1], ways, strict=True)):
        at_ends = moving[0] if k == 0 else rest, moving[1] if k == len(ways) - 1 else rest
        piece = _synchronised(way, bounds, groups, at_ends)
        if piece is None:
            continue
        times.append(times[-1][-1] + piece.times[1:])
        coefficients.append(piece.coefficients)
        bases += [start] * len(piece.coefficients)
    if not bases:
        raise Error("all way points are the same: a reference needs somewhere to go.", argument="points")
    path = TimedPath(where, Piecewise(np.concatenate(times), np.concatenate(coefficients)), np.array(bases))
    return require_in_reach(path) if _flag("reach", reach) else path


def _groups(space: Space, straight: bool) -> list[Axes]:
    """Axes that share one profile."""
    if straight:
        return [np.arange(space.nv)]
    return [*(np.array([v]) for _, v in space.flat), *(np.arange(space.nv)[part.v] for part in space.parts)]


def _moving_ends(space: Space, ends: Any, straight: bool) -> tuple[Array, Array]:
    """Velocities (nv) at both ends, 0 where only rest is possible."""
    first, last = (np.broadcast_to(x, (space.nv,)) for x in _ends(space, ends, "ends"))
    bad = np.arange(space.nv) if straight else np.concatenate([[], *(np.arange(space.nv)[p.v] for p in space.parts)])
    for k in bad.astype(int):
        if first[k] or last[k]:
            why = "on a straight line" if straight else "with a quaternion"
            what = f"{space.axes[k]!r} moves {why}, which starts and ends at rest"
            raise Error(f"{what}: set ends to 0 there, or use cubic.", axis=space.axes[k])
    return first, last


def _synchronised(way: Array, bounds: Bounds, groups: list[Axes], ends: tuple[Array, Array]) -> Piecewise | None:
    """w (nv) from 0 to ``way`` in the least time; None where there is nothing to go."""
    if ends[0].any() or ends[1].any():
        return _in_motion(way, bounds, groups, ends)
    profiles = []
    for axes in groups:
        moving = axes[way[axes] != 0.0]
        size = np.abs(way[moving])
        limits = [float((limit[moving] / size).min(initial=math.inf)) for limit in vars(bounds).values()]
        profiles.append(profile(1.0 if len(moving) else 0.0, *limits))
    duration = max(float(piece.times[-1]) for piece in profiles)
    if duration == 0.0:
        return None
    return _along(way, groups, refined(profiles, duration))


def _in_motion(way: Array, bounds: Bounds, groups: list[Axes], ends: tuple[Array, Array]) -> Piecewise:
    """The same from or to a state in motion: joints by their own ways, those with a quaternion by the share of theirs.

    A joint that ends where it began has no share to go, but may move on its way.
    """
    distance, limits, factors = np.zeros(len(groups)), np.ones((3, len(groups))), np.ones(len(way))
    for g, axes in enumerate(groups):
        own = [limit[axes] for limit in vars(bounds).values()]
        if len(axes) == 1:
            distance[g], limits[:, g] = way[axes[0]], [limit[0] for limit in own]
            continue
        factors[axes] = way[axes]
        going = way[axes] != 0.0
        if going.any():
            distance[g], limits[:, g] = 1.0, [(limit[going] / np.abs(way[axes][going])).min() for limit in own]
    first = np.array([axes[0] for axes in groups])
    return _along(factors, groups, fastest(distance, (ends[0][first], ends[1][first]), list(limits)))


def _along(way: Array, groups: list[Axes], shares: Piecewise) -> Piecewise:
    """Shares of a way, one component per group of axes, as w (nv)."""
    c = np.zeros((len(shares.coefficients), 6, len(way)))
    for k, axes in enumerate(groups):
        c[:, :, axes] = shares.coefficients[:, :, k : k + 1] * way[axes]
    return Piecewise(shares.times, c)


def _knots(space: SpaceLike, points: Any, times: Any, wrap: bool, *limits: Any) -> tuple[Knots, Bounds]:
    where = Space.of(space)
    stops = where.points(points)
    stops = unwrapped(where, stops) if _flag("wrap", wrap) else stops
    bounds, ways = Bounds.of(where, *limits), where.difference(stops[:-1], stops[1:])
    when = _chords(ways, bounds) if times is None else _times(times, len(stops))
    return Knots(where, stops, when, ways), bounds


def _chords(ways: Array, bounds: Bounds) -> Array:
    """Times in proportion to the ways, each axis by its limit of velocity."""
    size = np.where(np.isfinite(bounds.velocity), bounds.velocity, 1.0)
    lengths = np.abs(ways / size).max(axis=1)
    if not lengths.all():
        k = int((lengths == 0.0).argmax())
        raise Error(f"way points {k} and {k + 1} are the same: leave one out, or give times.", argument="points")
    return np.concatenate([[0.0], np.cumsum(lengths)])


def _times(times: Any, count: int) -> Array:
    array = real_array(times, "the times of way points", argument="times")
    if array.shape != (count,):
        raise Error(f"{count} way points need {count} times; found shape {array.shape}.", argument="times")
    if not np.isfinite(array).all() or not (np.diff(array) > 0.0).all():
        raise Error(f"the times of way points are finite and rise; found {array.tolist()}.", argument="times")
    return array


def _ends(space: Space, ends: Any, name: str) -> list[Array]:
    try:
        first, last = ends
    except (TypeError, ValueError):
        raise Error(f"{name} are two velocities, at the start and at the end; found {ends!r}.", argument=name) from None
    arrays = [real_array(x, f"a velocity of {name}", argument=name) for x in (first, last)]
    for array in arrays:
        if array.shape not in ((), (space.nv,)) or not np.isfinite(array).all():
            wanted = f"finite, one number or {space.nv}"
            raise Error(f"the velocities of {name} are {wanted}; found {array.tolist()}.", argument=name)
    return arrays


def _rows(knots: Knots, given: Any, name: str) -> Array:
    array, wanted = real_array(given, name, argument=name), (len(knots.points), knots.space.nv)
    if array.shape != wanted or not np.isfinite(array).all():
        raise Error(f"{name} are finite and of shape {wanted}; found shape {array.shape}.", argument=name)
    return array


def _require_rest_or_times(rates: Array, times: Any) -> None:
    """Velocities that are given have no meaning for a path whose time is stretched."""
    if times is None and len(rates) and (rates[0].any() or rates[-1].any()):
        raise Error("velocities at way points need times: without them the path is stretched.", argument="times")


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise Error(f"{name} is True or False; found {value!r}.", argument=name)
    return bool(value)


def _path(knots: Knots, coefficients: Array) -> TimedPath:
    return TimedPath(knots.space, Piecewise(knots.times, coefficients), knots.points[:-1])


def _limited(path: TimedPath, bounds: Bounds, times: Any, reach: bool) -> TimedPath:
    path = as_fast_as_allowed(path, bounds) if times is None else require_slow(path, bounds)
    return require_in_reach(path) if _flag("reach", reach) else path
