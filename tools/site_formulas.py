r"""A hook of mkdocs: formulas between dollar signs become MathML when the site is built.

Browsers typeset MathML by themselves, so pages need no script and no font from elsewhere. The extension
``pymdownx.arithmatex`` finds the formulas, in LaTeX, so that pages also show them where they are read beside the
sources; the package ``latex2mathml`` converts them.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

_FORMULA = re.compile(r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL)


def on_page_content(html: str, *, page: Any, **_: Any) -> str:
    """Typeset the formulas of a page."""
    try:
        return _FORMULA.sub(lambda found: mathml(unescape(found["latex"]), found["tag"] == "div"), html)
    except ValueError as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from error


def mathml(latex: str, is_block: bool) -> str:
    """One formula, on lines of its own or within a line."""
    text = str(convert(latex.strip(), display="block" if is_block else "inline"))
    if unknown := re.search(r"\\\w+|<mi>&</mi>", text):
        raise ValueError(f"the formula {latex.strip()!r} has what latex2mathml does not know, at {unknown[0]!r}")
    text = text.replace("<mover>", '<mover accent="true">')  # dots and bars, close to their letter
    return f'<div class="formula">{text}</div>' if is_block else text
