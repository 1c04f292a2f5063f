"""Write a model to a file in the format that its ending names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dqdyn.errors import FormatError
from dqdyn.formats.json.document import write_json
from dqdyn.formats.mjcf.writer import write_mjcf
from dqdyn.formats.urdf.writer import write_urdf
from dqdyn.formats.whole_file import write_whole
from dqdyn.model.model import Model

WRITERS: dict[str, Callable[[Model], str]]
WRITERS = {".urdf": write_urdf, ".xml": write_mjcf, ".mjcf": write_mjcf, ".json": write_json}


def save(model: Model, path: str | Path) -> Path:
    """Write the model; the file appears whole or not at all."""
    path = Path(path)
    if path.suffix.lower() not in WRITERS:
        raise FormatError(f"{path.name!r} has no known extension: use {', '.join(WRITERS)}.", path=str(path))
    return write_whole(path, WRITERS[path.suffix.lower()](model).encode("utf-8"))
