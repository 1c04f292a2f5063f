"""``dqdyn robots``: the built-in robots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dqdyn.cli.command import Answer, command
from dqdyn.cli.robot_argument import robot_of
from dqdyn.cli.screen import indented, number, table, without_tags
from dqdyn.robots import builders as builtin


@command("Explore")
def robots() -> Iterator[Answer]:
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
    hint = "  Inspect one with [bold]dqdyn info NAME[/], or in Python: [bold]dqdyn.robots.NAME()[/]"
    yield rows, [indented(drawn), hint]


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
