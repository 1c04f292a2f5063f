"""Compiled code on disk, so that the next process starts in milliseconds. Never trusted blindly and never fatal.

The folder is the user's cache folder, or ``DQDYN_CACHE_DIR``; ``DQDYN_CACHE=0`` switches the cache off. Since entries
are executed, a folder or file that somebody else owns or may write to is ignored, as is one with a wrong checksum.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

_MAGIC = b"dqdyn object 1\n"
_LARGEST = 256 * 1024 * 1024  # bytes in the folder before the oldest entries go


def digest(*parts: str) -> str:
    """The name of an entry: differs whenever program, processor or versions differ, or the code that emits code."""
    text = "\0".join((*parts, _emitter(), sys.implementation.cache_tag or "", sys.platform))
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=1)
def _emitter() -> str:
    """A hash of this package: what it emitted before it was changed is never used again."""
    h = hashlib.sha256()
    try:
        sources = sorted(Path(__file__).parent.glob("*.py"))
        for source in sources:
            h.update(source.name.encode() + source.read_bytes())
    except OSError:
        sources = []
    # Without sources to compare, nothing that another process kept can be trusted.
    return h.hexdigest() if sources else secrets.token_hex(32)


def folder() -> Path | None:
    """Where entries are kept; None where the cache is off or there is no home."""
    if os.environ.get("DQDYN_CACHE", "1") in ("0", "off", "false", "no"):
        return None
    if chosen := os.environ.get("DQDYN_CACHE_DIR"):
        return Path(chosen)
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:
        return None
    return base / "dqdyn"


def read(key: str) -> bytes | None:
    """The entry, or None where there is none that can be trusted."""
    where = folder()
    if where is None:
        return None
    try:
        if not _ours(os.stat(where)):
            return None
        with open(where / f"{key}.o", "rb") as file:
            if not _ours(os.fstat(file.fileno())):
                return None
            content = file.read()
    except OSError:
        return None
    head = len(_MAGIC) + 64
    code = content[head:]
    if content[: len(_MAGIC)] != _MAGIC or content[len(_MAGIC) : head] != _seal(key, code):
        return None
    return code


def write(key: str, code: bytes) -> None:
    """Keep an entry; it appears whole or not at all, and any failure is silent."""
    where = folder()
    if where is None:
        return
    temporary = None
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _ours(os.stat(where)):
            return
        handle, temporary = tempfile.mkstemp(dir=where, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + _seal(key, code) + code)
        os.replace(temporary, where / f"{key}.o")
        temporary = None
        _prune(where)
    except OSError:
        pass
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def clear() -> int:
    """Remove all entries; how many there were."""
    where, count = folder(), 0
    if where is None or not where.is_dir():
        return 0
    for entry in where.glob("*.o"):
        with contextlib.suppress(OSError):
            entry.unlink()
            count += 1
    return count


def _seal(key: str, code: bytes) -> bytes:
    return hashlib.sha256(key.encode() + code).hexdigest().encode()


def _ours(status: os.stat_result) -> bool:
    if sys.platform == "win32":
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _prune(where: Path) -> None:
    entries = sorted((e.stat().st_mtime, e.stat().st_size, e) for e in where.glob("*.o"))
    total = sum(size for _, size, _ in entries)
    for _, size, entry in entries:
        if total <= _LARGEST:
            return
        with contextlib.suppress(OSError):
            entry.unlink()
            total -= size
