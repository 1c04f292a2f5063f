"""Pictures of state machines: all states, guards and what happened are in them, as well-formed SVG."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.analysis.experiments import Picture
from dqdyn.view.svg_shapes import lines_of

g = ct.guards
ARM = dq.robots.two_link()
GREEN, RED = "#2a9d5c", "#e4572e"
ODD = 'odd <state> & "quotes"'


def machine() -> ct.StateMachine:
    """Tries what is too far, then what is near."""
    far, near = ([5.0, 0.0, 0.0], [1.2, 0.0, 0.5])
    hold = ct.PostureTask(np.zeros(2), name="unused", weight=1e-9)
    return ct.StateMachine(
        ARM,
        [
            ct.State(
                "try",
                [ct.TranslationTask("tool", far, gain=4.0, name="ball"), hold],
                (),
                (),
                [ct.Transition(ODD, g.stalled("ball")), ct.Transition("done", g.reached("ball", 0.04))],
                20.0,
            ),
            ct.State(
                ODD,
                ct.TranslationTask("tool", near, gain=4.0, name="second ball"),
                transitions=[
                    ct.Transition("done", g.reached("second ball", 0.04)),
                    ct.Transition("try", lambda m: m.elapsed > 15.0, name="a long & <strange> reason"),
                ],
                time_limit=30.0,
            ),
            ct.State("done", ends="done"),
            ct.State("failed", ends="failed"),
        ],
        start="try",
    )


@pytest.fixture(scope="module")
def made() -> ct.StateMachine:
    return machine()


@pytest.fixture(scope="module")
def ran() -> ct.StateMachine:
    made = machine()
    dq.simulate(ARM, made, 6.0, 0.01, q0=np.array([0.3, 0.9]))
    assert made.ended == "done"
    return made


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")]


def test_the_graph_has_all_states_and_guards(made: ct.StateMachine) -> None:
    picture = made.graph()
    words = texts(picture.svg)
    for expected in (
        "try",
        ODD,
        "done",
        "failed",
        "'ball' has stalled",
        "a long & <strange> reason",
        "time limit of 30 s",
    ):
        assert expected in words
    assert picture.text == "It has not run yet."
    arrows = re.findall(r'<path d="M[^"]*Q[^"]*" style="fill: none; stroke: (#\w+)', picture.svg)
    assert len(arrows) == 4 + 2  # transitions, and time limits
    assert arrows.count(GREEN) == 2


def test_what_was_taken_is_drawn_strong(ran: ct.StateMachine) -> None:
    picture = ran.graph()
    strong = re.findall(r"stroke: (#\w+); stroke-width: 2.6; stroke-linejoin", picture.svg)
    assert sorted(strong) == sorted([RED, GREEN])
    assert picture.text == f"Visited: try → {ODD} → done."


def test_the_history_has_states_errors_and_reasons(ran: ct.StateMachine) -> None:
    picture = ran.history()
    words = texts(picture.svg)
    for expected in ("try", ODD, "done", "‖error‖ of ball", "‖error‖ of second ball", "time (s)", "1", "2"):
        assert expected in words
    assert "failed" not in words  # it was not visited
    assert any("'ball' has stalled [errors: ball" in line for line in words)
    assert picture.text.startswith("The machine ended in 'done' (done) at ")
    # the bars of the states cover the run, one after the other
    visits = ran.visits
    assert [visit.state for visit in visits] == ["try", ODD, "done"]
    assert visits[0].start == 0.0
    assert visits[-1].end == pytest.approx(6.0)
    assert [a.end for a in visits[:-1]] == [b.start for b in visits[1:]]


def test_the_curve_shows_the_recorded_errors(ran: ct.StateMachine) -> None:
    """The picture's samples are the norms that the trajectory has."""
    found = dq.simulate(ARM, ran, 6.0, 0.01, q0=np.array([0.3, 0.9]))
    sizes = np.linalg.norm(found.extra["error: ball"], axis=1)
    samples = ran.samples
    np.testing.assert_allclose([e.get("ball", np.nan) for e in samples.errors], sizes, rtol=1e-12)
    np.testing.assert_allclose(samples.times, found.time, atol=1e-12)


def test_a_machine_that_has_not_run_has_a_history_too(made: ct.StateMachine) -> None:
    assert made.history().text == "It has not run yet."
    assert made.visits == ()


def test_pictures_go_into_reports_and_files(ran: ct.StateMachine, tmp_path: Path) -> None:
    for picture in (ran.graph(), ran.history()):
        Picture(picture.title, picture.svg, picture.text)
        written = picture.save(tmp_path / "machine.svg").read_text(encoding="utf-8")
        assert "var(" not in written
        assert written == picture._repr_svg_()
        ElementTree.fromstring(written)
        with pytest.raises(dq.Error, match=r"\.svg"):
            picture.save(tmp_path / "machine.png")


def test_graphviz_text_names_all(ran: ct.StateMachine) -> None:
    text = ran.to_dot()
    assert text.startswith("digraph machine {")
    assert text.count(" -> ") == 6
    assert r'"odd <state> & \"quotes\"" -> "done"' in text
    assert text.count("penwidth=2.5") == 2


def test_long_histories_are_thinned_out() -> None:
    from dqdyn.control.machine.log import History

    history = History(spacing=0.01, most=100)
    for k in range(5000):
        t = 0.01 * k
        if t >= history.next:
            history.add(t, "a", {"e": t})
    assert 50 <= len(history.times) <= 100
    assert history.times[0] == 0.0
    assert history.times[-1] > 49.0
    assert [e["e"] for e in history.errors] == history.times


def test_lines_keep_numbers_and_units_together() -> None:
    assert lines_of("it touches by 20 N for 3 s", 17) == ["it touches by", "20 N for 3 s"]
