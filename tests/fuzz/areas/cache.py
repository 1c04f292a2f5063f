"""The cache of compiled code, damaged in every way that a disk allows: results stay right, nothing hangs."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import cached_code
import numpy as np

from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace

from ..cases import Area, Case
from ..mutate import as_bytes, as_text

OTHER = trace("other", [("x", 2)], lambda x: ([x[0] - 7.0, x[1] * 3.0], (2,)))
SPARSE = 8 * 2**30


class Fuzzed(Area):
    """What is done to the entry or the folder before the function is made again."""

    weight, chunk = 0.15, 20
    KINDS = ("bytes", "truncate", "other", "swap", "fifo", "directory", "link", "loop", "sparse", "device", "socket")
    PLACES = ("mode", "folder file", "folder link", "folder gone", "folder mode", "name", "two")

    def prepare(self) -> None:
        _sound()

    def make(self, rng: random.Random) -> Case:
        kind = rng.choice((*self.KINDS, "bytes", "bytes", *self.PLACES))
        case: Case = {"kind": kind, "at": rng.random()}
        if kind == "bytes":
            case["with"] = as_text(rng.randbytes(rng.choice((1, 1, 4, 64))))
        if kind == "mode":
            case["mode"] = rng.choice((0o000, 0o200, 0o666, 0o777, 0o4755, 0o622))
        return case

    def check(self, case: Case) -> str:
        before = os.environ.get("DQDYN_CACHE_DIR")
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "cache"
            folder.mkdir(mode=0o700)
            for name, content in _sound().items():
                (folder / name).write_bytes(content)
                (folder / name).chmod(0o600)
            os.environ["DQDYN_CACHE_DIR"] = str(folder)
            try:
                damage(case, folder, Path(place))
                if case["kind"] == "two":
                    _in_two_processes(folder)
                used = [_right(cached_code.PROGRAM, cached_code.X, cached_code.RESULT)]
                used.append(_right(OTHER, np.array([3.0, 5.0]), np.array([-4.0, 15.0])))
            finally:
                _put_back(before)
                if folder.is_dir() and not folder.is_symlink():
                    folder.chmod(0o700)
        return f"right, {'from the cache' if used[0] else 'compiled anew'}"


def _put_back(before: str | None) -> None:
    if before is None:
        os.environ.pop("DQDYN_CACHE_DIR", None)
    else:
        os.environ["DQDYN_CACHE_DIR"] = before


def _right(program: object, x: np.ndarray, expected: np.ndarray) -> bool:
    """Make the function, compare its result, say whether its code came from the cache."""
    function = Function(program)  # type: ignore[arg-type]
    assert (function.fast(x) == expected).all(), "a wrong result"
    assert function.native is not None, "no native code"
    return bool(function.native.single.from_cache)


@cache
def _sound() -> dict[str, bytes]:
    """Two entries by name, that of ``cached_code`` first."""
    before, result = os.environ.get("DQDYN_CACHE_DIR"), {}
    with tempfile.TemporaryDirectory() as place:
        os.environ["DQDYN_CACHE_DIR"] = place
        try:
            for program in (cached_code.PROGRAM, OTHER):
                assert Function(program).fast is not None
                result |= {p.name: p.read_bytes() for p in Path(place).glob("*.o") if p.name not in result}
        finally:
            _put_back(before)
    assert len(result) == 2
    return result


def damage(case: Case, folder: Path, place: Path) -> None:
    """Do it."""
    kind, at = case["kind"], case.get("at", 0.0)
    first, second = (folder / name for name in _sound())
    content = first.read_bytes()
    start = int(at * len(content))
    if kind == "bytes":
        new = as_bytes(case.get("with", ""))
        first.write_bytes(content[:start] + new + content[start + len(new) :])
    elif kind == "truncate":
        first.write_bytes(content[:start])
    elif kind == "other":
        first.write_bytes(second.read_bytes())
    elif kind == "swap":
        first.rename(place / "x")
        second.rename(first)
        (place / "x").rename(second)
    elif kind == "mode":
        first.chmod(case.get("mode", 0o666))
    elif kind == "name":
        second.rename(folder / "not a key.o")
    elif kind.startswith("folder"):
        _damage_folder(kind, folder, place)
    elif kind != "two":
        first.unlink()
        _other_kind(kind, first, place)


def _other_kind(kind: str, entry: Path, place: Path) -> None:
    """Something that is no file in place of the entry."""
    if kind == "fifo":
        os.mkfifo(entry, 0o600)
    elif kind == "directory":
        entry.mkdir()
    elif kind == "link":
        entry.symlink_to(place / "nowhere")
    elif kind == "loop":
        entry.symlink_to(entry)
    elif kind == "device":
        entry.symlink_to("/dev/zero")
    elif kind == "socket":
        import socket

        with socket.socket(socket.AF_UNIX) as made:
            try:
                made.bind(str(entry))
            except OSError:  # the path is too long for a socket
                entry.mkdir()
    elif kind == "sparse":
        with entry.open("wb") as file:
            file.truncate(SPARSE)


def _damage_folder(kind: str, folder: Path, place: Path) -> None:
    if kind == "folder mode":
        folder.chmod(0o777)
        return
    folder.rename(place / "moved")
    if kind == "folder file":
        folder.write_bytes(b"x")
    elif kind == "folder link":
        folder.symlink_to(place / "moved")


def _in_two_processes(folder: Path) -> None:
    """Two that find nothing, compile and write the same entries at the same time."""
    for entry in folder.glob("*.o"):
        entry.unlink()
    code = "import cached_code; cached_code.used_cache()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    both = [subprocess.Popen([sys.executable, "-c", code], env=environment) for _ in range(2)]
    assert [process.wait(120) for process in both] == [0, 0], "one of two processes failed"
