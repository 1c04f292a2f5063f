"""Runs the Python blocks of a Markdown page, in order and in one namespace, and checks the values that they state.

A line that is an expression with a comment ``# → value`` states its value: as text, or as a literal compared to 1e-9.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
_BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
_STATED = re.compile(r"#\s*→\s*(?P<value>.+?)\s*$")


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """(line, code) of the fenced blocks in that language."""
    text = page.read_text(encoding="utf-8")
    found = (match for match in _BLOCK.finditer(text) if match["language"] == language)
    return [(text.count("\n", 0, match.start()) + 2, match["code"]) for match in found]


def run_page(page: Path, language: str = "python") -> int:
    """Run the page; the number of values that were checked. Raises with the line of the page where one differs."""
    namespace: dict[str, Any] = {"__name__": "__page__"}
    checked = 0
    for first_line, code in blocks(page, language):
        # Empty lines in front, so that tracebacks show the lines of the page.
        tree = ast.parse("\n" * (first_line - 1) + code, str(page))
        lines = ["", *[""] * (first_line - 1), *code.splitlines()]
        for statement in tree.body:
            stated = _STATED.search(lines[statement.end_lineno or 0])
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), str(page), "eval"), namespace)
                if stated:
                    checked += 1
                    message = f"{page.name}:{statement.lineno}: stated {stated['value']}, found {value!r}"
                    assert agrees(value, stated["value"]), message
            else:
                assert not stated, f"{page.name}:{statement.lineno}: only an expression can state a value"
                exec(compile(ast.Module([statement], []), str(page), "exec"), namespace)
    return checked


def agrees(value: Any, text: str) -> bool:
    """Whether a value is what the page says."""
    if text in (str(value), repr(value)):
        return True
    try:
        return _same(value, ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return False


def _same(value: Any, stated: Any) -> bool:
    if isinstance(stated, (list, tuple)) and not isinstance(value, np.ndarray):
        if not isinstance(value, (list, tuple)) or len(value) != len(stated):
            return False
        return all(_same(a, b) for a, b in zip(value, stated, strict=True))
    if isinstance(stated, (str, bool)) or stated is None:
        return bool(value == stated)
    array, expected = np.asarray(value), np.asarray(stated, dtype=float)
    if array.shape != expected.shape or array.dtype.kind not in "fi":
        return False
    return bool(np.allclose(array, expected, rtol=1e-9, atol=1e-9))
