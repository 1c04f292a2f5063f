"""Keep the equation index: which function implements a numbered item of a paper, and which test checks it.

Reads tags such as [Silva, eq. (29)] in the docstrings of src/dqdyn and markers such as
@pytest.mark.equation("Silva", "29") in tests. Writes docs/equations.md and src/dqdyn/equations.json; with --check it
writes nothing and fails where those are out of date. Both ways it prints one line per problem and fails on any.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from papers import PAPERS

from dqdyn.equations import BARE_KINDS, KINDS, defined_names, fold, item_name, read_key
from dqdyn.errors import Error

DOCS, INDEX = "docs/equations.md", "src/dqdyn/equations.json"
WORDS = "|".join(re.escape(kind) for kind in KINDS)
TAG = re.compile(rf"\[(?P<paper>\w+), (?P<kind>{WORDS}) (?P<open>\()?(?P<key>[\w.-]+)(?(open)\))\]")
LIKE_A_TAG = re.compile(rf"\[(?:(?:{'|'.join(PAPERS)})\b|\w+, (?:{WORDS}))[^\]]*\]")
Item = tuple[str, str, str]  # paper, kind, key


@dataclass(frozen=True)
class Citation:
    """An item cited by a function (a tag) or a test (a marker)."""

    items: tuple[Item, ...]  # a bare key of a marker may mean an equation or a definition
    by: str
    file: str
    line: int


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
        found: list[Citation] = []
        for file, tree in self.parsed("src/dqdyn"):
            module = file.removeprefix("src/").removesuffix(".py").replace("/", ".").removesuffix(".__init__")
            for owner, docstring, line in docstrings(tree, module):
                found += self.tags_in(" ".join(docstring.split()), owner, file, line)
        return found

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
        found: list[Citation] = []
        for file, tree in self.parsed("tests"):
            for owner, call in marker_calls(tree, file):
                found += self.marker(call, owner, file)
        return found

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
        found = tuple(
            (paper, kind, k) for kind in kinds for k in items.get(kind, ()) if fold(k, kind) == fold(key, kind)
        )
        if not found:
            self.problem(file, line, f"unknown key: {paper} has no {item_name(kinds[0], key)}")
        return found


def docstrings(node: ast.AST, owner: str) -> Iterator[tuple[str, str, int]]:
    """(name, text, line) of every docstring in a module: of modules, classes, functions, and below assignments."""
    body: list[ast.stmt] = getattr(node, "body", [])
    for i, statement in enumerate(body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            if isinstance(statement.value.value, str):
                names = defined_names(body[i - 1]) if i else []
                yield ".".join([owner, *names[:1]]), statement.value.value, statement.lineno
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


# --- the index --------------------------------------------------------------------------------------------------------


def order(item: Item) -> tuple[object, ...]:
    """Papers and kinds in their own order, keys by their numbers."""
    paper, kind, key = item
    pieces = [(not p.isdigit(), int(p) if p.isdigit() else 0, p) for p in re.findall(r"\d+|[A-Za-z]+", key)]
    return list(PAPERS).index(paper), list(KINDS).index(kind), pieces


def unmatched(tags: list[Citation], markers: list[Citation]) -> list[str]:
    """One line for each item with a tag and no test, and for each marker of an item without a tag."""
    tagged = {item for tag in tags for item in tag.items}
    tested = {item for marker in markers for item in marker.items}
    first: dict[Item, Citation] = {}
    for tag in tags:
        first.setdefault(tag.items[0], tag)
    problems = [
        f"{tag.file}:{tag.line}: tag without a test: [{p}, {item_name(kind, key)}] in {tag.by}"
        for (p, kind, key), tag in first.items()
        if (p, kind, key) not in tested
    ]
    for marker in markers:
        if not tagged.intersection(marker.items):
            p, kind, key = marker.items[0]
            problems.append(
                f"{marker.file}:{marker.line}: test without a tag: no docstring has [{p}, {item_name(kind, key)}]"
            )
    return problems


Index = dict[Item, tuple[dict[str, str], list[str]]]  # function → file, and tests


def indexed(tags: list[Citation], markers: list[Citation]) -> Index:
    result: Index = {}
    for tag in tags:
        result.setdefault(tag.items[0], ({}, []))[0].setdefault(tag.by, tag.file)
    for marker in markers:
        for item in marker.items:
            if item in result and marker.by not in result[item][1]:
                result[item][1].append(marker.by)
    return dict(sorted(result.items(), key=lambda pair: order(pair[0])))


def as_json(index: Index) -> str:
    """One line per paper and per entry, so that changes read well."""
    papers = [
        f"{json.dumps(name)}: "
        + json.dumps({"title": p.title, "authors": p.authors, "year": p.year, "items": p.items}, ensure_ascii=False)
        for name, p in PAPERS.items()
    ]
    entries = [
        json.dumps({"paper": p, "kind": kind, "key": key, "function": function, "file": file, "tests": sorted(tests)})
        for (p, kind, key), (functions, tests) in index.items()
        for function, file in sorted(functions.items())
    ]
    return '{"papers": {\n' + ",\n".join(papers) + '\n}, "entries": [\n' + ",\n".join(entries) + "\n]}\n"


def as_markdown(index: Index) -> str:
    lines = [
        "# Equations",
        "",
        "Which function implements a numbered item of a paper, and which test checks it. `dqdyn equation Silva 29`",
        "prints one. This page is written by `python tools/equations.py` from tags in docstrings and markers of tests.",
    ]
    for name, paper in PAPERS.items():
        items = {item: found for item, found in index.items() if item[0] == name}
        equations = sum(kind == "eq." for _, kind, _ in items)
        lines += [
            "",
            f"## {name}",
            f"{', '.join(paper.authors)}: *{paper.title}* ({paper.year}). "
            f"{equations} of {len(paper.items['eq.'])} equations are here.",
            "",
            "| Item | Function | Test |",
            "|---|---|---|",
        ]
        for (_, kind, key), (functions, tests) in items.items():
            code = [f"[`{f.removeprefix('dqdyn.')}`](../{file})" for f, file in sorted(functions.items())]
            checks = [f"[`{t.rpartition('::')[2]}`](../{t.partition('::')[0]})" for t in sorted(tests)]
            lines.append(f"| {item_name(kind, key)} | {'<br>'.join(code)} | {'<br>'.join(checks)} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the files are out of date")
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent, help="the repository")
    options = parser.parse_args(arguments)
    reader = Reader(options.root)
    tags, markers = reader.tags(), reader.markers()
    problems = reader.problems + unmatched(tags, markers)
    index = indexed(tags, markers)
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
