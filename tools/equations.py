"""Keep the equation index: which function implements a numbered item of a paper, and which test checks it.

Reads tags such as [Silva, eq. (29)] in the docstrings of src/dqdyn, markers such as
@pytest.mark.equation("Silva", "29") in tests, and the reasons of papers.py for items that no function implements. A
function is credited with a marked test only if the test enters it: tools/equation_calls.json says which do, and
``--record`` runs the marked tests that it does not know yet (``--record all``: all of them) to find out. Writes
docs/equations.md and src/dqdyn/equations.json; with ``--check`` it writes nothing and fails where those are out of
date. Either way it prints one line per problem and fails on any.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from papers import PAPERS, Paper

from dqdyn.equations import BARE_KINDS, KINDS, defined_names, fold, item_name, read_key
from dqdyn.errors import Error

DOCS, INDEX, CALLS = "docs/equations.md", "src/dqdyn/equations.json", "tools/equation_calls.json"
RECORDER = Path(__file__).with_name("equation_calls.py")
RECORD = "run python tools/equations.py --record"
WORDS = "|".join(re.escape(kind) for kind in KINDS)
TAG = re.compile(rf"\[(?P<paper>\w+), (?P<kind>{WORDS}) (?P<open>\()?(?P<key>[\w.-]+)(?(open)\))\]")
LIKE_A_TAG = re.compile(rf"\[(?:(?:{'|'.join(PAPERS)})\b|\w+, (?:{WORDS}))[^\]]*\]")
Item = tuple[str, str, str]  # paper, kind, key
COVERED = ("eq.", "table", "algorithm", "lemma", "theorem")
"""Kinds of which every item has a tag or a reason."""


@dataclass(frozen=True)
class Citation:
    """An item cited by a function (a tag) or a test (a marker)."""

    items: tuple[Item, ...]  # a bare key of a marker may mean an equation or a definition
    by: str
    file: str
    line: int
    of_constant: bool = False


class Reader:
    """Citations of a tree of files, and the problems met on the way."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.problems: list[str] = []

    def parsed(self, folder: str) -> Iterator[tuple[str, ast.Module]]:
        for path in sorted((self.root / folder).rglob("*.py")):
            file = path.relative_to(self.root).as_posix()
            try:
                yield file, ast.parse(path.read_text(encoding="utf-8"))
            except SyntaxError as error:
                self.problem(file, error.lineno or 1, f"is not Python: {error.msg}")

    def problem(self, file: str, line: int, text: str) -> None:
        self.problems.append(f"{file}:{line}: {text}")

    # --- tags -----------------------------------------------------------------------------------------------------

    def tags(self) -> list[Citation]:
        result: list[Citation] = []
        for file, tree in self.parsed("src/dqdyn"):
            module = file.removeprefix("src/").removesuffix(".py").replace("/", ".").removesuffix(".__init__")
            for owner, docstring, line, of_constant in docstrings(tree, module):
                cited = self.tags_in(" ".join(docstring.split()), owner, file, line)
                result += (replace(tag, of_constant=of_constant) for tag in cited)
        return result

    def tags_in(self, text: str, owner: str, file: str, line: int) -> Iterator[Citation]:
        for like in LIKE_A_TAG.finditer(text):
            tag = TAG.fullmatch(like[0])
            if tag is None or bool(tag["open"]) != (tag["kind"] in BARE_KINDS):
                self.problem(
                    file, line, f"malformed tag {like[0]} in {owner}: write [Paper, eq. (1)] or [Paper, table 1]"
                )
            elif items := self.known(tag["paper"], (tag["kind"],), tag["key"], file, line):
                yield Citation(items, owner, file, line)

    # --- markers --------------------------------------------------------------------------------------------------

    def markers(self) -> list[Citation]:
        result: list[Citation] = []
        for file, tree in self.parsed("tests"):
            for owner, call in marker_calls(tree, file):
                result += self.marker(call, owner, file)
        return result

    def marker(self, call: ast.Call, owner: str, file: str) -> Iterator[Citation]:
        arguments = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        if len(arguments) != 2 or len(call.args) != 2 or call.keywords:
            self.problem(file, call.lineno, 'malformed marker: write equation("Paper", "key") with two literal strings')
            return
        paper, key = arguments
        try:
            kinds, number = read_key(key)
        except Error as error:
            self.problem(file, call.lineno, f"unknown key: {error}")
            return
        if items := self.known(paper, kinds, number, file, call.lineno):
            yield Citation(items, owner, file, call.lineno)

    def known(self, paper: str, kinds: tuple[str, ...], key: str, file: str, line: int) -> tuple[Item, ...]:
        """The items that a citation may mean, with keys as the paper prints them; a problem where there is none."""
        if paper not in PAPERS:
            self.problem(file, line, f"unknown paper {paper!r}: known are {', '.join(PAPERS)}")
            return ()
        items = PAPERS[paper].items
        known = tuple(
            (paper, kind, k) for kind in kinds for k in items.get(kind, ()) if fold(k, kind) == fold(key, kind)
        )
        if not known:
            self.problem(file, line, f"unknown key: {paper} has no {item_name(kinds[0], key)}")
        return known


def docstrings(node: ast.AST, owner: str) -> Iterator[tuple[str, str, int, bool]]:
    """(name, text, line, whether it is below an assignment) of every docstring of a module, class or function."""
    body: list[ast.stmt] = getattr(node, "body", [])
    for i, statement in enumerate(body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            if isinstance(statement.value.value, str):
                names = defined_names(body[i - 1]) if i else []
                yield ".".join([owner, *names[:1]]), statement.value.value, statement.lineno, bool(names)
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from docstrings(statement, f"{owner}.{statement.name}")
        else:  # definitions may stand under an if, with or try
            yield from docstrings(statement, owner)


def marker_calls(tree: ast.Module, file: str) -> Iterator[tuple[str, ast.Call]]:
    """(test, call) of every pytest.mark.equation(...); the test is the function, class or file that carries it."""

    def visit(node: ast.AST, owner: str) -> Iterator[tuple[str, ast.Call]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield from visit(child, f"{owner}::{child.name}")
                continue
            if isinstance(child, ast.Call) and is_marker(child):
                yield owner, child
            yield from visit(child, owner)

    yield from visit(tree, file)


def is_marker(call: ast.Call) -> bool:
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "equation"
        and ast.unparse(function.value).endswith("mark")
    )


# --- who enters what --------------------------------------------------------------------------------------------------

Pairs = dict[str, dict[str, bool]]  # test → function → whether the test enters it


def candidates(tags: list[Citation], markers: list[Citation]) -> dict[str, list[str]]:
    """Test → the functions tagged with an item that the test is marked with."""
    functions: dict[Item, set[str]] = {}
    for tag in tags:
        functions.setdefault(tag.items[0], set()).add(tag.by)
    result: dict[str, set[str]] = {}
    for marker in markers:
        result.setdefault(marker.by, set()).update(*(functions.get(item, ()) for item in marker.items))
    return {test: sorted(names) for test, names in sorted(result.items()) if names}


def read_calls(path: Path) -> Pairs:
    """The record; empty where there is none."""
    if not path.is_file():
        return {}
    recorded = json.loads(path.read_text(encoding="utf-8"))
    return {
        test: {name: key == "enters" for key in ("enters", "does not enter") for name in names.get(key, ())}
        for test, names in recorded.items()
    }


def as_calls(calls: Pairs) -> str:
    """The record with one line per test, so that changes read well."""
    lines = []
    for test, pairs in sorted(calls.items()):
        sides = {
            key: names
            for key, side in (("enters", True), ("does not enter", False))
            if (names := sorted(name for name, entered in pairs.items() if entered is side))
        }
        lines.append(f"{json.dumps(test)}: {json.dumps(sides)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def record(root: Path, wanted: dict[str, list[str]], constants: list[str], known: Pairs) -> tuple[Pairs, bool]:
    """The record of all wanted pairs, and whether every test that ran for it passed; those known are not run again."""
    kept = {test: {n: known[test][n] for n in names if n in known.get(test, {})} for test, names in wanted.items()}
    to_run = {test: names for test, names in wanted.items() if len(kept[test]) < len(names)}
    if not to_run:
        return kept, True
    python_path = os.pathsep.join([str(root / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    answer = subprocess.run(
        [sys.executable, str(RECORDER), "--root", str(root)],
        input=json.dumps({"tests": to_run, "constants": constants}),
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": python_path},
    )
    if not answer.stdout:
        return kept, False
    entered = json.loads(answer.stdout)
    fresh = {test: {n: n in entered[test] for n in names} for test, names in to_run.items() if test in entered}
    return {**kept, **fresh}, answer.returncode == 0


# --- the index --------------------------------------------------------------------------------------------------------


def order(item: Item) -> tuple[object, ...]:
    """Papers and kinds in their own order, keys by their numbers."""
    paper, kind, key = item
    pieces = [(not p.isdigit(), int(p) if p.isdigit() else 0, p) for p in re.findall(r"\d+|[A-Za-z]+", key)]
    return list(PAPERS).index(paper), list(KINDS).index(kind), pieces


@dataclass
class Implemented:
    """A function that carries the tag of an item, and the marked tests that enter it."""

    tag: Citation
    tests: list[str]


Index = dict[Item, dict[str, Implemented]]  # item → function → where it is and who checks it


def indexed(tags: list[Citation], markers: list[Citation], calls: Pairs) -> Index:
    result: Index = {}
    for tag in tags:
        result.setdefault(tag.items[0], {}).setdefault(tag.by, Implemented(tag, []))
    for marker in markers:
        for item in marker.items:
            for function, entry in result.get(item, {}).items():
                if calls.get(marker.by, {}).get(function) and marker.by not in entry.tests:
                    entry.tests.append(marker.by)
    return dict(sorted(result.items(), key=lambda pair: order(pair[0])))


def unmatched(index: Index, markers: list[Citation], calls: Pairs) -> Iterator[str]:
    """One line for each tag that no test checks, each marker without a tag, and each pair that is not recorded."""
    marked = {item for marker in markers for item in marker.items}
    for (paper, kind, key), functions in index.items():
        for function, entry in functions.items():
            if not entry.tests:
                which = "that enters it" if (paper, kind, key) in marked else ""
                text = f"tag without a test {which}".rstrip()
                where = f"{entry.tag.file}:{entry.tag.line}"
                yield f"{where}: {text}: [{paper}, {item_name(kind, key)}] in {function}"
    for marker in markers:
        if not any(item in index for item in marker.items):
            paper, kind, key = marker.items[0]
            tag = f"[{paper}, {item_name(kind, key)}]"
            yield f"{marker.file}:{marker.line}: test without a tag: no docstring has {tag}"


def unrecorded(wanted: dict[str, list[str]], calls: Pairs) -> Iterator[str]:
    """One line for each test of which the record does not say what it enters."""
    for test, names in wanted.items():
        if any(name not in calls.get(test, {}) for name in names):
            yield f"{test.partition('::')[0]}:1: {test} is not recorded: {RECORD}"


def uncovered(index: Index) -> Iterator[str]:
    """One line for each equation or table with neither a tag nor a reason, and for each with both."""
    for name, paper in PAPERS.items():
        for kind, keys in paper.items.items():
            for key in keys:
                reason, item = paper.reason(kind, key), item_name(kind, key)
                if reason and (name, kind, key) in index:
                    yield f"tools/papers.py:1: {name} {item} has a reason to be absent, but a docstring cites it"
                elif not reason and kind in COVERED and (name, kind, key) not in index:
                    yield f"tools/papers.py:1: {name} {item} has neither a tag in a docstring nor a reason here"


def as_json(index: Index) -> str:
    """One line per paper, per entry and per reason, so that changes read well."""
    papers = [
        f"{json.dumps(name)}: "
        + json.dumps({"title": p.title, "authors": p.authors, "year": p.year, "items": p.items}, ensure_ascii=False)
        for name, p in PAPERS.items()
    ]
    entries = [
        json.dumps(
            {
                "paper": paper,
                "kind": kind,
                "key": key,
                "function": function,
                "file": entry.tag.file,
                "tests": sorted(entry.tests),
            }
        )
        for (paper, kind, key), functions in index.items()
        for function, entry in sorted(functions.items())
    ]
    reasons = [
        json.dumps({"paper": name, "kind": kind, "key": key, "reason": reason}, ensure_ascii=False)
        for name, paper in PAPERS.items()
        for kind, keys in paper.items.items()
        for key in keys
        if (reason := paper.reason(kind, key))
    ]
    listed = lambda lines: "[\n" + ",\n".join(lines) + "\n]"
    head = '{"papers": {\n' + ",\n".join(papers) + "\n}"
    return f'{head}, "entries": {listed(entries)}, "reasons": {listed(reasons)}}}\n'


def as_markdown(index: Index) -> str:
    lines = [
        "# Equations",
        "",
        "Which function implements a numbered item of a paper, and which tests check it: a test is listed beside a",
        "function only if it enters that function. `dqdyn equation Silva 29` prints one item. This page is",
        "generated by `python tools/equations.py` from tags in docstrings and markers of tests.",
    ]
    for name, paper in PAPERS.items():
        items = {item: functions for item, functions in index.items() if item[0] == name}
        equations = sum(kind == "eq." for _, kind, _ in items)
        lines += [
            "",
            f"## {name}",
            f"{', '.join(paper.authors)}: *{paper.title}* ({paper.year}). "
            f"{equations} of {len(paper.items['eq.'])} equations are implemented.",
            "",
            "| Item | Function | Tests |",
            "|---|---|---|",
        ]
        for (_, kind, key), functions in items.items():
            shown = item_name(kind, key)
            for function, entry in sorted(functions.items()):
                code = f"[`{function.removeprefix('dqdyn.')}`](../{entry.tag.file})"
                tests = [f"[`{t.rpartition('::')[2]}`](../{t.partition('::')[0]})" for t in sorted(entry.tests)]
                lines.append(f"| {shown} | {code} | {'<br>'.join(tests)} |")
                shown = ""
        lines += _reasons(paper)
    return "\n".join(lines) + "\n"


def _reasons(paper: Paper) -> list[str]:
    if not paper.without:
        return []
    lines = ["", "| Without a function | Reason |", "|---|---|"]
    for kind, keys, reason in paper.without:
        shown = ", ".join(f"({key})" if kind in BARE_KINDS else key for key in keys)
        lines.append(f"| {kind} {shown} | {reason} |")
    return lines


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the files are out of date")
    parser.add_argument(
        "--record", nargs="?", const="new", choices=("new", "all"), help="run marked tests to see what they enter"
    )
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the repository")
    options = parser.parse_args(arguments)
    reader = Reader(options.root)
    tags, markers = reader.tags(), reader.markers()
    wanted = candidates(tags, markers)
    calls = read_calls(options.root / CALLS)
    problems = reader.problems
    if options.record:
        constants = [tag.by for tag in tags if tag.of_constant]
        calls, passed = record(options.root, wanted, constants, calls if options.record == "new" else {})
        (options.root / CALLS).parent.mkdir(parents=True, exist_ok=True)
        (options.root / CALLS).write_text(as_calls(calls), encoding="utf-8")
        problems += [] if passed else [f"{CALLS}:1: recorded from tests that failed: see above"]
    index = indexed(tags, markers, calls)
    missing = list(unrecorded(wanted, calls))
    problems += missing or unmatched(index, markers, calls)
    problems += uncovered(index)
    for name, text in ((DOCS, as_markdown(index)), (INDEX, as_json(index))):
        path = options.root / name
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            problems.append(f"{name}:1: out of date: run python tools/equations.py")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
