"""Reading paths that may be missing, huge, or not regular files."""

from __future__ import annotations

import stat
from pathlib import Path

from dqdyn.errors import LoadError, close_names, one_line

LARGEST_FILE = 32_000_000
"""In bytes; the largest robots we know need 0.3 MB."""

_ROBOT_SUFFIXES = (".urdf", ".xml", ".mjcf", ".json")


def read_bytes(path: Path, file: str, size: int = LARGEST_FILE) -> bytes:
    """The content of a regular file of at most ``size`` bytes; messages name it ``file``."""
    try:
        status = path.stat()
        mode, large = status.st_mode, status.st_size > size
        # Only a regular file is opened: a pipe or a device could block or never end.
        inside = sorted(p.name for p in path.iterdir()) if stat.S_ISDIR(mode) else []
        data = _head(path, size + 1) if stat.S_ISREG(mode) and not large else b""
    except FileNotFoundError:
        raise LoadError(f"No file '{file}'{_close_names(path)}", file=file) from None
    except (OSError, ValueError) as problem:  # ValueError: a NUL character in the name
        reason = getattr(problem, "strerror", None) or str(problem)
        raise LoadError(f"{file} cannot be read ({reason}): check its name and its rights.", file=file) from None
    if stat.S_ISDIR(mode):
        robots = [name for name in inside if name.lower().endswith(_ROBOT_SUFFIXES)]
        hint = f", such as {printable(robots[0])}" if robots else ""
        raise LoadError(f"{file} is a directory: name a file in it{hint}.", file=file)
    if not stat.S_ISREG(mode):
        raise LoadError(f"{file} is not a regular file: copy its content into one.", file=file)
    if large or len(data) > size:  # a file of /proc says that it is empty
        raise LoadError(f"{file} has more than {size} bytes: a robot needs far fewer, check the file.", file=file)
    return data


def _close_names(path: Path) -> str:
    try:
        names = [p.name for p in path.parent.iterdir()]
    except (OSError, ValueError):
        return f": its folder {printable(str(path.parent))} does not exist or cannot be read, check the path."
    if close := close_names(path.name, names, cutoff=0.6):
        return ": did you mean " + " or ".join(map(printable, close)) + "?"
    return ", and no similar name in its folder: check the path."


def printable(text: str) -> str:
    """Cut and escaped, so that a message stays one readable sentence."""
    return one_line(text, 200)


def first_character(path: Path) -> bytes:
    """The first character of a file that is not white space; empty if the file cannot be read."""
    return beginning(path)[:1]


def beginning(path: Path) -> bytes:
    """The first kilobyte of a file without white space around it; empty if the file cannot be read."""
    try:
        return _head(path, 1024).strip() if path.is_file() else b""
    except (OSError, ValueError):
        return b""


def _head(path: Path, size: int) -> bytes:
    with path.open("rb") as stream:
        return stream.read(size)
