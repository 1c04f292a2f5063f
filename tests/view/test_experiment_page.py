"""The page of an experiment: claims, a run to choose, and curves, in one file without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import Watched

from dqdyn.analysis.experiments.experiment import Case, Claim, Result, Table
from dqdyn.analysis.experiments.figures import draw, figure
from dqdyn.view.experiment_report import markers_of, write_experiment


@pytest.fixture
def small(swing: Any) -> Result:
    """Two runs of the signpost and claims with signs that a page could take for its own."""
    ball = draw("sphere", center=np.column_stack([swing.q[:, 0], 0 * swing.time, 0 * swing.time]), radius=0.1)
    cases = tuple(Case(name, swing, (ball, draw("point", position=(0, 0, 1)))) for name in ("first", "</script>"))
    curve = figure("angle", "rad", {"a": (swing, swing.q[:, 0])}, {"limit": 1.0})
    claims = (Claim("1 < 2", "<b>yes</b>", True), Claim("2 < 1", "no", False))
    table = Table("Effort", ("law", "value"), (("QP", "1.0"),))
    return Result("small", "A small <experiment>", "nobody", ("Just a test.",), claims, cases, (curve,), (table,))


def test_scene(small: Result) -> None:
    kinds = [(marker.kind, marker.samples) for marker in markers_of(small.cases[0]).markers]
    assert kinds == [("ball", 301), ("ball", 1)]


def test_page_shows_claims_and_runs(small: Result, tmp_path: Path, watched: Watched) -> None:
    path = write_experiment(small, tmp_path / "small.html")
    page = watched.page
    page.goto(path.as_uri())
    rows = page.locator(".claims tbody tr")
    assert [row.split("\t") for row in rows.all_inner_texts()] == [["✓", "1 < 2", "<b>yes</b>"], ["✗", "2 < 1", "no"]]
    assert page.locator("h1").inner_text() == "A small <experiment>"
    buttons = page.locator("#runs button")
    assert buttons.all_inner_texts() == ["first", "</script>"]
    frame = page.frame_locator("#animation")
    frame.locator("#play").wait_for()
    assert frame.locator("h1").text_content() == "</script>"
    buttons.nth(0).click()
    page.wait_for_function("document.getElementById('animation').contentDocument.title === 'first'")
    assert frame.locator("#clock").inner_text().endswith("3.00 s")
    assert page.locator("figure.plot figcaption").inner_text().split("\n")[0].startswith("angle")
    assert watched.errors == []
    assert all(url.startswith(("file:", "about:", "data:")) for url in watched.requests)
