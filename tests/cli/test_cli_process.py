"""The command as a process of its own: exit codes, pipes, terminals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FORCING = ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "NO_COLOR", "TTY_COMPATIBLE", "DQDYN_DEBUG", "COLUMNS")


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in FORCING}
    return {**kept, "PYTHONIOENCODING": "utf-8", "TERM": "xterm-256color", **more}


def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dqdyn.cli", *words]
    return subprocess.run(command, capture_output=True, encoding="utf-8", env=environment(**more), timeout=120)


def test_entry_point_runs() -> None:
    script = Path(sys.executable).with_name("dqdyn")
    if not script.exists():
        pytest.skip("the package is on the path without being installed")
    assert subprocess.run([script, "--version"], capture_output=True, check=True).stdout.startswith(b"dqdyn ")


@pytest.mark.parametrize("module", ["dqdyn", "dqdyn.cli"])
def test_modules_run(module: str) -> None:
    command = [sys.executable, "-m", module, "--version"]
    assert subprocess.run(command, capture_output=True, check=True).stdout.startswith(b"dqdyn ")


def test_plain_where_no_terminal_is() -> None:
    result = run("info", "humanoid")
    assert (result.returncode, result.stderr) == (0, "")
    assert "\x1b" not in result.stdout
    assert all(line == line.rstrip() for line in result.stdout.splitlines())
    assert json.loads(run("info", "humanoid", "--json").stdout)["name"] == "humanoid"


def test_error_is_one_plain_line() -> None:
    result = run("info", "arm")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: There is no built-in robot named 'arm'")
    assert "\x1b" not in result.stderr
    assert result.stderr.count("\n") == 1


def test_terminal_without_unicode() -> None:
    result = run("dynamics", "two_link", PYTHONIOENCODING="ascii")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.isascii()


@pytest.mark.skipif(os.name != "posix", reason="pipes of other systems differ")
@pytest.mark.parametrize("words", [("robots",), ("info", "arm7", "--json"), ("--version",)])
def test_reader_that_has_left_is_no_error(words: tuple[str, ...]) -> None:
    there, here = os.pipe()
    os.close(there)
    command = [sys.executable, "-m", "dqdyn.cli", *words]
    result = subprocess.run(command, stdout=here, stderr=subprocess.PIPE, env=environment(), timeout=120)
    os.close(here)
    assert (result.returncode, result.stderr) == (141, b"")


@pytest.mark.skipif(os.name != "posix", reason="needs pseudo-terminals")
def test_colored_in_a_terminal() -> None:
    import pty

    here, there = pty.openpty()
    command = [sys.executable, "-m", "dqdyn.cli", "info", "two_link"]
    process = subprocess.Popen(command, stdout=there, stderr=there, env=environment(COLUMNS="100"))
    os.close(there)
    shown = b""
    while True:
        try:
            piece = os.read(here, 65536)
        except OSError:  # Linux ends a pseudo-terminal so
            break
        if not piece:
            break
        shown += piece
    os.close(here)
    assert process.wait(timeout=120) == 0
    assert b"\x1b[1mtwo_link\x1b[0m" in shown
