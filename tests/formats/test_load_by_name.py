"""Robots by name: near names of built-in ones, and those of robot_descriptions from a local repository."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dqdyn as dq
from dqdyn.formats.urdf.writer import write_urdf
from dqdyn.robots import downloaded

NAME = "edo_description"


def test_near_names_are_suggested() -> None:
    with pytest.raises(dq.UnknownNameError) as caught:
        dq.load("arm8")
    text = str(caught.value)
    assert "There is no built-in robot named 'arm8': did you mean 'arm7' or 'arm6'" in text
    assert "No file 'arm8' exists either" in text
    assert "arm7" in caught.value.matches


def test_a_file_without_an_ending_is_still_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm8").write_text('<robot name="eight"><link name="a"/></robot>')
    assert dq.load("arm8").name == "eight"


def test_without_the_package_its_names_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)
    assert downloaded.names() == []
    with pytest.raises(dq.MissingExtraError, match=r"'panda_description'.* needs the package 'robot_desc"):
        dq.load("panda_description")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository on this disk in the place of the one on the network, and an empty cache."""
    pytest.importorskip("robot_descriptions")
    from robot_descriptions._repositories import REPOSITORIES

    origin = tmp_path / "origin"
    (origin / "robots").mkdir(parents=True)
    (origin / "robots" / "edo_sim.urdf").write_text(write_urdf(dq.robots.arm6().model))
    for command in (
        ["init", "-q", "-b", "main"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "An arm"],
    ):
        subprocess.run(["git", *command], cwd=origin, check=True)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=origin, check=True, capture_output=True, text=True)
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ROBOT_DESCRIPTION_COMMIT", raising=False)
    name = _repository_of(NAME)
    monkeypatch.setattr(REPOSITORIES[name], "url", str(origin))
    monkeypatch.setattr(REPOSITORIES[name], "commit", commit.stdout.strip())
    monkeypatch.delitem(sys.modules, f"robot_descriptions.{NAME}", raising=False)
    return origin


def _repository_of(description: str) -> str:
    """The key by which the module of a description asks for its repository."""
    import robot_descriptions

    text = Path(robot_descriptions.__file__).with_name(f"{description}.py").read_text()
    return text.split("_clone_to_cache(")[1].split('"')[1]


def test_a_robot_is_cloned_and_loaded(repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    robot = dq.load(NAME)
    assert robot.nv == 6
    assert capfd.readouterr().out == ""
    assert NAME in downloaded.names()
    del sys.modules[f"robot_descriptions.{NAME}"]


def test_a_failed_download_is_one_sentence(repository: Path) -> None:
    repository.rename(repository.with_name("gone"))
    before = os.environ.get("GIT_TERMINAL_PROMPT")
    with pytest.raises(dq.LoadError, match=f"'{NAME}' could not be downloaded .*: check the network") as caught:
        dq.load(NAME)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert os.environ.get("GIT_TERMINAL_PROMPT") == before
