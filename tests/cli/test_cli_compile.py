"""``dqdyn compile``: what it makes and says; never how long it took."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_cli import data, failure, output

import dqdyn as dq


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DQDYN_CACHE", "1")
    monkeypatch.setenv("DQDYN_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_functions_are_listed_with_their_operations(cache_folder: Path) -> None:
    found, robot = data("compile", "two_link", "mass_matrix", "pose:tool", "--batches"), dq.robots.two_link()
    assert found["robot"] == "two_link"
    assert found["batches"] is True
    assert found["cache"] == str(cache_folder)
    assert [row["name"] for row in found["functions"]] == ["mass_matrix", "pose:tool"]
    assert found["functions"][0]["operations"] == robot.count("mass_matrix").total
    assert list(cache_folder.iterdir())


def test_text() -> None:
    text = output("compile", "two_link", "gravity_forces")
    assert "gravity_forces" in text
    assert "source" in text
    assert "1 function of 'two_link' in " in text
    assert "kept in " in text


def test_without_a_cache_the_text_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DQDYN_CACHE", "0")
    assert "not kept, since the cache is off" in output("compile", "two_link", "gravity_forces")


def test_errors_name_the_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean 'mass_matrix'" in failure(capsys, "compile", "two_link", "mass_matriks")
    assert "pose needs the option 'frame'" in failure(capsys, "compile", "two_link", "pose")
