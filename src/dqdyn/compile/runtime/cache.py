"""Compiled code on disk, so that the next process starts in milliseconds. Never trusted blindly and never fatal.

The folder is the user's cache folder, or ``DQDYN_CACHE_DIR``; ``DQDYN_CACHE=0`` switches the cache off. Since entries
are executed, only the user may have written them:

- A relative folder is refused, for it would be another one in every working directory, such as one that came with a
  cloned repository.
- A folder or entry that another user owns or may write to is not used; one warning says so.
- An entry is a regular file of bounded size: links, pipes and devices are not opened.
- The checksum in an entry detects damage. It does not prove the origin; the permissions of folder and file do.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from dqdyn.errors import CompileWarning

_PACKAGE = Path(__file__).parents[1]
_MAGIC = b"dqdyn object 2\n"
_LARGEST = 256 * 1024 * 1024  # bytes in the folder before the oldest entries go
_LARGEST_ENTRY = 64 * 1024 * 1024  # bytes; the longest programs that we know need 10 MB
_ABANDONED = 3600.0  # s after which an unfinished file is taken to be left over
_ENTRY, _PART = re.compile(r"[0-9a-f]{64}\.o"), re.compile(r"dqdyn-\w+\.part")
# Without these, opening a pipe or device could block or have side effects.
_FLAGS = os.O_RDONLY | sum(getattr(os, f"O_{flag}", 0) for flag in ("NOFOLLOW", "NONBLOCK", "CLOEXEC", "BINARY"))


def digest(*parts: str) -> str:
    """The name of an entry: differs whenever program, processor or versions differ, or the code that emits code."""
    text = "\0".join((*parts, _emitter(), sys.implementation.cache_tag or "", sys.platform))
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=1)
def _emitter() -> str:
    """A hash of the package that emits code, so that code emitted before a change is never used again."""
    h = hashlib.sha256()
    try:
        sources = _sources()
        for source in sources:
            h.update(str(source.relative_to(_PACKAGE)).encode() + source.read_bytes())
    except OSError:
        sources = []
    # Without sources to compare, no entry written by another process can be trusted.
    return h.hexdigest() if sources else secrets.token_hex(32)


def _sources() -> list[Path]:
    return sorted(_PACKAGE.rglob("*.py"))


def folder() -> Path | None:
    """The folder of entries; None where the cache is off, there is no home folder, or the chosen folder is relative."""
    if os.environ.get("DQDYN_CACHE", "1") in ("0", "off", "false", "no"):
        return None
    try:
        variable, chosen = _chosen()
    except RuntimeError:  # there is no home folder
        return None
    if chosen.is_absolute():
        return chosen
    _warn_once(f"{variable}={os.environ.get(variable)!r} is a relative folder, where others may have put code")
    return None


def _chosen() -> tuple[str, Path]:
    """The variable that the folder depends on, and the folder."""
    if own := os.environ.get("DQDYN_CACHE_DIR"):
        return "DQDYN_CACHE_DIR", Path(own)
    variable = {"win32": "LOCALAPPDATA", "darwin": ""}.get(sys.platform, "XDG_CACHE_HOME")
    if base := os.environ.get(variable):
        return variable, Path(base) / "dqdyn"
    usual = {"win32": "AppData/Local", "darwin": "Library/Caches"}.get(sys.platform, ".cache")
    return "HOME", Path.home() / usual / "dqdyn"


def read(key: str) -> bytes | None:
    """The entry, or None if it is missing or cannot be trusted."""
    where = folder()
    try:
        if where is None or not _trusted(where):
            return None
        content = _content(where / f"{key}.o")
    except OSError:
        return None
    head = len(_MAGIC) + 64
    code = content[head:]
    if content[: len(_MAGIC)] != _MAGIC or content[len(_MAGIC) : head] != _seal(key, code):
        return None
    return code


def _content(path: Path) -> bytes:
    """The content of a regular file of the user; empty for other kinds, for large files and for those of others."""
    if not _is_entry(os.lstat(path)):
        return b""
    with open(path, "rb", opener=lambda name, _: os.open(name, _FLAGS)) as file:
        # Checked again for the open file, for the name may refer to another one by now.
        return file.read(_LARGEST_ENTRY) if _is_entry(os.fstat(file.fileno())) else b""


def write(key: str, code: bytes) -> None:
    """Store an entry; it appears whole or not at all, and any failure is silent."""
    where = folder()
    content = _MAGIC + _seal(key, code) + code
    if where is None or len(content) > _LARGEST_ENTRY:
        return
    temporary = None
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _trusted(where):
            return
        handle, temporary = tempfile.mkstemp(dir=where, prefix="dqdyn-", suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
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
    """Remove all entries and return their number; other files in the folder stay."""
    where, count = folder(), 0
    with contextlib.suppress(OSError):
        for entry, _ in _files(where, _ENTRY) if where is not None and _trusted(where) else ():
            with contextlib.suppress(OSError):
                entry.unlink()
                count += 1
    return count


def _seal(key: str, code: bytes) -> bytes:
    return hashlib.sha256(key.encode() + code).hexdigest().encode()


def _trusted(where: Path) -> bool:
    """Whether only this user can put code into the folder; warns once where others can."""
    status = os.stat(where)
    if stat.S_ISDIR(status.st_mode) and not _ours(status):
        _warn_once(f"the folder {str(where)!r} belongs to another user, or others may write to it")
    return stat.S_ISDIR(status.st_mode) and _ours(status)


def _is_entry(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_size <= _LARGEST_ENTRY and _ours(status)


def _ours(status: os.stat_result) -> bool:
    if sys.platform == "win32":  # modes mean nothing there; the cache folder belongs to the user
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


_warned: set[str] = set()


def _warn_once(reason: str) -> None:
    if reason in _warned:
        return
    _warned.add(reason)
    text = f"compiled code is not kept on disk, so every process compiles anew: {reason}; set DQDYN_CACHE_DIR to an "
    warnings.warn(text + "absolute path that only you may write to.", CompileWarning, stacklevel=2)


def _files(where: Path, name: re.Pattern[str]) -> Iterator[tuple[Path, os.stat_result]]:
    """Our regular files with their status; the folder may hold other files, which are left alone."""
    for path in where.iterdir():
        with contextlib.suppress(OSError):  # another process may just have removed it
            if name.fullmatch(path.name) and stat.S_ISREG((status := path.lstat()).st_mode):
                yield path, status


def _prune(where: Path) -> None:
    entries = sorted((s.st_mtime, s.st_size, path) for path, s in _files(where, _ENTRY))
    total = sum(size for _, size, _ in entries)
    for _, size, entry in entries:
        if total <= _LARGEST:
            break
        with contextlib.suppress(OSError):
            entry.unlink()
            total -= size
    for path, status in _files(where, _PART):  # left by processes that were killed
        if time.time() - status.st_mtime > _ABANDONED:
            with contextlib.suppress(OSError):
                path.unlink()
