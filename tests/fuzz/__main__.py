"""The command ``python -m tests.fuzz``."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import time

from .areas import NAMES, area_named, areas_of
from .cases import VIOLATION, case_of
from .process import Died, Worker
from .report import keep, summary
from .runner import run_areas

HOUR = 3600.0


def main() -> int:
    options = _parser().parse_args()
    if options.case is not None:
        return _one_case(areas_of(options.area)[0], options.case)
    seed = options.seed if options.seed is not None else int(datetime.date.today().strftime("%Y%m%d"))
    seconds = options.seconds or (24 * HOUR if options.inputs else 60.0)
    names = areas_of(options.area)
    print(f"fuzzing {', '.join(names)} with --seed {seed} --jobs {options.jobs}", flush=True)
    began = time.monotonic()
    results = run_areas(
        names, seed, seconds, options.inputs, options.jobs, lambda r: print(summary(r, options.kinds), flush=True)
    )
    findings = [finding for result in results for finding in result.findings]
    violations = sum(sum(result.of(VIOLATION).values()) for result in results)
    if options.keep:
        for finding in findings:
            print(f"kept {keep(finding)}")
    tried, took = sum(result.tried for result in results), time.monotonic() - began
    print(f"{tried} inputs in {took:.0f} s ({tried / took:.0f}/s), seed {seed}: {violations} violations")
    return 1 if violations else 0


def _one_case(name: str, seed: int) -> int:
    """Try one case in a process of its own."""
    area = area_named(name)
    case = case_of(area, seed)
    print(json.dumps(case))
    try:
        with Worker(name, area.limit) as worker:
            verdict = worker.try_case(case)
    except Died as death:
        verdict = {"outcome": VIOLATION, "kind": death.how, "text": death.text}
    print(f"{verdict['outcome']}: {verdict['kind']}\n{verdict['text']}")
    return int(verdict["outcome"] == VIOLATION)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("area", nargs="?", default="all", choices=["all", *NAMES], help="default: all of them")
    parser.add_argument("--seconds", type=float, help="time for all areas together (default 60)")
    parser.add_argument("--inputs", type=int, default=0, help="number of inputs, divided by the areas' weights")
    parser.add_argument("--seed", type=int, help="default: the date, as in 20260131")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="worker processes at a time")
    parser.add_argument("--case", type=int, help="try this one case of the area, in a process of its own")
    parser.add_argument("--kinds", type=int, default=12, help="kinds shown of each outcome")
    parser.add_argument("--keep", action="store_true", help="write violations to tests/fuzz/regressions")
    return parser


if __name__ == "__main__":
    sys.exit(main())
