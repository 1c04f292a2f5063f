"""Cases that were violations once, each in a small file, and a few hundred fixed ones of the quick areas."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .areas import area_named
from .cases import VIOLATION, Verdict, judge
from .process import Worker
from .report import REGRESSIONS
from .worker import run_range

KEPT = sorted(REGRESSIONS.glob("*.json"))
QUICK = {
    "arrays": 400,
    "json": 400,
    "urdf": 100,
    "mjcf": 60,
    "dh": 150,
    "screws": 150,
    "trajectories": 60,
    "meshes": 60,
}
"""Cases of each area that the plain tests try."""


HANGING = ("cache", "meshes")
"""Areas whose cases once hung or took all memory: a process of their own can be ended."""


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_a_kept_case_is_no_violation(path: Path) -> None:
    kept = json.loads(path.read_text(encoding="utf-8"))
    area = area_named(kept["area"])
    if kept["area"] in HANGING:
        with Worker(kept["area"], 120.0) as worker:
            verdict = Verdict(**worker.try_case(kept["case"]))
    else:
        verdict = judge(area, kept["case"])
    assert verdict.outcome != VIOLATION, f"{kept['about']}: {verdict.text}"


@pytest.mark.parametrize("name", QUICK)
def test_fixed_cases(name: str) -> None:
    area = area_named(name)
    area.prepare()
    results = run_range(area, 0, QUICK[name], seconds=600.0)
    assert results.tried == QUICK[name]
    assert [(found["seed"], found["kind"]) for found in results.found] == []
