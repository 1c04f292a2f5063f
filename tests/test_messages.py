"""Names out of damaged or hostile files: every message is one line of printable text, and so is what we print."""

from __future__ import annotations

import html
import json
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import dqdyn as dq
from dqdyn.cli.app import run
from dqdyn.errors import LONGEST, Error, ModelWarning, one_line, unknown_name
from dqdyn.formats.json.document import write_json
from dqdyn.view.html import html_page
from dqdyn.view.series import Panel
from dqdyn.view.svg import panel_figure

NASTY = {
    "line break": "two\nlines",
    "separator": "a\u2028b\x85c",
    "escape sequence": "\x1b[31mred\x1b[0m",
    "bidi": "abc\u202etxt.exe\u2066",
    "bell": "ding\a\b\r",
    "surrogate": "\ud800",
    "markup": "[red]x[/red][bold",
    "closing": "[/]",
    "html": '</script><img src=x onerror="alert(1)">&amp;',
}


ARM = write_json(dq.robots.arm7().model)
PARTS = json.loads(ARM)


def arm(name: str, **changes: Any) -> dict[str, Any]:
    """The JSON of an arm; its last link has this name and so has the arm, its first joint this name and a J."""
    first, last = (json.dumps(PARTS[what][i]["name"]) for what, i in (("joints", 0), ("links", -1)))
    text = ARM.replace(first, json.dumps(f"{name}J")).replace(last, json.dumps(name))
    return json.loads(text) | {"name": name} | changes


def is_one_line(text: str) -> bool:
    return text.isprintable() and len(text) <= LONGEST + 10


@pytest.mark.parametrize("name", NASTY.values(), ids=NASTY)
def test_errors_and_warnings_are_one_printable_line(name: str) -> None:
    for error in (Error(name), dq.StateError(f"{name} of x"), unknown_name("frame", name, [name + "x", name])):
        assert is_one_line(str(error))
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert is_one_line(str(ModelWarning(name)))
    with pytest.warns(ModelWarning) as caught:
        warnings.warn(name, ModelWarning, stacklevel=1)
    assert is_one_line(str(caught[0].message))


def test_escapes_say_what_was_there() -> None:
    assert one_line("a\nb\x1b[0m\u202e") == r"a\nb\x1b[0m\u202e"
    assert one_line("τ = M a, 4×4 …") == "τ = M a, 4×4 …"
    assert one_line(repr(np.eye(2))) == "array([[1., 0.], [0., 1.]])"


def test_long_names_leave_room_for_the_remedy() -> None:
    said = str(Error(f"link {'x' * 100_000!r} is wrong: rename it."))
    assert said.startswith("link 'xxx")
    assert said.endswith("x' is wrong: rename it.")
    assert len(said) <= LONGEST + 10


def test_long_unknown_names_are_not_compared() -> None:
    """It would take time that grows with the square of their length."""
    long = "ab" * 500
    error = unknown_name("link", long, [long[1:] + "a", "arm"])
    assert error.matches == []
    assert "arm" in str(error)


def no_surrogates() -> list[str]:
    return [name for name in NASTY.values() if "\ud800" not in name]


@pytest.mark.parametrize("name", no_surrogates())
def test_a_file_with_such_names_is_refused_in_one_line(name: str) -> None:
    robot = arm(name)
    robot["links"][-1]["inertia"]["mass"] = -1.0
    with pytest.raises(dq.ModelError) as caught:
        dq.load(json.dumps(robot))
    assert is_one_line(str(caught.value))
    assert caught.value.element == name
    robot = arm(name, notes=[f"a doubt about {name}"])
    with pytest.warns(ModelWarning) as found:
        loaded = dq.load(json.dumps(robot))
    assert all(is_one_line(text) for text in loaded.warnings)
    assert all(is_one_line(str(warning.message)) for warning in found)
    with pytest.raises(dq.StateError) as state:
        loaded.mass_matrix([np.nan] * 7)
    assert is_one_line(str(state.value))


@pytest.mark.parametrize("name", no_surrogates())
def test_commands_print_such_names_as_text(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "robot.json"
    path.write_text(json.dumps(arm(name)))
    for words in (["info", str(path)], ["dynamics", str(path)], ["simulate", str(path), "--duration", "0.01"]):
        assert run(words) == 0
        out, err = capsys.readouterr()
        assert all(line.isprintable() for text in (out, err) for line in text.split("\n"))
        assert one_line(name) in out


def test_progress_shows_such_names_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    from dqdyn import progress
    from dqdyn.cli.screen import Steps

    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    for name in NASTY.values():
        with progress.Progress(10, f"simulating {name}", show=True) as bar:
            bar.at(5)
            shown = bar._bar.tasks[0].description
        console = Console(width=400)
        with console.capture() as capture:
            console.print(shown, soft_wrap=True)
        assert one_line(name) in capture.get()
        with Steps(2) as steps:
            steps.at(name)


@pytest.mark.parametrize("name", no_surrogates())
def test_pages_show_such_names_as_text(name: str) -> None:
    robot = dq.load(json.dumps(arm(name)))
    page = html_page(dq.simulate(robot, robot.neutral(), duration=0.02, dt=0.01))
    figure = panel_figure(Panel(name, name, {name: np.arange(3.0)}), np.arange(3.0))
    for text in (page, figure):
        assert all(line.isprintable() for line in text.split("\n"))
        assert "<img" not in text
        assert html.escape(one_line(name)) in text


@pytest.mark.parametrize("name", NASTY.values(), ids=NASTY)
def test_exported_code_holds_such_names_in_comments_only(name: str) -> None:
    if "\ud800" in name:
        return
    robot = dq.load(json.dumps(arm(name)))
    text = robot.export("c", "gravity_forces")
    assert all(line.isprintable() for line in text.split("\n"))
    assert text.count("/*") == text.count("*/")
