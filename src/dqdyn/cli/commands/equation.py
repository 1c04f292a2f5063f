"""``dqdyn equation``: where an item of a paper lives in the library."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from dqdyn import equations
from dqdyn.cli.command import Answer, command
from dqdyn.cli.screen import count, escape, indented, table, without_tags


@command("Read the papers")
def equation(
    paper: Annotated[str | None, typer.Argument(help="Short name of a paper or an author.", show_default=False)] = None,
    key: Annotated[
        list[str] | None, typer.Argument(help="29, A.21, or with its kind: table 1.", show_default=False)
    ] = None,
) -> Iterator[Answer]:
    """Print the function and the test of a numbered item of a paper.

    Without KEY it lists the items of the paper that are implemented; without PAPER, the papers.

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


def _papers(index: dict[str, Any]) -> Answer:
    data = []
    for name, paper in index["papers"].items():
        keys = {entry["key"] for entry in index["entries"] if (entry["paper"], entry["kind"]) == (name, "eq.")}
        facts = {"paper": name, "title": paper["title"], "authors": paper["authors"], "year": paper["year"]}
        data.append({**facts, "equations": len(paper["items"]["eq."]), "implemented": len(keys)})
    rows = [(d["paper"], f"{d['implemented']} of {d['equations']}", str(d["year"]), d["title"]) for d in data]
    drawn = table("", ("paper", "equations here", "year", "title"), rows, right=("equations here",))
    return data, [indented(drawn), "  Its items: [bold]dqdyn equation PAPER[/]"]


def _items(name: str, index: dict[str, Any]) -> Answer:
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
    data = [_facts(entry) for entry in equations.lookup(paper, key)]
    return data, _lines(data)


def _facts(entry: equations.Entry) -> dict[str, Any]:
    return {
        "item": entry.item,
        "function": entry.function,
        "summary": _summary(entry.function),
        "module": entry.file,
        "line": entry.line(),
        "tests": entry.tests,
    }


def _lines(data: list[dict[str, Any]]) -> Iterator[str]:
    yield f"[bold cyan]{escape(data[0]['item'])}[/]"
    for facts in data:
        line = f":{facts['line']}" if facts["line"] else ""
        yield f"\n  [bold]{facts['function']}[/]"
        if facts["summary"]:
            yield f"    {escape(facts['summary'])}"
        yield f"    code  {facts['module']}{line}"
        for test in facts["tests"]:
            yield f"    test  {test}"


def _summary(function: str) -> str:
    """First line of the docstring; nothing for a constant, which has none of its own."""
    try:
        thing = pkgutil.resolve_name(function)
    except (ImportError, AttributeError):
        return ""
    documented = inspect.ismodule(thing) or inspect.isclass(thing) or inspect.isroutine(thing)
    return without_tags((inspect.getdoc(thing) or "").partition("\n")[0]) if documented else ""
