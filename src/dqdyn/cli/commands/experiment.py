"""``dqdyn experiment``: the experiments of the papers, with claims and what was measured."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from dqdyn.cli.command import Answer, command
from dqdyn.cli.options import argument, option, output_option
from dqdyn.cli.screen import count, escape, indented, mark, number, table
from dqdyn.errors import unknown_name
from dqdyn.formats.whole_file import checked_target
from dqdyn.simulate import LimitWarning


@command("Compare and measure")
def experiment(
    name: Annotated[str | None, argument("The experiment; default: list all.", "NAME")] = None,
    plant: Annotated[str | None, option("'mujoco' runs the controllers against MuJoCo.", show_default=False)] = None,
    output: Annotated[Path | None, output_option("The report to write; default: NAME.html.")] = None,
) -> Iterator[Answer]:
    """Run an experiment of the papers and compare its claims with what was measured.

    It writes a page with the claims, the animation of every run with all primitives drawn, and the paper's plots, and
    ends with code 1 where a claim does not hold.

    [dim]Examples:[/]

    \b
      dqdyn experiment
      dqdyn experiment moving-obstacle
      dqdyn experiment cup-on-table --plant mujoco --output cup.html
    """
    from dqdyn.analysis import experiments  # the solvers are an extra

    if name is None:
        titles = experiments.titles().items()
        data: Any = [{"experiment": key, "about": title} for key, title in titles]
        yield data, table("", ("experiment", "about"), titles)
        return
    if plant not in (None, "mujoco"):
        raise unknown_name("plant", plant, ["mujoco"])
    from dqdyn.view.experiment_report import write_experiment

    target = output or Path(f"{name}.html")
    checked_target(target)  # now, not when minutes of work would be lost
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LimitWarning)  # robots that fall or are hit leave limits: see runs below
        result = experiments.experiment(name, plant)
    data = result.as_data() | {"plant": plant, "seconds": time.perf_counter() - begin}
    path = write_experiment(result, target)
    data["report"] = str(path.resolve())
    yield data, _drawn(result.title, data)
    if not result.holds:
        raise typer.Exit(1)


def _drawn(title: str, data: dict[str, Any]) -> Iterator[RenderableType]:
    yield f"[bold]{escape(title)}[/] ({escape(data['source'])})\n"
    rows = [("✓" if claim["holds"] else "✗", claim["claim"], claim["measured"]) for claim in data["claims"]]
    yield indented(table("", ("", "claim", "measured"), rows))
    for part in data["tables"]:
        columns = list(part["rows"][0])
        yield indented(table(part["title"], columns, [list(row.values()) for row in part["rows"]], right=columns[2:]))
    left = [(run, about["beyond"]) for run, about in data["runs"].items() if "beyond" in about]
    for run, beyond in left:
        kinds = ", ".join(dict.fromkeys(row["kind"] for row in beyond))
        joints = count(len({row["joint"] for row in beyond}), "joint")
        yield f"{escape(run)}: {joints} beyond limits of {kinds}; --json has them."
    held = sum(claim["holds"] for claim in data["claims"])
    took = f"{number(data['seconds'])} s. Report: {escape(data['report'])}"
    yield f"{mark(data['holds'])} {held} of {len(rows)} claims hold; {took}"
