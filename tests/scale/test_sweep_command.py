"""``dqdyn sweep spec.toml``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dqdyn.cli.app import run

SPEC = """
robot = "two_link"
duration = 0.02
dt = 2e-3
seeds = 5
controllers = ["none", "hold"]
[states]
random = true
speed = 0.1
[parameters.plain]
[parameters.moon]
gravity = [0, 0, -1.62]
friction = false
[parameters.drawn]
payload = {frame = "FRAME", mass = [-0.5, 1.0]}
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    import dqdyn as dq

    path = tmp_path / "sweep.toml"
    path.write_text(SPEC.replace("FRAME", list(dq.robots.two_link().frames)[-1]), encoding="utf-8")
    return path


def test_runs_and_failures_are_printed(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sweep", str(spec), "--workers", "0"]) == 0
    text = capsys.readouterr().out
    assert "two_link: 30 runs" in text
    assert "negative mass" in text
    assert run(["sweep", str(spec), "--workers", "0", "--json"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert data["runs"] == 30
    assert data["failed"] == len(data["failures"]) > 0
    assert {failure["parameters"] for failure in data["failures"]} == {"drawn"}
    assert len(data["measures"]["energy"]["mean"]) == 3


def test_outputs_are_resumed_on_request(spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("zarr", reason="outputs of sweeps need the package zarr, which is missing")
    words = ["sweep", str(spec), "--workers", "0", "--output", str(tmp_path / "o.zarr")]
    assert run(words) == 0
    assert run(words) == 2
    assert "exists: resume it" in capsys.readouterr().err
    assert run([*words, "--resume"]) == 0


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("seeds = 5", "sedes = 5", "no key of a sweep named 'sedes': did you mean 'seeds'"),
        ("speed = 0.1", "sped = 0.1", "no key of states named 'sped': did you mean 'speed'"),
        ("gravity =", "gravty =", "no key of parameters.moon named 'gravty': did you mean 'gravity'"),
        ("frame =", "fram =", "no key of parameters.drawn.payload named 'fram': did you mean 'frame'"),
        ('"hold"', '"hald"', "no controller named 'hald': did you mean 'hold'"),
        ('["none", "hold"]', '"none"', "controllers is a list of names"),
        ('robot = "two_link"', "", "names no robot"),
        ("random = true", "q = [0.1, 0.2]", "speed is the deviation of random velocities"),
        ("random = true", "random = true\nq = [0.1, 0.2]", "either random or given"),
        ("[-0.5, 1.0]", "[1.0]", "is a number, or \\[low, high\\]"),
        ("[-0.5, 1.0]", "-1.0", "negative mass"),
        ("seeds = 5", "seeds = 5\nlimits = 'x'", "no treatment of limits named 'x'"),
        ("seeds = 5", "seeds 5", "is not TOML"),
        ("[states]", "states = 3\n[nothing]", "no key of a sweep named 'nothing'"),
    ],
)
def test_what_a_spec_cannot_say(spec: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, says: str) -> None:
    import re

    text = spec.read_text(encoding="utf-8")
    assert old in text
    spec.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert run(["sweep", str(spec), "--workers", "0"]) == 2
    assert re.search(says, capsys.readouterr().err)


def test_absent_files_and_outputs(tmp_path: Path, spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sweep", str(tmp_path / "nothing.toml")]) == 2
    assert "cannot be read: No such file" in capsys.readouterr().err
    assert run(["sweep", str(spec), "--resume"]) == 2
    assert "--resume continues an output" in capsys.readouterr().err
