"""What can be drawn over a robot: frames, screw axes, twists, wrenches, joint efforts and the center of mass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array
from dqdyn.errors import Error
from dqdyn.model.model import WORLD_BODY, TreeJoint
from dqdyn.robot import Robot
from dqdyn.view.markers import BLUE, GOLD, GREEN, ORANGE, PURPLE, RED, TEAL, Marker
from dqdyn.view.motion import body_twists
from dqdyn.view.shapes import extent_of
from dqdyn.view.triangles import Color

_LONGEST = 0.3  # of an arrow, as a part of the robot's extent
_ZERO = np.zeros(3)
Wrenches: TypeAlias = Mapping[str, Array]
"""[f, τ] (n, 6) by frame, in the axes of the frames."""
On: TypeAlias = str | int | None
"""What carries a marker: a frame, a moving body by its index, or the world."""


def overlays(
    robot: Robot, q: Array, v: Array | None = None, tau: Array | None = None, wrenches: Wrenches | None = None
) -> list[Marker]:
    """Markers for samples of q (n, nq), v and τ (n, nv) and wrenches (n, 6) by frame, in the axes of the frames.

    Arrows of one kind share a scale, at which the longest has 0.3 of the robot's extent.
    """
    size = extent_of(robot)
    result = [*_frames(robot, size), *_axes(robot, size)]
    if v is not None:
        result += _twists(robot, np.atleast_2d(q), np.atleast_2d(v), size)
    if wrenches:
        result += _wrenches(wrenches, size)
    if tau is not None:
        result += _efforts(robot, np.atleast_2d(tau), size)
    if robot.mass > 0.0:
        center = robot.center_of_mass(np.atleast_2d(q))
        result.append(Marker("ball", "center of mass", "center of mass", center, _ZERO, size / 35.0, GOLD))
    return result


def acting_wrenches(trajectory: Any, shown: Any = slice(None)) -> Wrenches:
    """Wrenches [f, τ] of a trajectory by frame in the axes of the frames, at the samples that are shown."""
    about = getattr(trajectory, "about", None) or {}
    result = {}
    for frame, given in (getattr(trajectory, "wrenches", None) or {}).items():
        wrench = real_array(given, f"the wrench at {frame!r}")[shown]
        if about.get("expressed") == "aligned":
            turn = trajectory.robot.pose(frame, np.asarray(trajectory.q)[shown]).rotation_matrix
            wrench = np.einsum("nji,nkj->nki", turn, wrench.reshape(-1, 2, 3)).reshape(-1, 6)
        result[frame] = wrench
    return result


def contact_arrows(trajectory: Any, shown: Any = slice(None)) -> list[Marker]:
    """Contact forces that a plant recorded, as arrows from their centers of pressure; none where it did not."""
    extra = getattr(trajectory, "extra", None) or {}
    links = [name.partition("/")[2] for name in extra if name.startswith("contact_force/")]
    size, vectors, centers = extent_of(trajectory.robot), {}, {}
    for link in links:
        force, center = (np.asarray(extra.get(f"contact_{what}/{link}")) for what in ("force", "center"))
        if force.shape == center.shape == (len(trajectory.time), 3):
            vectors[link], centers[link] = (None, force[shown]), np.nan_to_num(center[shown])
    return [replace(arrow, at=centers[arrow.name]) for arrow in _arrows("contact forces", vectors, size, GREEN, "N")]


def screw_axes(joint: TreeJoint) -> list[tuple[str, Array]]:
    """(side, direction) of the axes of a joint, the side being "child" or "parent"; none for balls and free bases."""
    return [(side, np.array(axis)) for side, axis in joint.motion.drawn_axes()]


def _frames(robot: Robot, size: float) -> Iterator[Marker]:
    length = size / 12.0
    places: list[tuple[str, str | int]] = [(joint.name, joint.index) for joint in robot.joints]
    places += [(frame.name, frame.name) for frame in robot.frames.values() if frame.kind == "user"]
    for name, on in places:
        for i, color in enumerate((RED, GREEN, BLUE)):
            yield Marker("arrow", "frames", name, _ZERO, length * np.eye(3)[i], length / 20.0, color, on)


def _axes(robot: Robot, size: float) -> Iterator[Marker]:
    for joint in robot.joints:
        for side, direction in screw_axes(joint):
            reach = size / 7.0 * direction
            if side == "child":
                at, on = np.zeros(3), joint.index
            else:
                x, on = Pose.of(joint.placement), joint.parent
                at, reach = x.translation, x.rotation_matrix @ reach
            yield Marker("stick", "screw axes", joint.name, at - reach, 2.0 * reach, size / 250.0, PURPLE, on)


def _twists(robot: Robot, q: Array, v: Array, size: float) -> Iterator[Marker]:
    twists = np.nan_to_num(body_twists(robot, q, v))
    parts = (("ω", twists[..., :3], ORANGE, "rad/s"), ("v", twists[..., 3:], TEAL, "m/s"))
    for symbol, part, color, unit in parts:
        least = 1e-3 / _LONGEST * np.linalg.norm(part, axis=-1).max(initial=0.0)
        shown = [i for i in range(len(robot.bodies)) if np.abs(part[:, i]).max(initial=0.0) > least]
        vectors = {f"{robot.bodies[i].name} {symbol}": (i, part[:, i]) for i in shown}
        yield from _arrows("twists", vectors, size, color, unit)


def _wrenches(wrenches: Wrenches, size: float) -> Iterator[Marker]:
    for symbol, half, color, unit in (("f", slice(0, 3), RED, "N"), ("τ", slice(3, 6), PURPLE, "N m")):
        vectors = {f"{frame} {symbol}": (frame, np.atleast_2d(w)[:, half]) for frame, w in wrenches.items()}
        yield from _arrows("wrenches", vectors, size, color, unit)


def _efforts(robot: Robot, tau: Array, size: float) -> Iterator[Marker]:
    """τ along the axes of joints with one coordinate, torques and forces on scales of their own."""
    for angular, color, unit in ((True, PURPLE, "N m"), (False, RED, "N")):
        joints = [j for j in robot.joints if not j.is_mimic and j.motion.angular == (angular,) and screw_axes(j)]
        vectors = {j.name: (j.index, tau[:, j.v] * screw_axes(j)[0][1]) for j in joints}
        yield from _arrows("joint efforts", vectors, size, color, unit)


def _arrows(
    group: str, vectors: Mapping[str, tuple[On, Array]], size: float, color: Color, unit: str
) -> Iterator[Marker]:
    """Arrows by name, each with the frame or body that carries it, on one scale; of no length where all vanish."""
    finite = {name: (on, np.nan_to_num(values)) for name, (on, values) in vectors.items()}
    longest = max((float(np.linalg.norm(x, axis=-1).max(initial=0.0)) for _, x in finite.values()), default=0.0)
    known = longest > 1e-9
    scale, told = (_LONGEST * size / longest, unit) if known else (1.0, "")
    for name, (on, values) in finite.items():
        vectors_in_m = scale * values if known else np.zeros_like(values)
        yield Marker("arrow", group, name, _ZERO, vectors_in_m, size / 180.0, color, on, unit=told, scale=scale)


def placed(robot: Robot, marker: Marker, samples: int) -> tuple[int, Marker]:
    """The moving body that carries a marker, −1 for the world, and the marker in the frame of that body."""
    if marker.samples not in (1, samples):
        counts = f"The {marker.name!r} to draw has {marker.samples} samples, but the trajectory has {samples}"
        raise Error(f"{counts}: give one value, or one per sample.", name=marker.name)
    if not isinstance(marker.on, str):
        return (WORLD_BODY if marker.on is None else marker.on), marker
    frame = robot.model.frame(marker.on)
    x = Pose.of(frame.placement)
    turn = x.rotation_matrix.T
    at, along, across = marker.at @ turn + x.translation, marker.along @ turn, marker.across @ turn
    return frame.body, replace(marker, at=at, along=along, across=across)
