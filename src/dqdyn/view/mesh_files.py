"""Meshes from STL and OBJ files, and with :mod:`dqdyn.view.collada` from .dae; a bad file is a :class:`LoadError`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dqdyn.errors import LoadError
from dqdyn.formats.files import read_bytes
from dqdyn.view.collada import read_collada
from dqdyn.view.triangles import Color, Indices, Triangles, fans, merged

LARGEST_MESH = 200_000_000
"""Bytes; the largest mesh of a robot that we know has 24 MB."""
LARGEST_TEXT = 64_000_000
"""Bytes of a mesh as text, which takes some twenty times the memory while it is read."""
FARTHEST = 1e9
"""In units of the file; a vertex beyond this is taken for a mistake."""


def read_mesh(path: Path) -> list[Triangles]:
    """Triangles of a .stl, .obj or .dae file in its own units, one mesh per color."""
    readers = {".stl": read_stl, ".obj": read_obj, ".dae": read_collada}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise _error(path, f"the format {path.suffix!r} is not supported; use .stl, .obj or .dae")
    try:
        data = read_bytes(path, path.name, LARGEST_MESH)
        if len(data) > LARGEST_TEXT and not _is_binary_stl(path, data):
            raise _error(path, f"it has more than {LARGEST_TEXT} bytes of text; reduce it")
        with np.errstate(all="ignore"):  # the check below catches overflow
            parts = [_checked(part) for part in reader(data, path)]
    except LoadError as problem:
        raise problem if str(problem).startswith("The mesh ") else _error(path, str(problem).rstrip(".")) from None
    except Exception as problem:  # of any kind: a bad file must not prevent drawing the rest
        raise _error(path, f"it cannot be read ({problem or type(problem).__name__}); export it again") from None
    return [mesh for mesh in merged(parts) if len(mesh.faces)]


def _checked(part: Triangles) -> Triangles:
    """The triangles, if their vertices exist and are within reach; a color that is not finite becomes None."""
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
    return LoadError(f"The mesh {path.name!r} is not drawn: {what}.", file=str(path))


def _is_binary_stl(path: Path, data: bytes) -> bool:
    """By the size, because binary files may begin with "solid" too; text is what does not fit."""
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
        lines = [words[:3] for keyword, words in _statements(data) if keyword.lower() == "vertex"]
        corners = np.array(lines, dtype=float).reshape(-1, 3)
    return [Triangles(corners.astype(float), np.arange(len(corners)).reshape(-1, 3))]


def read_obj(data: bytes, path: Path) -> list[Triangles]:
    """Polygons as fans, with the diffuse colors of their materials."""
    vertices: list[list[str]] = []
    polygons: dict[str, list[list[int]]] = {}
    material = ""
    colors: dict[str, Color | None] = {}
    for keyword, words in _statements(data):
        if keyword == "v":
            vertices.append(words[:3])
        elif keyword == "f":
            polygons.setdefault(material, []).append([_index(word, len(vertices)) for word in words])
        elif keyword == "usemtl":
            material = " ".join(words)
        elif keyword == "mtllib":
            colors |= _materials(path.with_name(Path(" ".join(words)).name))
    places = np.array(vertices, dtype=float).reshape(-1, 3)
    return [Triangles(places, _fans(members), colors.get(name)) for name, members in polygons.items()]


def _fans(polygons: list[list[int]]) -> Indices:
    corners = np.array([corner for polygon in polygons for corner in polygon], dtype=np.int64)
    return fans(corners, np.array([len(polygon) for polygon in polygons]))


def _statements(data: bytes) -> Iterator[tuple[str, list[str]]]:
    """Keyword and words of each line."""
    for line in data.decode(errors="replace").splitlines():
        keyword, *words = line.split() or [""]
        yield keyword, words


def _index(word: str, count: int) -> int:
    """Corners count from 1, or backwards from the last vertex."""
    index = int(word.partition("/")[0])
    return index - 1 if index > 0 else count + index


def _materials(path: Path) -> dict[str, Color | None]:
    if not path.is_file():  # then the mesh has the color of its link
        return {}
    colors: dict[str, Color | None] = {}
    name, textured = "", set()
    for keyword, words in _statements(read_bytes(path, path.name)):
        if words and keyword == "newmtl":
            name = " ".join(words)
        elif len(words) > 2 and keyword == "Kd":
            red, green, blue = (float(word) for word in words[:3])
            colors[name] = (red, green, blue, 1.0)
        elif keyword == "map_Kd":
            textured.add(name)
    return {name: color for name, color in colors.items() if name not in textured}  # textures are not drawn
