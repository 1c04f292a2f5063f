"""The page of an experiment: claims and what was measured, animations of the runs to choose from, and figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np

from dqdyn.analysis.experiments.experiment import Case, Result
from dqdyn.analysis.experiments.figure_kinds import (
    AnyFigure,
    Bars,
    Figure,
    GridMap,
    Multiples,
    Picture,
    PlaneFigure,
    Span,
)
from dqdyn.errors import Error, unknown_name
from dqdyn.view.animation import Animation, animation
from dqdyn.view.html import PLAYING
from dqdyn.view.markers import Markers
from dqdyn.view.page import escape, web_file
from dqdyn.view.report import Report
from dqdyn.view.series import Panel, panels_of
from dqdyn.view.svg import figures as curve_figures
from dqdyn.view.svg import multiples, panel_figure
from dqdyn.view.svg_kinds import bars, grid_map, picture, plane_figure

KINDS = tuple(name for name in vars(Markers) if not name.startswith("_") and name != "violated")
"""Of drawings: methods of Markers."""
PHASES = ("#6b9be0", "#5fb98a", "#b48ad6", "#d9b04a", "#58b7c2", "#a8ad4f", "#b89a86", "#9aa3b0")
"""Colors of phases; red is kept for limits."""
_SIDE_BY_SIDE = '<button type="button" id="beside" aria-pressed="false">side by side</button>'


def write_experiment(result: Result, path: str | Path) -> Path:
    """Write the page; an existing file is replaced whole. It needs no network and no other file."""
    held = sum(claim.holds for claim in result.claims)
    plants = {str(case.trajectory.about.get("plant", "own dynamics")) for case in result.cases}
    page = _Page(result, [*sorted(plants), f"{held} of {len(result.claims)} claims hold"])
    page.section("What it is")
    for text in result.text:
        page.text(text)
    page.section("What is claimed, and what was measured")
    page.claims()
    for table in result.tables:
        page.table(table.columns, table.rows, title=table.title)
    if result.cases:
        page.section("The runs")
        page.animations()
    if result.figures:
        page.section("Figures")
        page.figures()
    return page.write(path)


def markers_of(case: Case) -> Markers:
    """What is drawn around the robot."""
    markers = Markers()
    for drawing in case.drawings:
        if drawing.kind not in KINDS:
            raise unknown_name("kind of drawing", drawing.kind, KINDS)
        try:
            getattr(markers, drawing.kind)(**drawing.arguments)
        except TypeError as problem:
            raise Error(f"The drawing {drawing.kind!r} of {case.name!r}: {problem}.", kind=drawing.kind) from None
        if drawing.violated is not None:
            markers.violated(drawing.violated)
    return markers


def span_colors(result: Result) -> dict[str, str]:
    """A color per name of a phase, the same in all figures and runs; those that were given first."""
    own = [f for one in result.figures for f in (one.figures if isinstance(one, Multiples) else (one,))]
    spans = [span for f in own if isinstance(f, Figure) for span in f.spans]
    spans += [span for case in result.cases for span in case.spans]
    given = {span.name: span.color for span in spans if span.color}
    names = list(dict.fromkeys(span.name for span in spans))
    return {name: given.get(name, PHASES[i % len(PHASES)]) for i, name in enumerate(names)}


class _Page(Report):
    styles = ("player.css", "report.css", "experiment.css")
    scripts = ("report.js", *PLAYING, "experiment.js")

    def __init__(self, result: Result, facts: Iterable[str]) -> None:
        super().__init__(result.title, [result.source, *facts])
        self.result, self.colors = result, span_colors(result)

    def claims(self) -> None:
        rows = "".join(
            f'<tr class="{"held" if c.holds else "failed"}"><td>{"✓" if c.holds else "✗"}</td>'
            f"<td>{escape(c.text)}</td><td>{escape(c.measured)}</td></tr>"
            for c in self.result.claims
        )
        head = "<thead><tr><th></th><th>claim</th><th>measured</th></tr></thead>"
        self._add(f'<div class="wide"><table class="claims">{head}<tbody>{rows}</tbody></table></div>')

    def animations(self) -> None:
        """A button per run, and one to see several; runs of one robot share its meshes."""
        cases, shared = self.result.cases, dict[str, int]()
        names = "".join(f'<button type="button" class="run-name">{escape(case.name)}</button>' for case in cases)
        kept = []
        for case in cases:
            shown = self._animation(case)
            numbers = [shared.setdefault(text, len(shared)) for text in shown.shared]
            which = f'data-shared="{" ".join(map(str, numbers))}"'
            kept.append(f'<script type="application/json" class="run" {which}>{shown.run}</script>')
        kept += [f'<script type="application/json" class="shared">{text}</script>' for text in shared]
        choice = names + (_SIDE_BY_SIDE if len(cases) > 1 else _SIDE_BY_SIDE.replace(" id=", " hidden id="))
        self._add(
            f'<div id="runs" role="group" aria-label="Which run">{choice}</div><div id="stages"></div>'
            f'<template id="stage">{web_file("stage.html").strip()}</template>{web_file("controls.html")}'
            '<details id="all-curves"><summary>positions, velocities, efforts and energy of this run</summary>'
            f'<div class="plots"></div></details>{"".join(kept)}'
        )

    def figures(self) -> None:
        """In the order given; pictures and small multiples take the whole width, others share it."""
        for wide, group in groupby(self.result.figures, key=lambda one: isinstance(one, Multiples | Picture)):
            drawn = "".join(map(self._drawn, group))
            self._add(drawn if wide else f'<div class="plots">{drawn}</div>')

    def _drawn(self, figure: AnyFigure) -> str:
        match figure:
            case Figure():
                return panel_figure(self._panel(figure), figure.time)
            case Multiples():
                return multiples(figure.title, [*map(self._panel, figure.figures)], [f.time for f in figure.figures])
            case PlaneFigure():
                return plane_figure(figure)
            case GridMap():
                return grid_map(figure)
            case Bars():
                return bars(figure)
            case Picture():
                return picture(figure)

    def _panel(self, figure: Figure) -> Panel:
        limits = {name: np.asarray(levels) for name, levels in figure.limits.items()}
        events = tuple((event.time, event.name) for event in figure.events)
        return Panel(figure.title, figure.unit, figure.curves, limits, self._spans(figure.spans), events)

    def _spans(self, spans: Iterable[Span]) -> tuple[tuple[float, float, str, str], ...]:
        return tuple((span.start, span.end, span.name, self.colors[span.name]) for span in spans)

    def _animation(self, case: Case) -> Animation:
        """The run with its scene, phases and contact forces; what a controller recorded is the experiment's to show."""
        plain = panels_of(replace(case.trajectory, extra={}))
        return animation(
            case.trajectory,
            scene=case.scene,
            markers=markers_of(case),
            name=case.name,
            plots=curve_figures(plain, case.trajectory.time),
            spans=self._spans(case.spans),
            events=[(event.time, event.name) for event in case.events],
        )
