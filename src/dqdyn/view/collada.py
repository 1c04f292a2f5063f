"""Meshes from COLLADA files (.dae): triangles, polygons, nodes and plain colors; no textures, skins or animations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from defusedxml.ElementTree import parse

from dqdyn.errors import LoadError
from dqdyn.view.triangles import Color, Triangles

_DEEPEST = 64  # nodes inside each other
_MOST_INSTANCES = 5000


def read_collada(path: Path) -> list[Triangles]:
    """Triangles of all instances in the scene, in m.

    The unit counts, the up axis does not: programs that show URDF take the axes as they are, so files rely on that.
    """
    try:
        root = parse(str(path), forbid_dtd=True).getroot()
    except LoadError:
        raise
    except Exception as problem:  # of expat or of defusedxml, which have no common family
        raise LoadError(
            f"The mesh {path.name!r} is not drawn, for it is not XML ({problem}).", file=str(path)
        ) from None
    return _Reader(root).triangles()


class _Reader:
    """Looks things up by their ids, without namespaces."""

    def __init__(self, root: Any) -> None:
        for element in root.iter():
            element.tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
        self.root = root
        self.ids = {element.attrib["id"]: element for element in root.iter() if "id" in element.attrib}
        self.found: list[Triangles] = []

    def triangles(self) -> list[Triangles]:
        unit = self.root.find("asset/unit")
        scale = float(unit.attrib.get("meter", 1.0)) if unit is not None else 1.0
        matrix = np.diag([scale, scale, scale, 1.0])
        scenes = self.root.findall("library_visual_scenes/visual_scene")
        for node in scenes[0].findall("node") if scenes else []:
            self.visit(node, matrix, 0)
        return self.found

    def visit(self, node: Any, matrix: np.ndarray, depth: int) -> None:
        if depth > _DEEPEST or len(self.found) > _MOST_INSTANCES:
            raise ValueError("too many nodes")
        for child in node:
            if child.tag in _MOTIONS:
                matrix = matrix @ _MOTIONS[child.tag](_floats(child))
        for child in node:
            if child.tag == "node":
                self.visit(child, matrix, depth + 1)
            elif child.tag == "instance_node":
                self.visit(self.linked(child.attrib["url"]), matrix, depth + 1)
            elif child.tag == "instance_geometry":
                colors = self.colors(child)
                mesh = self.linked(child.attrib["url"]).find("mesh")
                self.found += [part.moved(matrix) for part in self.mesh(mesh, colors)] if mesh is not None else []

    def linked(self, url: str) -> Any:
        return self.ids[url.removeprefix("#")]

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

    def mesh(self, mesh: Any, colors: dict[str, Color | None]) -> list[Triangles]:
        parts = []
        for element in mesh:
            if element.tag in ("triangles", "polylist", "polygons"):
                color = colors.get(element.attrib.get("material", ""))
                vertices, corners = self.corners(element)
                counts = _counts(element, len(corners))
                parts.append(Triangles(vertices, _fans(corners, counts), color))
        return parts

    def corners(self, element: Any) -> tuple[np.ndarray, np.ndarray]:
        """Positions, and the index into them of each corner in turn."""
        inputs = element.findall("input")
        width = max(int(i.attrib["offset"]) for i in inputs) + 1
        vertex = next(i for i in inputs if i.attrib["semantic"] == "VERTEX")
        position = next(
            i for i in self.linked(vertex.attrib["source"]).findall("input") if i.attrib["semantic"] == "POSITION"
        )
        source = self.linked(position.attrib["source"])
        accessor = source.find("technique_common/accessor")
        stride = int(accessor.attrib.get("stride", 1)) if accessor is not None else 3
        values = _floats(source.find("float_array"))
        indices = np.concatenate([_integers(p) for p in element.findall("p")] or [np.zeros(0, dtype=np.int64)])
        return values.reshape(-1, stride)[:, :3], indices[int(vertex.attrib["offset"]) :: width]


def _counts(element: Any, corners: int) -> np.ndarray:
    """Corners of each polygon."""
    if element.tag == "polylist":
        return _integers(element.find("vcount"))
    if element.tag == "polygons":
        inputs = max(int(i.attrib["offset"]) for i in element.findall("input")) + 1
        return np.array([len(_integers(p)) // inputs for p in element.findall("p")])
    return np.full(corners // 3, 3)


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
