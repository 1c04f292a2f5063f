"""Shapes as MuJoCo's geoms, with the assets they need."""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ET
from pathlib import Path

from dqdyn.formats.joint_rewriter import Names
from dqdyn.formats.mjcf.shapes import SIZES
from dqdyn.formats.xml_text import element, name_text, numbers, xyz
from dqdyn.model.description import Link, Shape

VISUAL = {"group": "2", "contype": "0", "conaffinity": "0"}
COLLISION = {"group": "3", "contype": "0", "conaffinity": "1"}
"""Touched by geoms with MuJoCo's default contact type, but not by one another."""

MOST_FACES = 200_000
"""MuJoCo refuses larger STL files."""


class Geoms:
    """Writes the shapes of links; ``left_out`` receives what MuJoCo cannot take."""

    def __init__(self, assets: ET.Element, left_out: list[str]) -> None:
        self.assets, self.left_out = assets, left_out
        self.names = Names(())
        self.meshes: dict[tuple[Path, tuple[float, ...]], str] = {}
        self.materials: dict[str, tuple[float, ...]] = {}
        self.lost: list[str] = []

    def write(self, body: ET.Element, link: Link, moving: bool) -> None:
        for shapes, contact in ((link.visuals, VISUAL), (link.collisions, COLLISION)):
            for shape in shapes:
                attributes = self.geometry(shape, moving)
                if attributes is None:
                    what = shape.mesh or shape.path if shape.kind == "mesh" else shape.kind
                    self.lost.append(f"{what} on {link.name!r}")
                else:
                    # Names of geoms are unique in MJCF; those of shapes need not be.
                    name = self.names.new(name_text(shape.name, "MJCF")) if shape.name else None
                    pos, quat = numbers(xyz(shape.origin)), numbers(shape.origin.primary.components)
                    element(body, "geom", name=name, **attributes, pos=pos, quat=quat, **contact, **self.color(shape))

    def geometry(self, shape: Shape, moving: bool) -> dict[str, str] | None:
        if shape.kind == "plane":
            return None if moving else {"type": "plane", "size": "0 0 1"}
        if shape.kind in SIZES:
            size = [c / factor for c, factor in zip(shape.size, SIZES[shape.kind], strict=True)]
            return {"type": shape.kind, "size": numbers(size)} if min(size) > 0.0 else None
        if shape.path is None or not _readable(shape.path):
            return None
        key = (shape.path, shape.size)
        if key not in self.meshes:
            self.meshes[key] = f"mesh{len(self.meshes)}"
            scale = numbers(shape.size) if shape.size else None
            # As a shell, a mesh needs no volume; its inertia is not used anyway.
            file = str(shape.path.absolute())
            element(self.assets, "mesh", name=self.meshes[key], file=file, scale=scale, inertia="shell")
        return {"type": "mesh", "mesh": self.meshes[key]}

    def color(self, shape: Shape) -> dict[str, str]:
        if shape.color is None:
            return {}
        if not shape.material:
            return {"rgba": numbers(shape.color)}
        if shape.material not in self.materials:
            self.materials[shape.material] = shape.color
            element(self.assets, "material", name=name_text(shape.material, "MJCF"), rgba=numbers(shape.color))
        same = self.materials[shape.material] == shape.color
        return {"material": shape.material} if same else {"material": shape.material, "rgba": numbers(shape.color)}

    def note_left_out(self) -> None:
        self.left_out += [f"the shape {lost}, which MuJoCo cannot read" for lost in self.lost]


def _readable(path: Path) -> bool:
    """Whether MuJoCo reads the mesh: OBJ, or STL in its binary form with as many faces as it says."""
    try:
        if path.suffix.lower() != ".stl":
            return path.suffix.lower() == ".obj" and path.is_file()
        with path.open("rb") as stream:
            head = stream.read(84)
        faces = struct.unpack("<I", head[80:])[0] if len(head) == 84 else 0
        return 0 < faces <= MOST_FACES and path.stat().st_size == 84 + 50 * faces
    except OSError:
        return False
