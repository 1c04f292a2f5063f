"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from dqdyn.errors import FormatError


def checked_target(path: Path) -> Path:
    """The file that ``path`` names, in full; an error if it cannot be written: call this before long computations."""
    target = path.resolve()
    if not target.parent.is_dir():
        raise FormatError(f"the folder {str(path.parent)!r} does not exist: make it first.", path=str(path))
    if target.exists() and not target.is_file():
        raise FormatError(f"{str(path)!r} is not a file: give the name of one.", path=str(path))
    return target


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file under its final name only when it is complete; an existing one is replaced, a link is followed."""
    target = checked_target(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as file:
            file.write(content)
        os.replace(part, target)
    except OSError as problem:
        part.unlink(missing_ok=True)
        raise FormatError(f"{str(path)!r} cannot be written: {problem.strerror}.", path=str(path)) from None
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return path
