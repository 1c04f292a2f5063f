"""Triangles with a color: what files and primitives become before they are drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dqdyn.arrays import Array

Indices: TypeAlias = npt.NDArray[np.signedinteger[Any]]
Color = tuple[float, float, float, float]
"""Red, green, blue and opacity from 0 to 1."""

CREASE = 0.76
"""Cosine of the largest angle, about 40°, between neighbours that are shaded as one smooth surface."""
_MOST_NEIGHBOURS = 48  # at one vertex; centers of fans have more, and their faces lie in one plane anyway


@dataclass(frozen=True, eq=False)
class Triangles:
    """``vertices`` (n, 3) in m and ``faces`` (m, 3), counter-clockwise from outside; ``color`` None: not given."""

    vertices: Array
    faces: Indices
    color: Color | None = None

    def moved(self, matrix: Array) -> Triangles:
        """Under a 4×4 matrix, which may also scale; a mirror image keeps its outside."""
        vertices = self.vertices @ matrix[:3, :3].T + matrix[:3, 3]
        turned = np.linalg.det(matrix[:3, :3]) < 0.0
        return replace(self, vertices=vertices, faces=self.faces[:, ::-1] if turned else self.faces)

    def colored(self, color: Color | None) -> Triangles:
        return replace(self, color=color)


def merged(parts: Iterable[Triangles]) -> list[Triangles]:
    """One mesh per color."""
    groups: dict[Color | None, list[Triangles]] = {}
    for part in parts:
        groups.setdefault(part.color, []).append(part)
    result = []
    for color, members in groups.items():
        starts = np.cumsum([0, *(len(m.vertices) for m in members)])
        faces = [m.faces + start for m, start in zip(members, starts, strict=False)]
        result.append(Triangles(np.concatenate([m.vertices for m in members]), np.concatenate(faces), color))
    return result


def welded(mesh: Triangles, cell: float = 0.0) -> Triangles:
    """Vertices of equal place made one, faces without area dropped; with ``cell`` in m, one vertex per cube of it."""
    grid = mesh.vertices / cell if cell else mesh.vertices * 1e7  # 0.1 µm
    _, first, inverse = np.unique(np.round(grid).astype(np.int64), axis=0, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    if cell:  # the mean of a cube's vertices keeps the surface in place
        counts = np.bincount(inverse)
        vertices = np.stack([np.bincount(inverse, mesh.vertices[:, i]) / counts for i in range(3)], axis=-1)
    else:
        vertices = mesh.vertices[first]
    faces = inverse[mesh.faces]
    a, b, c = faces.T
    return replace(mesh, vertices=vertices, faces=faces[(a != b) & (b != c) & (c != a)])


def reduced(mesh: Triangles, most: int) -> Triangles:
    """At most about ``most`` faces, by uniting vertices in ever larger cubes; small meshes stay as they are."""
    mesh = welded(mesh)
    if len(mesh.faces) <= most:
        return mesh
    size = float(np.ptp(mesh.vertices, axis=0).max())
    cell, result = size / 400.0, mesh
    while len(result.faces) > most and cell < size:
        result, cell = welded(mesh, cell), cell * 1.25
    return result


def counted(sizes: Indices) -> Indices:
    """0, 1, … in each of several runs, one after the other."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def fans(corners: Indices, sizes: Indices) -> Indices:
    """Polygons as fans of triangles (m, 3): ``corners`` of all in turn, and how many each of them has."""
    triangles = np.maximum(sizes - 2, 0)
    starts, step = np.repeat(np.cumsum(sizes) - sizes, triangles), counted(triangles)
    return np.stack([corners[starts], corners[starts + step + 1], corners[starts + step + 2]], axis=-1)


def with_normals(mesh: Triangles) -> tuple[Array, Array, Indices]:
    """Vertices (n, 3), unit normals (n, 3) and faces (m, 3) for shading: vertices on creases appear once per side."""
    mesh = welded(mesh)
    corners = mesh.vertices[mesh.faces]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(areas, axis=1, keepdims=True)
    flat = areas / np.where(lengths > 0.0, lengths, 1.0)
    normals = _smoothed(mesh.faces, areas, flat)
    # Corners of one vertex with the same normal, to one byte per component, share an entry.
    key = np.column_stack([mesh.faces.reshape(-1), np.round(normals * 127.0).astype(np.int64)])
    _, first, inverse = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return mesh.vertices[key[first, 0]], normals[first], inverse.reshape(-1, 3)


def _smoothed(faces: Indices, areas: Array, flat: Array) -> Array:
    """Normal of each corner (3m, 3): mean over the faces at its vertex that do not turn away beyond the crease."""
    vertex = faces.reshape(-1)
    face = np.repeat(np.arange(len(faces)), 3)
    order = np.argsort(vertex, kind="stable")
    counts = np.bincount(vertex, minlength=vertex.max(initial=-1) + 1)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    few = order[counts[vertex[order]] <= _MOST_NEIGHBOURS]
    neighbours = counts[vertex[few]]
    own = np.repeat(few, neighbours)  # pairs of corners at one vertex: own, other
    other = order[starts[vertex[own]] + counted(neighbours)]
    close = np.einsum("ij,ij->i", flat[face[own]], flat[face[other]]) > CREASE
    own, other = own[close], other[close]
    total = np.stack([np.bincount(own, areas[face[other], i], minlength=len(vertex)) for i in range(3)], axis=-1)
    lengths = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(lengths > 0.0, total / np.where(lengths > 0.0, lengths, 1.0), flat[face])
