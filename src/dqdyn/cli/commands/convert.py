"""``dqdyn convert``: a robot from one file format to another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from dqdyn.cli.command import Answer, command
from dqdyn.cli.options import argument
from dqdyn.cli.screen import escape, written
from dqdyn.robot import Robot

FORMATS = ".urdf, .xml (MJCF) or .json"


@command("Write files")
def convert(
    robot: Robot,
    source: str,
    target: Annotated[Path, argument(f"The file to write; its ending chooses the format: {FORMATS}.", "TARGET")],
) -> Iterator[Answer]:
    """Write a robot as URDF, MJCF or JSON.

    An existing TARGET is replaced. What the format cannot hold is an error, never dropped silently.

    [dim]Examples:[/]

    \b
      dqdyn convert arm7 arm7.urdf
      dqdyn convert robot.urdf robot.xml
      dqdyn convert chain:n=8,seed=3 chain.json
    """
    path = robot.write(target)
    sentence = f"Wrote {robot.name!r} ({robot.nv} degrees of freedom) to {path}."
    yield {"name": robot.name, "source": source, **written(path)}, escape(sentence)
