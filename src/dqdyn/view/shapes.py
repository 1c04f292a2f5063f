"""The appearance of a robot: triangles per body, from its visuals, else from its collisions, else from its joints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array
from dqdyn.errors import LoadError
from dqdyn.model.description import Link, Shape
from dqdyn.model.model import WORLD_BODY
from dqdyn.robot import Robot
from dqdyn.view.mesh_files import FARTHEST, read_mesh
from dqdyn.view.solids import KINDS, along, box, sphere
from dqdyn.view.triangles import Color, Triangles, merged, reduced

PLAIN: Color = (0.80, 0.81, 0.83, 1.0)
"""Of visuals without a color."""
LIMB: Color = (0.87, 0.88, 0.90, 1.0)
HINGE: Color = (0.16, 0.47, 0.84, 1.0)
MOST_FACES = 150_000
"""In total; larger meshes are coarsened in proportion."""


@dataclass(frozen=True, eq=False)
class BodyMesh:
    """Triangles in the frame of a moving body; −1 is the world."""

    body: int
    mesh: Triangles

    @property
    def color(self) -> Color:
        return PLAIN if self.mesh.color is None else self.mesh.color


@dataclass(frozen=True, eq=False)
class Appearance:
    """Meshes of a robot, and what could not be drawn, as sentences."""

    meshes: tuple[BodyMesh, ...]
    notes: tuple[str, ...] = ()


def appearance_of(robot: Robot, most_faces: int = MOST_FACES) -> Appearance:
    """Meshes of all bodies, one per body and color; parts whose files are missing become capsules."""
    reader = _ShapeReader()
    parts: dict[int, list[Triangles]] = {}
    bare: set[int] = set()  # bodies with visuals of which none can be drawn
    for link in robot.description.links:
        frame = robot.frames[link.name]
        with np.errstate(all="ignore"):  # overflow is caught right below
            meshes, complete = reader.link(link)
            moved = [part.moved(Pose.of(frame.placement).matrix) for part in meshes]
        drawn = [part for part in moved if (np.abs(part.vertices) <= FARTHEST).all()]
        if len(drawn) < len(moved):
            reader.note(f"A shape of link {link.name!r} is too large or too far away to be drawn.")
        parts.setdefault(frame.body, []).extend(drawn)
        if not complete and not drawn:
            bare.add(frame.body)
    nothing = not any(parts.values())
    for body in range(len(robot.bodies)):
        if not parts.get(body) and (nothing or body in bare):
            parts[body] = list(_from_joints(robot, body))
    bodies = [BodyMesh(body, mesh) for body, members in sorted(parts.items()) for mesh in merged(members)]
    return Appearance(tuple(_within(bodies, most_faces)), tuple(reader.notes))


class _ShapeReader:
    """Reads every mesh file once and notes what went wrong."""

    def __init__(self) -> None:
        self.files: dict[object, list[Triangles] | None] = {}
        self.notes: list[str] = []

    def link(self, link: Link) -> tuple[list[Triangles], bool]:
        """What is drawn of a link, and whether that is complete."""
        visuals = [self.shape(shape, link.name) for shape in link.visuals]
        complete = all(part is not None for part in visuals)
        if complete or any(visuals):
            return _joined(visuals), complete
        solid = [shape for shape in link.collisions if shape.kind != "mesh" or shape.path]
        return _joined(self.shape(shape, link.name) for shape in solid), False

    def shape(self, shape: Shape, owner: str) -> list[Triangles] | None:
        """None where a file is missing or cannot be read."""
        matrix = Pose.of(shape.origin).matrix
        if shape.kind != "mesh":
            solid = KINDS.get(shape.kind)
            return None if solid is None else [solid(*shape.size).moved(matrix).colored(shape.color)]
        meshes = self.file(shape, owner)
        if meshes is None:
            return None
        matrix[:3, :3] *= shape.size or (1.0, 1.0, 1.0)
        # A color of the robot's file goes before those of the mesh, but files often give one only as a stopgap.
        own = any(mesh.color is not None for mesh in meshes)
        return [(mesh if own else mesh.colored(shape.color)).moved(matrix) for mesh in meshes]

    def file(self, shape: Shape, owner: str) -> list[Triangles] | None:
        if shape.path is None:
            self.note(f"The mesh {shape.mesh!r} of link {owner!r} is not found; a simple shape is drawn instead.")
            return None
        if shape.path not in self.files:
            try:
                self.files[shape.path] = read_mesh(shape.path)
            except LoadError as problem:
                self.note(f"{problem} It belongs to link {owner!r}.")
                self.files[shape.path] = None
        return self.files[shape.path]

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _joined(parts: Iterable[list[Triangles] | None]) -> list[Triangles]:
    return [mesh for part in parts if part for mesh in part]


def _from_joints(robot: Robot, body: int) -> Iterator[Triangles]:
    """Capsules from a body's own joint to the joints and named frames that it carries; a box if there are none."""
    thick = extent_of(robot) / 60.0
    yield sphere(1.5 * thick).colored(HINGE)
    origin = np.zeros(3)
    ends = [_origin(joint.placement) for joint in robot.joints if joint.parent == body]
    ends += [_origin(f.placement) for f in robot.frames.values() if f.body == body and f.kind == "user"]
    far = [end for end in ends if np.linalg.norm(end) > thick]
    for end in far:
        yield along(origin, end, thick).colored(LIMB)
    inertia = robot.bodies[body].inertia
    center = np.array(inertia.com)
    if not far and inertia.mass > 0.0 and np.linalg.norm(center) > thick:
        yield along(origin, 2.0 * center, thick).colored(LIMB)  # a rod with its center of mass there
    elif not ends:
        yield box(3.0 * thick, 3.0 * thick, 3.0 * thick).colored(LIMB)


def extent_of(robot: Robot) -> float:
    """A length in m that is typical of the robot: its longest way from the root to a frame, at least 0.1 m."""
    reach = {WORLD_BODY: 0.0}
    for joint in robot.joints:
        reach[joint.index] = reach[joint.parent] + float(np.linalg.norm(_origin(joint.placement)))
    frames = [frame for frame in robot.frames.values() if frame.body != WORLD_BODY]
    return max([0.1, *(reach[frame.body] + float(np.linalg.norm(_origin(frame.placement))) for frame in frames)])


def _within(meshes: list[BodyMesh], most: int) -> list[BodyMesh]:
    count = sum(len(part.mesh.faces) for part in meshes)
    if count <= most:
        return meshes
    share = most / count
    return [replace(p, mesh=reduced(p.mesh, max(200, int(share * len(p.mesh.faces))))) for p in meshes]


def _origin(x: DQ) -> Array:
    return Pose.of(x).translation
