"""Any robot file: looks inside and calls the reader of its format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dqdyn.formats import files, safe_xml
from dqdyn.formats.urdf import reader as urdf
from dqdyn.model.description import Description


def read(source: str | Path, *, package_paths: Sequence[Path] = (), **options: Any) -> Description:
    """The robot in a file or text of URDF (<robot>), MJCF (<mujoco>) or JSON.

    ``package_paths`` are folders of meshes, for URDF; other options go to the reader of the format.
    """
    if _is_json(source):
        from dqdyn.formats.json.document import read_json

        return read_json(source, **options)
    document = safe_xml.parse(source, safe_xml.MJCF_LIMITS)
    if document.root.tag == "mujoco":
        from dqdyn.formats.mjcf.reader import read_mjcf

        return read_mjcf(source, **options)
    return urdf.describe(document, package_paths, **options)


def _is_json(source: str | Path) -> bool:
    if isinstance(source, str) and source.lstrip().startswith("{"):
        return True
    if safe_xml.is_text(source) or not isinstance(source, (str, Path)) or not str(source):
        return False
    if Path(source).suffix.lower() == ".json":
        return True
    return files.first_character(Path(source)) == b"{"
