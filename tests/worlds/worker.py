"""One process of a run: judges its share of the worlds and writes a line for each, so that nothing is lost."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from .laws import judged

PER_RUN = 1_000_000
"""Worlds that a run may have: world k of the run with seed s has the seed s · PER_RUN + k."""


def work(results: Path, seed: int, share: range, until: float) -> None:
    """Judge the worlds of that share which have no line yet, as long as it is earlier than ``until`` (epoch, s)."""
    known = done(results)
    with results.open("a", encoding="utf-8") as out:
        out.write("\n")  # the last line may have been cut short
        for k in share:
            own = seed * PER_RUN + k
            if own in known:
                continue
            if time.time() >= until:
                break
            _write(out, {"world": own, "begun": time.time()})
            start = time.process_time()
            _write(out, verdict(own) | {"seconds": round(time.process_time() - start, 4)})


def verdict(seed: int) -> dict[str, Any]:
    """What was found of one world, as data."""
    case = judged(seed)
    worst = {law: float(f"{ratio:.3g}") for law, ratio in case.worst.items() if ratio > 1e-3}
    return {"world": seed, "broken": case.broken, "refused": case.refused, "worst": worst, "ran": sorted(case.ran)}


def _write(out: Any, line: dict[str, Any]) -> None:
    out.write(json.dumps(line) + "\n")
    out.flush()


def lines(results: Path) -> list[dict[str, Any]]:
    """Lines that are whole; the last one may not be, after a kill."""
    found = []
    for text in results.read_text(encoding="utf-8").splitlines() if results.exists() else ():
        try:
            found.append(json.loads(text))
        except ValueError:
            continue  # empty, or cut short
    return found


def done(results: Path) -> dict[int, dict[str, Any]]:
    """Verdicts by world."""
    return {line["world"]: line for line in lines(results) if "broken" in line}


def under_way(results: Path) -> tuple[int, float] | None:
    """The world that was begun last, and when (epoch, s), if it has no verdict."""
    found = lines(results)
    return (found[-1]["world"], found[-1]["begun"]) if found and "begun" in found[-1] else None
