"""Room on a disk: asked for before hours of work, and named where it runs out all the same."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from dqdyn.errors import Error

_MARGIN = 64 * 2**20
"""Bytes that are left free beside what is written: for journals, and for others."""


class DiskFullError(Error):
    """There is no room for what is to be written; carries ``path``, and ``needed`` and ``free`` in bytes."""


def free_bytes(path: Path) -> int:
    """Bytes that are free where a path is, or will be."""
    existing = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    return shutil.disk_usage(existing).free


def require_room(path: Path, needed: int) -> None:
    """An error unless ``needed`` bytes can be written below a path."""
    free = free_bytes(path)
    if needed and needed + _MARGIN > free:
        text = f"{str(path)!r} needs {in_gigabytes(needed)} more, and its disk has {in_gigabytes(free)} free"
        raise DiskFullError(f"{text}: free some, or write to another disk.", path=str(path), needed=needed, free=free)


def is_full(error: BaseException) -> bool:
    """Whether an error says that a disk, or a share of it, is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def full(path: Path) -> DiskFullError:
    """The error for a disk that became full during the work."""
    text = f"the disk of {str(path)!r} is full: free some of it and run the same again"
    return DiskFullError(f"{text}, which computes only what is missing.", path=str(path))


def in_gigabytes(count: float) -> str:
    """A number of bytes for people."""
    return f"{count / 1e9:.3g} GB" if count >= 1e8 else f"{count / 1e6:.3g} MB"
