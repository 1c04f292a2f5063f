"""``dqdyn convert``: a robot from one file format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dqdyn.cli.robot_argument import BaseOption, NoMimicOption, RobotArgument, StrictOption, robot_of
from dqdyn.cli.screen import JsonOption, emit, escape, warn


def convert(
    source: RobotArgument,
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET", help="The file to write; its ending chooses the format: .urdf, .xml (MJCF) or .json."
        ),
    ],
    base: BaseOption = None,
    no_mimic: NoMimicOption = False,
    strict: StrictOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a robot as URDF, MJCF or JSON.

    An existing TARGET is replaced. What the format cannot hold is an error, never dropped in silence.

    [dim]Examples:[/]

    \b
      dqdyn convert arm7 arm7.urdf
      dqdyn convert robot.urdf robot.xml
      dqdyn convert chain:n=8,seed=3 chain.json
    """
    robot = robot_of(source, base=base, mimic=not no_mimic, strict=strict)
    for text in robot.warnings:
        warn(text)
    path = robot.write(target)
    data = {"name": robot.name, "source": source, "target": str(path), "bytes": path.stat().st_size}
    emit(data, lambda: escape(f"Wrote {robot.name!r} ({robot.nv} degrees of freedom) to {path}."), as_json)
