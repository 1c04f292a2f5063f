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
_AS_TYPESET = [
    (r"<mover>", r'<mover accent="true">'),  # dots and bars, close to their letter
    (r"<mo>(&#x02016;|&#x0007C;|&#x0002F;)</mo>", r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>'),  # ‖ | /
    (r"<mi>(&#x027C2;)</mi>", r'<mo lspace="0.3em" rspace="0.3em">\1</mo>'),  # ⟂
    (r"(<mo>&#x0(?:003D|2264|2265);</mo>)<mo>(&#x02212;)</mo>", r'\1<mo form="prefix">\2</mo>'),  # = −x, ≤ −x, ≥ −x
]
"""What browsers would space or stretch otherwise than the papers do."""


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
    for pattern, replacement in _AS_TYPESET:
        text = re.sub(pattern, replacement, text)
    return f'<div class="formula">{text}</div>' if is_block else text
