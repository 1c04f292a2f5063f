"""The tool that checks the project under other Pythons: its root folders, by a debootstrap of our own; its settings."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).parent.parent / "tools"
COMPLETE = 'mkdir -p "$5/usr" && echo complete'
HALF = 'mkdir -p "$5/usr" && echo "E: the network went away" && exit 1'


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    monkeypatch.syspath_prepend(str(TOOLS))
    return importlib.import_module


@pytest.fixture
def debootstrap(tmp_path: Path, tool: Callable, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a script of this name before the real one; its fifth argument is the folder to fill. Needs no rights."""
    monkeypatch.setattr(tool("debian_root"), "ALONE", ("env",))
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def written(body: str) -> None:
        (folder / "debootstrap").write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (folder / "debootstrap").chmod(0o755)

    return written


def root_in(tool: Callable[[str], ModuleType], folder: Path, verified: str = "", code: int = 0) -> object:
    """A root whose ``dpkg --verify`` prints this and ends with this code; nothing is entered."""
    module = tool("debian_root")

    class Checked(module.DebianRoot):  # type: ignore[name-defined, misc]
        def run(self, command: list[str], variables: object, visible: object = None, log: Path | None = None) -> object:
            assert command == ["dpkg", "--verify"]
            assert log is not None
            log.write_text(verified, encoding="utf-8")
            return subprocess.CompletedProcess(command, code)

    return Checked(folder / "3.14", "forky", ("python3.14",), "http://mirror.invalid/debian")


def test_a_root_appears_only_when_it_is_complete(tool: Callable, debootstrap: Callable, tmp_path: Path) -> None:
    root = root_in(tool, tmp_path / "cache")
    assert root.fault() == "is missing"
    debootstrap(HALF)
    with pytest.raises(tool("debian_root").RootError, match="debootstrap failed: E: the network went away"):
        root.make()
    assert root.fault() == "is missing"
    debootstrap(COMPLETE)
    root.make()
    assert root.fault() is None
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == ["3.14", "3.14.log"]


def test_a_root_of_other_packages_or_with_changed_files_is_made_anew(
    tool: Callable, debootstrap: Callable, tmp_path: Path
) -> None:
    debootstrap(COMPLETE)
    root = root_in(tool, tmp_path)
    root.make()
    assert root_in(tool, tmp_path, verified="??5??????   /usr/bin/python3.14\n").fault() == "is damaged"
    assert root_in(tool, tmp_path, code=127).fault() == "is damaged"
    other = type(root)(root.folder, "forky", ("python3.14", "python3.14-venv"), root.mirror)
    assert other.fault() == "was made by another recipe"
    (root.folder / "old").touch()
    other.make()
    assert other.fault() is None
    assert not (root.folder / "old").exists()


def test_a_file_in_place_of_the_folder_is_replaced(tool: Callable, debootstrap: Callable, tmp_path: Path) -> None:
    debootstrap(COMPLETE)
    root = root_in(tool, tmp_path)
    root.folder.write_text("not a folder", encoding="utf-8")
    assert root.fault() == "is missing"
    root.make()
    assert root.fault() is None


def test_the_mirror_is_the_one_of_apt(tool: Callable) -> None:
    chosen = tool("debian_root").mirror_among
    security, main = "Debian|trixie-security|http://a.invalid/security/", "Debian|trixie|http://a.invalid/debian/"
    other = "Somebody|stable|http://b.invalid/"
    assert chosen([other, security, main]) == "http://a.invalid/debian"
    assert chosen(["$(ORIGIN)|trixie|http://a.invalid/debian/"]) == "http://a.invalid/debian"  # before apt-get update
    for lines in ([], [other, security]):
        with pytest.raises(tool("debian_root").RootError, match=r"no Debian mirror .*: name one by --mirror"):
            chosen(lines)


def test_settings_of_pip_are_handed_on(tool: Callable, tmp_path: Path) -> None:
    module = tool("debian_root")
    index, links = tmp_path / "index" / "simple", tmp_path / "wheels"
    index.mkdir(parents=True)
    links.mkdir()
    listed = (
        f"global.extra-index-url='{index.as_uri()}\\nhttps://a.invalid/simple'\nglobal.timeout='10'\n"
        f"install.find-links='{links}'\n:env:.timeout='180'\ndownload.dest='/tmp'\n"
    )
    settings = module.pip_variables(listed)
    assert settings == {
        "PIP_EXTRA_INDEX_URL": f"{index.as_uri()} https://a.invalid/simple",
        "PIP_TIMEOUT": "180",  # the environment wins
        "PIP_FIND_LINKS": str(links),
    }
    assert module.local_paths(settings) == [index.parent, links]  # pages of an index link to files beside it
    assert module.local_paths({"DQDYN_CACHE_DIR": str(links), "PIP_CERT": "/no/such/file"}) == []


@pytest.mark.parametrize("missing", ["rights", "debootstrap"])
def test_what_is_missing_is_said_in_one_sentence(
    missing: str, tool: Callable, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000 if missing == "rights" else 0)
    monkeypatch.setenv("PATH", os.environ["PATH"])
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["pythons.py", "3.14"])
    assert tool("pythons").main() == 2
    remedy = {"rights": "run this with sudo -E", "debootstrap": "apt-get install debootstrap"}[missing]
    said = capsys.readouterr().err
    assert said.startswith("other Pythons are not checked: ")
    assert remedy in said
    assert said.count("\n") == 1


def test_the_tests_that_it_runs_exist(tool: Callable) -> None:
    assert len(tool("pythons").test_files()) >= len(tool("pythons").TESTS)


def test_a_relative_cache_folder_of_the_environment_is_not_used(
    tool: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert tool("pythons").default_cache() == tmp_path / ".cache" / "dqdyn-pythons"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "chosen"))
    assert tool("pythons").default_cache() == tmp_path / "chosen" / "dqdyn-pythons"
