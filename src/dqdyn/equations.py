"""Where the numbered items of the papers live in this library: function and test, by paper and number."""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.util import find_spec
from typing import Any

from dqdyn.errors import Error, UnknownNameError, unknown_name

KINDS: dict[str, tuple[str, ...]] = {
    "eq.": ("eq", "eqs", "equation"),
    "def.": ("def", "definition"),
    "lemma": ("lem", "lemma"),
    "theorem": ("thm", "theorem"),
    "corollary": ("cor", "corollary"),
    "proposition": ("prop", "proposition"),
    "remark": ("rem", "remark"),
    "algorithm": ("alg", "algo", "algorithm"),
    "table": ("tab", "table"),
    "fig.": ("fig", "figure"),
    "section": ("sec", "section", "chapter", "appendix"),
}
"""Kinds of items as tags write them, and the words that a reader may use for them."""

BARE_KINDS = ("eq.", "def.")
"""Kinds whose key may stand alone, as in ``lookup("Silva", "29")``; a thesis may number both, then both are meant."""

_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7"}
_KEY = re.compile(r"(?:(?P<word>[a-z]{2,})\.?\s*)?(?P<open>\()?(?P<key>[a-z0-9]+(?:[.-][a-z0-9]+)*)(?(open)\))", re.I)


@dataclass(frozen=True)
class Entry:
    """A function that implements an item, and the tests that check it."""

    paper: str
    kind: str
    key: str
    function: str
    file: str
    tests: tuple[str, ...]

    @property
    def item(self) -> str:
        """The item as a tag: paper and number in brackets."""
        return f"[{self.paper}, {item_name(self.kind, self.key)}]"

    def line(self) -> int | None:
        """Line of the function in its file, or None where the source is not at hand."""
        return _line_of(self.function)


def item_name(kind: str, key: str) -> str:
    """ "eq. (29)", "table 1"."""
    return f"{kind} ({key})" if kind in BARE_KINDS else f"{kind} {key}"


def lookup(paper: str, key: str, index: dict[str, Any] | None = None) -> list[Entry]:
    """The functions that implement an item of a paper: ``lookup("Silva", "29")``, ``lookup("farias", "table 1")``.

    ``paper`` may be in any case, shortened, or the family name of any of its authors. ``key`` is a bare number for an
    equation or a definition, or has a word before it; "(29)", "eq. 29" and "Equation (29)" are the same.
    """
    index = packaged_index() if index is None else index
    name = find_paper(paper, index)
    items = index["papers"][name]["items"]
    kinds, wanted = read_key(key)
    known = [(kind, k) for kind in kinds for k in items.get(kind, ()) if fold(k, kind) == fold(wanted, kind)]
    if not known:
        spans = ", ".join(f"{kind} {keys[0]}" + (f" to {keys[-1]}" if keys[1:] else "") for kind, keys in items.items())
        raise UnknownNameError(f"{name} has no item {key!r}: it numbers {spans}.", name=key, matches=[], paper=name)
    found = [
        Entry(**{**entry, "tests": tuple(entry["tests"])})
        for entry in index["entries"]
        if entry["paper"] == name and (entry["kind"], entry["key"]) in known
    ]
    if not found:
        names = " and ".join(item_name(*item) for item in known)
        raise Error(
            f"{name} has {names}, but no function cites it: docs/equations.md lists those that are.",
            paper=name,
            key=key,
        )
    return found


def find_paper(paper: str, index: dict[str, Any]) -> str:
    """The short name of a paper from a short name, its beginning, or an author's family name."""
    papers, wanted = index["papers"], _plain(paper)
    for candidates in (
        [name for name in papers if _plain(name) == wanted],
        [name for name in papers if wanted and _plain(name).startswith(wanted)],
        [name for name in papers if _plain(papers[name]["authors"][0].split()[-1]) == wanted],
        [name for name in papers if wanted in {_plain(author.split()[-1]) for author in papers[name]["authors"]}],
    ):
        if len(candidates) == 1:
            return str(candidates[0])
    raise unknown_name("paper", paper, papers)


def read_key(key: str) -> tuple[tuple[str, ...], str]:
    """(kinds it may mean, number) of a key such as "29", "(29)", "eq. 29" or "Table II"."""
    match = _KEY.fullmatch(str(key).strip().replace("–", "-").replace("−", "-"))
    if match is None:
        raise Error(f"The key {key!r} is not a number of a paper: write e.g. '29', 'A.21' or 'table 1'.", key=key)
    word = match["word"]
    if word is None:
        return BARE_KINDS, match["key"]
    for kind, words in KINDS.items():
        if word.lower() in words:
            return (kind,), match["key"]
    known = ", ".join(words[-1] for words in KINDS.values())
    raise Error(f"The key {key!r} begins with an unknown word: known are {known}.", key=key)


def fold(key: str, kind: str) -> str:
    """A key for comparison: no case, "A-1" as "A.1", and Roman numbers of tables and sections as digits."""
    key = key.lower().replace("-", ".")
    return _ROMAN.get(key, key) if kind in ("table", "section") else key


@cache
def packaged_index() -> dict[str, Any]:
    """The index that comes with the package, written by ``tools/equations.py``."""
    text = resources.files("dqdyn").joinpath("equations.json").read_text(encoding="utf-8")
    result: dict[str, Any] = json.loads(text)
    return result


def _plain(name: str) -> str:
    letters = unicodedata.normalize("NFKD", str(name)).encode("ascii", "ignore").decode()
    return letters.strip().lower()


def _line_of(function: str) -> int | None:
    parts = function.split(".")
    for size in range(len(parts), 0, -1):
        try:
            spec = find_spec(".".join(parts[:size]))
        except (ImportError, ValueError):
            continue
        if spec is None or not spec.origin:
            continue
        with open(spec.origin, encoding="utf-8") as file:
            return _line_in(ast.parse(file.read()), parts[size:])
    return None


def _line_in(tree: ast.Module, names: list[str]) -> int | None:
    body: list[ast.stmt] = tree.body
    line: int | None = 1
    for name in names:
        found = [node for node in body if name in defined_names(node)]
        if not found:
            return None
        line = found[0].lineno
        body = getattr(found[0], "body", [])
    return line


def defined_names(node: ast.stmt) -> list[str]:
    """Names that a definition or an assignment makes."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]
