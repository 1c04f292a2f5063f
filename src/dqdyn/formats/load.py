"""Any robot file: inspect its content and call the reader of its format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dqdyn.errors import LoadError
from dqdyn.formats import files, safe_xml
from dqdyn.formats.urdf import reader as urdf
from dqdyn.formats.urdf.xacro_file import refuse_arguments
from dqdyn.model.description import Description

_USD_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
_USD_BEGINNINGS = (b"#usda", b"PXR-USDC")


def read(
    source: str | Path, *, package_paths: Sequence[Path] = (), xacro_args: Mapping[str, Any] | None = None
) -> Description:
    """The robot in a file or text of URDF (<robot>), MJCF (<mujoco>) or JSON; ``package_paths`` hold meshes of URDF.

    A xacro template becomes URDF first, with ``xacro_args``.
    """
    if _is_json(source):
        from dqdyn.formats.json.document import read_json

        refuse_arguments(xacro_args, str(source)[:60])
        return read_json(source)
    _refuse_usd(source)
    document = safe_xml.parse(source, safe_xml.MJCF_BOUNDS)
    if document.root.tag == "mujoco":
        from dqdyn.formats.mjcf.reader import read_mjcf

        refuse_arguments(xacro_args, document.file)
        return read_mjcf(source)
    return urdf.describe(document, package_paths, xacro_args or {})


def _is_json(source: str | Path) -> bool:
    if isinstance(source, str) and source.lstrip().startswith("{"):
        return True
    if safe_xml.is_text(source) or not isinstance(source, (str, Path)) or not str(source):
        return False
    if Path(source).suffix.lower() == ".json":
        return True
    return files.first_character(Path(source)) == b"{"


def _refuse_usd(source: str | Path) -> None:
    if not isinstance(source, (str, Path)) or not str(source):
        return
    text = str(source)
    is_named = not safe_xml.is_text(source) and Path(text.strip()).suffix.lower() in _USD_SUFFIXES
    begin = text.lstrip().encode(errors="replace") if safe_xml.is_text(source) else files.beginning(Path(text))
    if is_named or begin.startswith(_USD_BEGINNINGS):
        file = safe_xml.TEXT if safe_xml.is_text(source) else files.printable(text)
        remedy = "export it as URDF or MJCF, as Isaac Sim does, and load that"
        raise LoadError(f"{file} is USD (OpenUSD), which is not read: {remedy}.", file=file)
