"""Meshes from STL and OBJ files; COLLADA has a file of its own. A file that cannot be read is an :class:`Error`."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from dqdyn.errors import LoadError
from dqdyn.formats.files import read_bytes
from dqdyn.view.collada import read_collada
from dqdyn.view.triangles import Color, Triangles, merged

LARGEST_MESH = 200_000_000
"""Bytes; the largest mesh of a robot that we know has 24 MB."""
LARGEST_TEXT = 64_000_000
"""Bytes of a mesh as text, which takes some twenty times the memory while it is read."""
FARTHEST = 1e9
"""In units of the file; what is farther away is a mistake, and cannot be drawn beside a robot."""


def read_mesh(path: Path) -> list[Triangles]:
    """Triangles of a .stl, .obj or .dae file in its own units, one mesh per color."""
    readers = {".stl": read_stl, ".obj": read_obj, ".dae": read_collada}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise _error(path, f"the format {path.suffix!r} is not read: use .stl, .obj or .dae")
    try:
        data = read_bytes(path, path.name, LARGEST_MESH)
        if len(data) > LARGEST_TEXT and not _is_binary_stl(path, data):
            raise _error(path, f"it has more than {LARGEST_TEXT} bytes of text: reduce it")
        with np.errstate(all="ignore"):  # what overflows is found by the check
            parts = [_checked(part) for part in reader(data, path)]
    except LoadError as problem:
        raise problem if str(problem).startswith("The mesh ") else _error(path, str(problem).rstrip(".")) from None
    except Exception as problem:  # of whatever kind: no fault of a file may take the rest of the picture with it
        raise _error(path, f"it cannot be read ({problem or type(problem).__name__}): export it again") from None
    return [mesh for mesh in merged(parts) if len(mesh.faces)]


def _checked(part: Triangles) -> Triangles:
    """The triangles, if each has its corners and they are somewhere; a color that is none is not given."""
    vertices, faces = part.vertices, part.faces
    if not (np.abs(vertices) <= FARTHEST).all():
        raise ValueError("it has vertices that are not finite or too far away")
    if faces.size and (faces.min() < 0 or faces.max() >= len(vertices)):
        raise ValueError("it has faces without vertices")
    if part.color is None or not np.isfinite(part.color).all():
        return part.colored(None)
    red, green, blue, alpha = np.clip(part.color, 0.0, 1.0).tolist()
    return part.colored((red, green, blue, alpha))


def _error(path: Path, what: str) -> LoadError:
    return LoadError(f"The mesh {path.name!r} is not drawn, for {what}.", file=str(path))


def _is_binary_stl(path: Path, data: bytes) -> bool:
    """Text is taken only where the sizes do not fit, for binary files may begin with "solid" too."""
    count = int.from_bytes(data[80:84], "little")
    fits = len(data) >= 84 and len(data) >= 84 + 50 * count and (count or not data.lstrip().startswith(b"solid"))
    return bool(fits) and path.suffix.lower() == ".stl"


def read_stl(data: bytes, path: Path) -> list[Triangles]:
    """Binary, or text."""
    if _is_binary_stl(path, data):
        count = int.from_bytes(data[80:84], "little")
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        corners = np.frombuffer(data, record, count, 84)["corners"].reshape(-1, 3)
    else:
        words = [line.split()[1:4] for line in data.decode("ascii", "replace").splitlines() if _is_vertex(line)]
        corners = np.array(words, dtype=float).reshape(-1, 3)
    return [Triangles(corners.astype(float), np.arange(len(corners)).reshape(-1, 3))]


def _is_vertex(line: str) -> bool:
    return line.lstrip()[:6].lower() == "vertex"


def read_obj(data: bytes, path: Path) -> list[Triangles]:
    """Polygons as fans, with the diffuse colors of their materials."""
    vertices: list[list[str]] = []
    faces: dict[str, list[list[int]]] = {}
    material = ""
    colors: dict[str, Color | None] = {}
    for line in data.decode(errors="replace").splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "v":
            vertices.append(words[1:4])
        elif words[0] == "f":
            corners = [_index(word, len(vertices)) for word in words[1:]]
            faces.setdefault(material, []).extend([corners[0], b, c] for b, c in pairwise(corners[1:]))
        elif words[0] == "usemtl":
            material = " ".join(words[1:])
        elif words[0] == "mtllib":
            colors |= _materials(path.with_name(Path(" ".join(words[1:])).name))
    places = np.array(vertices, dtype=float).reshape(-1, 3)
    triangles = {name: np.array(part, dtype=np.int64).reshape(-1, 3) for name, part in faces.items()}
    return [Triangles(places, part, colors.get(name)) for name, part in triangles.items()]


def _index(word: str, count: int) -> int:
    """Corners count from 1, or backwards from the last vertex."""
    index = int(word.partition("/")[0])
    return index - 1 if index > 0 else count + index


def _materials(path: Path) -> dict[str, Color | None]:
    colors: dict[str, Color | None] = {}
    if not path.is_file():  # then the mesh has the color of its link
        return colors
    name, textured = "", set()
    for line in read_bytes(path, path.name).decode(errors="replace").splitlines():
        words = line.split()
        if len(words) > 1 and words[0] == "newmtl":
            name = " ".join(words[1:])
        elif len(words) > 3 and words[0] == "Kd":
            red, green, blue = (float(word) for word in words[1:4])
            colors[name] = (red, green, blue, 1.0)
        elif words and words[0] == "map_Kd":
            textured.add(name)
    return {name: color for name, color in colors.items() if name not in textured}  # textures are not drawn
