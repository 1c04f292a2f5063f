"""Where the real robots of the package example-robot-data are; an oracle's data, used by tests and tools."""

from __future__ import annotations

import sys
from pathlib import Path

_INSIDE = Path("cmeel.prefix/share/example-robot-data/robots")


def robots_folder() -> Path:
    """The folder that holds one folder per robot."""
    for entry in sys.path:
        folder = Path(entry) / _INSIDE
        if folder.is_dir():
            return folder
    raise FileNotFoundError("example-robot-data is not installed: pip install 'dqdyn[test]'")


def urdf_files() -> list[Path]:
    """Every URDF of the package, sorted by :func:`short_name`."""
    return sorted(robots_folder().rglob("*.urdf"), key=short_name)


def short_name(path: Path) -> str:
    """A name without folders of this machine, unique among the files: ``ur/ur5_robot``."""
    package = path.relative_to(robots_folder()).parts[0]
    return f"{package.removesuffix('_description').removesuffix('_data')}/{path.stem}"


def urdf_file(name: str) -> Path:
    """The file with that short name, or the only one with that stem."""
    found = [path for path in urdf_files() if name in (short_name(path), path.stem)]
    if len(found) != 1:
        raise LookupError(f"{len(found)} files are named {name!r}")
    return found[0]
