"""``dqdyn validate``: what it prints, draws and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from dqdyn.analysis.validation.silva_table import PRINTED
from dqdyn.cli import app as cli
from dqdyn.cli.validate_figure import shown_coordinates

pytest.importorskip("mujoco")


def output(*words: str) -> str:
    result = CliRunner().invoke(cli.app, ["validate", *words], env={"NO_COLOR": "1", "FORCE_COLOR": None})
    assert result.exit_code == 0, result.output
    assert result.stderr == ""  # no progress bar away from a terminal
    return result.stdout


def test_text() -> None:
    text = output("holonomic", "nonholonomic", "--duration", "0.5")
    assert "Silva, table 2" in text
    for (key, _), printed in PRINTED.items():
        assert (f"{printed.min:.4f}     {printed.mean:.4f}" in text) == (key != "arm")
    assert "N/A" in text
    assert "arm_forearm is 20% too heavy" in text
    assert "never stood on fewer than 3 of its 3 contacts" in text
    assert "figure 3: accelerations of the 8-DOF nonholonomic" in text
    assert "▄" in text
    assert "\x1b" not in text


@pytest.mark.equation("Silva", "fig. 3")
def test_json_and_figure(tmp_path: Path) -> None:
    words = ("nonholonomic", "holonomic", "nonholonomic", "--duration", "0.5", "--figures", str(tmp_path), "--json")
    found: Any = json.loads(output(*words), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert [robot["robot"] for robot in found["robots"]] == ["nonholonomic", "holonomic"]
    assert (found["duration"], found["cutoff"], found["order"], found["sampling"]) == (0.5, 10.0, 4, 0.002)
    for robot in found["robots"]:
        for line in robot["methods"]:
            assert (line["paper"] is None) == (line["ours"] is None)
            if line["ours"] is not None:
                assert line["ours"]["min"] == min(line["cmc"].values()) > line["paper"]["min"]
        assert robot["control"]["min"] < 0.95
    assert found["robots"][0]["slip"]["fewest_contacts"] == 3
    assert found["robots"][1]["slip"] is None
    path = tmp_path / "silva_fig_3.png"
    assert found["figures"] == [str(path)]
    assert path.read_bytes().startswith(b"\x89PNG")


def test_shown_coordinates() -> None:
    cmc = np.array([0.9, 0.5, 0.99, 0.7, 0.95])
    assert shown_coordinates(cmc) == [("smallest", 1), ("largest", 2), ("middle", 0)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["holonomc"], "did you mean 'holonomic' or 'nonholonomic'"),
        (["holonomic", "--figures", "no/such/folder"], "make it first"),
        (["holonomic", "--cutoff", "300"], "half of the sampling rate"),
        (["holonomic", "--duration", "0"], "20 samples or more"),
    ],
)
def test_refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["validate", *words]) == cli.FAILED
    assert said in capsys.readouterr().err
