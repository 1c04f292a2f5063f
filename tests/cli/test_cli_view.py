"""``dqdyn view``: the page that it writes, the server that it starts, and how it fails."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from test_cli import data, failure, output

import dqdyn as dq
from dqdyn.cli import command
from dqdyn.cli.app import run
from dqdyn.errors import install_command


class TestHtml:
    def test_writes_a_page_without_a_trajectory(self, tmp_path: Path) -> None:
        target = tmp_path / "arm.html"
        facts = data("view", "arm7", "--html", str(target))
        assert facts["robot"] == "arm7"
        assert facts["bytes"] == target.stat().st_size
        assert facts["seconds"] == pytest.approx(7 * 1.6, abs=0.1)
        assert "<canvas" in target.read_text(encoding="utf-8")
        assert str(target) in output("view", "arm7", "--html", str(target))

    def test_writes_a_trajectory(self, tmp_path: Path) -> None:
        saved = dq.simulate(dq.robots.two_link(), duration=0.2, dt=1e-3).save(tmp_path / "run.npz")
        facts = data("view", "two_link", "--trajectory", str(saved), "--html", str(tmp_path / "run.html"))
        assert facts["samples"] == 201

    def test_wrong_trajectories(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        saved = str(dq.simulate(dq.robots.two_link(), duration=0.02, dt=1e-3).save(tmp_path / "run.npz"))
        page = str(tmp_path / "x.html")
        assert "joints differ from those of 'arm7'" in failure(capsys, "view", "arm7", "-t", saved, "--html", page)
        assert "No file" in failure(capsys, "view", "arm7", "-t", saved + "x", "--html", page)
        assert "folder" in failure(capsys, "view", "arm7", "--html", str(tmp_path / "no" / "x.html"))
        assert not Path(page).exists()


class TestServe:
    def test_missing_extra(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setitem(sys.modules, "viser", None)
        assert install_command("viser", "view") in failure(capsys, "view", "arm7", "--port", "0")

    def test_serves_until_interrupted_and_replaces_a_busy_port(self) -> None:
        pytest.importorskip("viser")
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            process = started("view", "two_link", "--port", str(port), "--json")
            try:
                text = ""
                assert process.stdout is not None
                while not text.rstrip().endswith("}"):
                    line = process.stdout.readline()
                    assert line, process.stderr.read() if process.stderr else ""
                    text += line
                facts = json.loads(text)
                assert facts["host"] == "127.0.0.1"
                assert facts["port"] != port
                with urllib.request.urlopen(facts["url"], timeout=120) as answer:
                    assert answer.status == 200
            finally:
                process.send_signal(signal.SIGINT)
                rest, errors = process.communicate(timeout=240)
        assert process.returncode == 0
        assert rest == ""
        assert re.fullmatch(rf"warning: port {port} is busy; the page is at port \d+ instead\.\n", errors)


# A process whose SIGINT is ignored leaves that to those that it starts, so Ctrl-C is switched on there.
COMMAND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from dqdyn.cli import main
sys.argv[0] = "dqdyn"
main()
"""


def started(*words: str) -> Any:
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )


class TestInterrupts:
    """Ctrl-C while the answer is printed: a page that is served ends as it should, any other command is cut short."""

    @pytest.mark.parametrize(("words", "code"), [(("view", "two_link", "--port", "0"), 0), (("info", "two_link"), 130)])
    def test_while_printing(self, words: tuple[str, ...], code: int, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("viser")

        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(command, "emit", interrupted)
        assert run(words) == code


class TestPictures:
    def test_writes_a_picture(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        target = tmp_path / "arm.png"
        assert data("view", "two_link", "--png", str(target))["bytes"] == target.stat().st_size
        assert target.read_bytes().startswith(b"\x89PNG")
        said = failure(capsys, "view", "two_link", "--png", str(tmp_path / "arm.jpg"))
        assert "A picture is written as .png, by the ending" in said
        said = failure(capsys, "view", "two_link", "--png", str(target), "--html", str(tmp_path / "a.html"))
        assert "--png and --html write one file each: give one of them" in said

    def test_simulate_writes_a_video_and_a_table(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        pytest.importorskip("PIL", reason="GIFs need Pillow")
        video, table = tmp_path / "run.gif", tmp_path / "run.csv"
        given = ("simulate", "two_link", "--duration", "0.1", "--every", "10")
        facts = data(*given, "--video", str(video), "--output", str(table))
        assert Path(facts["video"]).read_bytes().startswith(b"GIF8")
        assert len(table.read_text(encoding="utf-8").splitlines()) == 12
        for option, ending, words in (("--video", "avi", ".mp4 or .gif"), ("--output", "txt", ".csv or .parquet")):
            assert words in failure(capsys, *given, option, str(tmp_path / f"run.{ending}"))


def test_users_of_ssh_are_told_how_to_forward_the_port() -> None:
    from dqdyn.cli.commands.view import address, forwarding

    known = {"SSH_CONNECTION": "192.0.2.7 50000 192.0.2.1 22"}
    assert forwarding(known, lambda: "ann", 8080) == "ssh -N -L 8080:127.0.0.1:8080 ann@192.0.2.1"
    other = {"SSH_CONNECTION": "192.0.2.7 50000 192.0.2.1 2222"}
    assert forwarding(other, lambda: "ann", 9000) == "ssh -p 2222 -N -L 9000:127.0.0.1:9000 ann@192.0.2.1"
    assert forwarding({}, lambda: "ann", 8080) == forwarding({"SSH_CONNECTION": "x"}, lambda: "ann", 8080) == ""
    shown = address("[arm]", "http://127.0.0.1:8080", "ssh -N -L 8080:127.0.0.1:8080 ann@192.0.2.1").split("\n")
    assert [line.split(" ")[0] for line in shown] == ["'\\[arm]'", "You", "Then"]
    assert not any("\\n" in line for line in shown)
