"""Reports: pages of tables, matrices and curves that need nothing else."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dqdyn.errors import FormatError
from dqdyn.view.report import Report
from dqdyn.view.series import Panel

VOID = {"meta", "link", "input", "br", "img"}


class Balanced(HTMLParser):
    """Fails where a tag is closed that is not open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page() -> Report:
    time = np.linspace(0.0, 1.0, 11)
    report = Report("a <b> & c", ["one", "two & three"]).section("first {{TITLE}}").text("x < y")
    report.numbers({"speed": "3 ×"}).table(("what", "size"), [["a&b", "1"], ["c", "2"]], title="sizes", right=("size",))
    report.matrix("M", np.array([[1.0, 1e-15], [-2.5, 3.14159265]])).link("there", "other.html")
    return report.section("second").curves([Panel("angle", "rad", {"q<1>": np.sin(time)})], time)


def test_page_is_well_formed_and_texts_are_escaped() -> None:
    text = page().html()
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert "<h1>a &lt;b&gt; &amp; c</h1><p>one · two &amp; three</p>" in text
    assert "<h2>first {{TITLE}}</h2>" in text
    assert "<p>x &lt; y</p>" in text
    assert "q&lt;1&gt;" in text


def test_tables_and_matrices() -> None:
    text = page().html()
    assert '<th class="right">size</th>' in text
    assert '<tr><td>a&amp;b</td><td class="right">1</td></tr>' in text
    assert '<tr><td>1</td><td class="zero">0</td></tr><tr><td>−2.5</td><td>3.142</td></tr>' in text


def test_rows_must_fit_the_columns() -> None:
    with pytest.raises(ValueError):
        Report("x").table(("a", "b"), [["1"]])


def test_written_whole(tmp_path: Path) -> None:
    path = page().write(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == page().html()
    with pytest.raises(FormatError):
        page().write(tmp_path / "nowhere" / "report.html")


def test_in_the_browser(tmp_path: Path, watched: Any) -> None:
    path = page().write(tmp_path / "report.html")
    watched.page.goto(path.as_uri())
    first = "document.querySelector('.curves path').style.display"
    watched.page.click(".legend button")
    assert watched.page.evaluate(first) == "none"
    watched.page.click(".legend button")
    assert watched.page.evaluate(first) == ""
    watched.page.hover(".axes > svg")
    assert watched.page.evaluate("document.querySelector('.cursor').style.display") == ""
    watched.page.click("#theme")
    assert watched.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert watched.errors == []
    assert all(request.startswith(("file:", "data:")) for request in watched.requests)
