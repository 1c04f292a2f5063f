"""The command line: what it prints, as text and as JSON, and how it fails."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from itertools import takewhile
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from trees import MOVING
from typer.main import get_command
from typer.testing import CliRunner

import dqdyn as dq
from dqdyn.cli import app as cli
from dqdyn.cli.commands.info import _axes

ONE_JOINT = """<robot name="door"><link name="frame"/><link name="leaf"><inertial><mass value="2.5"/>
<inertia ixx="1" iyy="1" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="frame"/><child link="leaf"/><axis xyz="0 0 -1"/>
<limit lower="-0.5" upper="1.25" velocity="3" effort="40"/><dynamics damping="0.7"/></joint>
<link name="latch"/><joint name="bolt" type="prismatic"><parent link="leaf"/><child link="latch"/><axis xyz="1 0 0"/>
<limit lower="0" upper="0.1" velocity="1" effort="5"/><mimic joint="hinge" multiplier="0.1" offset="0.02"/></joint>
</robot>"""


@pytest.fixture
def door(tmp_path: Path) -> str:
    path = tmp_path / "door.urdf"
    path.write_text(ONE_JOINT.format(izz=1))
    return str(path)


def output(*words: str) -> str:
    result = CliRunner().invoke(cli.app, list(words), env={"NO_COLOR": "1", "FORCE_COLOR": None})
    assert result.exit_code == 0, result.output
    return result.stdout


def data(*words: str) -> Any:
    return json.loads(output(*words, "--json"), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def failure(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one line of an error, with the exit code checked."""
    assert cli.run(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("error: ")
    return captured.err


COMMANDS = sorted(command.callback.__name__ for command in cli.app.registered_commands if command.callback)


class TestRobots:
    def test_lists_every_built_in_robot(self) -> None:
        rows = {row["name"]: row for row in data("robots")}
        assert list(rows) == dq.robots.names()
        for name, row in rows.items():
            robot = getattr(dq.robots, name)()
            assert (row["nq"], row["nv"], row["base"]) == (robot.nq, robot.nv, robot.base)
            assert row["mass"] == pytest.approx(robot.mass)
            assert len(row["description"]) > 20
            assert "[" not in row["description"]

    def test_text_has_one_line_per_robot(self) -> None:
        lines = output("robots").splitlines()
        for name in dq.robots.names():
            assert sum(line.split()[:1] == [name] for line in lines) == 1


class TestInfo:
    def test_data_are_those_of_the_robot(self) -> None:
        facts, robot = data("info", "humanoid"), dq.robots.humanoid()
        assert (facts["nq"], facts["nv"], facts["base"]) == (robot.nq, robot.nv, "free")
        assert [joint["name"] for joint in facts["joints"]] == [joint.name for joint in robot.joints]
        assert [joint["q"] for joint in facts["joints"]] == [[j.q.start, j.q.stop] for j in robot.joints]
        assert math.fsum(body["mass"] for body in facts["bodies"]) == pytest.approx(robot.mass)
        assert [frame["name"] for frame in facts["frames"]] == list(robot.frames)
        assert facts["links"][0] == {
            "name": "pelvis",
            "parent": "world",
            "mass": 7.0,
            "joint": "root_joint",
            "kind": "free",
        }

    def test_no_limit_is_null(self) -> None:
        joint = data("info", "two_link")["joints"][0]
        assert (joint["lower"], joint["upper"]) == ([None], [None])

    def test_file(self, door: str) -> None:
        facts = data("info", door)
        hinge, bolt = facts["joints"]
        assert facts["source"] == door
        assert hinge["axes"] == [[0.0, 0.0, -1.0]]
        assert (hinge["lower"], hinge["upper"], hinge["damping"]) == ([-0.5], [1.25], [0.7])
        assert bolt["mimic"] == {"joint": "hinge", "ratio": 0.1, "offset": 0.02}
        assert bolt["q"] == hinge["q"] == [0, 1]

    def test_text_of_a_file(self, door: str) -> None:
        text = " ".join(output("info", door).split())
        assert "door: nq = 1, nv = 1, fixed base, 2.5 kg moving" in text
        assert "hinge revolute -z 0 0 -0.5 … 1.25 rad 3 rad/s 40 N m yes 0.7 N m s/rad" in text
        assert "bolt prismatic x 0 0 0 … 0.1 m 1 m/s 5 N 0.1 · hinge + 0.02" in text
        assert "leaf 2.5 kg (0, 0, 0) m" in text

    def test_text_names_every_link_joint_and_user_frame(self) -> None:
        text, robot = output("info", "bimanual"), dq.robots.bimanual()
        named = [*robot.description.links, *robot.description.joints, *robot.description.frames]
        assert all(thing.name in text for thing in named)

    def test_tree_nests_children_below_their_parents(self) -> None:
        lines = output("info", "arm7").splitlines()
        depth = {f"link{i}": line.index("──") for i in range(1, 8) for line in lines if f"→ link{i}" in line}
        assert [depth[f"link{i}"] - depth["link1"] for i in range(1, 8)] == [4 * i for i in range(7)]

    def test_deep_tree_is_cut(self) -> None:
        text = output("info", "chain:50", "--depth", "3")
        assert "link2" in text.partition("… 48 links more")[0]
        assert "link3" not in text.partition("… 48 links more")[0]
        assert text.count("joint50") == 1  # in the table alone

    def test_options_of_built_in_robots(self) -> None:
        assert data("info", "chain:3")["nv"] == 3
        assert data("info", "chain:n=3,seed=4")["mass"] == pytest.approx(dq.robots.chain(3, seed=4).mass)

    @pytest.mark.parametrize("base", ["fixed", "free", "planar", "differential"])
    def test_base(self, base: str) -> None:
        facts, robot = data("info", "arm7", "--base", base), dq.load("arm7", base=base)
        assert (facts["base"], facts["nq"], facts["nv"]) == (base, robot.nq, robot.nv)
        assert ("root_joint" in output("info", "arm7", "--base", base)) == (base != "fixed")

    def test_mimic_joints_can_be_freed(self, door: str) -> None:
        assert data("info", door)["nq"] == 1
        assert data("info", door, "--no-mimic")["nq"] == 2

    def test_doubts_are_shown_or_refused(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "odd.urdf"
        path.write_text(ONE_JOINT.format(izz=9))  # no body has moments 1, 1, 9
        assert len(data("info", str(path))["warnings"]) == 1
        assert "warning: " in output("info", str(path))
        assert "'leaf'" in failure(capsys, "info", str(path), "--strict")

    def test_every_joint_kind_can_be_shown(self, tmp_path: Path) -> None:
        links = tuple(dq.Link(f"link{i}") for i in range(len(MOVING) + 1))
        joints = tuple(
            dq.Joint(f"a_{kind}", kind, f"link{i}", f"link{i + 1}", pitch=0.01) for i, kind in enumerate(MOVING)
        )
        path = dq.Robot.from_description(dq.Description("all", links, joints)).write(tmp_path / "all.json")
        text = output("info", str(path))
        assert all(f"a_{kind} {kind}" in text for kind in MOVING)
        assert [joint["kind"] for joint in data("info", str(path))["joints"]] == list(MOVING)

    def test_a_pitch_stands_behind_the_axes_if_there_are_any(self) -> None:
        assert _axes({"axes": [(0.0, 0.0, 1.0)], "pitch": 0.1}) == "z, 0.1 m/rad"
        assert _axes({"axes": [], "pitch": 0.1}) == "0.1 m/rad"
        assert _axes({"axes": [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0)], "pitch": None}) == "x, -y"


LOSING = """<mujoco><option timestep="0.001"/><worldbody><light name="sun"/>
  <body name="one"><joint name="a" armature="0.1" stiffness="2"/><geom size="0.1"/><site name="s"/>
  <body name="two"><joint name="b" armature="0.2" pos="0 0 1"/><geom size="0.1"/><site name="t"/></body></body>
  </worldbody>
  <equality><connect name="pin" site1="t" site2="s"/></equality><sensor><gyro name="spin" site="s"/></sensor>
  <tendon><spatial name="rope"><site site="s"/><site site="t"/></spatial></tendon>
  <keyframe><key name="home" qpos="0.1 0.2"/></keyframe></mujoco>"""


class TestConvert:
    @pytest.mark.parametrize("ending", ["urdf", "xml", "json"])
    def test_written_file_is_the_same_robot(self, tmp_path: Path, ending: str) -> None:
        if ending == "xml":
            pytest.importorskip("mujoco")
        target = tmp_path / f"arm.{ending}"
        assert str(target) in output("convert", "arm7", str(target))
        robot, again = dq.robots.arm7(), dq.load(target)
        q = robot.random_configuration(3)
        frame = "link7"
        assert again.nv == robot.nv
        assert again.pose(frame, q).matrix == pytest.approx(robot.pose(frame, q).matrix, abs=1e-9)

    def test_what_is_lost_is_listed_and_refused(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        pytest.importorskip("mujoco")
        source, target = tmp_path / "arm.xml", tmp_path / "arm.urdf"
        source.write_text(LOSING)
        assert cli.run(["convert", str(source), str(target)]) == cli.FAILED
        said = capsys.readouterr().err
        assert not target.exists()
        losses = [line for line in said.splitlines() if line.startswith("warning: lost ")]
        assert [line.partition(": ")[2].partition(": ")[2] for line in losses] == [
            "tendons are left out: 'rope'.",
            "sensors, but for their frames, are left out: 'spin'.",
            "lights are left out: 'sun'.",
            "options of the engine are left out: 'timestep'.",
            "the constraint 'pin'",
            "armature of the revolute joint 'a'",
            "stiffness of the revolute joint 'a'",
            "armature of the revolute joint 'b'",
            "the posture 'home'",
        ]
        assert "9 things are lost from" in said
        assert said.count("tendons are left out") == 1  # not as a warning of reading too
        assert said.count("constraints hold exactly") == 1
        assert "arm.urdf, as listed above: add --lossy to write the file all the same." in said
        assert cli.run(["convert", str(source), str(target), "--lossy", "--json"]) == 0
        captured = capsys.readouterr()
        assert len(json.loads(captured.out)["lost"]) == 9
        assert "lost in writing URDF: the posture 'home'" in captured.err
        assert dq.load(target).nv == 2

    def test_templates_and_srdf(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        pytest.importorskip("xacro")
        template, srdf, target = (tmp_path / name for name in ("arm.xacro", "arm.srdf", "arm.json"))
        template.write_text(
            '<robot name="arm" xmlns:xacro="http://wiki.ros.org/xacro"><xacro:arg name="link" default="a"/>'
            '<link name="$(arg link)"/></robot>'
        )
        srdf.write_text('<robot name="arm"><disable_collisions link1="b" link2="b"/></robot>')
        given = ["--srdf", str(srdf), "--package-path", str(tmp_path)]
        assert "Wrote" in output("convert", str(template), str(target), *given, "--xacro-arg", "link:=b")
        assert dq.load(target).disabled_pairs == (("b", "b"),)
        assert "takes name=value" in failure(capsys, "info", str(template), "--xacro-arg", "link")
        assert "is not a folder" in failure(capsys, "info", str(template), "--package-path", str(tmp_path / "none"))

    def test_nothing_is_lost_to_json(self, tmp_path: Path) -> None:
        facts = data("convert", "humanoid", str(tmp_path / "walker.json"))
        assert facts["lost"] == []

    def test_json_names_the_target(self, tmp_path: Path) -> None:
        target = tmp_path / "arm.json"
        facts = data("convert", "arm6", str(target))
        assert facts["target"] == str(target)
        assert facts["bytes"] == target.stat().st_size

    def test_warnings_go_to_stderr(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "odd.urdf"
        path.write_text(ONE_JOINT.format(izz=9))
        assert cli.run(["convert", str(path), str(tmp_path / "odd.json"), "--json"]) == 0
        captured = capsys.readouterr()
        json.loads(captured.out)
        assert captured.err.startswith("warning: ")

    def test_unknown_ending(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert ".urdf" in failure(capsys, "convert", "arm7", str(tmp_path / "arm.step"))


class TestEquation:
    def test_item(self) -> None:
        entries = {entry["function"]: entry for entry in data("equation", "Silva", "9")}
        entry = entries["dqdyn.algebra.rates.adjoint_rate"]
        assert entry["item"] == "[Silva, eq. (9)]"
        assert entry["module"] == "src/dqdyn/algebra/rates.py"
        assert entry["tests"]
        source = Path(dq.__file__).parent.parent.parent / entry["module"]
        assert "def adjoint_rate" in source.read_text(encoding="utf-8").splitlines()[entry["line"] - 1]
        text = output("equation", "silva", "eq.", "9")
        assert all(part in text for part in (entry["function"], entry["summary"], entry["module"], *entry["tests"]))

    def test_item_without_a_function(self) -> None:
        (answer,) = data("equation", "Silva", "10")
        assert answer == {"item": "[Silva, eq. (10)]", "reason": answer["reason"]}
        assert f"No function implements it: {answer['reason']}" in output("equation", "Silva", "10")

    def test_items_of_a_paper(self) -> None:
        entries = data("equation", "Silva")
        assert {entry["paper"] for entry in entries} == {"Silva"}
        assert all(entry["function"] in output("equation", "Silva") for entry in entries)

    def test_papers(self) -> None:
        papers = [paper["paper"] for paper in data("equation")]
        assert papers == ["Silva", "Bouyarmane", "Farias", "Quiroz", "Parsa"]
        assert all(paper in output("equation") for paper in papers)

    def test_unknown(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert "'Silva'" in failure(capsys, "equation", "Sliva", "9")
        assert "eq. 1 to 61" in failure(capsys, "equation", "Silva", "999")


class TestTop:
    def test_version(self) -> None:
        assert output("--version") == f"dqdyn {dq.__version__}\n"
        assert data("--version")["dqdyn"] == dq.__version__

    def test_help_names_every_command(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.run([]) == 0
        text = capsys.readouterr().out
        assert all(command in text for command in COMMANDS)

    @pytest.mark.parametrize("command", COMMANDS)
    def test_help_of_a_command_has_examples(self, command: str) -> None:
        text = output(command, "--help")
        assert "Examples" in text
        assert f"  dqdyn {command}" in text
        assert "--json" in text

    @pytest.mark.parametrize("command", COMMANDS)
    def test_options_have_one_meaning_in_all_commands(self, command: str) -> None:
        given = {option.name: option for option in get_command(cli.app).commands[command].params}
        assert "as_json" in given
        if "source" in given:  # those of one robot: the same way to name it, in the same order
            assert given["source"].metavar == "ROBOT"
            loading = ["base", "no_mimic", "strict", "package_path", "srdf", "xacro_arg", "as_json"]
            assert list(given)[-7:] == loading
        if "output" in given:
            assert given["output"].opts == ["--output", "--out", "-o"]
        for name, letters in {"q": ["--q"], "v": ["--v"], "seed": ["--random"], "html": ["--html"]}.items():
            assert name not in given or given[name].opts == letters


def example() -> str:
    """The file of a command with which the docstring of the app begins."""
    lines = (cli.__doc__ or "").split("::\n", 1)[1].splitlines()
    return dedent("\n".join(takewhile(lambda line: line.startswith("    ") or not line, lines)))


class TestNewCommand:
    """A file in the folder of commands is all that a new command needs."""

    def run(self, folder: Path, *words: str) -> str:
        (folder / "weight.py").write_text(example(), encoding="utf-8")
        code = f"from dqdyn.cli import commands, main; commands.__path__.append({str(folder)!r}); main({list(words)})"
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120, encoding="utf-8")
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout

    def test_it_runs_for_people_and_programs(self, tmp_path: Path) -> None:
        assert self.run(tmp_path, "weight", "two_link", "--gravity", "10") == "20 N\n"
        facts = json.loads(self.run(tmp_path, "weight", "two_link", "--base", "free", "--json"))
        assert facts == {"weight": pytest.approx(9.81 * dq.load("two_link", base="free").mass)}

    def test_help_lists_it_in_its_panel(self, tmp_path: Path) -> None:
        text = self.run(tmp_path, "--help")
        assert re.search(r"Explore.*weight +Print the weight of a robot.*Compute", text, re.DOTALL)
        assert "\n   dqdyn weight arm7" in self.run(tmp_path, "weight", "--help")


class TestErrors:
    @pytest.mark.parametrize(
        ("words", "hint"),
        [
            (("inof", "arm7"), "'info'"),
            (("info", "arm"), "'arm7'"),
            (("info", "humaniod:3"), "'humanoid'"),
            (("info", "chain:x"), "not a number"),
            (("info", "chain:0"), "one link or more"),
            (("info", "chain:1,2,3"), "'chain'"),
            (("info", "arm7", "--base", "fixd"), "'fixed'"),
            (("info", "nowhere/robot.urdf"), "nowhere"),
            (("info",), "ROBOT"),
            (("robots", "--jsno"), "--json"),
            (("--json", "robots"), "dqdyn robots --json"),
        ],
    )
    def test_one_line_and_exit_code_2(
        self, words: tuple[str, ...], hint: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert hint in failure(capsys, *words)

    def test_debug_shows_where(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setenv("DQDYN_DEBUG", "1")
        assert cli.run(["info", "arm"]) == 2
        assert "Traceback" in capsys.readouterr().err

    def test_interrupt_is_quiet(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("dqdyn.cli.commands.robots.robot_of", interrupted)
        assert cli.run(["robots"]) == 130
        captured = capsys.readouterr()
        assert (captured.out.strip(), captured.err.strip()) == ("", "")

    def test_a_bug_is_not_hidden(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: object, **__: object) -> None:
            raise RuntimeError("a bug")

        monkeypatch.setattr("dqdyn.cli.commands.robots.robot_of", broken)
        with pytest.raises(RuntimeError, match="a bug"):
            cli.run(["robots"])
