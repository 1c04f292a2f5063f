"""Any robot file: inspect its content and call the reader of its format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dqdyn.formats import files, safe_xml
from dqdyn.formats.urdf import reader as urdf
from dqdyn.model.description import Description


def read(source: str | Path, *, package_paths: Sequence[Path] = ()) -> Description:
    """The robot in a file or text of URDF (<robot>), MJCF (<mujoco>) or JSON; ``package_paths`` hold meshes of URDF."""
    if _is_json(source):
        from dqdyn.formats.json.document import read_json

        return read_json(source)
    document = safe_xml.parse(source, safe_xml.MJCF_BOUNDS)
    if document.root.tag == "mujoco":
        from dqdyn.formats.mjcf.reader import read_mjcf

        return read_mjcf(source)
    return urdf.describe(document, package_paths)


def _is_json(source: str | Path) -> bool:
    if isinstance(source, str) and source.lstrip().startswith("{"):
        return True
    if safe_xml.is_text(source) or not isinstance(source, (str, Path)) or not str(source):
        return False
    if Path(source).suffix.lower() == ".json":
        return True
    return files.first_character(Path(source)) == b"{"
