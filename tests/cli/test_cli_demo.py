"""``dqdyn demo``: what it computes, prints and writes, also where only the base dependencies are installed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_cli import data, failure
from test_cli_process import environment

import dqdyn as dq
from dqdyn.cli import app as cli
from dqdyn.cli import demo_motion
from dqdyn.cli.commands import demo
from dqdyn.dynamics import methods

EXTRAS = ("matplotlib", "viser", "mujoco", "sympy", "casadi", "pandas", "pinocchio", "daqp", "piqp", "scipy")

FORMULATIONS = {f.function: f for f in (methods.INVERSE, methods.FORWARD, methods.MASS_MATRIX, methods.CORIOLIS)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "pages"


@pytest.fixture(scope="module")
def found(folder: Path) -> Any:
    return data("demo", "--output", str(folder))


class TestReference:
    @pytest.mark.parametrize("t", [0.5, 3.0, 4.5, 7.5, 11.0])
    def test_velocity_and_acceleration_are_its_derivatives(self, t: float) -> None:
        h = 1e-5
        (q0, v0, _), (_, v, a), (q1, v1, _) = (map(np.array, demo_motion.reference(t + k * h)) for k in (-1, 0, 1))
        assert v == pytest.approx((q1 - q0) / (2 * h), abs=1e-7)
        assert a == pytest.approx((v1 - v0) / (2 * h), abs=1e-6)

    def test_it_rolls_from_rest_to_rest_without_a_jump(self) -> None:
        robot, times = dq.robots.nonholonomic_manipulator(), np.linspace(0.0, demo_motion.DURATION, 500)
        q, v, a = (np.array(x) for x in zip(*(demo_motion.reference(t) for t in times), strict=True))
        assert np.abs(robot.constraint_velocity(q, v)).max() < 1e-12
        assert (
            np.abs(np.einsum("nij,nj->ni", robot.constraint_matrix(q, v), a) - robot.constraint_bias(q, v)).max()
            < 1e-12
        )
        assert np.abs(v[[0, -1]]).max() == pytest.approx(0.0, abs=1e-12)
        assert np.abs(np.diff(q, axis=0)).max() < 0.2
        assert q[0] == pytest.approx(q[-1], abs=1e-12)


class TestNumbers:
    def test_equation_is_that_of_the_robot(self, found: Any) -> None:
        robot, equation = dq.load(found["robot"]), found["equation"]
        q, v, a = (np.array(equation[name]) for name in "qva")
        M, C, g = (np.array(equation[name]) for name in ("mass_matrix", "coriolis_matrix", "gravity_forces"))
        assert M @ a + C @ v + g == pytest.approx(robot.inverse_dynamics(q, v, a), abs=1e-9)
        assert np.array(equation["constraint_matrix"]) @ a == pytest.approx(np.array(equation["constraint_bias"]))
        assert equation["constraint_rows"] == ["rolling"]

    def test_every_formulation_takes_part(self, found: Any) -> None:
        rows = {(row["function"], row["method"]): row["relative"] for row in found["agreement"]}
        for function in ("inverse_dynamics", "mass_matrix", "forward_dynamics"):
            assert {method for name, method in rows if name == function} >= set(FORMULATIONS[function]) & {
                "newton-euler",
                "screw",
                "gauss",
                "kane",
                "lagrange",
                "composite-body",
                "articulated-body",
            }
        assert {m for name, m in rows if name.startswith("constrained")} == {"udwadia-kalaba", "kane"}
        assert 0.0 < max(rows.values()) < 1e-10

    def test_the_arm_finds_its_way_and_the_wheels_roll(self, found: Any) -> None:
        motion = found["motion"]
        assert motion["status"] == "finished"
        assert motion["arm_error_start"] > 0.3
        assert motion["arm_error_end"] < 1e-3
        assert motion["slip_largest"] < 1e-9
        assert motion["speed_largest"] > 0.5

    def test_checks_passed(self, found: Any) -> None:
        assert [check["passed"] for check in found["checks"]] == [True] * 3

    def test_functions_are_timed(self, found: Any) -> None:
        for row in found["speed"]:
            assert min(row[name] for name in ("native", "numpy", "native_batch", "numpy_batch")) > 0.0
            assert row["operations"] > 100


class TestFiles:
    def test_they_are_named_and_complete(self, found: Any, folder: Path) -> None:
        assert {Path(path).parent for path in found["files"].values()} == {folder.resolve()}
        run = dq.Trajectory.load(found["files"]["trajectory"])
        assert run.robot.name == found["robot"]
        assert run.duration == pytest.approx(demo_motion.DURATION)

    @pytest.mark.parametrize("name", ["animation", "report"])
    def test_pages_need_no_other_file(self, found: Any, name: str) -> None:
        text = Path(found["files"][name]).read_text(encoding="utf-8")
        assert text.startswith("<!doctype html>")
        assert text.rstrip().endswith("</html>")
        assert not re.findall(r"https?://(?!www\.w3\.org)", text)
        assert not re.findall(r"<(?:script|img)[^>]* src=|<link[^>]*href=\"(?!data:)", text)

    def test_report_shows_the_numbers(self, found: Any) -> None:
        text = Path(found["files"]["report"]).read_text(encoding="utf-8")
        assert all(f">{row['method']}<" in text for row in found["agreement"])
        assert f">{found['equation']['mass_matrix'][0][0]:.4g}<" in text
        assert 'href="animation.html"' in text
        assert text.count('<figure class="plot">') == 9


@pytest.mark.long
def test_it_needs_base_dependencies_only_and_ends_with_the_summary(tmp_path: Path) -> None:
    code = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS})); from dqdyn.cli import main; main(['demo'])"
    words = {"env": environment(PYTHONIOENCODING="ascii"), "timeout": 300, "encoding": "utf-8"}
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, **words)  # type: ignore[call-overload]
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.isascii()
    summary = result.stdout.partition("Open in a browser:")[2]
    for name in ("animation", "report"):
        path = tmp_path / "dqdyn-demo" / f"{name}.html"
        assert f"{name} " in summary
        assert str(path) in summary
        assert path.exists()


@pytest.mark.long
def test_a_disagreement_is_told_and_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:

    monkeypatch.setitem(methods.INVERSE.named, "kane", lambda model, q, v, a, wrenches: [0.0] * model.nv)
    assert cli.run(["demo", "--output", str(tmp_path)]) == 1
    assert "✗ 22 formulations" in capsys.readouterr().out


def test_a_folder_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert "--output" in failure(capsys, "demo", "--output", str(file))


def test_without_native_code_it_says_so() -> None:
    motion = {
        "arm_error_end": 0.0,
        "platform_error_largest": 0.0,
        "slip_largest": 0.0,
        "duration": 1.0,
        "dt": 0.01,
        "wall_time": 1.0,
    }
    same = dict.fromkeys(("native", "numpy", "native_batch", "numpy_batch"), 1e-6)
    facts = {"agreement": [{"relative": 1e-15}], "speed": [same], "motion": {**motion, "status": "finished"}}
    assert "Native code is unavailable" in demo.checks_of(facts)[1]["check"]
