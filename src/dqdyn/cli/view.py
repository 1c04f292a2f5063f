"""``dqdyn view``: a robot or a trajectory in the browser, or as one self-contained page."""

from __future__ import annotations

import sys
import warnings
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from dqdyn.cli.robot_argument import BaseOption, NoMimicOption, RobotArgument, StrictOption, robot_of
from dqdyn.cli.screen import JsonOption, emit, escape, warn
from dqdyn.errors import Error
from dqdyn.robot import Robot
from dqdyn.simulate import Trajectory
from dqdyn.view import server
from dqdyn.view.html import write_html
from dqdyn.view.sweep import sweep


def view(
    source: RobotArgument,
    trajectory: Annotated[
        Path | None, typer.Option("--trajectory", "-t", help="A trajectory to play: a file of dqdyn simulate.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write one self-contained page to this file instead of serving.")
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="Where to serve; 0.0.0.0 lets other machines look.")
    ] = server.HOST,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="A busy one is replaced by the next free one; 0 takes any.")
    ] = server.PORT,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    base: BaseOption = None,
    no_mimic: NoMimicOption = False,
    strict: StrictOption = False,
    as_json: JsonOption = False,
) -> None:
    """Look at a robot in the browser: a slider per joint, frames, screw axes, twists, wrenches, center of mass.

    With --trajectory it plays the motion, with plots. With --html it writes a page that needs no server and no network;
    without a trajectory that page moves each joint in turn. Serving ends with Ctrl-C.

    [dim]Examples:[/]

    \b
      dqdyn view arm7
      dqdyn view robot.urdf --base free --port 9000
      dqdyn view nonholonomic_manipulator --trajectory run.npz
      dqdyn view humanoid --html humanoid.html
    """
    robot = robot_of(source, base=base, mimic=not no_mimic, strict=strict)
    for text in robot.warnings:
        warn(text)
    run = None if trajectory is None else _run_of(robot, trajectory)
    if html is not None:
        _write(robot, run, html, as_json)
    else:
        _serve(robot, run, host, port, not no_browser, as_json)


def _run_of(robot: Robot, path: Path) -> Trajectory:
    """The trajectory on the robot of the command line, which knows its meshes."""
    run = Trajectory.load(path)
    if run.batch:
        raise Error(f"{path.name} holds {run.batch[0]} runs: save one of them, with trajectory.member(0).save(...).")
    if [joint.name for joint in run.robot.joints] != [joint.name for joint in robot.joints]:
        raise Error(
            f"{path.name} is a trajectory of {run.robot.name!r}, whose joints are not those of {robot.name!r}: "
            "name that robot, with its base.",
            robot=robot.name,
        )
    return replace(run, robot=robot)


def _write(robot: Robot, run: Trajectory | None, path: Path, as_json: bool) -> None:
    shown: Any = sweep(robot) if run is None else run
    written = write_html(shown, path)
    facts = {
        "robot": robot.name,
        "target": str(written),
        "bytes": written.stat().st_size,
        "samples": len(shown.time),
        "seconds": float(shown.time[-1] - shown.time[0]),
    }
    size = written.stat().st_size / 1e6
    emit(facts, lambda: escape(f"Wrote {robot.name!r} to {written} ({size:.2g} MB); open it in a browser."), as_json)


def _serve(robot: Robot, run: Trajectory | None, host: str, port: int, browser: bool, as_json: bool) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        viewer = server.serve(robot, trajectory=run, host=host, port=port)
    for warning in caught:
        if warning.category is server.PortWarning:
            warn(str(warning.message))
    try:
        for note in viewer.notes:
            warn(note)
        facts = {"robot": robot.name, "url": viewer.url, "host": host, "port": viewer.port}
        line = escape(f"{robot.name!r} is at {viewer.url}") + "  [dim](Ctrl-C ends)[/]"
        emit(facts, lambda: line, as_json)
        if browser and sys.stdout.isatty():
            webbrowser.open(viewer.url)
        viewer.wait()
    finally:
        viewer.stop()
