"""Odd Denavit-Hartenberg tables: a refusal, or the product of the table's matrices."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from test_dh import matrix

from dqdyn.loading import from_dh

from ..cases import Area, Case
from ..laws import check_laws
from .tables import assert_tool, decoded, inertias, odd_table


class Fuzzed(Area):
    """A table with its options."""

    weight = 2.0

    def make(self, rng: random.Random) -> Case:
        n, width = rng.randint(1, 6), rng.choice((4, 5))
        rows = [[rng.uniform(-3, 3) for _ in range(4)] + [rng.randrange(2)] * (width == 5) for _ in range(n)]
        case: Case = {"table": odd_table(rng, rows), "joints_in": "rows"}
        if rng.random() < 0.5:
            case["modified"] = True
        if rng.random() < 0.1:
            case["joints_in"] = rng.choice(("columns", "diagonals", 3))
        if rng.random() < 0.5:
            case["inertias"] = rng.choice((len(rows),) * 8 + (len(rows) + 1, 0))
        if rng.random() < 0.05:
            case["names"] = [rng.choice(("a", "b", "", "base", "tool", "\n", 3)) for _ in range(n)]
        return case

    def check(self, case: Case) -> str:
        table = decoded(case["table"])
        options: dict[str, Any] = {key: case[key] for key in ("joints_in", "names") if key in case}
        if "inertias" in case:
            options["inertias"] = inertias(case["inertias"])
        robot = from_dh(table, modified=case.get("modified", False), **options)
        rows = np.asarray(table, dtype=float)
        rows = rows.T if case.get("joints_in") == "columns" else rows
        q = np.linspace(-1.0, 1.0, robot.nq)
        steps = []
        for value, (theta, d, a, alpha, *kind) in zip(q, rows, strict=True):
            slides = bool(kind and kind[0])
            moved = (theta, d + value) if slides else (theta + value, d)
            steps.append(matrix(*moved, a, alpha, case.get("modified", False)))
        if np.abs(rows).max() < 1e3:  # θ + q is rounded where θ is large; the robot turns by one, then by the other
            assert_tool(robot, steps, q)
        return check_laws(robot)
