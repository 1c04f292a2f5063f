"""The bodies of a scene as meshes that stand still or move beside those of the robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array
from dqdyn.errors import Error, one_line
from dqdyn.model.model import WORLD_BODY
from dqdyn.scenes.body import SceneBody
from dqdyn.scenes.scene import Scene
from dqdyn.view.bounds import Bounds, bounds_of
from dqdyn.view.markers import Marker, Markers
from dqdyn.view.shapes import Appearance, BodyMesh
from dqdyn.view.solids import KINDS, plane
from dqdyn.view.triangles import Color, Indices, Triangles

COLORS: dict[str, Color] = {
    "fixed": (0.74, 0.68, 0.58, 1.0),
    "driven": (0.93, 0.60, 0.22, 1.0),
    "free": (0.20, 0.58, 0.62, 1.0),
    "hinged": (0.55, 0.42, 0.72, 1.0),
}
"""Of bodies without a color, by how they move."""
_SIDE = 4.0  # m of the square that is drawn of a plane
_LEVEL = 1e-6
_NEAR, _SMALL = 4.0, 2.0  # in radii of the robot: bodies within the one and below the other are shown whole


@dataclass(frozen=True, eq=False)
class Setting:
    """What is drawn around a robot: meshes, of which those that move belong to the rows of ``poses`` (n, moving, 7).

    ``names``: of the scene's bodies, one per mesh. ``floor`` is the height of a horizontal plane, which the page draws
    as its ground; ``markers`` are the user's.
    """

    meshes: tuple[BodyMesh, ...] = ()
    poses: Array | None = None
    floor: float | None = None
    markers: tuple[Marker, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def moving(self) -> int:
        """Number of bodies that move."""
        return 0 if self.poses is None else self.poses.shape[1]

    def shown(self, samples: Indices) -> Setting:
        """With some of the samples."""
        return self if self.poses is None else replace(self, poses=self.poses[samples])

    def beside(self, poses: Array) -> Array:
        """Poses (n, bodies, 7) of the robot, then of the scene; a scene with one sample stands still."""
        if self.poses is None or not self.moving:
            return poses
        return np.concatenate([poses, np.broadcast_to(self.poses, (len(poses), self.moving, 7))], axis=1)

    def bounds(self, appearance: Appearance, poses: Array) -> Bounds:
        """Those of the robot, and of bodies that are near and not much larger; ``poses`` are those of all."""
        own = bounds_of(appearance, poses)
        near = [part for part in self.meshes if _is_near(part, poses, own)]
        result = bounds_of(Appearance((*appearance.meshes, *near)), poses) if near else own
        return result if self.floor is None else replace(result, ground=self.floor)


def setting_of(scene: Any, markers: Any, first: int, time: Array, extra: Mapping[str, Array] | None = None) -> Setting:
    """The setting for a robot with ``first`` bodies, at ``time`` (n,); ``extra`` of a trajectory knows what moved how.

    A list of markers may stand as ``scene`` too.
    """
    if isinstance(scene, Markers):
        scene, markers = None, _joined(scene, markers)
    if markers is not None and not isinstance(markers, Markers):
        raise Error(f"markers are Markers() with what to draw; found {one_line(repr(markers), 80)}.")
    shown = () if markers is None else tuple(markers.markers)
    if scene is None:
        return Setting(markers=shown)
    if not isinstance(scene, Scene):
        raise Error(f"scene is a Scene, as dq.Scene([...]) makes one; found {one_line(repr(scene), 80)}.")
    moving = [body for body in scene if body.motion != "fixed"]
    numbers = {body.name: first + i for i, body in enumerate(moving)}
    floors = [body for body in scene if body.shape == "plane" and body.motion == "fixed" and _is_level(body)]
    drawn = [(body.name, mesh) for body in scene if body not in floors[:1] for mesh in _meshes(body)]
    meshes = [BodyMesh(numbers.get(name, WORLD_BODY), mesh) for name, mesh in drawn]
    tracks = [_track(body, time, extra or {}) for body in moving]
    poses = np.stack(tracks, axis=1) if tracks else None
    floor = float(floors[0].at().translation[2]) if floors else None
    return Setting(tuple(meshes), poses, floor, shown, tuple(name for name, _ in drawn))


def _joined(one: Markers, other: Markers | None) -> Markers:
    both = Markers()
    both.markers = [*one.markers, *([] if other is None else other.markers)]
    return both


def _meshes(body: SceneBody) -> list[Triangles]:
    solid = plane(_SIDE) if body.shape == "plane" else KINDS[body.shape](*body.size)
    parts = [solid.colored(body.color or COLORS[body.motion])]
    for shape in body.visuals:
        if shape.kind in KINDS:
            parts.append(KINDS[shape.kind](*shape.size).moved(Pose.of(shape.origin).matrix).colored(shape.color))
    return [part.moved(body.at().matrix) for part in parts] if body.motion == "fixed" else parts


def _track(body: SceneBody, time: Array, extra: Mapping[str, Array]) -> Array:
    """(n, 7): as it was recorded, or as its function says, or where it starts."""
    recorded = extra.get(f"scene_pose/{body.name}")
    if recorded is not None and np.shape(recorded) == (len(time), 7):
        return np.asarray(recorded, dtype=float)
    times = time if body.motion == "driven" else time[:1]
    rows = np.array([[*body.at(float(t)).rotation, *body.at(float(t)).translation] for t in times])
    return np.broadcast_to(rows, (len(time), 7))


def _is_level(body: SceneBody) -> bool:
    return bool(body.at().rotation_matrix[2, 2] > 1.0 - _LEVEL)


def _is_near(part: BodyMesh, poses: Array, own: Bounds) -> bool:
    low, high = part.mesh.vertices.min(axis=0), part.mesh.vertices.max(axis=0)
    center = (low + high) / 2.0
    if part.body != WORLD_BODY:
        row = poses[0, part.body]
        center = row[4:] + Pose(rotation=row[:4]).rotation_matrix @ center
    size = float(np.linalg.norm(high - low)) / 2.0
    away = float(np.linalg.norm(center - np.array(own.center)))
    return bool(size < _SMALL * own.radius and away < _NEAR * own.radius)
