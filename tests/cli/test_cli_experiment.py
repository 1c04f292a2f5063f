"""``dqdyn experiment``: the list, a run with its page, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dqdyn.analysis import experiments
from dqdyn.analysis.experiments import Claim, Result, mobile_bimanual
from dqdyn.cli import app as cli


def invoke(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli.app, list(words), env={"NO_COLOR": "1", "FORCE_COLOR": None})
    return result.exit_code, result.stdout


def test_list() -> None:
    code, text = invoke("experiment", "--json")
    assert code == 0
    assert [row["experiment"] for row in json.loads(text)] == list(experiments.titles())
    assert "moving-obstacle" in invoke("experiment")[1]


def test_run_writes_a_page(tmp_path: Path) -> None:
    path = tmp_path / "drive.html"
    code, text = invoke("experiment", "mobile-bimanual", "--output", str(path))
    assert code == 0
    assert "10 of 10 claims hold" in text
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_claim_that_fails_ends_with_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)

    def wrong(plant: str | None = None) -> Result:
        return Result("x", "Nothing", "nobody", (), (Claim("1 = 2", "1 ≠ 2", False),), (), ())

    monkeypatch.setattr(mobile_bimanual, "experiment", wrong)
    code, text = invoke("experiment", "mobile-bimanual", "--json")
    data = json.loads(text)
    assert code == 1
    assert data["holds"] is False
    assert data["claims"] == [{"claim": "1 = 2", "measured": "1 ≠ 2", "holds": False}]
    assert Path(data["report"]) == tmp_path / "mobile-bimanual.html"


def test_where_to_write_is_checked_before_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(mobile_bimanual, "experiment", lambda plant=None: pytest.fail("it was run"))
    for path, message in (
        (tmp_path / "no" / "x.html", "/no' does not exist: make it first"),
        (tmp_path, "is not a file"),
    ):
        assert cli.run(("experiment", "mobile-bimanual", "--output", str(path))) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("cup",), "no experiment named 'cup'"),
        (("cup-on-table", "--plant", "bullet"), "no plant named 'bullet'"),
        (("mobile-bimanual", "--plant", "mujoco"), "mujoco has no wheels"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str) -> None:
    assert cli.run(("experiment", *words)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert message in captured.err
