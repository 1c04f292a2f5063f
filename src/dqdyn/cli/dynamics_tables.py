"""Matrices, forces and deviations of a robot's dynamics as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dqdyn.cli.screen import TextTable, number, table
from dqdyn.robot import Robot
from dqdyn.simulate.tables import columns

SHOWN = 8  # rows and columns of a matrix that fit on a screen


def vectors(robot: Robot, data: dict[str, Any]) -> TextTable:
    """Velocity, acceleration and forces, one line per velocity."""
    keys = ("v", "a", "gravity_forces", "bias_forces", "inverse_dynamics")
    heads = ("", "velocity of", "v", "a", "g", "bias", "τ", "unit")
    numbers = zip(*(without_rounding([data[key]])[0] for key in keys), strict=True)
    named = enumerate(zip(columns(robot.model, "tau"), numbers, strict=True))
    rows = [(str(k), name, *map(number, row), unit) for k, ((name, unit), row) in named]
    return table("Forces: τ = M a + C v + g, with damping and friction", heads, rows, right=heads[2:7])


def matrix_table(title: str, names: Sequence[str], rows: Sequence[Sequence[float]], shown: int = SHOWN) -> TextTable:
    """The first rows and columns of a matrix."""
    size = len(rows[0]) if len(rows) else 0
    heads, more = ["", *map(str, range(min(size, shown)))], ["…"] if size > shown else []
    pairs = list(zip(names, without_rounding(rows), strict=True))[:shown]
    drawn = [[name, *(number(x) for x in row[:shown]), *more] for name, row in pairs]
    return table(title, [*heads, *more], drawn, right=[*heads[1:], *more])


def without_rounding(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """Rows with 0 for numbers that are only rounding beside the largest one."""
    least = 1e-14 * max((abs(x) for row in rows for x in row), default=0.0)
    return [[x if abs(x) > least else 0.0 for x in row] for row in rows]


def constraint_table(robot: Robot, data: dict[str, Any], shown: int = 4 * SHOWN) -> TextTable:
    """A and b of A a = b: one line per row with what is not zero."""
    axes = [name for name, _ in columns(robot.model, "tau")]
    rows = []
    for name, row, b in zip(*(data[f"constraint_{key}"] for key in ("rows", "matrix", "bias")), strict=True):
        terms = (f"{number(x)}·{axis}" for x, axis in zip(row, axes, strict=True) if abs(x) > 1e-12)
        rows.append((name, "  ".join(terms), number(b)))
    more = [("…", f"{len(rows) - shown} more; all with --json", "")] if len(rows) > shown else []
    return table("Constraints: A a = b", ("row", "A a", "b"), [*rows[:shown], *more], right=("b",))


def listed(values: Sequence[float]) -> str:
    """The first numbers of a list."""
    shown = ", ".join(number(x) for x in values[:SHOWN])
    return shown + (f", … ({len(values) - SHOWN} more)" if len(values) > SHOWN else "")


def agreement(rows: Sequence[dict[str, Any]], title: str = "Agreement with the compiled programs") -> TextTable:
    """One line per formulation."""
    heads = ("function", "method", "largest deviation", "relative deviation")
    drawn = []
    for row in rows:
        sizes = [row.get(key) for key in ("deviation", "relative")]
        drawn.append((row["function"], row["method"], *("" if x is None else f"{x:.1e}" for x in sizes)))
    return table(title, heads, drawn, right=heads[2:])
