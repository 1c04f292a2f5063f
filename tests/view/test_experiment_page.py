"""The page of an experiment: claims, a run to choose, and curves, in one file without a network."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import Watched, recorded

import dqdyn as dq
from dqdyn import scenes
from dqdyn.analysis.experiments import (
    Bars,
    Case,
    Claim,
    Drawing,
    Event,
    GridMap,
    Picture,
    PlaneFigure,
    Result,
    Span,
    Table,
)
from dqdyn.analysis.experiments.figures import draw, figure, joint_multiples
from dqdyn.robot import Robot
from dqdyn.view.animation import animation
from dqdyn.view.experiment_report import markers_of, write_experiment
from dqdyn.view.motion import shown_samples
from dqdyn.view.series import Panel
from dqdyn.view.svg import multiples, panel_figure
from dqdyn.view.svg_kinds import plane_figure


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


@pytest.mark.parametrize(
    ("drawing", "message"),
    [
        (draw("spere", center=(0, 0, 0), radius=1.0), "no kind of drawing named 'spere': did you mean 'sphere'"),
        (draw("violated", when=[True]), "no kind of drawing named 'violated'"),
        (draw("sphere", center=(0, 0, 0)), "The drawing 'sphere' of 'run': .*'radius'"),
        (
            draw("sphere", center=(0, 0, 0), radius=1.0, violated=[True, False]),
            "has 2 samples, but the trajectory has 301",
        ),
    ],
)
def test_bad_drawings(drawing: Drawing, message: str, swing: Any, tmp_path: Path) -> None:
    result = Result("small", "Small", "nobody", (), (), (Case("run", swing, (drawing,)),), ())
    with pytest.raises(dq.Error, match=message):
        write_experiment(result, tmp_path / "small.html")


def test_page_shows_claims_and_runs(small: Result, tmp_path: Path, watched: Watched) -> None:
    path = write_experiment(small, tmp_path / "small.html")
    page = watched.page
    page.goto(path.as_uri())
    rows = page.locator(".claims tbody tr")
    assert [row.split("\t") for row in rows.all_inner_texts()] == [["✓", "1 < 2", "<b>yes</b>"], ["✗", "2 < 1", "no"]]
    assert page.locator("h1").inner_text() == "A small <experiment>"
    buttons = page.locator("#runs .run-name")
    assert buttons.all_inner_texts() == ["first", "</script>"]
    shown(page, "</script>")
    assert page.locator(".stage figcaption b").inner_text() == "</script>"
    buttons.nth(0).click()
    shown(page, "first")
    assert page.locator("#clock").inner_text().endswith("3.00 s")
    assert page.locator(".plots figcaption").first.inner_text().startswith("angle")
    assert watched.errors == []
    assert all(url.startswith(("file:", "about:", "data:")) for url in watched.requests)


@pytest.mark.long
def test_side_by_side_on_one_clock(small: Result, tmp_path: Path, watched: Watched) -> None:
    page = watched.page
    page.goto(write_experiment(small, tmp_path / "small.html").as_uri())
    shown(page, "</script>")
    page.locator("#beside").click()
    shown(page, "first | </script>")
    assert page.locator(".stage").count() == 2
    boxes = [page.locator(".stage").nth(k).bounding_box() for k in range(2)]
    assert boxes[0]["y"] == boxes[1]["y"]  # two columns on a wide screen
    assert boxes[1]["x"] > boxes[0]["x"] + 0.9 * boxes[0]["width"]
    page.set_viewport_size({"width": 420, "height": 900})
    assert page.locator(".stage").nth(1).bounding_box()["x"] == page.locator(".stage").nth(0).bounding_box()["x"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    page.set_viewport_size({"width": 900, "height": 900})
    page.evaluate("window.dqdyn.seek(1.5)")
    page.wait_for_timeout(300)
    pictures = [watched.red(f".stage:nth-child({k}) .view") for k in (1, 2)]
    assert pictures[0][0] > 300
    np.testing.assert_allclose(pictures[0], pictures[1], rtol=0.02)  # the same run twice, at one time
    cursor = page.locator("figure.plot .cursor").first
    assert float(cursor.get_attribute("x1")) == pytest.approx(500.0, abs=3.0)  # the figures follow
    plot = page.locator("figure.plot svg[data-span]").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + 0.5 * box["height"])
    assert page.evaluate("window.dqdyn.time") == pytest.approx(0.75, abs=0.02)
    page.locator("#beside").click()
    shown(page, "</script>")
    assert page.locator(".stage").count() == 1
    assert watched.errors == []


def test_runs_of_different_lengths_share_the_time_axis(swing: Any, tmp_path: Path, watched: Watched) -> None:
    short = swing.part(slice(0, 151))
    cases = tuple(Case(name, run, spans=(Span(0.0, 1.5, "phase"),)) for name, run in (("a", swing), ("b", short)))
    page = watched.page
    result = Result("small", "Small", "nobody", (), (), cases, ())
    page.goto(write_experiment(result, tmp_path / "small.html").as_uri())
    shown(page, "b")
    assert page.evaluate("window.dqdyn.length") == pytest.approx(1.5)
    page.locator("#beside").click()
    shown(page, "a | b")
    assert page.evaluate("window.dqdyn.length") == pytest.approx(3.0)
    widths = page.locator(".strip .phase").evaluate_all("all => all.map(p => p.getBoundingClientRect().width)")
    assert widths[0] == pytest.approx(widths[1], abs=1.0)
    page.evaluate("window.dqdyn.seek(2.0)")
    page.wait_for_timeout(200)
    assert page.locator(".stage .now").all_inner_texts() == ["", "ended"]
    assert watched.errors == []


def test_what_is_violated_turns_red_and_names_hide(swing: Any, tmp_path: Path, watched: Watched) -> None:
    """A zone beside the red arm is red while it is violated and not hidden, and only then."""
    late = swing.time > 1.5
    late[150] = True
    blue = (0.18, 0.42, 0.86, 1.0)
    zone = draw("sphere", center=(0.0, 0.6, 0.9), radius=0.2, name="zone", color=blue, violated=late)
    spans = (Span(0.0, 1.0, "approach"), Span(1.0, 3.0, "<contact>"))
    force = draw("arrow", start=(0, 0, 0.6), vector=(0, 0, 200), unit="N", scale=0.002, name="force")
    case = Case("run", swing, (zone, force), dq.Scene([scenes.ground()]), spans, (Event(1.0, "touch"),))
    result = Result("small", "Small", "nobody", (), (), (case,), ())
    page = watched.page
    page.goto(write_experiment(result, tmp_path / "small.html").as_uri())
    shown(page, "run")
    entry = page.locator("#drawn button", has_text="zone")
    assert "500 N per m" in page.locator("#drawn button", has_text="force").inner_text()

    def at(time: float) -> int:
        page.evaluate("t => window.dqdyn.seek(t)", time)
        page.wait_for_timeout(250)
        return watched.red(".view")[0]

    allowed, forbidden = at(0.5), at(2.5)
    assert page.locator(".stage .now").inner_text() == "<contact>"
    assert "violated" in entry.get_attribute("class")
    entry.click()
    assert forbidden > at(2.5) + 500
    assert allowed == pytest.approx(at(0.5), abs=100)  # blue, it has no red to hide
    assert "violated" not in entry.get_attribute("class")
    assert page.locator(".strip .phase").all_inner_texts() == ["approach", "<contact>"]
    violation = page.locator(".strip .violation")
    assert violation.count() == 1
    assert float(violation.evaluate("v => parseFloat(v.style.left)")) == pytest.approx(50.0, abs=1.0)
    assert watched.errors == []


def test_a_short_violation_is_not_lost(signpost: Robot) -> None:
    """Ten thousand samples, one of them violated: the sample shown before it is red."""
    time = np.linspace(0.0, 1.0, 10_001)
    run = recorded(signpost, time, np.zeros((len(time), 1)))
    flags = np.arange(len(time)) == 5077
    markers = markers_of(Case("run", run, (draw("sphere", center=(0, 0, 0), radius=1.0, violated=flags),)))
    data = json.loads(animation(run, markers=markers).run.replace("\\u003c", "<"))
    raw = zlib.decompress(base64.b64decode(data["blob"]))
    kind, start, count = data["data"]["markers"][-1]["violated"]
    shown_flags = np.frombuffer(raw[start : start + count], dtype=np.uint8)
    assert (kind, shown_flags.sum()) == ("uint8", 1)
    kept = shown_samples(time)
    k = int(np.argmax(shown_flags))
    assert kept[k] <= 5077 < kept[k + 1]


def test_runs_share_what_they_have_in_common(small: Result, tmp_path: Path) -> None:
    text = write_experiment(small, tmp_path / "small.html").read_text(encoding="utf-8")
    assert text.count('class="run" data-shared="0"') == 2
    assert text.count('class="shared"') == 1


def test_all_kinds_of_figures(swing: Any, tmp_path: Path, watched: Watched) -> None:
    curves = {"angle": (swing, swing.q[:, 0])}
    spans, events = (Span(0.0, 1.0, "I"), Span(1.0, 1.05, "<II>")), (Event(2.0, "touch"),)
    whole = figure("angle", "rad", curves, {"limits": (-1.0, 1.0), "far": 100.0}, spans=spans, events=events)
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path id="stage" d="M0 0L9 9"/></svg>'
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    figures = (
        whole,
        joint_multiples("joints", {"one": swing, "two": swing}, ["turn"], spans=spans),
        Picture("states", svg, "a caption"),
        GridMap(
            "reach", ("x (m)", "z (m)"), [0, 1], [0, 1], [[0, 1], [-1, 0]], ("no", "<yes>"), marks={"ball": (0.5, 0.5)}
        ),
        GridMap("error", ("x", "y"), [0, 1], [0], [[0.5, np.nan]], unit="mm"),
        PlaneFigure(
            "above",
            areas={"feet": square},
            paths={"way": 0.5 * square},
            points={"start": (0, 0)},
            limits={"edge": square},
        ),
        Bars("error", "%", ("j1", "j2"), {"own": [1, 2], "other": [3, -1]}, {"own": [0.1, 0.2]}),
        Bars("time", "µs", ("a", "b"), {"own": [1, 200]}, {"own": [5, 1]}, log=True),
    )
    result = Result("kinds", "All kinds", "nobody", ("Text.",), (), (), figures)
    page = watched.page
    path = write_experiment(result, tmp_path / "kinds.html")
    page.goto(path.as_uri())
    plots = page.locator(".plots > .plot")
    assert plots.count() == 6
    first = plots.first
    assert first.locator(".spans rect").count() == 2
    assert first.locator(".curves .limit").count() == 2
    names = first.locator(".legend li").all_inner_texts()
    assert [name.strip() for name in names] == ["angle", "limits", "far (100: off the scale)", "I", "<II>"]
    assert first.locator(".axes .event").inner_text() == "touch"
    assert page.locator(".multiples .small").count() == 1
    page.locator(".multiples .legend button", has_text="limits").click()
    assert page.locator(".multiples .curves > *").evaluate_all("all => all.map(c => c.style.display)") == [
        "",
        "",
        "none",
    ]
    assert page.locator(".picture .drawing").evaluate("d => d.shadowRoot.querySelectorAll('svg path').length") == 1
    assert page.locator(".cells").nth(0).locator("rect").count() == 3
    assert page.locator(".cells").nth(1).locator("rect").count() == 1
    above = page.locator(".plane .axes", has=page.locator(".area")).bounding_box()
    assert above["width"] / above["height"] == pytest.approx(1.0, abs=0.05)  # equal scales
    assert page.locator(".bars").nth(0).locator("rect").count() == 4
    assert page.locator(".bars").nth(0).locator(".whisker").count() == 2
    for width in (1200, 360):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert watched.errors == []
    assert "nan" not in path.read_text(encoding="utf-8").split("<script")[0]


@pytest.mark.parametrize(("width", "height"), [(1.0, 1.0), (4.0, 0.3), (0.1, 3.0), (2.0, 1.0)])
def test_plane_figures_have_one_scale(width: float, height: float) -> None:
    """The box has the aspect of its axes: a square of data is a square on the screen, whatever the shapes."""
    text = plane_figure(PlaneFigure("above", areas={"a": [[0, 0], [width, 0], [width, height], [0, height]]}))
    aspect = float(re.search(r"aspect-ratio:([\d.]+)", text)[1])
    corners = np.array(
        re.findall(r"[ML]([-\d.]+) ([-\d.]+)", re.search(r'class="area" d="([^"]*)"', text)[1]), dtype=float
    )
    across, down = np.ptp(corners, axis=0)
    assert across * aspect / down == pytest.approx(width / height, rel=0.02)


def test_limits_of_joints_are_always_in_sight() -> None:
    time, low = np.linspace(0.0, 1.0, 5), np.zeros(5)
    panel = Panel("joint", "rad", {"q": low + 1e-3 * time}, {"limits": np.array([-3.0, 3.0])})
    small = re.search(r'<path d="([^"]*)" class="limit"', multiples("joints", [panel], [time]))[1]
    heights = [float(y) for y in re.findall(r"M0 ([-\d.]+)H", small)]
    assert len(heights) == 2
    assert all(0.0 <= y <= 1000.0 for y in heights)
    assert "(−3, 3: off the scale)" in panel_figure(panel, time)


def shown(page: Any, names: str) -> None:
    """Waits until the page shows these runs."""
    page.wait_for_function("names => document.getElementById('stages').dataset.shown === names", arg=names)
