"""Timing of calls that take turns: the minimum over many rounds."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from timeit import Timer

SLICE = 2e-3  # s that one call is repeated for, at least once, before the next has its turn


class Call:
    """A call to time: the function itself is called, with nothing in between."""

    def __init__(self, function: Callable[..., object], *arguments: object, out: object = None) -> None:
        names: dict[str, object] = {f"x{i}": x for i, x in enumerate(arguments)}
        words = ", ".join(names) + (", out=out" if out is not None else "")
        self.timer = Timer(f"f({words})", globals={"f": function, "out": out, **names})
        self.timer.timeit(1)  # the first call, which may compile, is not counted
        self.number = max(1, round(SLICE / max(self.timer.timeit(1), 1e-7)))

    def time(self) -> float:
        """Seconds per call."""
        return self.timer.timeit(self.number) / self.number


def side_by_side(calls: Mapping[str, Call], seconds: float) -> dict[str, float]:
    """Seconds per call by name; the whole measurement takes about ``seconds``.

    The calls take turns, so that a slow moment of the machine affects all of them; the minimum is the cost of the
    work alone.
    """
    best = dict.fromkeys(calls, float("inf"))
    end = time.perf_counter() + seconds
    while True:
        for name, call in calls.items():
            best[name] = min(best[name], call.time())
        if time.perf_counter() > end:
            return best


def machine() -> dict[str, str]:
    """The machine that times were measured on."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


def duration(seconds: float) -> str:
    """Three digits in a fitting unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
