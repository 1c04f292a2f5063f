"""What notebooks show of robots, runs, programs and reports; figures that show themselves; help."""

from __future__ import annotations

import html
import pydoc
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import Watched

import dqdyn as dq
from dqdyn.robot import Robot
from dqdyn.view.report import Report


def test_a_robot_shows_its_joints_limits_tree_and_view(signpost: Robot) -> None:
    text = signpost._repr_html_()
    assert text is not None
    assert re.search("<td>turn</td><td>revolute</td><td>arm</td><td>0</td><td>0</td><td>−1.5</td><td>1.5</td>", text)
    assert "└ arm (2 kg), by turn (revolute)" in text
    assert "<iframe" in text
    assert '"application/json"' in html.unescape(text)


@pytest.mark.parametrize("name", ["humanoid", "differential_drive", "nonholonomic_manipulator"])
def test_robots_of_all_kinds_show(name: str) -> None:
    robot = dq.load(name) if name in dq.robots.names() else dq.robots.nonholonomic_manipulator()
    text = robot._repr_html_()
    assert text is not None
    for joint in robot.joints:
        assert f"<td>{joint.name}</td>" in text


def test_names_cannot_break_out(signpost: Robot) -> None:
    evil = '"><script>alert(1)</script>'
    robot = Robot.from_description(replace(signpost.description, name=evil))
    text = robot._repr_html_() or ""
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_the_view_runs_inside_of_a_notebook(swing: Any, watched: Watched, tmp_path: Path) -> None:
    page = tmp_path / "cells.html"
    page.write_text(f"<!doctype html><meta charset=utf-8>{swing.robot._repr_html_()}{swing._repr_html_()}", "utf-8")
    watched.page.goto(page.as_uri())
    frames = [frame for frame in watched.page.frames if frame is not watched.page.main_frame]
    assert len(frames) == 2
    for frame in frames:
        frame.wait_for_function("window.dqdyn && window.dqdyn.length > 0")
    assert frames[1].locator("#plots figure, #plots svg").count() > 0
    assert frames[0].locator("#plots svg").count() == 0
    assert watched.errors == []
    assert {url.split(":")[0] for url in watched.requests} <= {"file", "about", "data"}


def test_runs_without_a_picture_still_print(swing: Any) -> None:
    q = np.array(swing.q)
    q[5] = np.nan
    text = replace(swing, q=q)._repr_html_()
    assert "Sample 5 of the trajectory" in text
    assert "<iframe" not in text
    none = swing.part(slice(0, 0))._repr_html_()
    assert "0 samples" in none
    batch = dq.simulate(dq.robots.two_link(), duration=0.01, q0=np.zeros((2, 2)))._repr_html_()
    assert ".member(i) gives another" in batch


def test_programs_are_short() -> None:
    program = dq.robots.arm7().program("inverse_dynamics")
    assert repr(program).startswith("<Program inverse_dynamics(")
    assert str(program.counts) in repr(program)
    text = program._repr_html_()
    assert len(text) < 5000 < len(str(program))
    assert f"<td>{program.counts.mul}</td>" in text
    assert "all of them with print(program)" in text


def test_reports_show() -> None:
    text = Report("A falling arm").section("Motion").text("It falls.")._repr_html_()
    assert text.startswith("<iframe")
    assert "It falls." in html.unescape(text)


def test_help_shows_the_function() -> None:
    text = pydoc.plain(pydoc.render_doc(dq.simulate))
    head = text[:1200]
    assert "simulate(robot, controller=None, duration=1.0" in head
    assert "``controller``: None (no forces)" in head


def test_figures_print_as_a_sentence_and_show_in_ipython(swing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plt = pytest.importorskip("matplotlib.pyplot", reason="plots need matplotlib")
    display = pytest.importorskip("IPython.display", reason="shows as notebooks do")
    before = plt.get_fignums()
    figure = swing.plot("positions")
    assert plt.get_fignums() == before  # without a screen, figures do not gather
    assert "<Figure" not in repr(figure)
    assert "positions (rad)" in repr(figure)
    shown: list[Any] = []
    monkeypatch.setattr(display, "display", lambda data, raw: shown.append(data))
    figure._ipython_display_()
    assert shown[0]["image/png"].startswith(b"\x89PNG")
    assert shown[0]["text/plain"] == repr(figure)


def test_a_notebook_shows_a_figure_once(swing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pyplot shows figures itself, at the end of a cell, the value of the cell adds no second picture."""
    plt = pytest.importorskip("matplotlib.pyplot", reason="plots need matplotlib")
    display = pytest.importorskip("IPython.display", reason="shows as notebooks do")
    monkeypatch.setattr(plt, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    shown: list[Any] = []
    monkeypatch.setattr(display, "display", lambda data, raw: shown.append(data))
    figure = swing.plot("positions")
    assert figure.number in plt.get_fignums()
    figure._ipython_display_()
    assert shown == []
    plt.close(figure)
    figure._ipython_display_()  # in a later cell
    assert len(shown) == 1


def test_legends_stand_beside_the_curves(swing: Any) -> None:
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    figure = swing.plot()
    figure.draw_without_rendering()
    for axis in figure.axes:
        legend, box = axis.get_legend().get_window_extent(), axis.get_window_extent()
        assert legend.x0 >= box.x1
        assert legend.x1 <= figure.bbox.x1
