"""What a run says: counts by kind, and every violation in a form that can be kept as a regression."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from .cases import FINE, REFUSED, VIOLATION
from .runner import AreaResult, Finding

REGRESSIONS = Path(__file__).parent / "regressions"


def summary(result: AreaResult, most: int = 12) -> str:
    """One area: the rate, outcomes by kind (the ``most`` frequent), violations."""
    counts = [sum(result.of(outcome).values()) for outcome in (FINE, REFUSED, VIOLATION)]
    rate = result.tried / max(result.seconds, 1e-9)
    lines = [
        f"{result.area}: {result.tried} inputs in {result.seconds:.0f} s ({rate:.0f}/s): "
        f"{counts[0]} fine, {counts[1]} refused, {counts[2]} violations"
    ]
    for outcome in (FINE, REFUSED, VIOLATION):
        kinds = result.of(outcome).most_common()
        lines += [f"  {n:8d} {outcome}: {kind}" for kind, n in kinds[:most]]
        if len(kinds) > most:
            lines.append(f"  {sum(n for _, n in kinds[most:]):8d} {outcome}: {len(kinds) - most} other kinds")
    return "\n".join([*lines, *(line for finding in result.findings for line in told(finding))])


def told(finding: Finding) -> Iterator[str]:
    """A violation with its case; the JSON is the content of a file for ``tests/fuzz/regressions``."""
    yield f"VIOLATION in {finding.area}: {finding.kind}"
    yield f"  again: python -m tests.fuzz {finding.area} --case {finding.seed}"
    yield from (f"  | {line}" for line in finding.text.rstrip().splitlines()[-12:])
    yield f"  keep: {as_regression(finding)}"


def as_regression(finding: Finding) -> str:
    """The minimised case as JSON."""
    return json.dumps({"area": finding.area, "about": finding.kind, "case": finding.case})


def keep(finding: Finding) -> Path:
    """Write the case where the tests run it from now on."""
    words = re.sub(r"[^a-z0-9]+", "_", finding.kind.lower()).strip("_")[:50]
    path = REGRESSIONS / f"{finding.area}_{words}.json"
    path.write_text(as_regression(finding) + "\n", encoding="utf-8")
    return path
