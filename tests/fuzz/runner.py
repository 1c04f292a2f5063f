"""Runs areas in worker processes within a time or a number of inputs, and follows up what they find."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from .areas import area_named
from .cases import FINE, REFUSED, VIOLATION, Area, Case, case_of
from .minimise import minimised
from .process import Died, Worker

SEEDS_PER_RUN = 10_000_000
"""Case i of the run with seed S has the number S · this + i."""
MOST_KINDS = 12  # of violations in one area that are followed up


@dataclass
class Finding:
    """A violation, made small."""

    area: str
    seed: int
    kind: str
    text: str
    case: Case


@dataclass
class AreaResult:
    """What one area gave."""

    area: str
    tried: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def of(self, outcome: str) -> Counter[str]:
        """Counts of one outcome by kind."""
        start = f"{outcome} "
        return Counter({kind.removeprefix(start): n for kind, n in self.counts.items() if kind.startswith(start)})


class AreaRun:
    """One area on several workers that draw ranges of cases until time or inputs are used up."""

    def __init__(self, name: str, seed: int, seconds: float, inputs: int, jobs: int, shrink: float = 8.0) -> None:
        self.area: Area = area_named(name)
        self.first, self.inputs, self.jobs, self.shrink = seed * SEEDS_PER_RUN, inputs, jobs, shrink
        self.began = time.monotonic()
        self.stop = self.began + seconds
        self.result = AreaResult(name)
        self._next, self._lock = 0, threading.Lock()
        self._followed: set[str] = set()

    def run(self) -> AreaResult:
        """Do it; every thread here waits for one process."""
        threads = [threading.Thread(target=self._work) for _ in range(self.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.result.seconds = time.monotonic() - self.began
        return self.result

    def _draw(self) -> tuple[int, int] | None:
        with self._lock:
            count = min(self.area.chunk, self.inputs - self._next)
            if count <= 0 or time.monotonic() > self.stop:
                return None
            start, self._next = self.first + self._next, self._next + count
            return start, count

    def _work(self) -> None:
        done = False
        while not done:
            with Worker(self.area.name, self.area.limit) as worker:
                try:
                    self._until_done(worker)
                    done = True
                except Died as death:
                    self._follow_death(death)

    def _until_done(self, worker: Worker) -> None:
        while (drawn := self._draw()) is not None:
            start, count = drawn
            tried = worker.board.read()[0]
            try:
                answer = worker.run_range(start, count, self.stop - time.monotonic())
            except Died:
                with self._lock:
                    self.result.tried += worker.board.read()[0] - tried
                raise
            with self._lock:
                self.result.tried += answer["tried"]
                self.result.counts.update(answer["counts"])
            for found in answer["found"]:
                self._follow(worker, found["seed"], found["kind"], found["text"], found["case"])

    def _follow(self, worker: Worker, seed: int, kind: str, text: str, case: Case) -> None:
        if not self._is_new(kind):
            return

        def fails(candidate: Case) -> bool:
            verdict = worker.try_case(candidate)
            return bool(verdict["outcome"] == VIOLATION and verdict["kind"] == kind)

        small = case
        try:
            small = minimised(case, fails, self.shrink)
            text = worker.try_case(small)["text"]
        finally:  # the worker may die on a smaller case: then this one is told as it is
            self._add(Finding(self.area.name, seed, kind, text, small))

    def _follow_death(self, death: Died) -> None:
        where = "another library" if death.elsewhere else "the library"
        self.result.counts[f"{FINE if death.elsewhere else VIOLATION} {death.how} in {where}"] += 1
        if death.elsewhere or not self._is_new(death.how):
            return
        case = case_of(self.area, death.seed)
        alone = self._alone(case)
        if alone is None:
            kind = f"{death.how}, but not alone"
        else:
            kind = alone.how
            case = minimised(case, lambda c: (d := self._alone(c)) is not None and d.how == kind, 3 * self.shrink)
        self._add(Finding(self.area.name, death.seed, kind, (alone or death).text, case))

    def _alone(self, case: Case) -> Died | None:
        """How a process that tries only this case dies."""
        try:
            with Worker(self.area.name, self.area.limit) as worker:
                worker.try_case(case)
        except Died as death:
            return death
        return None

    def _is_new(self, kind: str) -> bool:
        with self._lock:
            if kind in self._followed or len(self._followed) >= MOST_KINDS:
                return False
            self._followed.add(kind)
            return True

    def _add(self, finding: Finding) -> None:
        with self._lock:
            self.result.findings.append(finding)


def run_areas(names: list[str], seed: int, seconds: float, inputs: int, jobs: int, tell: Any) -> list[AreaResult]:
    """All areas one after the other; time is divided evenly, inputs by the areas' weights."""
    weights = {name: area_named(name).weight for name in names}
    total, results, began = sum(weights.values()), [], time.monotonic()
    for i, name in enumerate(names):
        left = (began + seconds - time.monotonic()) / (len(names) - i)
        share = max(1, round(inputs * weights[name] / total)) if inputs else SEEDS_PER_RUN
        results.append(AreaRun(name, seed, left, share, jobs).run())
        tell(results[-1])
    return results


__all__ = ["REFUSED", "AreaResult", "AreaRun", "Finding", "run_areas"]
