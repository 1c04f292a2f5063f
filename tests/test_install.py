"""What pip is asked to install, and where: LLVM only where there is a wheel of it."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from snippets import ROOT

DEPENDENCIES = [
    Requirement(line)
    for line in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
]
ANY, NONE, OLD = ">=0.44", None, "<0.46,>=0.44"
MACHINES: dict[str, tuple[str, str, str, str | None]] = {
    "Linux": ("linux", "x86_64", "3.14", ANY),
    "Linux, arm": ("linux", "aarch64", "3.11", ANY),
    "Linux, riscv": ("linux", "riscv64", "3.13", NONE),
    "Linux, 32 bits": ("linux", "armv7l", "3.11", NONE),
    "Linux, power": ("linux", "ppc64le", "3.13", NONE),
    "Windows": ("win32", "AMD64", "3.11", ANY),
    "Windows, 32 bits": ("win32", "x86", "3.11", NONE),
    "Windows, arm": ("win32", "ARM64", "3.12", ANY),
    "Windows, arm, old Python": ("win32", "ARM64", "3.11", NONE),
    "macOS": ("darwin", "arm64", "3.14", ANY),
    "macOS, Intel": ("darwin", "x86_64", "3.13", OLD),
    "macOS, Intel, new Python": ("darwin", "x86_64", "3.14", NONE),
    "browser": ("emscripten", "wasm32", "3.13", NONE),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_llvm_is_asked_for_where_it_has_wheels(machine: str) -> None:
    platform, processor, python, version = MACHINES[machine]
    environment = {"sys_platform": platform, "platform_machine": processor, "python_version": python}
    asked = [d for d in DEPENDENCIES if d.marker is None or d.marker.evaluate(environment)]
    assert [str(d.specifier) for d in asked if d.name == "llvmlite"] == ([] if version is None else [version])
    assert {"numpy", "defusedxml", "typer", "rich"} <= {d.name for d in asked}


def test_the_page_names_all_that_is_needed_without_llvm() -> None:
    page = (ROOT / "docs" / "getting_started.md").read_text(encoding="utf-8")
    section = page.split("### Without LLVM")[1].split("\n## ")[0]
    named = {str(Requirement(text)) for text in re.findall(r"'([^'\s]+>=[^'\s]+)'", section)}
    assert named == {str(d) for d in DEPENDENCIES if d.name != "llvmlite"}
