"""``dqdyn robots``: the built-in robots."""

from __future__ import annotations

from typing import Any

from dqdyn.cli.robot_argument import robot_of
from dqdyn.cli.screen import JsonOption, emit, indented, number, table, without_tags
from dqdyn.robots import builders as builtin


def robots(as_json: JsonOption = False) -> None:
    """List the built-in robots.

    [dim]Examples:[/]

    \b
      dqdyn robots
      dqdyn robots --json
    """
    rows = [_row(name) for name in builtin.names()]
    columns = ("name", "nq", "nv", "mass", "description")
    drawn = table(
        "",
        columns,
        [(*(str(row[c]) for c in columns[:3]), f"{number(row['mass'])} kg", row["description"]) for row in rows],
        right=("nq", "nv", "mass"),
    )
    hint = "  Look at one with [bold]dqdyn info NAME[/], or in Python: [bold]dqdyn.robots.NAME()[/]"
    emit(rows, lambda: [indented(drawn), hint], as_json)


def _row(name: str) -> dict[str, Any]:
    robot = robot_of(name)
    summary = (builtin.BUILDERS[name].__doc__ or "").strip().splitlines()[0]
    return {
        "name": name,
        "base": robot.base,
        "nq": robot.nq,
        "nv": robot.nv,
        "mass": robot.mass,
        "description": without_tags(summary),
    }
