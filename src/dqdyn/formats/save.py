"""Write a model to a file in the format that its ending names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dqdyn.errors import FormatError
from dqdyn.formats.json.document import compose_json
from dqdyn.formats.losses import Written, refuse_losses, warn_losses
from dqdyn.formats.mjcf.writer import compose_mjcf
from dqdyn.formats.urdf.writer import compose_urdf
from dqdyn.formats.whole_file import write_whole
from dqdyn.model.model import Model

WRITERS: dict[str, Callable[[Model], Written]]
WRITERS = {".urdf": compose_urdf, ".xml": compose_mjcf, ".mjcf": compose_mjcf, ".json": compose_json}


def compose(model: Model, path: str | Path) -> Written:
    """The text of the file in the format that its ending names, and what that format cannot hold."""
    if not isinstance(path, (str, Path)):
        raise FormatError(f"a robot is written to a path; found {path!r}.", path=str(path))
    path = Path(path)
    if path.suffix.lower() not in WRITERS:
        raise FormatError(f"{path.name!r} has no known extension: use {', '.join(WRITERS)}.", path=str(path))
    return WRITERS[path.suffix.lower()](model)


def save(model: Model, path: str | Path, *, lossy: bool = False) -> Path:
    """Write the model; the file appears whole or not at all.

    What the format cannot hold is an error, or, where ``lossy``, left out with one warning.
    """
    if not isinstance(lossy, bool):
        raise FormatError(f"lossy is True or False; found {lossy!r}.", path=str(path))
    written = compose(model, path)
    if not lossy:
        refuse_losses(written, model, written.losses)
    warn_losses(written, model)
    return write_whole(Path(path), written.text.encode("utf-8"))
