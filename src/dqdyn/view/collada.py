"""Meshes from COLLADA files (.dae): triangles, polygons, nodes and plain colors; no textures, skins or animations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from defusedxml.ElementTree import fromstring

from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array
from dqdyn.view.triangles import Color, Indices, Triangles, fans

_DEEPEST = 64  # nodes inside each other
_MOST_NODES = 20_000  # and geometries in them; one that is shared counts wherever it is used
_MOST_CORNERS = 10_000_000  # vertices and corners of faces, in all instances
_MOST_INPUTS = 64  # numbers per corner


def read_collada(data: bytes, path: Path) -> list[Triangles]:
    """Triangles of all instances in the scene, in m.

    The unit counts, the up axis does not: programs that show URDF take the axes as they are, so files rely on that.
    """
    return _Collada(fromstring(data, forbid_dtd=True)).triangles()


class _Collada:
    """A document with its elements by id, without namespaces. A missing element raises ValueError."""

    def __init__(self, root: Any) -> None:
        for element in root.iter():
            element.tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
        self.root = root
        self.ids = {element.attrib["id"]: element for element in root.iter() if "id" in element.attrib}
        self.drawn: list[Triangles] = []
        self.meshes: dict[str, list[tuple[str, Triangles]]] = {}  # of geometries: the symbol of the material, triangles
        self.nodes = self.corners_drawn = 0

    def triangles(self) -> list[Triangles]:
        unit = self.root.find("asset/unit")
        scale = float(unit.attrib.get("meter", 1.0)) if unit is not None else 1.0
        matrix = np.diag([scale, scale, scale, 1.0])
        scenes = self.root.findall("library_visual_scenes/visual_scene")
        for node in scenes[0].findall("node") if scenes else []:
            self.visit(node, matrix, 0)
        return self.drawn

    def visit(self, node: Any, matrix: Array, depth: int) -> None:
        self.nodes += 1 + len(node.findall("instance_geometry"))
        if depth > _DEEPEST or self.nodes > _MOST_NODES:  # nodes that share nodes that share nodes grow without end
            raise ValueError(f"its nodes are more than {_DEEPEST} deep or more than {_MOST_NODES}")
        for child in node:
            if child.tag in _MOTIONS:
                matrix = matrix @ _MOTIONS[child.tag](_floats(child))
        for child in node:
            if child.tag == "node":
                self.visit(child, matrix, depth + 1)
            elif child.tag == "instance_node":
                self.visit(self.linked(child, "url"), matrix, depth + 1)
            elif child.tag == "instance_geometry":
                colors = self.colors(child)
                for symbol, part in self.mesh(child):
                    self.corners_drawn += len(part.vertices) + part.faces.size
                    if self.corners_drawn > _MOST_CORNERS:
                        raise ValueError(f"its instances have more than {_MOST_CORNERS} corners")
                    self.drawn.append(part.colored(colors.get(symbol)).moved(matrix))

    def linked(self, element: Any, attribute: str) -> Any:
        """What an attribute such as ``url="#part"`` refers to."""
        name = element.attrib.get(attribute, "").removeprefix("#")
        if name not in self.ids:
            raise ValueError(f"a <{element.tag}> refers to {name!r}, which is not there")
        return self.ids[name]

    def colors(self, instance: Any) -> dict[str, Color | None]:
        """Colors by the symbols that the parts of this instance use."""
        bound = instance.iter("instance_material")
        return {b.attrib.get("symbol", ""): self.material(b.attrib.get("target", "")) for b in bound}

    def material(self, target: str) -> Color | None:
        material = self.ids.get(target.removeprefix("#"))
        link = material.find("instance_effect") if material is not None else None
        effect = self.ids.get(link.attrib.get("url", "").removeprefix("#")) if link is not None else None
        color = effect.find(".//diffuse/color") if effect is not None else None
        if color is None:
            return None
        red, green, blue = np.clip(_floats(color)[:3], 0.0, 1.0).tolist()
        return red, green, blue, 1.0  # opacity is written in so many ways that files contradict each other

    def mesh(self, instance: Any) -> list[tuple[str, Triangles]]:
        """The parts of a geometry, each with the symbol of its material; a geometry is read once."""
        key = instance.attrib.get("url", "")
        if key not in self.meshes:
            parts = []
            for element in self.linked(instance, "url").iterfind("mesh/*"):
                if element.tag in ("triangles", "polylist", "polygons"):
                    vertices, corners = self.corners(element)
                    faces = fans(corners, _counts(element, len(corners)))
                    parts.append((element.attrib.get("material", ""), Triangles(vertices, faces)))
            self.meshes[key] = parts
        return self.meshes[key]

    def corners(self, element: Any) -> tuple[Array, Indices]:
        """Positions, and the index into them of each corner in turn."""
        width = _width(element)
        vertex = _child(element, "input[@semantic='VERTEX']")
        position = _child(self.linked(vertex, "source"), "input[@semantic='POSITION']")
        source = self.linked(position, "source")
        accessor = source.find("technique_common/accessor")
        stride = int(accessor.attrib.get("stride", 1)) if accessor is not None else 3
        if stride < 3:
            raise ValueError(f"its positions have {stride} numbers each instead of 3")
        values = _floats(_child(source, "float_array"))
        indices = np.concatenate([_integers(p) for p in element.findall("p")] or [np.zeros(0, dtype=np.int64)])
        return values.reshape(-1, stride)[:, :3], indices[_offset(vertex) :: width]


def _child(element: Any, path: str) -> Any:
    child = element.find(path)
    if child is None:
        raise ValueError(f"a <{element.tag}> lacks its {path}")
    return child


def _offset(element: Any) -> int:
    offset = int(element.attrib.get("offset", 0))
    if not 0 <= offset < _MOST_INPUTS:
        raise ValueError(f"an input has the offset {offset}")
    return offset


def _width(element: Any) -> int:
    """Numbers per corner."""
    return max((_offset(given) for given in element.findall("input")), default=0) + 1


def _counts(element: Any, corners: int) -> Indices:
    """Corners of each polygon."""
    if element.tag == "triangles":
        return np.full(corners // 3, 3)
    if element.tag == "polylist":
        counts = _integers(_child(element, "vcount"))
    else:
        width = _width(element)
        counts = np.array([len(_integers(p)) // width for p in element.findall("p")], dtype=np.int64)
    if (counts < 0).any() or (counts > corners).any() or counts.sum() > corners:
        raise ValueError(f"its polygons have more corners than the {corners} that are given")
    return counts


def _floats(element: Any) -> Array:
    return np.array((element.text or "").split(), dtype=float)


def _integers(element: Any) -> Indices:
    return np.array((element.text or "").split(), dtype=np.int64)


def _rotate(values: Array) -> Array:
    """Axis and angle in degrees."""
    axis, half = values[:3], np.radians(values[3]) / 2.0
    length = np.linalg.norm(axis)
    unit = axis / length if length else np.array([0.0, 0.0, 1.0])
    return Pose(rotation=[np.cos(half), *(np.sin(half) * unit)]).matrix


_MOTIONS: dict[str, Callable[[Array], Array]] = {
    "matrix": lambda values: values.reshape(4, 4),
    "translate": lambda values: Pose(translation=values).matrix,
    "rotate": _rotate,
    "scale": lambda values: np.diag([*values, 1.0]),
}
