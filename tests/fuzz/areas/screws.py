"""Odd screw axes: a refusal, or the product of exponentials."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
from serial_walk import matrix_exponential, screw_matrix

from dqdyn.loading import from_screws

from ..cases import Area, Case
from ..laws import check_laws
from .tables import assert_tool, decoded, encoded, inertias, odd_table

HOME = [1.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.2, 0.3]


class Fuzzed(Area):
    """Screws [l, m] with a home pose."""

    weight = 2.0

    def make(self, rng: random.Random) -> Case:
        n = rng.randint(1, 5)
        case: Case = {"axes": odd_table(rng, [_screw(rng) for _ in range(n)])}
        if rng.random() < 0.2:
            case["home"] = odd_table(rng, [list(HOME)])[0:1]
        if rng.random() < 0.5:
            case["inertias"] = rng.choice((n,) * 8 + (n + 1, 0))
        return case

    def check(self, case: Case) -> str:
        axes, home = decoded(case["axes"]), HOME
        if case.get("home"):
            home = decoded(case["home"])[0]
        given: Any = inertias(case["inertias"]) if "inertias" in case else None
        robot = from_screws(axes, home, given)
        q = np.linspace(-1.0, 1.0, robot.nq)
        rows = [np.asarray(row, dtype=float) for row in axes]
        steps = [matrix_exponential(screw_matrix(row) * angle) for row, angle in zip(rows, q, strict=True)]
        ordinary = all(np.abs(row).max() < 4.0 and _exact(row) for row in rows)
        if ordinary and home is HOME:
            place = np.eye(4)
            place[:3, 3] = [2.0 * c for c in HOME[5:]]
            assert_tool(robot, [*steps, place], q)
        return check_laws(robot)


def _exact(row: np.ndarray) -> bool:
    """Whether the direction has length one to rounding; else the robot uses length one, with a warning."""
    length = np.linalg.norm(row[:3]) or np.linalg.norm(row[3:])
    return bool(abs(length - 1.0) < 1e-12)


def _screw(rng: random.Random) -> list[Any]:
    l = np.array([rng.gauss(0, 1) for _ in range(3)])
    l /= math.sqrt(l @ l)
    p = np.array([rng.uniform(-1, 1) for _ in range(3)])
    kind = rng.randrange(3)
    m = l if kind == 0 else np.cross(p, l) + (rng.uniform(0.01, 0.3) * l if kind == 1 else 0.0)
    return [encoded(float(c)) for c in (*(0.0 * l if kind == 0 else l), *m)]
