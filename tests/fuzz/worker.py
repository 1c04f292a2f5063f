"""The process that tries cases: ``python -m tests.fuzz.worker AREA BOARD``.

It reads orders as lines of JSON and answers each by one line. The number of the case at hand stands on a board, a few
bytes of shared memory, so that the parent knows it even where this process dies without a word.
"""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import resource
import struct
import sys
import tempfile
import time
from collections import Counter
from typing import Any

from .areas import area_named
from .cases import REFUSED, VIOLATION, Area, case_of, judge, on_oracle

BOARD = struct.Struct("<qqq")  # cases tried, seed, whether another library is at work
MEMORY = 2 * 2**30  # bytes beyond what the process has when it starts
MOST_TOLD = 5  # violations of one kind that are told in full by one answer


class Board:
    """The parent's and the worker's view of the same bytes."""

    def __init__(self, path: str) -> None:
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), BOARD.size)

    def write(self, tried: int, seed: int, elsewhere: bool = False) -> None:
        BOARD.pack_into(self._map, 0, tried, seed, elsewhere)

    def read(self) -> tuple[int, int, bool]:
        tried, seed, elsewhere = BOARD.unpack_from(self._map, 0)
        return tried, seed, bool(elsewhere)

    def close(self) -> None:
        self._map.close()


class Results:
    """Counts of many cases, and what the violations were."""

    def __init__(self) -> None:
        self.tried, self.seconds = 0, 0.0
        self.counts: Counter[str] = Counter()
        self.found: list[dict[str, Any]] = []

    def add(self, seed: int, case: Any, verdict: Any) -> None:
        self.tried += 1
        self.counts[f"{verdict.outcome} {verdict.kind}"] += 1
        if verdict.outcome == VIOLATION and sum(f["kind"] == verdict.kind for f in self.found) < MOST_TOLD:
            self.found.append({"seed": seed, "kind": verdict.kind, "text": verdict.text, "case": case})


def run_range(area: Area, start: int, count: int, seconds: float, board: Board | None = None) -> Results:
    """Try the cases ``start``, ``start`` + 1, …, as long as there is time."""
    results, began = Results(), time.monotonic()
    for seed in range(start, start + count):
        if time.monotonic() - began > seconds:
            break
        if board is not None:
            board.write(board.read()[0] + 1, seed)
        case = case_of(area, seed)
        results.add(seed, case, judge(area, case))
    results.seconds = time.monotonic() - began
    return results


def main() -> None:
    area, board = area_named(sys.argv[1]), Board(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)  # what libraries print is not an answer
    faulthandler.enable()
    with tempfile.TemporaryDirectory(prefix="dqdyn-fuzz-") as folder:
        os.chdir(folder)  # other libraries leave log files where they run
        area.prepare()
        _limit_memory()
        on_oracle(lambda inside: board.write(*board.read()[:2], inside))
        _say(answers, {"ready": True})
        for line in sys.stdin:
            order = json.loads(line)
            if "case" in order:
                board.write(board.read()[0] + 1, -1)
                verdict = judge(area, order["case"])
                _say(answers, {"outcome": verdict.outcome, "kind": verdict.kind, "text": verdict.text})
            else:
                results = run_range(area, order["start"], order["count"], order["seconds"], board)
                _say(answers, results.__dict__)
        os.chdir("/")


def _say(answers: Any, what: dict[str, Any]) -> None:
    answers.write(json.dumps(what) + "\n")
    answers.flush()


def _limit_memory() -> None:
    if sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))


__all__ = ["REFUSED", "Board", "Results", "run_range"]

if __name__ == "__main__":
    main()
