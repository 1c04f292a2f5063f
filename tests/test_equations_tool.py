"""The equation index: the tool on small trees of its own, and the lookup on a small index."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dqdyn import equations
from dqdyn.equations import Entry, lookup, packaged_index
from dqdyn.errors import Error, UnknownNameError

TOOL = Path(__file__).parent.parent / "tools" / "equations.py"
TAGGED = '''
"""A module."""


class Thing:
    """A thing [Silva, table 1]."""

    def turn(self):
        """Turns [Silva, eq. (29)] [Quiroz,
        def. (A.21)]."""


def torque():
    """Torque [Silva, eq. (29)]."""
'''
TESTED = """
import pytest


@pytest.mark.equation("Silva", "29")
def test_turn():
    pass


@pytest.mark.equation("Quiroz", "A.21")
@pytest.mark.equation("Silva", "table 1")
class TestThing:
    pass
"""


CALLS = {
    "tests/test_things.py::test_turn": {"enters": ["dqdyn.things.Thing.turn", "dqdyn.things.torque"]},
    "tests/test_things.py::TestThing": {"enters": ["dqdyn.things.Thing", "dqdyn.things.Thing.turn"]},
}


TEST_OF_ONE = """
import pytest


@pytest.mark.equation("{}", "{}")
def test_f():
    pass
"""


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("equations_tool", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up by name
    spec.loader.exec_module(module)
    return module


class Tree:
    """A repository in a temporary folder."""

    def __init__(self, tool: ModuleType, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.tool, self.root, self.capsys = tool, root, capsys
        self.write("src/dqdyn/things.py", TAGGED)
        self.write("tests/test_things.py", TESTED)
        self.calls = dict(CALLS)
        self.record()

    def record(self, **calls: dict[str, list[str]]) -> None:
        """Say what tests of tests/test_more.py enter, beside those that are always there."""
        self.calls |= {f"tests/test_more.py{'::' * bool(test)}{test}": names for test, names in calls.items()}
        self.write("tools/equation_calls.json", json.dumps(self.calls))

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, *arguments: str) -> tuple[int, list[str]]:
        """Exit code and printed lines."""
        code = self.tool.main([*arguments, "--root", str(self.root)])
        return code, self.capsys.readouterr().out.splitlines()

    def problem(self) -> str:
        """The only problem of the tree."""
        code, lines = self.run()
        assert code == 1
        assert len(lines) == 1, lines
        return lines[0]


@pytest.fixture
def tree(tool: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Tree:
    monkeypatch.setattr(tool, "COVERED", ())  # a small tree does not implement all papers
    return Tree(tool, tmp_path, capsys)


# --- the tool ---------------------------------------------------------------------------------------------------------


def test_good_tree_is_written_and_then_passes_the_check(tree: Tree) -> None:
    assert tree.run() == (0, [])
    assert tree.run("--check") == (0, [])
    entries = json.loads((tree.root / "src/dqdyn/equations.json").read_text())["entries"]
    assert [(e["paper"], e["kind"], e["key"], e["function"]) for e in entries] == [
        ("Silva", "eq.", "29", "dqdyn.things.Thing.turn"),
        ("Silva", "eq.", "29", "dqdyn.things.torque"),
        ("Silva", "table", "1", "dqdyn.things.Thing"),
        ("Quiroz", "def.", "A.21", "dqdyn.things.Thing.turn"),
    ]
    assert entries[0]["tests"] == ["tests/test_things.py::test_turn"]
    assert entries[3]["tests"] == ["tests/test_things.py::TestThing"]
    page = (tree.root / "docs/equations.md").read_text()
    test = "[`test_turn`](../tests/test_things.py)"
    assert f"| eq. (29) | [`things.Thing.turn`](../src/dqdyn/things.py) | {test} |\n" in page
    assert f"|  | [`things.torque`](../src/dqdyn/things.py) | {test} |\n" in page
    assert "1 of 61 equations are implemented" in page
    assert "| eq. (10) | A step of the proof of Lemma 2.1, equation (9). |" in page


@pytest.mark.parametrize("name", ["docs/equations.md", "src/dqdyn/equations.json"])
@pytest.mark.parametrize("change", ["edited", "missing"])
def test_output_out_of_date_fails_the_check_and_is_not_written(tree: Tree, name: str, change: str) -> None:
    tree.run()
    path = tree.root / name
    path.write_text("old") if change == "edited" else path.unlink()
    code, lines = tree.run("--check")
    assert (code, lines) == (1, [f"{name}:1: out of date: run python tools/equations.py"])
    assert not path.exists() or path.read_text() == "old"


def test_moved_function_makes_the_output_out_of_date_but_a_moved_line_does_not(tree: Tree) -> None:
    tree.run()
    tree.write("src/dqdyn/things.py", "\n\n" + TAGGED)
    assert tree.run("--check") == (0, [])
    tree.write("src/dqdyn/things.py", TAGGED.replace("torque", "effort"))
    code, lines = tree.run("--check")
    assert code == 1
    assert lines[0] == f"tests/test_things.py:1: tests/test_things.py::test_turn is not recorded: {tree.tool.RECORD}"


def test_function_is_not_credited_with_a_test_that_does_not_enter_it(tree: Tree) -> None:
    turn = "tests/test_things.py::test_turn"
    tree.calls[turn] = {"enters": ["dqdyn.things.torque"], "does not enter": ["dqdyn.things.Thing.turn"]}
    tree.record()
    assert tree.problem() == (
        "src/dqdyn/things.py:9: tag without a test that enters it: [Silva, eq. (29)] in dqdyn.things.Thing.turn"
    )
    entries = json.loads((tree.root / "src/dqdyn/equations.json").read_text())["entries"]
    tests = {e["function"]: e["tests"] for e in entries if e["key"] == "29"}
    assert tests == {"dqdyn.things.Thing.turn": [], "dqdyn.things.torque": [turn]}


def test_item_without_tag_or_reason_is_named(tree: Tree, tool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "COVERED", ("theorem",))
    code, lines = tree.run()
    where = "tools/papers.py:1: Parsa theorem"
    assert (code, lines) == (1, [f"{where} {n} has neither a tag in a docstring nor a reason here" for n in (1, 2)])


def test_reason_for_an_item_that_is_implemented_is_a_problem(tree: Tree) -> None:
    tree.write("src/dqdyn/more.py", 'def f():\n    """[Silva, eq. (10)]."""\n')
    tree.write("tests/test_more.py", TEST_OF_ONE.format("Silva", "10"))
    tree.record(test_f={"enters": ["dqdyn.more.f"]})
    assert tree.problem().startswith("tools/papers.py:1: Silva eq. (10) has a reason to be absent, but")


@pytest.mark.parametrize(
    ("tag", "reason"),
    [
        ("[Silva, eq. (62)]", "unknown key: Silva has no eq. (62)"),
        ("[Silva, table 4]", "unknown key: Silva has no table 4"),
        ("[Silva, lemma 1]", "unknown key: Silva has no lemma 1"),
        ("[Quiroz, def. (A.24)]", "unknown key: Quiroz has no def. (A.24)"),
        ("[Parsa, eq. (B-8)]", "unknown key: Parsa has no eq. (B-8)"),
        ("[Smith, eq. (1)]", "unknown paper 'Smith': known are Silva, Bouyarmane, Farias, Quiroz, Parsa"),
    ],
)
def test_unknown_key_in_a_tag(tree: Tree, tag: str, reason: str) -> None:
    tree.write("src/dqdyn/more.py", f'"""More {tag}."""\n')
    assert tree.problem() == f"src/dqdyn/more.py:1: {reason}"


@pytest.mark.parametrize(
    "tag",
    ["[Silva (29)]", "[Silva, eq. 29]", "[Silva, eqs. (29)–(30)]", "[Silva, table (1)]", "[Silva, equation (29)]"],
)
def test_malformed_tag(tree: Tree, tag: str) -> None:
    tree.write("src/dqdyn/more.py", f'def f():\n    """More {tag}."""\n')
    assert tree.problem().startswith(f"src/dqdyn/more.py:2: malformed tag {tag} in dqdyn.more.f: write ")


def test_brackets_that_are_no_tags_are_left_alone(tree: Tree) -> None:
    tree.write("src/dqdyn/more.py", '"""vec6 = [ω, v], q[0], [w x y z | px], see [Silvanus] and Silva [1]."""\n')
    assert tree.run() == (0, [])


def test_tag_without_a_test(tree: Tree) -> None:
    tree.write(
        "src/dqdyn/more.py", 'def f():\n    """[Farias, eq. (7)]."""\n\n\ndef g():\n    """[Farias, eq. (7)]."""\n'
    )
    code, lines = tree.run()
    assert code == 1
    assert lines == [
        f"src/dqdyn/more.py:{line}: tag without a test: [Farias, eq. (7)] in dqdyn.more.{name}"
        for line, name in ((2, "f"), (6, "g"))
    ]


def test_test_without_a_tag(tree: Tree) -> None:
    tree.write("tests/test_more.py", TEST_OF_ONE.format("Farias", "7"))
    assert tree.problem() == "tests/test_more.py:5: test without a tag: no docstring has [Farias, eq. (7)]"


@pytest.mark.parametrize(
    ("marker", "reason"),
    [
        ('"Silva", "62"', "unknown key: Silva has no eq. (62)"),
        ('"Silva", "table 9"', "unknown key: Silva has no table 9"),
        ('"Silva", "chart 1"', "unknown key: The key 'chart 1' begins with an unknown word"),
        ('"silva", "29"', "unknown paper 'silva'"),
        ('"Silva", 29', "malformed marker"),
        ('"Silva"', "malformed marker"),
        ("PAPER, KEY", "malformed marker"),
        ('"Silva", key="29"', "malformed marker"),
    ],
)
def test_bad_marker(tree: Tree, marker: str, reason: str) -> None:
    tree.write("tests/test_more.py", f"import pytest\n\npytestmark = pytest.mark.equation({marker})\n")
    assert tree.problem().startswith(f"tests/test_more.py:3: {reason}")


def test_markers_are_found_wherever_they_stand(tree: Tree) -> None:
    tree.write(
        "src/dqdyn/more.py",
        '''
LIMIT = 3
"""[Farias, eq. (1)]"""

if LIMIT:

    def f():
        """[Farias, eq. (2)] [Farias, eq. (3)]"""
''',
    )
    tree.write(
        "tests/test_more.py",
        """
import pytest
from pytest import mark

pytestmark = [pytest.mark.equation("Farias", "1")]


class TestMore:
    @mark.equation("Farias", "2")
    def test_two(self):
        pass


@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.equation("Farias", "3"))])
def test_three(x):
    pass
""",
    )
    own = {"enters": ["dqdyn.more.LIMIT", "dqdyn.more.f"]}
    tree.calls["tests/test_more.py"] = own
    tree.record(**{"TestMore::test_two": own, "test_three": own})
    assert tree.run() == (0, [])
    entries = json.loads((tree.root / "src/dqdyn/equations.json").read_text())["entries"]
    cited = {e["key"]: (e["function"], e["tests"]) for e in entries if e["paper"] == "Farias"}
    assert cited == {
        "1": ("dqdyn.more.LIMIT", ["tests/test_more.py"]),
        "2": ("dqdyn.more.f", ["tests/test_more.py::TestMore::test_two"]),
        "3": ("dqdyn.more.f", ["tests/test_more.py::test_three"]),
    }


def test_bare_key_of_a_marker_serves_equation_and_definition(tree: Tree) -> None:
    tree.write("src/dqdyn/more.py", '"""[Quiroz, eq. (A.21)]"""\n')
    tree.calls["tests/test_things.py::TestThing"] = {
        "enters": ["dqdyn.things.Thing", "dqdyn.things.Thing.turn", "dqdyn.more"]
    }
    tree.record()
    assert tree.run() == (0, [])
    tree.write("tests/test_things.py", TESTED.replace('"A.21"', '"def. A.21"'))
    assert tree.problem() == "src/dqdyn/more.py:1: tag without a test: [Quiroz, eq. (A.21)] in dqdyn.more"


def test_file_that_is_not_python_is_named(tree: Tree) -> None:
    tree.write("src/dqdyn/broken.py", "def (:\n")
    assert tree.problem().startswith("src/dqdyn/broken.py:1: is not Python")


def test_keys_are_in_the_order_of_their_numbers(tree: Tree, tool: ModuleType) -> None:
    keys = ["10", "9", "A-1", "2", "B-10", "B-9"]
    ordered = sorted((("Parsa", "eq.", key) for key in keys), key=tool.order)
    assert [key for _, _, key in ordered] == ["2", "9", "10", "A-1", "B-9", "B-10"]


def test_papers_have_no_key_twice(tool: ModuleType) -> None:
    for paper in tool.PAPERS.values():
        assert set(paper.items) <= set(equations.KINDS)
        for keys in paper.items.values():
            assert len(set(keys)) == len(keys) > 0


# --- lookup -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def index(tool: ModuleType) -> dict[str, Any]:
    def entry(paper: str, kind: str, key: str, function: str) -> dict[str, Any]:
        item = {"paper": paper, "kind": kind, "key": key}
        return {**item, "function": function, "file": "src/f.py", "tests": ["tests/t.py::test"]}

    papers = {
        name: {"title": p.title, "authors": list(p.authors), "year": p.year, "items": p.items}
        for name, p in tool.PAPERS.items()
    }
    entries = [
        entry("Silva", "eq.", "29", "dqdyn.equations.lookup"),
        entry("Silva", "eq.", "29", "dqdyn.equations.Entry.item"),
        entry("Silva", "table", "1", "dqdyn.equations.KINDS"),
        entry("Quiroz", "eq.", "A.21", "dqdyn.nowhere"),
        entry("Quiroz", "def.", "A.21", "dqdyn.equations.gone"),
        entry("Bouyarmane", "table", "2", "dqdyn.equations"),
        entry("Parsa", "eq.", "A-1", "dqdyn.equations.fold"),
    ]
    reasons = [{"paper": "Silva", "kind": "eq.", "key": "31", "reason": "A step."}]
    return {"papers": papers, "entries": entries, "reasons": reasons}


@pytest.mark.parametrize("key", ["29", "(29)", " 29 ", "eq. (29)", "eq 29", "Equation (29)", "EQ.29"])
@pytest.mark.parametrize("paper", ["Silva", "silva", "SIL", "Adorno", "adorno "])
def test_lookup_forgives_spelling(index: dict[str, Any], paper: str, key: str) -> None:
    entries = lookup(paper, key, index)
    assert [e.function for e in entries] == ["dqdyn.equations.lookup", "dqdyn.equations.Entry.item"]
    assert isinstance(entries[0], Entry)
    assert entries[0].item == "[Silva, eq. (29)]"
    assert entries[0].tests == ("tests/t.py::test",)


@pytest.mark.parametrize(
    ("paper", "key", "kinds"),
    [
        ("Silva", "Tab. 1", ["table"]),
        ("Kheddar", "table II", ["table"]),
        ("bouyarmane", "table 2", ["table"]),
        ("Quiroz-Omaña", "A.21", ["eq.", "def."]),
        ("quiroz-omana", "a.21", ["eq.", "def."]),
        ("Quiroz", "definition A.21", ["def."]),
        ("Parsa", "A.1", ["eq."]),
        ("Parsa", "A–1", ["eq."]),
    ],
)
def test_lookup_finds_other_kinds(index: dict[str, Any], paper: str, key: str, kinds: list[str]) -> None:
    assert [e.kind for e in lookup(paper, key, index)] == kinds


@pytest.mark.parametrize(
    ("paper", "key", "message"),
    [
        ("Sliva", "29", "no paper named 'Sliva': did you mean 'Silva'"),
        ("", "29", "no paper named ''"),
        ("Silva", "62", "Silva has no item '62': it numbers eq. 1 to 61, def. 2.2, "),
        ("Silva", "algorithm 1", "Silva has no item 'algorithm 1'"),
        ("Silva", "chart 1", "begins with an unknown word: known are equation, definition"),
        ("Silva", "(29", "not a number of a paper"),
        ("Silva", "", "not a number of a paper"),
        ("Silva", "30", r"Silva has eq\. \(30\), but no function cites it"),
        ("Silva", "31", r"Silva has eq\. \(31\), but no function implements it: A step\."),
    ],
)
def test_lookup_says_what_is_wrong(index: dict[str, Any], paper: str, key: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        lookup(paper, key, index)


def test_unknown_names_have_their_own_error(index: dict[str, Any]) -> None:
    for paper, key in (("Sliva", "29"), ("Silva", "62")):
        with pytest.raises(UnknownNameError):
            lookup(paper, key, index)


def test_entries_know_their_line(index: dict[str, Any]) -> None:
    source = Path(equations.__file__).read_text(encoding="utf-8").splitlines()
    function, method = lookup("Silva", "29", index)
    (constant,) = lookup("Silva", "table 1", index)
    (module,) = lookup("Bouyarmane", "table 2", index)
    for entry, start in ((function, "def lookup("), (method, "    def item("), (constant, "KINDS")):
        line = entry.line()
        assert line is not None
        assert source[line - 1].startswith(start)
    assert module.line() == 1
    nowhere, gone = lookup("Quiroz", "A.21", index)
    assert (nowhere.line(), gone.line()) == (None, None)


def test_packaged_index_is_readable() -> None:
    index = packaged_index()
    assert list(index["papers"]) == ["Silva", "Bouyarmane", "Farias", "Quiroz", "Parsa"]
    (entry,) = lookup("Farias", "section 7")
    assert entry.function == "dqdyn.robots.chains.two_link"


# --- what a user sees -------------------------------------------------------------------------------------------------


def test_reasons(index: dict[str, Any]) -> None:
    (reason,) = equations.reasons("silva", "31", index)
    assert (reason.item, reason.reason) == ("[Silva, eq. (31)]", "A step.")
    assert equations.reasons("Silva", "29", index) == []


def test_every_equation_has_a_function_or_a_reason() -> None:
    for name, paper in packaged_index()["papers"].items():
        for key in paper["items"]["eq."]:
            assert equations.reasons(name, f"eq. {key}") or lookup(name, f"eq. {key}")


def test_summaries_are_whole_sentences() -> None:
    entry = Entry("Silva", "eq.", "29", "dqdyn.equations.item_name", "f.py", ())
    assert entry.summary() == '"eq. (29)", "table 1".'
    for entry in lookup("Quiroz", "A.24") + lookup("Silva", "29") + lookup("Parsa", "41"):
        assert entry.summary().endswith("."), entry
        assert entry.item in entry.summary()
        assert ":`" not in entry.summary()
        assert entry.source() == Path(equations.__file__).parent.parent / Path(entry.file).relative_to("src")


def test_command_names_installed_files_outside_of_the_repository(tmp_path: Path) -> None:
    """As for a package installed from a wheel: no path that begins at the repository."""
    package = Path(equations.__file__).parent
    command = [sys.executable, "-c", "from dqdyn.cli import main; main()", "equation", "Silva", "29"]
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    text = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout
    places = [line.split()[1].rpartition(":") for line in text.splitlines() if line.strip().startswith("code ")]
    assert len(places) >= 2
    for path, _, line in places:
        assert Path(path).is_relative_to(package)
        assert Path(path).read_text(encoding="utf-8").splitlines()[int(line) - 1].startswith("def ")


# --- the recorder -----------------------------------------------------------------------------------------------------

RECORDED = '''
from dataclasses import dataclass
from functools import cache

LIMIT = 3
SPARE = 4


@dataclass
class Made:
    """A class without functions of its own."""

    x: int


@cache
def cached():
    return LIMIT


def called():
    def inner():
        return 1

    return inner()


def spared():
    return SPARE


class Other:
    def called(self):
        return 1
'''
RECORDING = """
import pytest
from dqdyn import things


@pytest.mark.parametrize("n", [0, 1])
def test_one(n):
    things.called() if n else things.Made(1)


def test_first():
    assert things.cached() == 3


def test_second():
    assert things.cached() == 3
"""


def test_recorder_sees_what_a_test_enters(tmp_path: Path) -> None:
    """Over all cases of a test; by every test, though a cache answers the second; classes; constants."""
    for name, text in (("src/dqdyn/__init__.py", ""), ("src/dqdyn/things.py", RECORDED)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(RECORDING)
    names = [f"dqdyn.things.{name}" for name in ("Made", "cached", "called", "Other.called", "LIMIT", "SPARE")]
    wanted = {
        "tests": {f"tests/test_it.py::test_{name}": names for name in ("one", "first", "second")},
        "constants": names[4:],
    }
    command = [sys.executable, str(TOOL.with_name("equation_calls.py")), "--root", str(tmp_path)]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    answer = subprocess.run(command, input=json.dumps(wanted), capture_output=True, text=True, env=environment)
    assert answer.returncode == 0, answer.stderr
    entered = {test.rpartition("_")[2]: names for test, names in json.loads(answer.stdout).items()}
    assert entered == {
        "one": ["dqdyn.things.Made", "dqdyn.things.called"],
        "first": ["dqdyn.things.LIMIT", "dqdyn.things.cached"],
        "second": ["dqdyn.things.LIMIT", "dqdyn.things.cached"],
    }
