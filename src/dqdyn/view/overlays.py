"""What can be drawn over a robot: frames, screw axes, twists, wrenches, joint efforts and the center of mass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.algebra.values import Pose
from dqdyn.errors import Error
from dqdyn.model.model import TreeJoint
from dqdyn.robot import Robot
from dqdyn.view.motion import body_twists
from dqdyn.view.scene import BLUE, GOLD, GREEN, ORANGE, PURPLE, RED, TEAL, Color, Marker
from dqdyn.view.shapes import extent_of

GROUPS = ("frames", "screw axes", "twists", "wrenches", "joint efforts", "center of mass")
_LONGEST = 0.3  # of an arrow, as a part of the robot's extent


def overlays(
    robot: Robot, q: Any, v: Any = None, tau: Any = None, wrenches: Mapping[str, Any] | None = None
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
        result.append(_marker("ball", "center of mass", "center of mass", center, None, size / 35.0, GOLD, None))
    return result


def acting_wrenches(trajectory: Any, shown: Any = slice(None)) -> dict[str, np.ndarray]:
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


def screw_axes(joint: TreeJoint) -> list[tuple[str, np.ndarray]]:
    """(side, direction) of the axes of a joint, the side being "child" or "parent"; none for balls and free bases."""
    return [(side, np.array(axis)) for side, axis in joint.motion.drawn_axes()]


def _frames(robot: Robot, size: float) -> Iterator[Marker]:
    length = size / 12.0
    places: list[tuple[str, str | int]] = [(joint.name, joint.index) for joint in robot.joints]
    places += [(frame.name, frame.name) for frame in robot.frames.values() if frame.kind == "user"]
    for name, on in places:
        for i, color in enumerate((RED, GREEN, BLUE)):
            yield _marker("arrow", "frames", name, np.zeros(3), length * np.eye(3)[i], length / 20.0, color, on)


def _axes(robot: Robot, size: float) -> Iterator[Marker]:
    for joint in robot.joints:
        for side, direction in screw_axes(joint):
            reach = size / 7.0 * direction
            if side == "child":
                at, on = np.zeros(3), joint.index
            else:
                x, on = Pose.of(joint.placement), joint.parent
                at, reach = x.translation, x.rotation_matrix @ reach
            yield _marker("stick", "screw axes", joint.name, at - reach, 2.0 * reach, size / 250.0, PURPLE, on)


def _twists(robot: Robot, q: np.ndarray, v: np.ndarray, size: float) -> Iterator[Marker]:
    twists = body_twists(robot, q, v)
    for name, part, color in (("ω", twists[..., :3], ORANGE), ("v", twists[..., 3:], TEAL)):
        scale = _scale(part, size)
        for i, body in enumerate(robot.bodies):
            if np.abs(part[:, i]).max(initial=0.0) * scale > 1e-3 * size:
                yield _arrow("twists", f"{body.name} {name}", scale * part[:, i], size, color, i)


def _wrenches(wrenches: Mapping[str, Any], size: float) -> Iterator[Marker]:
    given = {frame: np.atleast_2d(real_array(w, f"the wrench at {frame!r}")) for frame, w in wrenches.items()}
    for name, half, color in (("f", slice(0, 3), RED), ("τ", slice(3, 6), PURPLE)):
        scale = _scale(np.concatenate([w[:, half] for w in given.values()]), size)
        for frame, w in given.items():
            yield _arrow("wrenches", f"{frame} {name}", scale * w[:, half], size, color, frame)


def _efforts(robot: Robot, tau: np.ndarray, size: float) -> Iterator[Marker]:
    """τ along the axes of joints with one coordinate, torques and forces on scales of their own."""
    for angular in (True, False):
        joints = [j for j in robot.joints if not j.is_mimic and j.motion.angular == (angular,) and screw_axes(j)]
        scale = _scale(np.concatenate([tau[:, j.v] for j in joints]), size) if joints else 0.0
        for joint in joints:
            vectors = scale * tau[:, joint.v] * screw_axes(joint)[0][1]
            yield _arrow("joint efforts", joint.name, vectors, size, RED if not angular else PURPLE, joint.index)


def _scale(values: np.ndarray, size: float) -> float:
    """m per unit, so that the longest arrow has its length; 0 where all vanish."""
    vectors = values if values.shape[-1] == 3 else values[..., None]
    longest = float(np.linalg.norm(np.nan_to_num(vectors), axis=-1).max(initial=0.0))
    return _LONGEST * size / longest if longest > 1e-9 else 0.0


def _arrow(group: str, name: str, vectors: np.ndarray, size: float, color: Color, on: str | int) -> Marker:
    return _marker("arrow", group, name, np.zeros(3), np.nan_to_num(vectors), size / 180.0, color, on)


def _marker(
    kind: str, group: str, name: str, at: Any, along: Any, size: float, color: Color, on: str | int | None
) -> Marker:
    vector = np.zeros(3) if along is None else along
    return Marker(kind, group, name, np.atleast_2d(at), np.atleast_2d(vector), size, color, on)


def placed(robot: Robot, marker: Marker, samples: int) -> tuple[int, np.ndarray, np.ndarray]:
    """(body, at, along) of a marker in the frame of the moving body that carries it; −1 is the world."""
    if marker.samples not in (1, samples):
        raise Error(
            f"The {marker.name!r} to draw has {marker.samples} samples, but the trajectory has {samples}: give one "
            "value, or one per sample.",
            name=marker.name,
        )
    if not isinstance(marker.on, str):
        return (-1 if marker.on is None else marker.on), marker.at, marker.along
    frame = robot.model.frame(marker.on)
    x = Pose.of(frame.placement)
    turn = x.rotation_matrix.T
    return frame.body, marker.at @ turn + x.translation, marker.along @ turn
