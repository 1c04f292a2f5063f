"""Surfaces in the world at one moment: of a robot, of the scene around it and of markers, ready to be painted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array
from dqdyn.view.markers import Flags, Marker
from dqdyn.view.shapes import BodyMesh
from dqdyn.view.solids import axes_with_z, capsule, cone, cylinder, sphere
from dqdyn.view.triangles import Color, Indices, Triangles, with_normals


@dataclass(frozen=True, eq=False)
class Surface:
    """Points and unit normals (n, 3) in the world, faces (m, 3), and per face its color (m, 4) and whether it is solid.

    Only what is solid casts a shadow: bodies do, markers do not.
    """

    points: Array
    normals: Array
    faces: Indices
    colors: Array
    solid: Flags

    @staticmethod
    def joined(parts: Sequence[Surface]) -> Surface:
        """Several as one."""
        starts = np.cumsum([0, *(len(part.points) for part in parts)])
        faces = [part.faces + start for part, start in zip(parts, starts, strict=False)]
        return Surface(
            np.concatenate([np.zeros((0, 3)), *(part.points for part in parts)]),
            np.concatenate([np.zeros((0, 3)), *(part.normals for part in parts)]),
            np.concatenate([np.zeros((0, 3), dtype=int), *faces]),
            np.concatenate([np.zeros((0, 4)), *(part.colors for part in parts)]),
            np.concatenate([np.zeros(0, dtype=bool), *(part.solid for part in parts)]),
        )


class BodySurfaces:
    """The meshes of all bodies; normals are computed once, then everything is moved together."""

    def __init__(self, meshes: Sequence[BodyMesh]) -> None:
        parts = []
        bodies = [np.zeros(0, dtype=int)]
        for mesh in meshes:
            points, normals, faces = with_normals(mesh.mesh)
            if not len(faces):
                continue
            colors = np.broadcast_to(np.array(mesh.color), (len(faces), 4))
            parts.append(Surface(points, normals, faces, colors, np.ones(len(faces), dtype=bool)))
            bodies.append(np.full(len(points), mesh.body))
        self.rest, self.body = Surface.joined(parts), np.concatenate(bodies)

    def at(self, poses: Array) -> Surface:
        """With the bodies at poses (bodies, 7), (w, x, y, z | x, y, z)."""
        turns = np.concatenate([Pose(rotation=poses[:, :4]).rotation_matrix.reshape(-1, 3, 3), np.eye(3)[None]])
        shifts = np.concatenate([poses[:, 4:], np.zeros((1, 3))])  # the last is the world, body −1
        points, normals = np.empty_like(self.rest.points), np.empty_like(self.rest.normals)
        for body in np.unique(self.body):
            own = self.body == body
            points[own] = self.rest.points[own] @ turns[body].T + shifts[body]
            normals[own] = self.rest.normals[own] @ turns[body].T
        return Surface(points, normals, self.rest.faces, self.rest.colors, self.rest.solid)


def marker_surface(marker: Marker, sample: int, base: Array) -> list[Surface]:
    """A marker at a sample, carried by a body with the 4×4 matrix ``base``; none where it has no length."""
    at, along = marker.sample(sample)
    across = base[:3, :3] @ marker.third(sample)
    at, along = base[:3, :3] @ at + base[:3, 3], base[:3, :3] @ along
    return [_piece(solid, marker.color_at(sample)) for solid in _solids(marker, at, along, across)]


def _solids(marker: Marker, at: Array, along: Array, across: Array) -> Iterator[tuple[Array, Array, Indices]]:
    size, length = marker.size, float(np.linalg.norm(along))
    if marker.kind == "ball":
        yield _moved("ball", at, along, size, size)
    elif marker.kind == "sheet":
        x, y, _ = axes_with_z(along).T * 0.5 * size
        yield _flat(at + np.array([-x - y, x - y, x + y, -x + y]), along, [[0, 1, 2], [0, 2, 3]])
    elif marker.kind == "triangle":
        normal = np.cross(along, across)
        if np.linalg.norm(normal) > 1e-12:
            yield _flat(np.stack([at, at + along, at + across]), normal, [[0, 1, 2]])
    elif marker.kind == "capsule":
        points, normals, faces = with_normals(capsule(size, length))
        turn = axes_with_z(along)
        yield points @ turn.T + at + 0.5 * along, normals @ turn.T, faces
    elif length > 1e-6 and marker.kind == "stick":
        yield _moved("stick", at, along, size, length)
    elif length > 1e-6:  # an arrow
        head = min(6.0 * size, 0.5 * length)
        thin = min(size, head / 3.0)
        shaft = length - head
        yield _moved("stick", at, along, thin, shaft)
        yield _moved("cone", at + along * (shaft / length), along, 2.6 * thin, head)


def _flat(points: Array, normal: Array, faces: list[list[int]]) -> tuple[Array, Array, Indices]:
    unit = normal / np.linalg.norm(normal)
    return points, np.broadcast_to(unit, points.shape), np.array(faces)


@cache
def _unit(kind: str) -> tuple[Array, Array, Indices]:
    lifted = np.eye(4)
    lifted[2, 3] = 0.5
    solids: dict[str, Triangles] = {
        "ball": sphere(1.0),
        "stick": cylinder(1.0, 1.0).moved(lifted),
        "cone": cone(1.0, 1.0),
    }
    return with_normals(solids[kind])


def _moved(kind: str, at: Array, along: Array, radius: float, length: float) -> tuple[Array, Array, Indices]:
    """A unit solid with its axis along a direction; normals turn with the inverse transpose."""
    points, normals, faces = _unit(kind)
    turn, scale = axes_with_z(along), np.array([radius, radius, length])
    tilted = normals / scale
    tilted /= np.linalg.norm(tilted, axis=1, keepdims=True)
    return (points * scale) @ turn.T + at, tilted @ turn.T, faces


def _piece(solid: tuple[Array, Array, Indices], color: Color) -> Surface:
    points, normals, faces = solid
    colors = np.broadcast_to(np.array(color), (len(faces), 4))
    return Surface(points, normals, faces, colors, np.zeros(len(faces), dtype=bool))
