"""``dqdyn equation``: where an item of a paper lives in the library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from rich.padding import Padding

from dqdyn import equations
from dqdyn.cli.command import Answer, command
from dqdyn.cli.options import argument
from dqdyn.cli.screen import count, escape, indented, table
from dqdyn.errors import Error


@command("Read the papers")
def equation(
    paper: Annotated[str | None, argument("Short name of a paper or an author.")] = None,
    key: Annotated[list[str] | None, argument("29, A.21, or with its kind: table 1.")] = None,
) -> Iterator[Answer]:
    """Print the functions and tests of a numbered item of a paper, or why it has none.

    Without KEY it lists the items of the paper that are implemented; without PAPER, the papers. Tests are listed under
    the functions that they enter; their paths are those of the repository.

    [dim]Examples:[/]

    \b
      dqdyn equation
      dqdyn equation Silva
      dqdyn equation Silva 29
      dqdyn equation Farias table 1
    """
    index = equations.packaged_index()
    if paper is None:
        yield _papers(index)
    elif not key:
        yield _items(equations.find_paper(paper, index), index)
    else:
        yield _item(paper, " ".join(key))


def _papers(index: equations.Index) -> Answer:
    data = []
    for name, paper in index["papers"].items():
        keys = {entry["key"] for entry in index["entries"] if (entry["paper"], entry["kind"]) == (name, "eq.")}
        facts = {"paper": name, "title": paper["title"], "authors": paper["authors"], "year": paper["year"]}
        data.append({**facts, "equations": len(paper["items"]["eq."]), "implemented": len(keys)})
    rows = [(d["paper"], f"{d['implemented']} of {d['equations']}", str(d["year"]), d["title"]) for d in data]
    drawn = table("", ("paper", "equations here", "year", "title"), rows, right=("equations here",))
    return data, [indented(drawn), "  Its items: [bold]dqdyn equation PAPER[/]"]


def _items(name: str, index: equations.Index) -> Answer:
    data = [entry for entry in index["entries"] if entry["paper"] == name]
    rows = []
    shown = ""
    for entry in data:
        item = equations.item_name(entry["kind"], entry["key"])
        rows.append((item if item != shown else "", entry["function"], count(len(entry["tests"]), "test")))
        shown = item
    drawn = table(f"{name}: {index['papers'][name]['title']}", ("item", "function", "checked by"), rows)
    hint = f"  One of them: [bold]dqdyn equation {name} KEY[/]"
    return data, [indented(drawn), hint] if rows else f"No function cites {name} yet."


def _item(paper: str, key: str) -> Answer:
    entries, reasons = [], equations.reasons(paper, key)
    try:
        entries = equations.lookup(paper, key)
    except Error:
        if not reasons:
            raise
    data = [_facts(entry) for entry in entries] + [{"item": r.item, "reason": r.reason} for r in reasons]
    return data, _lines(data)


def _facts(entry: equations.Entry) -> dict[str, Any]:
    about = {"item": entry.item, "function": entry.function, "summary": entry.summary()}
    place = {"module": entry.file, "source": str(entry.source() or ""), "line": entry.line()}
    return {**about, **place, "tests": entry.tests}


def _lines(data: list[dict[str, Any]]) -> Iterator[Padding | str]:
    shown = ""
    for facts in data:
        if facts["item"] != shown:
            shown = facts["item"]
            yield f"[bold cyan]{escape(shown)}[/]"
        if "reason" in facts:
            yield Padding(f"No function implements it: {escape(facts['reason'])}", (1, 0, 0, 2))
            continue
        yield f"\n  [bold]{facts['function']}[/]"
        if facts["summary"]:
            yield Padding(escape(facts["summary"]), (0, 0, 0, 4))
        yield f"    code  {escape(_place(facts))}"
        for test in facts["tests"]:
            yield f"    test  {test}"


def _place(facts: dict[str, Any]) -> str:
    """File and line: as in the repository below its folder, else where the package is installed."""
    in_repository = Path(facts["module"]).is_file() or not facts["source"]
    line = f":{facts['line']}" if facts["line"] else ""
    return f"{facts['module'] if in_repository else facts['source']}{line}"
