"""``dqdyn compile``: the functions of a robot as machine code in the cache, before they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from rich.console import RenderableType

from dqdyn.cli.command import Answer, command
from dqdyn.cli.options import argument, option
from dqdyn.cli.screen import count, escape, indented, table
from dqdyn.compile.runtime import cache
from dqdyn.robot import Robot
from dqdyn.robot.ahead_of_time import CompiledAhead


@command("Write files")
def compile(
    robot: Robot,
    functions: Annotated[
        list[str] | None, argument("Functions, as pose:tool; default: all that need no frame.", "FUNCTION")
    ] = None,
    batches: Annotated[bool, option("Compile the code for batches, too.", "--batches")] = False,
) -> Iterator[Answer]:
    """Compile functions of a robot now, so that programs which use it start at once.

    The code goes to the cache, where every process of this user finds it: the first call of a function then takes
    milliseconds. A function of a frame is written with it, as in twist_jacobian:tool, and one of two frames as in
    relative_pose:left,right. Another robot, another version of dqdyn or another processor compiles anew. The cache is
    the folder DQDYN_CACHE_DIR, or dqdyn in the user's cache folder.

    [dim]Examples:[/]

    \b
      dqdyn compile robot.urdf
      dqdyn compile robot.urdf --base free inverse_dynamics forward_dynamics
      dqdyn compile arm7 pose:tool twist_jacobian:tool --batches
      dqdyn compile arm7 --json
    """
    done = robot.compile(functions or None, batches=batches)
    folder = cache.folder()
    rows = [{**vars(f), "name": f.name} for f in done.functions]
    data: dict[str, Any] = {"robot": robot.name, "batches": batches, "seconds": done.seconds, "functions": rows}
    yield {**data, "cache": folder}, _drawn(done, None if folder is None else str(folder))


def _drawn(done: CompiledAhead, folder: str | None) -> Iterator[RenderableType]:
    made = [f for f in done.functions if not f.problem]
    rows = [
        (f.name, str(f.operations), f"{f.tracing:.3f} s", f"{f.llvm:.3f} s", "cache" if f.from_cache else "source")
        for f in made
    ]
    columns = ("function", "operations", "tracing", "LLVM", "from")
    yield indented(table("", columns, rows, right=columns[1:4]))
    for f in done.functions:
        if f.problem:
            yield f"  Without {escape(f.name)}: {escape(f.problem)}"
    kept = f"kept in {folder}" if folder is not None else "not kept, since the cache is off (DQDYN_CACHE)"
    yield escape(f"  {count(len(made), 'function')} of {done.robot!r} in {done.seconds:.2f} s, {kept}.")
