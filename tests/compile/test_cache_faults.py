"""The cache on a disk that fails, fills up, is read-only or written to by many; where it is, and what it forgets."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from cached_code import PROGRAM, X, used_cache

from dqdyn.compile.runtime import cache
from dqdyn.compile.runtime.function import Function
from dqdyn.errors import CompileWarning

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes are those of POSIX")


@pytest.mark.parametrize("failing", ["mkdir", "stat", "lstat", "open", "mkstemp", "fdopen", "replace", "iterdir"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO, errno.EMFILE])
def test_no_failure_of_the_disk_is_fatal(
    cache_folder: Path, monkeypatch: pytest.MonkeyPatch, failing: str, number: int
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number))

    places: dict[str, tuple[Any, str]] = {
        "mkdir": (Path, "mkdir"),
        "stat": (cache.os, "stat"),
        "open": (cache, "open"),
        "mkstemp": (cache.tempfile, "mkstemp"),
        "fdopen": (cache.os, "fdopen"),
        "replace": (cache.os, "replace"),
        "lstat": (cache.os, "lstat"),
        "iterdir": (Path, "iterdir"),
    }
    place, name = places[failing]
    with monkeypatch.context() as patch:
        patch.setattr(place, name, fail, raising=failing != "open")
        assert not used_cache()
    assert not cache_folder.exists() or not list(cache_folder.glob("*.part"))


def test_disk_full_while_writing_leaves_nothing(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        """A file that takes half and then no more."""

        def __init__(self, handle: int) -> None:
            self.handle = handle

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: Any) -> None:
            os.close(self.handle)

        def write(self, content: bytes) -> None:
            os.write(self.handle, content[: len(content) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(cache.os, "fdopen", lambda handle, mode: Full(handle))
        assert not used_cache()
    assert list(cache_folder.iterdir()) == []
    assert not used_cache()
    assert used_cache()


READ_ONLY = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from cached_code import entry, used_cache
used_cache()  # all modules are loaded before the rights go
if os.geteuid() == 0:
    os.setgid(12345)
    os.setuid(12345)
os.environ["DQDYN_CACHE"] = "1"
folder = Path(os.environ["DQDYN_CACHE_DIR"])
assert not used_cache() and used_cache()
folder.chmod(0o500)
assert used_cache()
entry(folder).chmod(0)
assert not used_cache()
print("fine", os.geteuid() != 0)
"""


def test_read_only_folder_is_read_and_unreadable_entries_are_not() -> None:
    """In a process without the rights of root, whom no mode keeps out."""
    with tempfile.TemporaryDirectory() as place:
        if os.geteuid() == 0:
            os.chown(place, 12345, 12345)
        environment = {**os.environ, "DQDYN_CACHE": "0", "DQDYN_CACHE_DIR": f"{place}/cache"}
        command = [sys.executable, "-c", READ_ONLY, str(Path(__file__).parent)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
        assert done.stdout.strip() == "fine True", done.stderr


@pytest.mark.parametrize("value", ["0", "off", "false", "no"])
def test_switched_off(cache_folder: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    used_cache()
    monkeypatch.setenv("DQDYN_CACHE", value)
    assert cache.folder() is None
    assert not used_cache()
    assert cache.clear() == 0
    assert len(list(cache_folder.iterdir())) == 1


def test_where_it_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("DQDYN_CACHE", "DQDYN_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(cache.sys, "platform", "linux")
    assert cache.folder() == tmp_path / ".cache" / "dqdyn"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.folder() == tmp_path / "xdg" / "dqdyn"
    monkeypatch.setattr(cache.sys, "platform", "darwin")
    assert cache.folder() == tmp_path / "Library" / "Caches" / "dqdyn"
    monkeypatch.setenv("DQDYN_CACHE_DIR", str(tmp_path / "own"))
    assert cache.folder() == tmp_path / "own"


@pytest.mark.parametrize("variable", ["DQDYN_CACHE_DIR", "XDG_CACHE_HOME", "HOME"])
@pytest.mark.parametrize("folder", ["compiled", ".", "./x", "../x", "a/../../b"])
def test_relative_folders_are_refused(monkeypatch: pytest.MonkeyPatch, variable: str, folder: str) -> None:
    """Else a prepared file in the working directory would be executed."""
    for name in ("DQDYN_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DQDYN_CACHE", "1")
    monkeypatch.setenv(variable, folder)
    monkeypatch.setattr(cache.sys, "platform", "linux")
    with pytest.warns(CompileWarning, match=f"{variable}=.* is a relative folder"):
        assert cache.folder() is None
    assert cache.folder() is None
    assert cache.clear() == 0


def test_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DQDYN_CACHE", "DQDYN_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert cache.folder() is None
    assert not used_cache()
    assert cache.clear() == 0


def test_clear_counts_and_removes(cache_folder: Path) -> None:
    assert cache.clear() == 0
    used_cache()
    Function(PROGRAM, contract=False).fast(X)
    (cache_folder / "note.txt").write_text("not ours")
    assert cache.clear() == 2
    assert [p.name for p in cache_folder.iterdir()] == ["note.txt"]
    assert not used_cache()


def test_oldest_entries_go_when_it_is_too_large(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_LARGEST", 10_000)
    cache_folder.mkdir(mode=0o700)
    others = [cache_folder / "main.o", cache_folder / "library.o", cache_folder / "dqdyn.part"]
    for other in others:  # of a compiler, in a folder that was not chosen well
        other.write_bytes(bytes(8000))
        os.utime(other, (1, 1))
    keys = [k * 64 for k in "abcdef01"]
    for age, key in enumerate(keys):
        cache.write(key, bytes(2000))
        os.utime(cache_folder / f"{key}.o", (1000 + age, 1000 + age))
    left = [key for key in keys if (cache_folder / f"{key}.o").exists()]
    # The time of the entry just written is set after the pruning, so that one more may stand.
    assert left == keys[4:]
    assert cache.read(keys[-1]) == bytes(2000)
    assert cache.read(keys[0]) is None
    assert all(other.exists() for other in others)
    assert cache.clear() == 4
    assert sorted(cache_folder.iterdir()) == sorted(others)


def test_what_killed_processes_left_goes_in_time(cache_folder: Path) -> None:
    cache.write("0" * 64, b"code")
    old, new = cache_folder / "dqdyn-abc_1.part", cache_folder / "dqdyn-xyz.part"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (1000, 1000))
    cache.write("1" * 64, b"code")
    assert not old.exists()
    assert new.exists()


WRITER = """
from dqdyn.compile import cache
wrong = 0
for k in range(60):
    key, content = f"{k % 3}" * 64, bytes([k % 3]) * 5000
    cache.write(key, content)
    found = cache.read(key)
    wrong += found is None or found != content
print(wrong)
"""


def test_processes_write_at_the_same_time(cache_folder: Path) -> None:
    command = [sys.executable, "-c", WRITER]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [worker.communicate(timeout=120)[0].strip() for worker in workers] == ["0"] * 3
    assert sorted(p.name for p in cache_folder.iterdir()) == [f"{k}" * 64 + ".o" for k in range(3)]
    assert cache.read("1" * 64) == b"\1" * 5000
