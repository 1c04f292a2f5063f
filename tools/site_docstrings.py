"""An extension of griffe: docstrings as Markdown. Roles become code, and citations in brackets are no links."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:func|class|meth|mod|attr|data|obj|exc):`~?([^`]+)`")
_CITATION = re.compile(r"\[([A-Z]\w+, [^\]]+)\]")


class Docstrings(griffe.Extension):
    """Rewrites every docstring when it is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """One function, class or module."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(text: str) -> str:
    """The docstring for the site."""
    return _CITATION.sub(r"\\[\1\\]", _ROLE.sub(r"`\1`", text))
