"""``robot.export`` and ``dqdyn export``: choices, files and mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trees import TREES, tree
from typer.testing import CliRunner

import dqdyn as dq
from dqdyn.cli import app as cli
from dqdyn.compile.export.names import identifier, is_identifier
from dqdyn.formats import whole_file
from dqdyn.robot.catalog import CATALOG


def output(*words: str) -> str:
    result = CliRunner().invoke(cli.app, ["export", *words], env={"NO_COLOR": "1", "FORCE_COLOR": None})
    assert result.exit_code == 0, result.output
    return result.stdout


def failure(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.run(["export", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    return captured.err


def test_prints_what_the_robot_exports() -> None:
    robot = dq.robots.arm7()
    assert output("arm7", "pose", "--frame", "tool") == robot.export("c", "pose", frame="tool")
    words = ("arm7", "twist", "--frame", "tool", "--expressed", "world", "--symbol", "hand", "--header")
    assert output(*words) == robot.export("c", "twist", frame="tool", expressed="world", symbol="hand", header=True)
    words = ("bimanual", "relative_pose", "--frame1", "left_hand", "--frame2", "right_hand")
    both = {"frame1": "left_hand", "frame2": "right_hand"}
    assert output(*words) == dq.robots.bimanual().export("c", "relative_pose", **both)


def test_frames_of_wrenches() -> None:
    words = ("arm7", "inverse_dynamics", "--wrench-frame", "tool", "--wrench-frame", "link4")
    text = output(*words, "--wrench-expressed", "aligned")
    options = {"wrench_frames": ("tool", "link4"), "wrench_expressed": "aligned"}
    assert text == dq.robots.arm7().export("c", "inverse_dynamics", **options)
    assert "wrenches[6..11] link4: force in N, torque in N m" in text


@pytest.mark.parametrize("name", TREES)
def test_every_component_is_explained_once(name: str) -> None:
    robot = tree(name)
    text = robot.export("c", "twist_rate", frame="tool", header=True)
    for argument, size in (("q", robot.nq), ("v", robot.nv), ("a", robot.nv)):
        found = re.findall(rf"^ \*   {argument}\[(\d+)(?:\.\.(\d+))?\] (\S+), ", text, re.MULTILINE)
        covered = [k for first, last, _ in found for k in range(int(first), int(last or first) + 1)]
        assert covered == list(range(size))
        part = (lambda joint: joint.q) if argument == "q" else (lambda joint: joint.v)
        owners = {k: joint.name for joint in robot.joints if not joint.is_mimic for k in range(size)[part(joint)]}
        assert all(owners[int(first)] == owner for first, _, owner in found)


def test_base_and_symbolic_constants() -> None:
    pytest.importorskip("sympy")
    text = output(
        "two_link", "pose", "--frame", "tool", "--lang", "sympy", "--constants", "decimal", "--base", "planar"
    )
    robot = dq.load("two_link", base="planar")
    assert text == robot.export("sympy", "pose", frame="tool", constants="decimal").source()


def test_written_file_replaces_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "pose.c"
    target.write_text("old")
    said = output("arm7", "pose", "--frame", "tool", "-o", str(target))
    assert str(target) in said
    assert target.read_text(encoding="utf-8") == dq.robots.arm7().export("c", "pose", frame="tool")
    assert list(tmp_path.iterdir()) == [target]
    plain = tmp_path / "plain"
    plain.touch()
    assert target.stat().st_mode == plain.stat().st_mode


def test_casadi_file_loads(tmp_path: Path) -> None:
    casadi = pytest.importorskip("casadi")
    target = tmp_path / "com.casadi"
    facts = json.loads(output("arm7", "center_of_mass", "--lang", "casadi", "-o", str(target), "--json"))
    assert (facts["function"], facts["bytes"]) == ("center_of_mass", target.stat().st_size)
    robot = dq.robots.arm7()
    q = robot.random_configuration(1)
    expected = pytest.approx(robot.center_of_mass(q), rel=1e-12)
    assert np.array(casadi.Function.load(str(target))(q)).reshape(-1) == expected
    printed = casadi.Function.deserialize(output("arm7", "center_of_mass", "--lang", "casadi").strip())
    assert np.array(printed(q)).reshape(-1) == expected


def test_file_appears_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "pose.c"
    target.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole_file.os, "replace", full)
    assert "No space left" in failure(capsys, "arm7", "pose", "--frame", "tool", "-o", str(target))
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "pose.c", tmp_path / "pose.c"
    target.write_text("old")
    link.symlink_to(target)
    output("arm7", "pose", "--frame", "tool", "-o", str(link))
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("/* Generated by dqdyn")


def test_json_holds_text_and_facts() -> None:
    facts = json.loads(output("arm7", "twist_jacobian", "--frame", "tool", "--json"))
    assert facts["inputs"] == {"q": 7}
    assert facts["shape"] == [6, 7]
    assert facts["options"] == {"frame": "tool"}
    assert facts["text"] == dq.robots.arm7().export("c", "twist_jacobian", frame="tool")


def test_functions_are_listed() -> None:
    rows = json.loads(output("arm7", "--json"))
    assert [row["function"] for row in rows] == list(CATALOG)
    assert [tuple(row["inputs"]) for row in rows] == [quantity.inputs for quantity in CATALOG.values()]
    text = output("arm7")
    assert all(name in text for name in CATALOG)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("arm7", "pos", "--frame", "tool"), "'pose'"),
        (("arm7", "pos", "--frame", "tool"), "dqdyn export arm7"),
        (("arm7", "pose"), "'frame'"),
        (("arm7", "pose", "--frame", "tol"), "'tool'"),
        (("arm7", "pose", "--frame", "tool", "--expressed", "body"), "'expressed'"),
        (("arm7", "twist", "--frame", "tool", "--expressed", "wrld"), "'world'"),
        (("arm7", "pose", "--frame", "tool", "--lang", "casdi"), "'casadi'"),
        (("arm7", "pose", "--frame", "tool", "--lang", "rust"), "c, casadi, sympy"),
        (("arm7", "pose", "--frame", "tool", "--lang", "jax"), "robot.export('jax', 'pose')"),
        (("arm7", "pose", "--frame", "tool", "--lang", "sympy", "--header"), "'header'"),
        (("arm7", "pose", "--frame", "tool", "--symbol", "double"), "'double'"),
        (("arm7", "pose", "--frame", "tool", "-o", "/nowhere/pose.c"), "make it first"),
        (("arm7", "pose", "--frame", "tool", "-o", "."), "not a file"),
        (("am7", "pose", "--frame", "tool"), "'arm7'"),
    ],
)
def test_mistakes_are_one_line(words: tuple[str, ...], hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert hint in failure(capsys, *words)


def test_help_has_examples() -> None:
    text = output("--help")
    assert "  dqdyn export arm7" in text
    assert "--json" in text


@pytest.mark.parametrize(
    ("language", "options", "hint"),
    [
        ("C", {}, "c, casadi, jax, sympy"),
        ("sympi", {}, "'sympy'"),
        ("c", {"sybol": "f"}, "'symbol'"),
        ("c", {"constants": "float"}, "'constants'"),
        ("casadi", {"header": True}, "'header'"),
    ],
)
def test_robot_knows_languages_and_options(language: str, options: dict[str, Any], hint: str) -> None:
    with pytest.raises(dq.UnknownNameError, match=hint):
        dq.robots.two_link().export(language, "pose", frame="tool", **options)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("arm7 pose tool", "arm7_pose_tool"),
        ("my-robot 2.0", "my_robot_2_0"),
        ("7dof", "dq_7dof"),
        ("機", "dq"),
        ("__x__", "x"),
        ("double", "double_"),
        ("sin", "sin_"),
    ],
)
def test_identifiers(text: str, name: str) -> None:
    assert identifier(text) == name
    assert is_identifier(name)
