"""``dqdyn simulate``: what it prints, keeps and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import dqdyn as dq
from dqdyn.cli import app as cli


def output(*words: str) -> str:
    result = CliRunner().invoke(cli.app, ["simulate", *words], env={"NO_COLOR": "1", "FORCE_COLOR": None})
    assert result.exit_code == 0, result.output
    return result.stdout


def data(*words: str) -> Any:
    return json.loads(output(*words, "--json"), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_text() -> None:
    text = output("two_link", "--q", "0.3,0.2", "--duration", "0.5")
    assert "two_link moved for 0.5 s (finished)" in text
    assert "6.7 J at the start, 6.7 J at the end" in text
    assert "\x1b" not in text


def test_json_and_file(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    found = data("two_link", "--q", "0.3,0.2", "--duration", "0.5", "--every", "10", "--output", str(path))
    run = dq.Trajectory.load(path)
    assert found["samples"] == len(run) == 51
    assert found["status"] == "finished"
    assert found["output"] == str(path)
    np.testing.assert_array_equal(found["q"], run.q[-1])
    np.testing.assert_array_equal(run.q, dq.simulate(dq.robots.two_link(), None, 0.5, q0=[0.3, 0.2], every=10).q)


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "variational", "adaptive"])
def test_integrators(integrator: str) -> None:
    found = data("two_link", "--duration", "0.1", "--integrator", integrator)
    assert found["integrator"] == integrator


@pytest.mark.parametrize("controller", ["gravity", "hold", "waves"])
def test_controllers(controller: str) -> None:
    found = data("arm6", "--random", "1", "--duration", "0.2", "--controller", controller)
    assert found["largest_force"] > 1.0
    if controller != "waves":
        assert found["largest_speed"] < 1e-6


def test_engine_with_ground() -> None:
    found = data("chain:2", "--base", "free", "--plant", "mujoco", "--ground=-0.2", "--duration", "0.5")
    assert found["plant"] == "mujoco"
    free = data("chain:2", "--base", "free", "--plant", "mujoco", "--duration", "0.5")
    assert found["q"][6] > -0.25 > free["q"][6]


def test_constrained_robots_start_on_their_constraints() -> None:
    assert data("four_bar", "--duration", "0.1")["largest_residual"] < 1e-6


def test_steps_that_are_too_large_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["two_link", "--q", "0.3,0.2", "--dt", "0.2", "--duration", "60", "--integrator", "semi-implicit-euler"]
    assert cli.run(["simulate", *words]) == 0
    captured = capsys.readouterr()
    assert "diverged" in captured.out
    assert "the step of 0.2 s is too large" in captured.err


FALLING = ["arm7", "--q", "0.3,1,0.2,-0.5,0.1,0.2,0.3", "--duration", "0.6"]


def test_limits_that_were_left_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    robot = dq.robots.arm7()
    assert cli.run(["simulate", *FALLING]) == 0
    text, told = capsys.readouterr()
    assert "arm7 moved for 0.6 s (finished beyond limits)" in text
    assert "Beyond limits" in text
    assert told.startswith("warning: limits were left by ")
    assert "--limits stop adds end stops" in told
    assert told.count("\n") == 1
    found = data(*FALLING)
    assert found["finished"] is True
    assert found["status"].startswith("finished beyond limits: the position of joint ")
    for row in found["beyond"]:
        assert row["joint"] in text
        assert row["joint"] in told
        assert abs(row["value"]) > abs(row["limit"]) > 0.0
    (names,) = {tuple(sorted(row)) for row in found["beyond"]}
    assert names == ("joint", "kind", "limit", "samples", "time", "unit", "value", "worst")
    run = dq.simulate(robot, None, 0.6, q0=[0.3, 1.0, 0.2, -0.5, 0.1, 0.2, 0.3])
    assert found["beyond"] == run.about["beyond"]


def test_limits_stop_joints_or_go_unsaid(capsys: pytest.CaptureFixture[str]) -> None:
    limits = dq.robots.arm7().limits
    stopped = data(*FALLING, "--limits", "stop", "--stiction")
    assert (stopped["q"] <= limits.upper).all()
    assert (stopped["q"] >= limits.lower).all()
    assert (stopped["limits"], stopped["stiction"]) == (True, True)
    capsys.readouterr()
    assert cli.run(["simulate", *FALLING, "--limits", "ignore", "--check"]) == 0
    assert capsys.readouterr().err == ""


def test_forces_are_clipped() -> None:
    words = ["arm7", "--q", "0,1.2,0,0,0,0,0", "--v", "0,9,0,9,0,0,0", "--controller", "hold", "--duration", "0.05"]
    free, clipped = data(*words), data(*words, "--efforts", "clip")
    joints = {row["joint"] for row in free["beyond"] if row["kind"] == "effort"}
    assert joints
    assert {row["joint"] for row in clipped["clipped"]} >= joints
    assert clipped["largest_force"] <= dq.robots.arm7().limits.effort.max() < free["largest_force"]
    assert "Clipped forces" in output(*words, "--efforts", "clip")


def test_the_exit_code_tells_where_asked(capsys: pytest.CaptureFixture[str]) -> None:
    diverging = ["two_link", "--q", "0.3,0.2", "--dt", "0.2", "--duration", "60", "--integrator", "semi-implicit-euler"]
    for words, code in ((FALLING, 1), (diverging, 1), (["two_link", "--duration", "0.1"], 0)):
        assert cli.run(["simulate", *words, "--check"]) == code
        assert cli.run(["simulate", *words]) == 0
    assert "moved for" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--integrator", "euler"], "no integrator named 'euler'"),
        (["--controller", "magic"], "no controller named 'magic'"),
        (["--plant", "bullet"], "no plant named 'bullet'"),
        (["--q", "0.3"], "--q takes 2 numbers"),
        (["--q", "a,b"], "is not a list of numbers"),
        (["--ground", "0"], "--ground needs --plant mujoco"),
        (["--dt", "0"], "dt must be"),
        (["--limits", "stp"], "no treatment of limits named 'stp': did you mean 'stop'?"),
        (["--limits", "report", "--plant", "mujoco"], "with --plant mujoco joints stop at their limits"),
        (["--efforts", "clipp"], "no treatment of efforts named 'clipp': did you mean 'clip'?"),
        (["--limits", "stop", "--integrator", "adaptive"], "acts at the end of fixed steps"),
        (["--output", "run.txt"], "saved as .npz, .csv or .parquet"),
    ],
)
def test_bad_input_is_one_line(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["simulate", "two_link", "--duration", "0.01", "--json", *words]) == 2
    captured = capsys.readouterr()
    assert sentence in captured.err
    assert captured.err.count("\n") == 1
