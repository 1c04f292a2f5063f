"""Kinds of figures: what they take, what they refuse, and their plain data."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.analysis.experiments import Bars, Event, Figure, GridMap, Multiples, Picture, PlaneFigure, Span
from dqdyn.analysis.experiments.figures import figure, joint_multiples, phases
from dqdyn.simulate import Trajectory

TIME = np.linspace(0.0, 1.0, 5)
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><path id="a" d="M0 0L9 9"/><use href="#a"/></svg>'


def test_plain_data_without_nan() -> None:
    limits = {"both": (0.0, 1.0), "moving": np.ones((5, 2)), "one": 2.0}
    curves = Figure("height", "m", TIME, {"z": TIME}, limits, (Span(0.0, 0.5, "I"),), (Event(0.2, "contact"),))
    grid = GridMap("reach", ("x", "y"), [0, 1], [0, 1, 2], [[0, 1], [1, -1], [0, 0]], ("no", "yes"))
    values = GridMap("error", ("x", "y"), [0, 1], [0], [[0.5, np.nan]], unit="mm")
    bars = Bars("error", "%", ("j1", "j2"), {"own": [1, 2]}, {"own": [0.1, np.nan]})
    plane = PlaneFigure("above", areas={"feet": [[0, 0], [1, 0], [0, 1]]}, points={"center": (0.2, 0.2)})
    figures = (curves, Multiples("joints", (curves,)), grid, values, bars, plane, Picture("states", SVG, "a caption"))
    data = json.loads(json.dumps([figure.as_data() for figure in figures], allow_nan=False))
    assert data[0]["limits"] == {"both": [0.0, 1.0], "moving": "over time", "one": 2.0}
    assert data[0]["spans"] == [{"start": 0.0, "end": 0.5, "name": "I"}]
    assert data[1]["figures"] == [data[0]]
    assert data[2]["values"] == [["no", "yes"], ["yes", None], ["no", "no"]]
    assert data[3]["values"] == [[0.5, None]]
    assert data[4]["deviations"] == {"own": [0.1, None]}
    assert data[5]["points"] == {"center": [[0.2, 0.2]]}
    assert data[6] == {"kind": "picture", "title": "states", "text": "a caption"}


BAD: dict[str, Callable[[], Any]] = {
    "start ≤ end": lambda: Span(2.0, 1.0, "I"),
    "start ≤ end, both finite": lambda: Span(np.nan, 1.0, "I"),
    "An end of the span 'I' must be real": lambda: Span(None, 1.0, "I"),  # type: ignore[arg-type]
    "one finite time": lambda: Event(np.inf, "hit"),
    "increasing times": lambda: Figure("f", "m", TIME[::-1], {"z": TIME}),
    "at least one curve": lambda: Figure("f", "m", TIME, {}),
    "give a dict; found list": lambda: Figure("f", "m", TIME, [TIME]),  # type: ignore[arg-type]
    r"curve 'z' of the figure 'f' needs shape \(5,\); found \(3,\)": lambda: Figure("f", "m", TIME, {"z": TIME[:3]}),
    r"levels \(k,\) or curves \(5, k\)": lambda: Figure("f", "m", TIME, {"z": TIME}, {"low": np.ones((4, 2))}),
    "have no figures": lambda: Multiples("joints", ()),
    "shows nothing": lambda: PlaneFigure("above"),
    r"is an array \(k, 2\)": lambda: PlaneFigure("above", paths={"way": np.ones((4, 3))}),
    "finite, increasing places": lambda: GridMap("m", ("x", "y"), [1, 0], [0], [[0, 0]]),
    r"need shape \(1, 2\), a row per y": lambda: GridMap("m", ("x", "y"), [0, 1], [0], [[0], [0]]),
    "indices of its 1 categories": lambda: GridMap("m", ("x", "y"), [0, 1], [0], [[0, 1]], ("no",)),
    "one per category": lambda: GridMap("m", ("x", "y"), [0], [0], [[0]], ("no",), colors=("#000000", "#ffffff")),
    "one per group, 2": lambda: Bars("b", "s", ("j1", "j2"), {"own": [1.0]}),
    "belong to no values": lambda: Bars("b", "s", ("j1",), {"own": [1.0]}, {"other": [1.0]}),
    "needs positive values": lambda: Bars("b", "s", ("j1",), {"own": [0.0]}, log=True),
    "Give each str of the bars 'b' in a tuple; found NoneType": lambda: Bars("b", "s", None, {"own": [1.0]}),  # type: ignore[arg-type]
    "Deviations are not negative": lambda: Bars("b", "s", ("j1",), {"own": [1.0]}, {"own": [-1.0]}),
    "is a Span; found": lambda: Figure("f", "m", TIME, {"z": TIME}, spans=((0.0, 1.0, "I"),)),  # type: ignore[arg-type]
    "Give each Event of": lambda: Figure("f", "m", TIME, {"z": TIME}, events=None),  # type: ignore[arg-type]
    "is a Figure; found": lambda: Multiples("joints", ("z",)),  # type: ignore[arg-type]
    "three finite corners": lambda: PlaneFigure("above", areas={"feet": [[0, 0], [1, np.nan], [1, 1]]}),
    "two axes: name x and y; found 1": lambda: GridMap("m", ("x",), [0], [0], [[0]]),  # type: ignore[arg-type]
    "at least one group": lambda: Bars("b", "s", (), {"own": []}),
    "not an SVG text": lambda: Picture("states", "<svg"),
    "give one <svg> element": lambda: Picture("states", "<p/>"),
    "has 'script'": lambda: Picture("states", "<svg><script/></svg>"),
    "has 'onclick'": lambda: Picture("states", '<svg><g onclick="x"/></svg>'),
    "has 'other.svg'": lambda: Picture("states", '<svg><use href="other.svg"/></svg>'),
    "name per sample": lambda: phases(TIME, ["I"]),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input(message: str) -> None:
    with pytest.raises(dq.Error, match=message):
        BAD[message]()


def test_phases() -> None:
    assert phases(TIME, ["I", "I", "", "II", "II"]) == (Span(0.0, 0.5, "I"), Span(0.75, 1.0, "II"))
    assert phases(TIME[:0], []) == ()


def test_joints_between_their_limits() -> None:
    robot = dq.robots.mobile_bimanual()
    q, rates = np.tile(robot.neutral(), (5, 1)), np.zeros((5, robot.nv))
    run = Trajectory(robot, TIME, q, rates, rates, rates, TIME, TIME, np.zeros((5, 0)))
    names = [joint.name for joint in robot.joints if joint.kind == "revolute"][:3]
    shown = joint_multiples("joints", {"QP": run, "CQP": run}, names)
    assert [figure.title for figure in shown.figures] == names
    for each, name in zip(shown.figures, names, strict=True):
        place = next(joint.q.start for joint in robot.joints if joint.name == name)
        np.testing.assert_array_equal(each.limits["limits"], [robot.limits.lower[place], robot.limits.upper[place]])
        assert list(each.curves) == ["QP", "CQP"]
    with pytest.raises(dq.Error, match="joint"):
        joint_multiples("joints", {"QP": run}, ["nose"])
    with pytest.raises(dq.Error, match="at least one run"):
        joint_multiples("joints", {}, names)
    with pytest.raises(dq.Error, match="at least one curve"):
        figure("empty", "m", {})
    with pytest.raises(dq.Error, match=r"'z' of the figure 'short' needs a value per sample .* shape \(3,\) for 5"):
        figure("short", "m", {"z": (run, TIME[:3])})
    with pytest.raises(dq.Error, match="has 3 coordinates"):
        joint_multiples("joints", {"QP": run}, [robot.joints[0].name])
