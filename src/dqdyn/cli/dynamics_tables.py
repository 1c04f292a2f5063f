"""Matrices, forces and deviations of a robot's dynamics as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType

from dqdyn.cli.screen import number, table
from dqdyn.robot import Robot

SHOWN = 8  # rows and columns of a matrix that fit on a screen


def axes(robot: Robot) -> list[tuple[str, str]]:
    """(unit of the force, name) per velocity; mimic joints have none of their own."""
    result = []
    for joint in robot.joints:
        if joint.is_mimic:
            continue
        motion = joint.motion
        turning = motion.angular if motion.nq == motion.nv else (True, True, True, False, False, False)[: motion.nv]
        for k, angular in enumerate(turning):
            name = joint.name if motion.nv == 1 else f"{joint.name}[{k}]"
            result.append(("N m" if angular else "N", name))
    return result


def vectors(robot: Robot, data: dict[str, Any]) -> RenderableType:
    """Velocity, acceleration and forces, one line per velocity."""
    keys = ("v", "a", "gravity_forces", "bias_forces", "inverse_dynamics")
    columns = ("velocity of", "v", "a", "g", "bias", "τ", "unit")
    numbers = zip(*(without_rounding([data[key]])[0] for key in keys), strict=True)
    rows = [(name, *map(number, row), unit) for (unit, name), row in zip(axes(robot), numbers, strict=True)]
    return table("Forces: τ = M a + C v + g, with damping and friction", columns, rows, right=columns[1:6])


def matrix_table(
    title: str, names: Sequence[str], rows: Sequence[Sequence[float]], shown: int = SHOWN
) -> RenderableType:
    """The first rows and columns of a matrix."""
    columns = ["", *(str(k) for k in range(min(len(rows[0]) if rows else 0, shown)))]
    more = ["…"] if rows and len(rows[0]) > shown else []
    pairs = list(zip(names, without_rounding(rows), strict=True))[:shown]
    drawn = [[name, *(number(x) for x in row[:shown]), *more] for name, row in pairs]
    return table(title, [*columns, *more], drawn, right=[*columns[1:], *more])


def without_rounding(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """Rows with 0 for numbers that are only rounding beside the largest one."""
    least = 1e-14 * max((abs(x) for row in rows for x in row), default=0.0)
    return [[x if abs(x) > least else 0.0 for x in row] for row in rows]


def constraint_table(names: Sequence[str], data: dict[str, Any], shown: int = 4 * SHOWN) -> RenderableType:
    """A and b of A a = b: one line per row with what is not zero."""
    rows = [
        (
            name,
            "  ".join(f"{number(x)}·{axis}" for x, axis in zip(row, names, strict=True) if abs(x) > 1e-12),
            number(b),
        )
        for name, row, b in zip(
            data["constraint_rows"], data["constraint_matrix"], data["constraint_bias"], strict=True
        )
    ]
    more = [("…", f"{len(rows) - shown} more; all with --json", "")] if len(rows) > shown else []
    return table("Constraints: A a = b", ("row", "A a", "b"), [*rows[:shown], *more], right=("b",))


def listed(values: Sequence[float]) -> str:
    """The first numbers of a list."""
    shown = ", ".join(number(x) for x in values[:SHOWN])
    return shown + (f", … ({len(values) - SHOWN} more)" if len(values) > SHOWN else "")


def agreement(rows: Sequence[dict[str, Any]], title: str = "Agreement with the compiled programs") -> RenderableType:
    """One line per formulation."""
    columns = ("function", "method", "largest deviation", "relative")
    digits = lambda x: "" if x is None else f"{x:.1e}"
    drawn = [(row["function"], row["method"], *(digits(row.get(k)) for k in ("deviation", "relative"))) for row in rows]
    return table(title, columns, drawn, right=columns[2:])
