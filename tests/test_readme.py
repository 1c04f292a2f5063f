"""The README keeps its promises: twelve lines that run, and two commands that a machine can take as they are."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from snippets import ROOT, blocks, run_page
from trees import JOINT_KINDS

from dqdyn import robots

README = ROOT / "README.md"


def commands() -> list[str]:
    return [code for _, code in blocks(README, "sh")]


def test_twelve_lines_of_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ((_, code),) = blocks(README, "python")
    assert len(code.strip().splitlines()) == 12
    assert all(line.strip() for line in code.splitlines())
    monkeypatch.chdir(tmp_path)
    assert run_page(README) >= 3


def test_one_equation() -> None:
    assert len(re.findall(r"^\$\$.+\$\$$", README.read_text(encoding="utf-8"), re.MULTILINE)) == 1


def test_two_commands_of_one_line_each() -> None:
    assert len(commands()) == 2
    for command in commands():
        assert command.count("\n") == 1
        assert "\\" not in command


def test_each_command_makes_and_uses_its_own_environment() -> None:
    folders = []
    for command in commands():
        steps = command.strip().split(" && ")
        (folder,) = re.findall(r"^python3 -m venv (\S+)$", steps[0])
        assert all(step.startswith(f"{folder}/bin/") for step in steps[1:])
        folders.append(folder)
    assert len(set(folders)) == 2
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    assert ".venv*/" in ignored
    assert all(folder.startswith(".venv") for folder in folders)


def test_commands_install_what_they_run() -> None:
    demo, tests = commands()
    assert "pip install . " in demo
    assert demo.rstrip().endswith("/dqdyn demo")
    assert "'.[test]'" in tests
    assert "/pytest" in tests


def test_ci_takes_the_second_command(tmp_path: Path) -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (extraction,) = re.findall(r"^ *awk .*$", script, re.MULTILINE)
    for number, expected in enumerate(commands(), start=1):
        program = f"set -- {number}\n{extraction.strip()}"
        result = subprocess.run(["bash", "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
        assert result.stdout == expected


def test_numbers_are_those_of_the_package() -> None:
    words = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
    ]
    text = README.read_text(encoding="utf-8")
    assert f"{words[len(JOINT_KINDS)]} joint kinds" in text
    assert f"{words[len(robots.names())]} built-in robots" in text
