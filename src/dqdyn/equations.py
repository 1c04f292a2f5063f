"""Where the numbered items of the papers live in this library: function and tests, by paper and number."""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
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
_SENTENCE = re.compile(r"(?<=[.!?])(?<!\beq\.)(?<!\bdef\.)(?<!\bfig\.)(?<!\be\.g\.)(?<!\bi\.e\.)\s+(?=[A-ZΑ-Ω`\[])")
_ROLE = re.compile(r":\w+:`~?([^`]+)`")  # a cross-reference, such as :func:`name`

Index = Mapping[str, Any]
"""The index as ``tools/equations.py`` writes it: "papers", "entries" and "reasons"."""


@dataclass(frozen=True)
class Entry:
    """A function that implements an item, and the tests that check it by calling it."""

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
        """Line of the function in its file, or None where the source is unavailable."""
        return _definition(self.function).line

    def source(self) -> Path | None:
        """The file of the function as it is installed, or None where the source is unavailable."""
        return _definition(self.function).file

    def summary(self) -> str:
        """The first sentence of the function's docstring, and those that cite the item."""
        text = _ROLE.sub(r"\1", _definition(self.function).docstring)
        sentences = _SENTENCE.split(" ".join(text.split()))
        return " ".join(s for i, s in enumerate(sentences) if i == 0 or self.item in s)


@dataclass(frozen=True)
class Reason:
    """Why no function implements an item."""

    paper: str
    kind: str
    key: str
    reason: str

    @property
    def item(self) -> str:
        """The item as a tag: paper and number in brackets."""
        return f"[{self.paper}, {item_name(self.kind, self.key)}]"


def item_name(kind: str, key: str) -> str:
    """ "eq. (29)", "table 1"."""
    return f"{kind} ({key})" if kind in BARE_KINDS else f"{kind} {key}"


def lookup(paper: str, key: str, index: Index | None = None) -> list[Entry]:
    """The functions that implement an item of a paper: ``lookup("Silva", "29")``, ``lookup("farias", "table 1")``.

    ``paper`` may be in any case, shortened, or the family name of any of its authors. ``key`` is a bare number for an
    equation or a definition, or has a word before it; "(29)", "eq. 29" and "Equation (29)" are the same.
    """
    index = packaged_index() if index is None else index
    name, items = _named_items(paper, key, index)
    entries = [
        Entry(**{**entry, "tests": tuple(entry["tests"])})
        for entry in index["entries"]
        if entry["paper"] == name and (entry["kind"], entry["key"]) in items
    ]
    if not entries:
        names = " and ".join(item_name(*item) for item in items)
        why = " ".join(reason.reason for reason in reasons(paper, key, index))
        rest = f"no function implements it: {why}" if why else "no function cites it: docs/equations.md lists the rest."
        raise Error(f"{name} has {names}, but {rest}", paper=name, key=key)
    return entries


def reasons(paper: str, key: str, index: Index | None = None) -> list[Reason]:
    """Why no function implements an item; empty where one does. Arguments as in :func:`lookup`."""
    index = packaged_index() if index is None else index
    name, items = _named_items(paper, key, index)
    return [
        Reason(**reason)
        for reason in index["reasons"]
        if reason["paper"] == name and (reason["kind"], reason["key"]) in items
    ]


def _named_items(paper: str, key: str, index: Index) -> tuple[str, list[tuple[str, str]]]:
    """The short name of the paper, and (kind, key) of its items that ``key`` may mean; an error if there are none."""
    name = find_paper(paper, index)
    numbered = index["papers"][name]["items"]
    kinds, number = read_key(key)
    items = [(kind, k) for kind in kinds for k in numbered.get(kind, ()) if fold(k, kind) == fold(number, kind)]
    if not items:
        spans = ", ".join(
            f"{kind} {keys[0]}" + (f" to {keys[-1]}" if keys[1:] else "") for kind, keys in numbered.items()
        )
        raise UnknownNameError(f"{name} has no item {key!r}: it numbers {spans}.", name=key, matches=[], paper=name)
    return name, items


def find_paper(paper: str, index: Index) -> str:
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
def packaged_index() -> Index:
    """The index that comes with the package, written by ``tools/equations.py``."""
    text = resources.files("dqdyn").joinpath("equations.json").read_text(encoding="utf-8")
    result: Index = json.loads(text)
    return result


def _plain(name: str) -> str:
    letters = unicodedata.normalize("NFKD", str(name)).encode("ascii", "ignore").decode()
    return letters.strip().lower()


# --- definitions, read from the source: nothing is imported, so no optional package is needed -----------------------


@dataclass(frozen=True)
class _Definition:
    """Where a name is defined, and its docstring; a constant has the text below it."""

    file: Path | None = None
    line: int | None = None
    docstring: str = ""


@cache
def _definition(name: str) -> _Definition:
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        try:
            spec = find_spec(".".join(parts[:size]))
        except (ImportError, ValueError):
            continue
        if spec is not None and spec.origin:
            file = Path(spec.origin)
            return _defined_in(file, ast.parse(file.read_text(encoding="utf-8")), parts[size:])
    return _Definition()


def _defined_in(file: Path, tree: ast.Module, names: list[str]) -> _Definition:
    body: list[ast.stmt] = tree.body
    line, docstring = 1, ast.get_docstring(tree) or ""
    for name in names:
        places = [i for i, node in enumerate(body) if name in defined_names(node)]
        if not places:
            return _Definition()
        node, after = body[places[0]], body[places[0] + 1 : places[0] + 2]
        line = node.lineno
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            docstring = ast.get_docstring(node) or ""
        else:
            docstring = _text_of(after)
        body = getattr(node, "body", [])
    return _Definition(file, line, docstring)


def _text_of(statements: list[ast.stmt]) -> str:
    """The string that stands alone below an assignment."""
    value = statements[0].value if statements and isinstance(statements[0], ast.Expr) else None
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""


def defined_names(node: ast.stmt) -> list[str]:
    """Names that a definition or an assignment makes."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]
