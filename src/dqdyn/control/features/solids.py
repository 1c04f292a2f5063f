"""Bodies with a volume, on the robot or in the workspace: spheres, capsules, cylinders, boxes and meshes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.algebra.any_pose import as_pose, is_foreign_pose
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.real import real_array
from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array, RealArray
from dqdyn.control.core.errors import refused
from dqdyn.control.features.signals import Signal, SignalLike, as_signal
from dqdyn.errors import Error, missing_extra, one_line, unknown_name
from dqdyn.model.description import Shape
from dqdyn.robot import Robot
from dqdyn.scenes.body import SceneBody

SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3, "half-space": 0, "mesh": 0}
"""Kinds, and how many lengths in m each has."""
_POINT = 1e-6  # m: the radius of a ball that stands for a corner
_FEW = 16  # vertices up to which each of a mesh counts as a corner
_SIGNS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
_FLAT = 1e-9  # of the extent of points, up to which they count as in one plane


@dataclass(frozen=True, eq=False)
class Solid:
    """A body with a volume, fixed to a frame of the robot or in the workspace.

    ``on``: the name of a frame, or a pose in the workspace, constant, a function of time, a ``ct.Moving`` or a
    ``ct.Measured``. ``kind`` and ``size`` in m: "sphere" (radius), "capsule" and "cylinder" (radius, length along z;
    that of a capsule without its ends), "box" (x, y, z), "ellipsoid" (half-axes), "half-space" () below z = 0, "mesh"
    () with ``vertices`` (n, 3) in m, or a ``path`` to a file (STL, OBJ, DAE). ``at``: the pose of the shape's center,
    seen from ``on``. Of meshes the convex hull counts, unless ``faces`` (m, 3), places of vertices from 0, are given:
    these are taken as they are, and have no inside.
    """

    on: str | SignalLike
    kind: str
    size: float | RealArray = ()
    at: Pose = Pose()
    name: str = ""
    vertices: RealArray | None = None
    faces: Any = None
    path: str | Path | None = None
    lengths: tuple[float, ...] = field(init=False, default=())
    place: Signal | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in SIZES:
            raise unknown_name("kind of solid", self.kind, SIZES)
        if not isinstance(self.name, str):
            raise refused("the name of a solid is a string", self.name)
        lengths = np.atleast_1d(real_array(self.size, f"size of a {self.kind}"))
        wanted = SIZES[self.kind]
        if lengths.shape != (wanted,) or not (np.isfinite(lengths) & (lengths > 0.0)).all():
            size = "1 length" if wanted == 1 else f"{wanted} lengths"
            raise refused(f"size of a {self.kind} has {size} above 0, in m", self.size, expected=wanted)
        if is_foreign_pose(self.at):
            object.__setattr__(self, "at", as_pose(self.at))
        if not isinstance(self.at, Pose):
            raise refused(f"at of a {self.kind} is a dq.Pose, seen from what it is fixed to", self.at)
        self._check_mesh()
        object.__setattr__(self, "lengths", tuple(lengths.tolist()))
        if not isinstance(self.on, str):
            object.__setattr__(self, "place", as_signal("pose", self.on, f"the pose of {self.words}"))

    def _check_mesh(self) -> None:
        given = [self.vertices is not None, self.path is not None]
        if self.kind != "mesh":
            if any(given) or self.faces is not None:
                raise Error(f"a {self.kind} has no vertices, faces or path: make it a 'mesh'.", kind=self.kind)
            return
        if sum(given) != 1 or (self.faces is not None and self.vertices is None):
            raise Error("a mesh has vertices (n, 3) in m, with faces or without, or a path to a file, not both.")
        if self.vertices is None:
            return
        points = real_array(self.vertices, "vertices of a mesh")
        if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4 or not np.isfinite(points).all():
            raise refused("vertices of a mesh are four or more finite points (n, 3) in m", points.shape)
        if self.faces is not None:
            faces = real_array(self.faces, "faces of a mesh")
            whole = faces.ndim == 2 and faces.shape[1] == 3 and (faces == np.floor(faces)).all()
            if not whole or faces.min() < 0 or faces.max() >= len(points):
                raise refused(f"faces of a mesh are (m, 3) places of vertices, from 0 to {len(points) - 1}", self.faces)

    @property
    def words(self) -> str:
        """What it is called in reports."""
        return self.name or (f"{self.kind} on {self.on}" if isinstance(self.on, str) else self.kind)

    def corners(self) -> list[Solid]:
        """Small balls at what sticks out: the ends of a capsule, corners of a box, vertices of a small mesh.

        Where two flat bodies are parallel, nearest points jump from one corner to another, and each needs its own row.
        """
        if self.kind == "capsule":
            radius, half = self.lengths[0], self.lengths[1] / 2.0
            points = np.array([[0.0, 0.0, -half], [0.0, 0.0, half]])
        elif self.kind == "box":
            radius, points = _POINT, _SIGNS * np.array(self.lengths) / 2.0
        elif self.kind == "mesh" and self.vertices is not None and len(np.asarray(self.vertices)) <= _FEW:
            radius, points = _POINT, real_array(self.vertices, "vertices of a mesh")
        else:
            return []
        on: Any = self.on if self.place is None else self.place
        return [
            Solid(on, "sphere", radius, self.at * Pose(translation=p), f"corner {i + 1} of {self.words}")
            for i, p in enumerate(points)
        ]

    def geometry(self) -> Any:
        """The shape as coal knows it."""
        coal, s = imported_coal(), self.lengths
        if self.kind == "mesh":
            return self._mesh(coal)
        if self.kind == "half-space":
            return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        makers = {
            "sphere": coal.Sphere,
            "capsule": coal.Capsule,
            "cylinder": coal.Cylinder,
            "box": coal.Box,
            "ellipsoid": coal.Ellipsoid,
        }
        return makers[self.kind](*s)

    def _mesh(self, coal: Any) -> Any:
        if self.path is not None:
            if not Path(self.path).is_file():
                raise Error(f"there is no mesh {str(self.path)!r}: give the path to a file.", path=str(self.path))
            try:
                loaded = coal.MeshLoader().load(str(self.path))
            except Exception as problem:
                why = one_line(str(problem), 120)
                raise Error(f"the mesh {str(self.path)!r} cannot be read: {why}.", path=str(self.path)) from problem
            points = np.array(loaded.vertices())
        else:
            points = real_array(self.vertices, "vertices of a mesh")
        sizes = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
        if self.faces is None and (len(points) < 4 or sizes[-1] <= _FLAT * sizes[0]):  # qhull ends the process
            why = "its points lie in one plane: give a box, or faces"
            raise Error(f"{self.words!r} has no convex hull, {why}.", solid=self.words)
        own = coal.StdVec_Vec3s()
        for p in points:
            own.append(np.ascontiguousarray(p, dtype=float))
        if self.faces is None:
            return coal.Convex.convexHull(own, True, "Qt")
        triangles = coal.StdVec_Triangle()
        for face in np.asarray(self.faces, dtype=int).tolist():
            triangles.append(coal.Triangle(*face))
        model = coal.BVHModelOBBRSS()
        model.beginModel(len(triangles), len(own))
        model.addSubModel(own, triangles)
        model.endModel()
        return model


def imported_coal() -> Any:
    """The package that finds nearest points."""
    try:
        import coal
    except ImportError:
        raise missing_extra("coal", "collision", "Keeping solids apart") from None
    return coal


def solid_of_body(body: SceneBody) -> Solid:
    """A body of a scene as a solid of the workspace; those that physics moves have to be measured."""
    if body.motion in ("free", "hinged"):
        remedy = "make it a ct.Solid(ct.Measured(pose), …), and update it as the loop runs"
        raise Error(f"physics moves {body.name!r}, so a zone has to be told where it is: {remedy}.", body=body.name)
    kind = "half-space" if body.shape == "plane" else body.shape
    on = (lambda t: body.at(t)) if body.motion == "driven" else body.at()
    return Solid(on, kind, body.size, name=body.name)


def solids_of(robot: Robot, links: Iterable[str] | None = None) -> list[Solid]:
    """The collision shapes of a robot's links, of all or of those named, as solids on their frames."""
    if not isinstance(robot, Robot):
        raise refused("solids_of takes a robot first", robot)
    known = {link.name: link for link in robot.model.description.links}
    names = list(known) if links is None else [links] if isinstance(links, str) else list(links)
    found = []
    for name in names:
        if name not in known:
            raise unknown_name("link", name, known)
        found += [_solid_of_shape(name, i, shape) for i, shape in enumerate(known[name].collisions)]
    if not found:
        what = f"{robot.name!r} has no collision shapes" if links is None else f"the links {names} have none"
        raise Error(f"{what}: give solids by ct.Solid(frame, kind, size).", robot=robot.name)
    return found


def _solid_of_shape(link: str, i: int, shape: Shape) -> Solid:
    at, name = Pose(shape.origin), shape.name or (link if i == 0 else f"{link} ({i + 1})")
    if shape.kind == "plane":
        return Solid(link, "half-space", (), at, name)
    if shape.kind != "mesh":
        return Solid(link, shape.kind, shape.size, at, name)
    if shape.path is None:
        raise Error(f"the mesh {shape.mesh!r} of link {link!r} was not found: give the folders of its package.")
    if shape.size and not all(math.isclose(c, 1.0) for c in shape.size):
        scaled = _points(shape.path) * np.array(shape.size)
        return Solid(link, "mesh", (), at, name, vertices=scaled)
    return Solid(link, "mesh", (), at, name, path=shape.path)


def _points(path: Path) -> Array:
    loaded = imported_coal().MeshLoader().load(str(path))
    return np.array(loaded.vertices())


def as_transform(coal: Any, pose: DQ) -> Any:
    """A pose as coal knows it."""
    w, x, y, z = (float(c) for c in pose.primary.components)
    at = 2.0 * (pose.dual * pose.primary.conj())
    result = coal.Transform3s()
    result.setQuatRotation(coal.Quaternion(w, x, y, z))
    result.setTranslation(np.array([float(c) for c in at.vector]))
    return result
