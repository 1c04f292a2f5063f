"""Names and titles, which may come from any file, as text of pages and figures."""

from __future__ import annotations

import html
from typing import Any

from dqdyn.errors import one_line


def escape(text: Any) -> str:
    """As text or attribute of HTML and SVG, on one line, with nothing that hides from the reader."""
    return html.escape(one_line(text))


def without_math(text: Any) -> str:
    """As text of matplotlib, to which a dollar sign means mathematics."""
    return one_line(text).replace("$", r"\$")
