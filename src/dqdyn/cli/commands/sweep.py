"""``dqdyn sweep``: simulations over parameters, controllers, states and seeds, as a file says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from rich.console import RenderableType

from dqdyn.cli.command import Answer, command
from dqdyn.cli.commands.simulate import CONTROLLERS
from dqdyn.cli.options import argument, option, output_option
from dqdyn.cli.robot_argument import robot_of
from dqdyn.cli.screen import count, escape, number, table, warn
from dqdyn.errors import Error, unknown_name
from dqdyn.robot import Robot
from dqdyn.scale import Sweep, batched, each_run
from dqdyn.scale import sweep as run
from dqdyn.scale.spec import read

_SHOWN = 10
"""Failures that are listed; --json has all."""
_OF_BATCHES = ("none", "gravity")
"""Controllers that do not depend on where a run starts, so that one serves a batch of runs."""


@command("Compute")
def sweep(
    spec: Annotated[Path, argument("A TOML file: robot, states, parameters, controllers, seeds, ….")],
    scheduler: Annotated[
        str | None, option("Address of a Dask scheduler, as tcp://10.0.0.1:8786; default: processes of this machine.")
    ] = None,
    workers: Annotated[
        int | None, option("Processes to start on this machine; 0 for none; default: one per processor.", min=0)
    ] = None,
    resume: Annotated[
        bool, option("Continue an output that was begun: compute what is missing.", "--resume", show_default=False)
    ] = False,
    output: Annotated[Path | None, output_option("Folder for Zarr arrays; default: that of the file.")] = None,
) -> Iterator[Answer]:
    """Simulate a robot over parameters × controllers × states × seeds.

    Prints means and quantiles of what was measured, and the runs that failed, by their seeds. With an output, a sweep
    that was killed continues with --resume. Keys of the file that are not known are an error.

    [dim]Examples:[/]

    \b
      dqdyn sweep payloads.toml
      dqdyn sweep payloads.toml --output payloads.zarr --resume
      dqdyn sweep payloads.toml --scheduler tcp://10.0.0.1:8786
    """
    asked = read(spec)
    robot = robot_of(asked.robot, asked.base)
    for text in robot.warnings:
        warn(text)
    target = asked.output if output is None else output
    if resume and target is None:
        raise Error("--resume continues an output: give one with --output, or in the file.")
    arguments = asked.sweep_arguments(robot)
    controllers = {name: _controller(robot, name) for name in asked.controllers}
    found = run(robot, controllers, output=target, resume=resume, scheduler=scheduler, workers=workers, **arguments)
    data = summary(found)
    yield data, _drawn(data, found)


def _controller(robot: Robot, name: str) -> Any:
    """A controller of ``dqdyn simulate``, for the robot as it is known, whatever parameters a run has."""
    if name not in CONTROLLERS:
        raise unknown_name("controller", name, CONTROLLERS)
    make = CONTROLLERS[name]
    if name in _OF_BATCHES:
        controller = make(robot, robot.neutral())
        return None if controller is None else batched(controller)
    return each_run(lambda _, q0, v0, rng: make(robot, q0))


def summary(found: Sweep) -> dict[str, Any]:
    """What came of a sweep, as plain data."""
    return {
        "robot": found.plan.robot.name,
        "runs": found.runs,
        "failed": found.failed,
        "axes": {
            axis: list(labels) if axis in ("parameters", "controllers") else len(labels)
            for axis, labels in found.axes.items()
        },
        "measures": {
            name: {
                "mean": found.mean(name),
                "quantiles": dict(zip(("0.05", "0.5", "0.95"), found.quantiles(name), strict=True)),
            }
            for name in found.measures
        },
        "failures": list(found.failures),
        "output": found.output,
    }


def _drawn(data: dict[str, Any], found: Sweep) -> Iterator[RenderableType]:
    failed = f", {count(found.failed, 'failure')}" if found.failed else ""
    yield f"[bold]{escape(data['robot'])}[/]: {count(found.runs, 'run')}{failed}"
    rows = []
    for p, case in enumerate(found.axes["parameters"]):
        for c, controller in enumerate(found.axes["controllers"]):
            for name in found.measures:
                if found.measures[name].ndim > 4:
                    continue  # one number per joint is for --json
                low, middle, high = np.asarray(found.quantiles(name))[:, p, c]
                mean = number(float(found.mean(name)[p, c]))
                rows.append([case, controller, name, mean, number(low), number(middle), number(high)])
    yield table("", ["parameters", "controller", "measure", "mean", "5 %", "median", "95 %"], rows)
    if found.failures:
        shown = [[str(f.seed), f.parameters, f.controller, str(f.state), f.status] for f in found.failures[:_SHOWN]]
        title = "Failures" if found.failed <= _SHOWN else f"The first {_SHOWN} of {found.failed} failures"
        yield table(title, ["seed", "parameters", "controller", "state", "status"], shown)
    if found.output is not None:
        yield f"stored in {escape(str(found.output))}"
