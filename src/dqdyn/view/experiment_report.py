"""The page of an experiment: claims and what was measured, animations of the runs to choose from, tables and curves."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from pathlib import Path

from dqdyn.analysis.experiments.experiment import Case, Figure, Multiples, Result
from dqdyn.view.html import html_page
from dqdyn.view.markers import Markers
from dqdyn.view.page import escape, inline_json, web_file
from dqdyn.view.report import Report
from dqdyn.view.series import Panel


def write_experiment(result: Result, path: str | Path) -> Path:
    """Write the page; an existing file is replaced whole. It needs no network and no other file."""
    held = sum(claim.holds for claim in result.claims)
    plants = {str(case.trajectory.about.get("plant", "own dynamics")) for case in result.cases}
    page = _Page(result.title, [result.source, *sorted(plants), f"{held} of {len(result.claims)} claims hold"])
    page.section("What it is")
    for text in result.text:
        page.text(text)
    page.section("What is claimed, and what was measured")
    page.claims(result)
    for table in result.tables:
        page.table(table.columns, table.rows, title=table.title)
    if result.cases:
        page.section("The runs")
        page.animations(result.cases)
    page.section("Curves")
    singles = [f for one in result.figures for f in (one.figures if isinstance(one, Multiples) else (one,))]
    over_time = [f for f in singles if isinstance(f, Figure)]
    for _, group in groupby(over_time, key=lambda figure: (len(figure.time), figure.time[-1])):
        figures = list(group)
        page.curves([Panel(f.title, f.unit, f.curves) for f in figures], figures[0].time)
    return page.write(path)


def markers_of(case: Case) -> Markers:
    """What is drawn around the robot."""
    markers = Markers()
    for drawing in case.drawings:
        getattr(markers, drawing.kind)(**drawing.arguments)
        if drawing.violated is not None:
            markers.violated(drawing.violated)
    return markers


class _Page(Report):
    def claims(self, result: Result) -> None:
        rows = "".join(
            f'<tr class="{"held" if c.holds else "failed"}"><td>{"✓" if c.holds else "✗"}</td>'
            f"<td>{escape(c.text)}</td><td>{escape(c.measured)}</td></tr>"
            for c in result.claims
        )
        head = "<thead><tr><th></th><th>claim</th><th>measured</th></tr></thead>"
        style = f"<style>{web_file('experiment.css')}</style>"
        self._add(f'{style}<div class="wide"><table class="claims">{head}<tbody>{rows}</tbody></table></div>')

    def animations(self, cases: tuple[Case, ...]) -> None:
        """One frame; a button per run puts its page into it."""
        buttons = "".join(f'<button type="button">{escape(case.name)}</button>' for case in cases)
        kept = "".join(
            f'<script type="application/json" class="run">{inline_json(_animation(case))}</script>' for case in cases
        )
        frame = '<iframe id="animation" title="Animation of the run"></iframe>'
        script = f'<script>"use strict";\n(() => {{\n{web_file("experiment.js")}\n}})();</script>'
        self._add(f'<div id="runs" role="group" aria-label="Which run">{buttons}</div>{frame}{kept}{script}')


def _animation(case: Case) -> str:
    """The page of a run, its scene as high as the frame; the curves of the run stay below it."""
    page = html_page(replace(case.trajectory, extra={}), markers=markers_of(case), title=case.name)
    style = "<style>header { display: none; } main { padding-top: 1px; } #stage { height: calc(100vh - 64px); }</style>"
    return page.replace("</head>", f"{style}</head>", 1)
