"""``dqdyn convert``: a robot from one file format to another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from dqdyn.cli.command import Answer, command
from dqdyn.cli.options import argument
from dqdyn.cli.screen import escape, warn, written
from dqdyn.errors import FormatError
from dqdyn.formats.save import compose
from dqdyn.formats.whole_file import write_whole
from dqdyn.robot import Robot

FORMATS = ".urdf, .xml (MJCF) or .json"


@command("Write files", warns=False)
def convert(
    robot: Robot,
    source: str,
    target: Annotated[Path, argument(f"The file to write; its ending chooses the format: {FORMATS}.", "TARGET")],
    lossy: Annotated[bool, typer.Option("--lossy", help="Write the file although it loses something.")] = False,
) -> Iterator[Answer]:
    """Write a robot as URDF, MJCF or JSON.

    An existing TARGET is replaced. Everything that is lost is listed: what the file of ROBOT has and is not read, and
    what the format of TARGET cannot hold. With --lossy the file is written all the same, else that is an error.

    [dim]Examples:[/]

    \b
      dqdyn convert arm7 arm7.urdf
      dqdyn convert robot.urdf robot.xml
      dqdyn convert robot.xml robot.urdf --lossy
      dqdyn convert chain:n=8,seed=3 chain.json
    """
    text = compose(robot.model, target)
    lost = [f"in reading {source}: {loss}" for loss in robot.description.losses]
    lost += [f"in writing {text.file_format}: {loss}" for loss in text.losses]
    for doubt in _without_losses(robot):
        warn(doubt)
    for loss in lost:
        warn(f"lost {loss}")
    if lost and not lossy:
        count = "1 thing is" if len(lost) == 1 else f"{len(lost)} things are"
        what = f"{count} lost from {source} to {target.name}, as listed above"
        raise FormatError(f"{what}: add --lossy to write the file all the same.", losses=tuple(lost))
    path = write_whole(target, text.text.encode("utf-8"))
    sentence = f"Wrote {robot.name!r} ({robot.nv} degrees of freedom) to {path}."
    yield {"name": robot.name, "source": source, "lost": lost, **written(path)}, escape(sentence)


_LEFT_OUT = " are left out"


def _without_losses(robot: Robot) -> list[str]:
    """The warnings of reading that the list of losses does not repeat, with all names."""
    listed = tuple(f": {loss.partition(_LEFT_OUT)[0]}" for loss in robot.description.losses if _LEFT_OUT in loss)
    return [text for text in robot.warnings if not text.partition(_LEFT_OUT)[0].endswith(listed)]
