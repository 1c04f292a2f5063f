"""What DH tables and lists of screws have in common: odd tables, and a robot that is held to a product of matrices."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from trees import run

from dqdyn.robot import Robot

from ..mutate import odd_value

ODD = (
    math.nan,
    math.inf,
    -math.inf,
    "nan",
    "x",
    None,
    10**400,
    1j,
    True,
    -0.0,
    1e308,
    1e31,
    5e-324,
    "1_0",
    "٣",
    [],
    {},
)
"""Numbers that are none, or that no robot has."""


def odd_table(rng: random.Random, rows: list[list[Any]]) -> list[Any]:
    """The table with a few entries replaced, rows dropped, doubled or cut."""
    table: list[Any] = [list(row) for row in rows]
    for _ in range(rng.randint(0, 2)):
        if not table:
            break
        i = rng.randrange(len(table))
        how = rng.randrange(5)
        if how == 0:
            table.insert(i, table[i])
        elif how == 1:
            table[i] = table[i][: rng.randrange(6)] if isinstance(table[i], list) else table[i]
        elif isinstance(table[i], list) and table[i]:
            k = rng.randrange(len(table[i]))
            table[i][k] = encoded(rng.choice(ODD) if rng.random() < 0.5 else odd_value(rng, table[i][k]))
    return table


def encoded(value: Any) -> Any:
    """As JSON can hold it."""
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    return value


def decoded(value: Any) -> Any:
    """Back."""
    if isinstance(value, list):
        return [decoded(v) for v in value]
    if isinstance(value, dict) and "float" in value:
        return float(value["float"])
    if isinstance(value, dict) and "complex" in value:
        return complex(*value["complex"])
    return value


def inertias(n: int) -> list[Any]:
    """Of boxes that differ."""
    tensor = ((0.02, 0.001, 0.0), (0.001, 0.03, 0.0), (0.0, 0.0, 0.04))
    return [(1.0 + 0.5 * i, (0.1, -0.05 * i, 0.02), tensor) for i in range(n)]


def assert_tool(robot: Robot, steps: Sequence[np.ndarray], q: np.ndarray) -> None:
    """The frame "tool" stands at the product of the 4×4 matrices."""
    expected = np.eye(4)
    for step in steps:
        expected = expected @ step
    if not np.isfinite(expected).all() or np.abs(expected).max() > 1e6:
        return
    w, x, y, z, dw, dx, dy, dz = run(robot, "pose", q, frame="tool")
    r, d = np.array([w, x, y, z]), np.array([dw, dx, dy, dz])
    place = 2.0 * (r[0] * d[1:] - d[0] * r[1:] + np.cross(r[1:], d[1:]))
    scale = max(1.0, np.abs(expected).max())
    assert np.abs(place - expected[:3, 3]).max() <= 1e-9 * scale, "the tool is elsewhere"
    turned = 2.0 * (r[0] * r[3] + r[1] * r[2])
    assert abs(turned - expected[1, 0]) <= 1e-9, "the tool is turned otherwise"
