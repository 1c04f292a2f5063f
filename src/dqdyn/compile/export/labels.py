"""The description of a program at the head of exported code."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from dqdyn.compile.trace.program import Program


@dataclass(frozen=True)
class Labels:
    """A title, a summary, and lines about the components of inputs, e.g. ``{"q": ["q[0] hinge, rad"]}``."""

    title: str = ""
    summary: str = ""
    inputs: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def lines(self, program: Program, names: Sequence[str], output: str) -> list[str]:
        """The description of a program whose inputs are called ``names``."""
        result = [_clean(self.title or program.name)]
        if self.summary:
            result.append(_clean(self.summary))
        result.append("")
        for (own, size), name in zip(program.inputs, names, strict=True):
            result.append(f"{name}[{size}]")
            result += [f"  {_clean(line)}" for line in self.inputs.get(own, ())]
        result += [f"{output}[{len(program.outputs)}]{_layout(program.shape)}", "", str(program.counts)]
        return result


def generator() -> str:
    """The library and its version."""
    try:
        return f"dqdyn {version('dqdyn')}"
    except PackageNotFoundError:  # on the path without being installed
        return "dqdyn"


def _layout(shape: tuple[int, ...]) -> str:
    return f"  {' x '.join(str(n) for n in shape)}, row-major" if len(shape) > 1 else ""


def _clean(text: str) -> str:
    """Text on one line that cannot end a comment, open one, or hide from the reader."""
    shown = "".join(
        "?" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn") else c for c in " ".join(text.split())
    )
    for mark in ("*/", "/*", "??"):
        while mark in shown:
            shown = shown.replace(mark, f"{mark[0]} {mark[1]}")
    return shown
