"""Meshes from COLLADA files (.dae): triangles, polygons, nodes and plain colors; no textures, skins or animations."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from defusedxml.ElementTree import fromstring

from dqdyn.errors import LoadError
from dqdyn.view.triangles import Color, Triangles

_DEEPEST = 64  # nodes inside each other
_MOST_NODES = 20_000  # and geometries in them; one that is shared counts wherever it is used
_MOST_CORNERS = 10_000_000  # vertices and corners of faces, in all instances
_MOST_INPUTS = 64  # numbers per corner


def read_collada(data: bytes, path: Path) -> list[Triangles]:
    """Triangles of all instances in the scene, in m.

    The unit counts, the up axis does not: programs that show URDF take the axes as they are, so files rely on that.
    """
    try:
        root = fromstring(data, forbid_dtd=True)
    except Exception as problem:  # of expat or of defusedxml, which have no common family
        raise LoadError(
            f"The mesh {path.name!r} is not drawn, for it is not XML ({problem}).", file=str(path)
        ) from None
    return _Reader(root).triangles()


class _Reader:
    """Looks things up by their ids, without namespaces. What a file lacks is a ValueError that says so."""

    def __init__(self, root: Any) -> None:
        for element in root.iter():
            element.tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
        self.root = root
        self.ids = {element.attrib["id"]: element for element in root.iter() if "id" in element.attrib}
        self.found: list[Triangles] = []
        self.meshes: dict[str, list[tuple[str, Triangles]]] = {}  # of geometries: the symbol of the material, triangles
        self.nodes = self.corners_drawn = 0

    def triangles(self) -> list[Triangles]:
        unit = self.root.find("asset/unit")
        scale = float(unit.attrib.get("meter", 1.0)) if unit is not None else 1.0
        matrix = np.diag([scale, scale, scale, 1.0])
        scenes = self.root.findall("library_visual_scenes/visual_scene")
        for node in scenes[0].findall("node") if scenes else []:
            self.visit(node, matrix, 0)
        return self.found

    def visit(self, node: Any, matrix: np.ndarray, depth: int) -> None:
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
                    self.found.append(part.colored(colors.get(symbol)).moved(matrix))

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
                    faces = _fans(corners, _counts(element, len(corners)))
                    parts.append((element.attrib.get("material", ""), Triangles(vertices, faces)))
            self.meshes[key] = parts
        return self.meshes[key]

    def corners(self, element: Any) -> tuple[np.ndarray, np.ndarray]:
        """Positions, and the index into them of each corner in turn."""
        inputs = element.findall("input")
        width = _width(inputs)
        vertex = _by_semantic(inputs, "VERTEX", element)
        vertices = self.linked(vertex, "source")
        source = self.linked(_by_semantic(vertices.findall("input"), "POSITION", vertices), "source")
        accessor = source.find("technique_common/accessor")
        stride = int(accessor.attrib.get("stride", 1)) if accessor is not None else 3
        if stride < 3:
            raise ValueError(f"its positions have {stride} numbers each instead of 3")
        values = _floats(_child(source, "float_array"))
        indices = np.concatenate([_integers(p) for p in element.findall("p")] or [np.zeros(0, dtype=np.int64)])
        return values.reshape(-1, stride)[:, :3], indices[_offset(vertex) :: width]


def _child(element: Any, tag: str) -> Any:
    found = element.find(tag)
    if found is None:
        raise ValueError(f"a <{element.tag}> lacks its <{tag}>")
    return found


def _by_semantic(inputs: Iterable[Any], semantic: str, owner: Any) -> Any:
    for element in inputs:
        if element.attrib.get("semantic") == semantic:
            return element
    raise ValueError(f"a <{owner.tag}> lacks its input {semantic}")


def _offset(element: Any) -> int:
    offset = int(element.attrib.get("offset", 0))
    if not 0 <= offset < _MOST_INPUTS:
        raise ValueError(f"an input has the offset {offset}")
    return offset


def _width(inputs: Iterable[Any]) -> int:
    """Numbers per corner."""
    return max((_offset(element) for element in inputs), default=0) + 1


def _counts(element: Any, corners: int) -> np.ndarray:
    """Corners of each polygon."""
    if element.tag == "triangles":
        return np.full(corners // 3, 3)
    if element.tag == "polylist":
        counts = _integers(_child(element, "vcount"))
    else:
        width = _width(element.findall("input"))
        counts = np.array([len(_integers(p)) // width for p in element.findall("p")], dtype=np.int64)
    if (counts < 0).any() or (counts > corners).any() or counts.sum() > corners:
        raise ValueError(f"its polygons have more corners than the {corners} that are given")
    return counts


def _fans(corners: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Polygons as fans of triangles (m, 3)."""
    starts = np.repeat(np.cumsum(counts) - counts, np.maximum(counts - 2, 0))
    size = np.maximum(counts - 2, 0)
    step = np.arange(len(starts)) - np.repeat(np.cumsum(size) - size, size)
    return np.stack([corners[starts], corners[starts + step + 1], corners[starts + step + 2]], axis=-1)


def _floats(element: Any) -> np.ndarray:
    return np.array((element.text or "").split(), dtype=float)


def _integers(element: Any) -> np.ndarray:
    return np.array((element.text or "").split(), dtype=np.int64)


def _translate(values: np.ndarray) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = values
    return matrix


def _rotate(values: np.ndarray) -> np.ndarray:
    """Axis and angle in degrees."""
    axis, angle = values[:3], np.radians(values[3])
    length = np.linalg.norm(axis)
    x, y, z = axis / length if length else (0.0, 0.0, 1.0)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    matrix = np.eye(4)
    matrix[:3, :3] += np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    return matrix


_MOTIONS = {
    "matrix": lambda values: values.reshape(4, 4),
    "translate": _translate,
    "rotate": _rotate,
    "scale": lambda values: np.diag([*values, 1.0]),
}
