"""The cache of compiled code: hits are used, anything doubtful is compiled anew, and nothing ever fails."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cached_code import PROGRAM, RESULT, X, entry, used_cache

from dqdyn.compile.codegen import kernels, rows
from dqdyn.compile.runtime import cache, python_abi
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace import tracer
from dqdyn.compile.trace.tracer import trace
from dqdyn.errors import CompileWarning

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes are those of POSIX")


def test_second_use_comes_from_the_cache(cache_folder: Path) -> None:
    assert not used_cache()
    assert used_cache()
    assert stat.S_IMODE(cache_folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(cache_folder).stat().st_mode) == 0o600
    assert [path.suffix for path in cache_folder.iterdir()] == [".o"]  # nothing half written is left


def test_batches_have_entries_of_their_own(cache_folder: Path) -> None:
    for hit in (False, True):
        function = Function(PROGRAM)
        np.testing.assert_array_equal(function(np.tile(X, (5, 1))), np.tile(RESULT, (5, 1)))
        assert function.native is not None
        assert function.native.batch.from_cache is hit
    assert len(list(cache_folder.glob("*.o"))) == 1


def test_what_changes_the_code_changes_the_key(cache_folder: Path) -> None:
    other = trace("tiny", [("x", 2)], lambda x: ([x[0] * x[1] + np.nextafter(0.25, 1.0), x[0] - x[1]], (2,)))
    for make in (
        lambda: Function(PROGRAM),
        lambda: Function(PROGRAM, contract=False),
        lambda: Function(other),
        lambda: Function(trace("n", [("x", 1)], lambda x: ([x[0] * 2.0], (1,))), numbers=[0]),
        lambda: Function(trace("n", [("x", 1)], lambda x: ([x[0] * 2.0], (1,)))),
    ):
        function = make()
        assert not isinstance(function.fast, Function)
        assert function.native is not None
        assert not function.native.single.from_cache


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: b"",
        lambda text: text[:1],
        lambda text: text[:10],
        lambda text: text[:79],
        lambda text: text[:80],
        lambda text: text[: len(text) // 2],
        lambda text: text[:-1],
        lambda text: text + b"\0",
        lambda text: b"x" + text[1:],
        lambda text: b"dqdyn object 0\n" + text[15:],
        lambda text: text[:15] + b"0" * 64 + text[79:],
        lambda text: text[79:],
        lambda text: os.urandom(len(text)),
    ],
)
def test_spoiled_entries_are_replaced(cache_folder: Path, spoil: Callable[[bytes], bytes]) -> None:
    used_cache()
    path = entry(cache_folder)
    good = path.read_bytes()
    path.write_bytes(spoil(good))
    assert not used_cache()
    assert path.read_bytes() == good
    assert used_cache()


def test_every_flipped_bit_is_found(cache_folder: Path) -> None:
    used_cache()
    path = entry(cache_folder)
    good, key = path.read_bytes(), path.stem
    assert cache.read(key) is not None
    positions = {*range(80), *np.linspace(0, len(good) - 1, 200).astype(int).tolist()}
    for at in sorted(positions):
        bad = bytearray(good)
        bad[at] ^= 1 << (at % 8)
        path.write_bytes(bytes(bad))
        assert cache.read(key) is None, at
    path.write_bytes(good)
    assert cache.read(key) is not None


def test_entry_of_another_key_or_version_is_not_taken(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used_cache()
    path = entry(cache_folder)
    path.rename(cache_folder / f"{'0' * 64}.o")
    assert cache.read("0" * 64) is None
    assert not used_cache()
    for name, value in (("_emitter", lambda: "another"), ("_MAGIC", b"dqdyn object 9\n")):
        monkeypatch.setattr(cache, name, value)
        assert not used_cache()
        assert used_cache()
    assert len({cache.digest("a", "b"), cache.digest("ab"), cache.digest("a", "c"), cache.digest("b", "a")}) == 4


def test_every_module_that_shapes_emitted_code_is_part_of_the_key() -> None:
    shaping = {Path(str(module.__file__)) for module in (kernels, rows, python_abi, tracer)}
    assert shaping <= set(cache._sources())


def test_directory_in_place_of_an_entry(cache_folder: Path) -> None:
    used_cache()
    path = entry(cache_folder)
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("x")
    assert not used_cache()
    assert not used_cache()
    assert [p.name for p in cache_folder.iterdir()] == [path.name]


def test_file_in_place_of_the_folder(cache_folder: Path) -> None:
    cache_folder.write_text("a file")
    assert not used_cache()
    assert not used_cache()
    assert cache_folder.read_text() == "a file"


def test_folder_below_a_file(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache_folder.write_text("a file")
    monkeypatch.setenv("DQDYN_CACHE_DIR", str(cache_folder / "below"))
    assert not used_cache()


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o720])
def test_folder_that_others_may_write_to_is_ignored(cache_folder: Path, mode: int) -> None:
    used_cache()
    cache_folder.chmod(mode)
    with pytest.warns(CompileWarning, match="others may write to it.*absolute path that only you may write to"):
        assert not used_cache()
    assert not used_cache()  # it is said once
    assert cache.clear() == 0
    cache_folder.chmod(0o700)
    assert used_cache()


@pytest.mark.parametrize("mode", [0o666, 0o602, 0o620])
def test_entry_that_others_may_write_to_is_ignored(cache_folder: Path, mode: int) -> None:
    used_cache()
    entry(cache_folder).chmod(mode)
    assert not used_cache()
    assert used_cache()  # replaced by one of our own
    assert stat.S_IMODE(entry(cache_folder).stat().st_mode) == 0o600


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_folder_or_entry_of_somebody_else_is_ignored(cache_folder: Path) -> None:
    used_cache()
    os.chown(entry(cache_folder), 12345, 12345)
    assert not used_cache()
    assert used_cache()
    os.chown(cache_folder, 12345, 12345)
    with pytest.warns(CompileWarning, match="belongs to another user"):
        assert not used_cache()
    assert not used_cache()


def test_owner_is_compared_with_this_user(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used_cache()
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    with pytest.warns(CompileWarning, match="belongs to another user"):
        assert not used_cache()


def test_a_link_to_a_folder_is_followed_to_what_is_trusted(cache_folder: Path, tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    cache_folder.symlink_to(real)
    assert not used_cache()
    assert used_cache()
    real.chmod(0o777)
    with pytest.warns(CompileWarning, match="others may write to it"):
        assert not used_cache()


def replaced(path: Path, how: str) -> None:
    """Something else in the place of an entry, with its content where that is possible."""
    content = path.read_bytes()
    path.unlink()
    if how == "link":
        aside = path.with_suffix(".aside")
        aside.write_bytes(content)
        aside.chmod(0o600)
        path.symlink_to(aside)
    elif how == "fifo":
        os.mkfifo(path, 0o600)
    elif how == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.write(content)
            file.truncate(8 * 2**30)  # sparse: it takes no space on the disk
        path.chmod(0o600)


@pytest.mark.parametrize("how", ["link", "fifo", "device", "huge"])
def test_what_is_no_small_regular_file_is_not_opened(
    cache_folder: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """A pipe would block, and eight gigabytes would fill the memory."""
    used_cache()
    path = entry(cache_folder)
    replaced(path, how)
    with monkeypatch.context() as patch:
        patch.setattr(cache.os, "open", lambda *_: pytest.fail("opened"))
        assert cache.read(path.stem) is None
    assert not used_cache()
    assert stat.S_ISREG(path.lstat().st_mode)
    assert used_cache()


@pytest.mark.parametrize("how", ["link", "fifo"])
def test_what_takes_the_place_of_an_entry_at_the_last_moment_is_not_read(
    cache_folder: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    used_cache()
    path = entry(cache_folder)
    good = os.lstat(path)
    replaced(path, how)
    monkeypatch.setattr(cache.os, "lstat", lambda _: good)
    assert cache.read(path.stem) is None


def test_what_is_too_large_to_be_read_is_not_written(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_LARGEST_ENTRY", 1000)
    cache.write("0" * 64, bytes(900))
    assert cache.read("0" * 64) == bytes(900)
    cache.write("1" * 64, bytes(1000))
    assert [path.stem for path in cache_folder.iterdir()] == ["0" * 64]


PREPARED = """
import os, sys
sys.path.insert(0, sys.argv[1])
import warnings
from cached_code import used_cache
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    print(used_cache(), used_cache(), [str(warning.message) for warning in said])
"""


@pytest.mark.parametrize("variable", ["DQDYN_CACHE_DIR", "XDG_CACHE_HOME", "HOME"])
def test_code_that_came_with_a_repository_is_not_run(cache_folder: Path, tmp_path: Path, variable: str) -> None:
    """A valid entry lies where a relative folder leads to from the working directory."""
    used_cache()
    code = entry(cache_folder)
    below = {"DQDYN_CACHE_DIR": "compiled", "XDG_CACHE_HOME": "compiled/dqdyn", "HOME": "compiled/.cache/dqdyn"}
    place = tmp_path / "repository" / below[variable]
    place.mkdir(parents=True, mode=0o700)
    (place / code.name).write_bytes(code.read_bytes())
    kept = {k: v for k, v in os.environ.items() if k not in ("DQDYN_CACHE_DIR", "XDG_CACHE_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", PREPARED, str(Path(__file__).parent)],
        cwd=tmp_path / "repository",
        env={**kept, variable: "compiled", "DQDYN_CACHE": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.startswith('False False ["compiled code is not kept on disk'), done
    assert f"{variable}='compiled' is a relative folder" in done.stdout
    assert done.stdout.count("relative") == 1


def test_dangling_and_circular_links(cache_folder: Path, tmp_path: Path) -> None:
    cache_folder.symlink_to(tmp_path / "nowhere")
    assert not used_cache()
    cache_folder.unlink()
    cache_folder.symlink_to(cache_folder)
    assert not used_cache()
