"""Write a model to a file in the format that its ending names."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from dqdyn.errors import FormatError
from dqdyn.model.model import Model
from dqdyn.model.writers.json_format import write_json
from dqdyn.model.writers.mjcf import write_mjcf
from dqdyn.model.writers.urdf import write_urdf

WRITERS: dict[str, Callable[[Model], str]] = {
    ".urdf": write_urdf,
    ".xml": write_mjcf,
    ".mjcf": write_mjcf,
    ".json": write_json,
}


def save(model: Model, path: str | Path) -> Path:
    """Write the model; the file appears whole or not at all."""
    path = Path(path)
    if path.suffix.lower() not in WRITERS:
        raise FormatError(f"{path.name!r} does not say its format: end it with {', '.join(WRITERS)}.", path=str(path))
    text = WRITERS[path.suffix.lower()](model)
    if not path.parent.is_dir():
        raise FormatError(f"the folder {str(path.parent)!r} does not exist: make it first.", path=str(path))
    # Opened as any new file is, so that it gets the permissions that the user's files have.
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    try:
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException as problem:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(problem, OSError):
            raise FormatError(f"{str(path)!r} cannot be written: {problem.strerror}.", path=str(path)) from None
        raise
    return path
