"""How things are measured: the least of several runs, next to a peer in the same run, on a named machine."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
import timeit
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True)
class Result:
    """One measured number, smaller is better. ``speedup`` is peer / measured; ``at_least`` is what it should be."""

    name: str
    measured: float
    unit: str
    target: float | None = None
    peer: str = ""
    peer_measured: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def speedup(self) -> float | None:
        return None if self.peer_measured is None else self.peer_measured / self.measured

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a target."""
        if self.at_least is not None and self.speedup is not None:
            return self.speedup >= self.at_least
        return None if self.target is None else self.measured <= self.target


def least(function: Callable[[], object], repeats: int) -> float:
    """The shortest of some runs in s: what the work costs when nothing disturbs it."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


@dataclass(frozen=True)
class Timed:
    """A statement to time, ``number`` executions at a time after ``untimed`` others, with the names that it uses.

    Processors let units for 512-bit vectors sleep and take some 200 µs to wake them. What is to be timed awake starts
    with an untimed execution.
    """

    statement: str
    names: dict[str, object]
    number: int = 1000
    untimed: int = 0


def side_by_side(*timed: Timed, rounds: int = 60) -> list[float]:
    """Nanoseconds per execution of each statement: the least of many rounds, in which they take turns.

    Taking turns matters on a shared machine: a peer timed in a slow minute would make any ratio look good.
    """
    timers = [timeit.Timer(t.statement, globals=t.names) for t in timed]
    best = [float("inf")] * len(timed)
    for _ in range(rounds):
        for k, (timer, t) in enumerate(zip(timers, timed, strict=True)):
            timer.timeit(t.untimed)
            best[k] = min(best[k], timer.timeit(t.number) / t.number)
    empty = min(timeit.repeat("pass", number=1000, repeat=10)) / 1000
    return [(b - empty) * 1e9 for b in best]


def longer(one: Timed, other: Timed, rounds: int = 60) -> float:
    """Nanoseconds that ``one`` takes longer than ``other``: the median of many rounds, in which they take turns.

    The leasts of two long calls differ by more than what is asked here: where results lie in memory changes a call of
    20 µs by up to 600 ns. So some results are kept from round to round, and those of others lie elsewhere.
    """
    timers = [timeit.Timer(t.statement, globals=t.names) for t in (one, other)]
    code = [compile(t.statement, "<statement>", "eval") for t in (one, other)]
    kept: deque[object] = deque(maxlen=24)
    found = []
    for _ in range(rounds):
        kept.append([eval(c, t.names) for c, t in zip(code, (one, other), strict=True)])
        first, second = (timer.timeit(t.number) / t.number for timer, t in zip(timers, (one, other), strict=True))
        found.append(first - second)
    return median(found) * 1e9


def per_call(statement: str, repeats: int = 60, number: int = 1000, **names: object) -> float:
    """Nanoseconds per execution of one statement: the least of many loops, the loop itself not counted."""
    return side_by_side(Timed(statement, names, number), rounds=repeats)[0]


def least_import(module: str, repeats: int) -> float:
    """The shortest time in s to import a module in a fresh process, the start of the interpreter not counted.

    As on any machine after the first time: with byte code cached, even where the environment forbids to write it.
    """
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        environment["PYTHONPYCACHEPREFIX"] = folder
        times = [
            float(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)
            for _ in range(repeats + 1)
        ]
    return min(times[1:])


def machine() -> dict[str, str]:
    """Facts without which a time means nothing."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "vector width": _width(),
    }


def _width() -> str:
    """How many states one instruction handles in batches, and how many numbers in code for one state."""
    from dqdyn.compile.runtime.native import machine as host

    return f"{host().width} states in batches, {host().width_for_one} numbers in single calls"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
