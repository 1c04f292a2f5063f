"""``dqdyn bench``: what is measured and compared; never how fast it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_cli import data, failure, output

import dqdyn as dq
from dqdyn.cli import bench_peers
from dqdyn.cli.commands.bench import FUNCTIONS, random_state
from dqdyn.cli.timing import Call, duration, side_by_side

QUICK = ("--seconds", "0.01")


def test_every_function_is_measured() -> None:
    found, robot = data("bench", "two_link", *QUICK), dq.robots.two_link()
    assert [row["function"] for row in found["functions"]] == list(FUNCTIONS)
    for row in found["functions"]:
        assert min(row[key] for key in ("native", "numpy", "native_batch", "numpy_batch")) > 0.0
        assert row["operations"] == robot.count(row["function"]).total
    assert found["simulation"]["one"] > 0.0
    assert found["simulation"]["each_of_batch"] > 0.0
    assert found["machine"]["python"]


def test_text() -> None:
    text = output("bench", "four_bar", *QUICK)
    assert all(name in text for name in FUNCTIONS)
    assert "the engine does not know the constraints" in text
    assert "processor: " in text


class TestPinocchio:
    def peer(self, robot: dq.Robot) -> bench_peers.Peer:
        pytest.importorskip("pinocchio")
        q, v, a = random_state(robot)
        tau = robot.inverse_dynamics(q, v, a)
        ours = {
            "inverse_dynamics": tau,
            "forward_dynamics": robot.forward_dynamics(q, v, tau),
            "mass_matrix": robot.mass_matrix(q),
        }
        return bench_peers.pinocchio(robot, q, v, a, ours)

    @pytest.mark.parametrize("name", ["arm7", "humanoid", "holonomic_manipulator"])
    def test_computes_the_same_on_every_base(self, name: str) -> None:
        peer = self.peer(dq.load(name))
        assert set(peer.calls) == {"inverse_dynamics", "forward_dynamics", "mass_matrix"}
        assert peer.reason == ""

    def test_is_not_timed_where_it_computes_something_else(self) -> None:
        peer = self.peer(dq.robots.nonholonomic_manipulator())
        assert set(peer.calls) == {"inverse_dynamics", "mass_matrix"}
        assert "forward_dynamics" in peer.reason

    def test_loops_are_no_urdf(self) -> None:
        peer = self.peer(dq.robots.four_bar())
        assert peer.calls == {}
        assert peer.reason


def test_calls_take_turns() -> None:
    seen: list[str] = []
    calls: dict[str, Any] = {}
    for name in "ab":
        calls[name] = Call(seen.append, name)
        calls[name].number = 1
    seen.clear()
    found = side_by_side(calls, 0.01)
    assert set(found) == {"a", "b"}
    assert seen[:6] == ["a", "b"] * 3


def test_result_goes_where_it_is_wanted() -> None:
    out = np.zeros(2)
    Call(np.add, np.ones(2), np.ones(2), out=out)
    assert out.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(("seconds", "text"), [(2.0, "2 s"), (0.0123, "12.3 ms"), (4.5e-6, "4.5 µs"), (1e-7, "100 ns")])
def test_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--seconds" in failure(capsys, "bench", "arm7", "--seconds", "0")
    assert "'arm7'" in failure(capsys, "bench", "arm")
