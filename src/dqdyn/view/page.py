"""Pages as one HTML file each, filled from the folder "web"; they need no network and no other file."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

from dqdyn.errors import one_line


def page(title: str, facts: Sequence[str], body: str, *, styles: Sequence[str], scripts: Sequence[str]) -> str:
    """A page: a heading with facts above ``body`` in HTML; styles and scripts are read from the folder ``web``."""
    return filled(
        "page.html",
        TITLE=escape(title),
        FACTS=" · ".join(map(escape, facts)),
        STYLE="".join(map(web_file, styles)),
        BODY=body,
        SCRIPT="\n".join(map(web_file, ("common.js", *scripts))),
    )


def filled(name: str, **values: str) -> str:
    """A file of "web" with its {{PLACES}} filled."""
    # In one pass, so that nothing in the values is taken for a place to fill.
    return re.sub("{{(.*?)}}", lambda place: values[place[1]], web_file(name))


def web_file(name: str) -> str:
    """The text of a file in the folder "web"."""
    return (resources.files("dqdyn.view") / "web" / name).read_text(encoding="utf-8")


def escape(text: Any) -> str:
    """Text that may come from any file, for HTML and SVG: on one line, with nothing that hides from the reader."""
    return html.escape(one_line(text))


def inline_json(data: Any) -> str:
    """Data as the text of a script element, where only "</script" and "<!--" matter: without "<" there is neither."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
