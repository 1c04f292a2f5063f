"""``dqdyn cost`` and ``dqdyn dynamics``: what they print, as text and as JSON, and how they fail."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_cli import data, failure, output

import dqdyn as dq
from dqdyn.analysis.costs.homogeneous_reference import newton_euler_costs
from dqdyn.cli import cost_figures
from dqdyn.dynamics import methods
from dqdyn.errors import install_command

FORMULATIONS = {f.function: f for f in (methods.INVERSE, methods.FORWARD, methods.MASS_MATRIX, methods.CORIOLIS)}


class TestCost:
    def test_every_table_with_reasons(self) -> None:
        found = data("cost")
        tables = {part["table"].partition(":")[0]: part["lines"] for part in found["tables"]}
        assert list(tables) == [
            *(f"Farias, table {k}" for k in (2, 3, 4)),
            *(f"Quiroz, table 5.{k}" for k in (1, 2, 3, 4)),
            "Silva, table 3",
        ]
        for lines in tables.values():
            for line in lines:
                assert line["equal"] == (line["printed"] is not None and line["printed"] == line["counted"])
                assert line["equal"] or line["reason"], line["name"]
        gauss = tables["Quiroz, table 5.4"][0]
        assert gauss["printed"]["mul"] == gauss["counted"]["mul"] == "4n³ + 386n² + 401n"

    def test_programs_are_those_of_the_robot(self) -> None:
        found, robot = data("cost", "two_link", "-n", "3"), dq.robots.two_link()
        assert (found["robot"], found["nv"], found["n"]) == ("two_link", 2, 3)
        assert [row["method"] for row in found["programs"]] == ["auto", *methods.INVERSE]
        for row in found["programs"]:
            compiled = robot.count("inverse_dynamics", method=row["method"])
            written = robot.count("inverse_dynamics", simplify=False, method=row["method"])
            assert (row["compiled"]["mul"], row["compiled"]["add"]) == (compiled.mul + compiled.div, compiled.add)
            assert (row["written"]["mul"], row["written"]["add"]) == (written.mul + written.div, written.add)
            assert row["compiled"]["total"] < row["written"]["total"]

    def test_whole_algorithms_at_n(self) -> None:
        rows = {row["algorithm"]: row for row in data("cost", "two_link", "-n", "7")["at_n"]}
        assert rows["dual-quaternion Newton-Euler"]["printed"] == {"mul": 6126, "add": 5028}
        assert rows["Farias, algorithm 1"]["printed"] == {"mul": 7 * 321, "add": 7 * 273}
        assert rows["classic Newton-Euler (Balafoutis)"]["counted"] is None

    def test_text_shows_both_numbers_and_the_reason(self) -> None:
        lines = [" ".join(line.split()) for line in output("cost").splitlines()]
        assert "adjoint 20 ≠ 32 28 ≠ 24 = 7 r p r* is two products of quaternions;" in " ".join(lines)
        assert any(line.startswith("C(J_ξ) of body i = 237i − 40 = 184i − 40") for line in lines)
        assert any(line.startswith("dual-quaternion Newton-Euler 882n − 48 ≠ 871n − 48") for line in lines)
        assert any(line.startswith("gibbs-appell ") for line in lines)
        summary = "36 of 57 printed lines are equal to ours in every number, 4 of them with C(J̇_x) as printed."
        assert summary in " ".join(lines)

    def test_figures(self, tmp_path: Path) -> None:
        pytest.importorskip("matplotlib")
        found = data("cost", "two_link", "--figures", str(tmp_path))["figures"]
        assert sorted(Path(name).name for name in found) == ["farias_fig_4.png", "farias_fig_5.png"]
        for name in found:
            assert Path(name).read_bytes().startswith(b"\x89PNG")

    def test_curves_are_the_costs(self) -> None:
        curves = cost_figures.curves(newton_euler_costs)
        assert [c.mul for c in curves["dual quaternions, printed"]] == [321 * n for n in range(1, 43)]
        assert set(curves) <= set(cost_figures.STYLES)

    def test_figures_need_matplotlib(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        real = builtins.__import__

        def without(name: str, *rest: Any, **words: Any) -> Any:
            if name.partition(".")[0] == "matplotlib":
                raise ImportError(name)
            return real(name, *rest, **words)

        command = install_command("matplotlib", "plot")
        monkeypatch.setattr(builtins, "__import__", without)
        assert command in failure(capsys, "cost", "two_link", "--figures", str(tmp_path))

    def test_errors(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        pytest.importorskip("matplotlib")
        assert "make it first" in failure(capsys, "cost", "--figures", str(tmp_path / "nowhere"))
        assert "-n" in failure(capsys, "cost", "-n", "0")
        assert "'arm7'" in failure(capsys, "cost", "arm")


class TestDynamics:
    def test_data_are_those_of_the_robot(self) -> None:
        words = ("--q", "0.3,0.5", "--v=-0.1,0.2", "--a", "1,0")
        found, robot = data("dynamics", "two_link", *words), dq.robots.two_link()
        q, v, a = [0.3, 0.5], [-0.1, 0.2], [1.0, 0.0]
        assert (found["q"], found["v"], found["a"]) == (q, v, a)
        expected = {
            "mass_matrix": robot.mass_matrix(q),
            "coriolis_matrix": robot.coriolis_matrix(q, v),
            "gravity_forces": robot.gravity_forces(q),
            "bias_forces": robot.bias_forces(q, v),
            "inverse_dynamics": robot.inverse_dynamics(q, v, a),
            "mass_matrix_eigenvalues": np.linalg.eigvalsh(robot.mass_matrix(q)),
            "kinetic_energy": robot.kinetic_energy(q, v),
            "potential_energy": robot.potential_energy(q),
        }
        for key, value in expected.items():
            assert np.array(found[key]) == pytest.approx(np.array(value), abs=1e-12), key

    @pytest.mark.parametrize("name", ["arm7", "humanoid"])
    def test_all_formulations_agree(self, name: str) -> None:
        found = data("dynamics", name, "--random", "3")
        rows = {(row["function"], row["method"]): row["deviation"] for row in found["deviations"]}
        for function in ("inverse_dynamics", "mass_matrix", "forward_dynamics"):
            assert {method for f, method in rows if f == function} == set(FORMULATIONS[function])
        assert max(rows.values()) < 1e-10

    def test_a_wrong_formulation_would_show(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from dqdyn.dynamics import methods

        monkeypatch.setitem(methods.INVERSE.named, "kane", lambda model, q, v, a, wrenches: [0.0] * model.nv)
        found = data("dynamics", "two_link")
        wrong = [row["method"] for row in found["deviations"] if row["deviation"] > 1e-6]
        assert wrong == ["kane"]

    def test_state_by_default_and_by_chance(self) -> None:
        robot = dq.robots.humanoid()
        still, first, again = (data("dynamics", "humanoid", *w) for w in ((), ("--random", "1"), ("--random", "1")))
        assert still["q"] == robot.neutral().tolist()
        assert set(still["v"]) == set(still["a"]) == {0.0}
        assert first == again
        assert first["q"] != still["q"]
        assert data("dynamics", "two_link", "--random", "1", "--v", "0,0")["v"] == [0.0, 0.0]

    def test_text(self) -> None:
        text = " ".join(output("dynamics", "two_link", "--q", "0.3,0.5", "--v", "0.1,0.2", "--a", "1,0").split())
        assert "joint1 0.1 1 17.48 17.46 20 N m" in text
        assert "joint1 2.544 0.7721 joint2 0.7721 0.3333" in text
        assert "eigenvalues of M from 0.09038 to 2.787" in text
        assert "energy 7.902 J: 0.03483 J kinetic, 7.867 J potential" in text
        assert "inverse_dynamics gibbs-appell" in text

    def test_large_matrices_are_cut_with_a_note(self) -> None:
        text = output("dynamics", "humanoid")
        assert "Of M and C the first 8 of 33 rows and columns; all with --json." in text
        assert "(25 more)" in text
        assert len(data("dynamics", "humanoid")["mass_matrix"][0]) == 33

    def test_robot_that_cannot_accelerate(self, tmp_path: Path) -> None:
        links = (dq.Link("base"), dq.Link("ghost"))
        joint = dq.Joint("hinge", "revolute", "base", "ghost")
        path = dq.Robot.from_description(dq.Description("thin", links, (joint,))).write(tmp_path / "thin.json")
        functions = {row["function"] for row in data("dynamics", str(path))["deviations"]}
        assert functions == {"inverse_dynamics", "mass_matrix"}

    def test_robot_without_joints(self, tmp_path: Path) -> None:
        path = dq.Robot.from_description(dq.Description("rock", (dq.Link("rock"),), ())).write(tmp_path / "rock.json")
        assert data("dynamics", str(path))["mass_matrix"] == []
        assert "rock: nq = 0, nv = 0" in output("dynamics", str(path))

    @pytest.mark.parametrize(
        ("words", "hint"),
        [
            (("--q", "1,2,3"), "--q takes 2 numbers; found 3"),
            (("--v", "one,2"), "0.1,0.2"),
            (("--q", "nan,0"), "--q 'nan,0' is not finite"),
            (("--random", "-1"), "--random"),
        ],
    )
    def test_errors(self, words: tuple[str, ...], hint: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert hint in failure(capsys, "dynamics", "two_link", *words)


@pytest.mark.parametrize("command", ["cost", "dynamics"])
def test_help_has_examples(command: str) -> None:
    text = output(command, "--help")
    assert "Examples" in text
    assert f"  dqdyn {command}" in text
    assert "--json" in text
