"""Signals get through to a run in machine code, whatever it is asked to record; and splitting it changes no bit."""

from __future__ import annotations

import signal
import subprocess
import sys

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.compile.runtime import pacing as pace
from dqdyn.compile.runtime import rollout_runner as runner
from dqdyn.compile.runtime.pacing import Pace, in_parts

ENDLESS = """
import os, signal, threading, time
import numpy as np
import dqdyn as dq
import dqdyn.simulate.run as module

running, loop = [], module.native_loop

def noted(*arguments):
    running.append(True)
    loop(*arguments)

def ring(number, _):
    if running:  # once, and in the loop itself
        signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

def press():
    while True:
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

module.native_loop = noted
robot, q0 = dq.robots.two_link(), np.full({shape}, 0.3)
signal.signal(signal.{signal}, ring)
if "{signal}" == "SIGALRM":
    signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
else:
    threading.Thread(target=press, daemon=True).start()
try:  # hours of machine code between two samples
    dq.simulate(robot, None, 1e9, 1e-3, q0=q0, every=10**12, threads={threads})
except dq.simulate.Interrupted as stop:
    print(len(stop.trajectory), stop.trajectory.status)
"""


@pytest.mark.parametrize(
    ("kind", "shape", "threads"),
    [("SIGINT", "2", 1), ("SIGALRM", "2", 1), ("SIGINT", "(1000, 2)", 2)],
    ids=["Ctrl-C", "alarm", "Ctrl-C in a batch"],
)
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="POSIX signals")
def test_signals_end_a_run_of_hours(kind: str, shape: str, threads: int) -> None:
    code = ENDLESS.format(signal=kind, shape=shape, threads=threads)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert (done.stdout, done.stderr, done.returncode) == ("1 interrupted\n", "", 0)


@pytest.mark.parametrize("every", [1, 7, 30])
@pytest.mark.parametrize("count", [None, 1, 19])
@pytest.mark.parametrize("threads", [1, 2])
def test_splitting_changes_no_bit(every: int, count: int | None, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From everything in one call to one step of one block in each."""
    robot, steps = dq.robots.arm6(), 40
    rng = np.random.default_rng(1)
    q0 = robot.random_configuration(rng) if count is None else [robot.random_configuration(rng) for _ in range(count)]
    tau = rng.normal(size=(steps, 6) if count is None else (steps, count, 6))

    def runs() -> list[dq.Trajectory]:
        options = {"q0": q0, "every": every, "threads": threads}
        return [dq.simulate(robot, forces, 0.04, 1e-3, **options) for forces in (None, tau)]

    monkeypatch.setattr(pace, "CALL", 1e9)
    monkeypatch.setattr(runner, "_FIRST", 1e15)
    whole = runs()
    assert len(whole[0]) == -(-steps // every) + 1
    monkeypatch.setattr(pace, "CALL", 0.0)
    monkeypatch.setattr(pace, "_ROWS", 1)
    monkeypatch.setattr(runner, "_FIRST", 1.0)
    for once, split in zip(whole, runs(), strict=True):
        assert once == split


def test_pace_follows_the_time_that_calls_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that we turn: 10 µs per unit of work until it takes ten times as long."""
    now, cost, sizes = [0.0], [1e-5], []
    monkeypatch.setattr(pace.time, "perf_counter", lambda: now[0])
    found = Pace(1)
    for start, end in found.parts(100_000):
        sizes.append(end - start)
        now[0] += cost[0] * (end - start)
        if end > 50_000:
            cost[0] = 1e-4
    assert sum(sizes) == 100_000
    assert sizes[:4] == [1, 8, 64, 512]
    assert sizes[5] == pytest.approx(pace.CALL / 1e-5, rel=0.01)
    assert sizes[-2] == pytest.approx(pace.CALL / 1e-4, rel=0.02)


def test_in_parts_is_the_function_of_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = np.arange(60.0).reshape(4, 5, 3), np.arange(4.0)[:, None]
    sizes = []

    def function(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        sizes.append(len(a))
        return a.sum(axis=-1) * b

    expected = x.sum(axis=-1) * y
    np.testing.assert_array_equal(in_parts(function, x, y), expected)
    assert sizes == [20]
    for rows in (1, 3, 7):
        sizes.clear()
        monkeypatch.setattr(pace, "_ROWS", rows)
        monkeypatch.setattr(pace, "CALL", 0.0)
        np.testing.assert_array_equal(in_parts(function, x, y), expected)
        assert max(sizes) <= rows
