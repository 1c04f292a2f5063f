"""``dqdyn robots``: the built-in robots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dqdyn.cli.command import Answer, command
from dqdyn.cli.robot_argument import robot_of
from dqdyn.cli.screen import attributes, indented, number, table, without_tags
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
    cells = [(r["name"], str(r["nq"]), str(r["nv"]), f"{number(r['mass'])} kg", r["description"]) for r in rows]
    drawn = table("", columns, cells, right=columns[1:4])
    hint = "  Inspect one with [bold]dqdyn info NAME[/], or in Python: [bold]dqdyn.robots.NAME()[/]"
    yield rows, [indented(drawn), hint]


def _row(name: str) -> dict[str, Any]:
    robot = robot_of(name)
    summary = (builtin.BUILDERS[name].__doc__ or "").strip().splitlines()[0]
    return {"name": name, **attributes(robot, "base", "nq", "nv", "mass"), "description": without_tags(summary)}
