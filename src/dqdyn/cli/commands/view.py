"""``dqdyn view``: a robot or a trajectory in the browser, or as one self-contained page."""

from __future__ import annotations

import getpass
import os
import sys
import warnings
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from dqdyn.cli.command import Answer, command
from dqdyn.cli.options import option
from dqdyn.cli.screen import escape, warn, written
from dqdyn.errors import Error
from dqdyn.robot import Robot
from dqdyn.simulate import Trajectory
from dqdyn.view import server
from dqdyn.view.film import write_png, write_robot_png
from dqdyn.view.html import write_html
from dqdyn.view.motion import require_same_joints
from dqdyn.view.sweep import sweep


@command("Explore")
def view(
    robot: Robot,
    trajectory: Annotated[
        Path | None, option("Play this trajectory, a file of dqdyn simulate.", "--trajectory", "-t")
    ] = None,
    html: Annotated[Path | None, option("Write a self-contained page to this file instead of serving.")] = None,
    png: Annotated[Path | None, option("Write a picture to this .png file instead of serving.")] = None,
    host: Annotated[str, option("Address to serve at; 0.0.0.0 admits other machines.")] = server.HOST,
    port: Annotated[int, option("Port; if busy, the next free one; 0 takes any.", min=0, max=65535)] = server.PORT,
    no_browser: Annotated[bool, option("Only print the address.", "--no-browser")] = False,
) -> Iterator[Answer]:
    """Visualise a robot in the browser: joint sliders, frames, screw axes, twists, wrenches, center of mass.

    With --trajectory it plays the motion, with plots. With --html it writes a page that needs no server and no network;
    without a trajectory, that page moves each joint in turn. With --png it draws a picture, that of the end of a
    trajectory, without a browser. Ctrl-C stops the server.

    [dim]Examples:[/]

    \b
      dqdyn view arm7
      dqdyn view robot.urdf --base free --port 9000
      dqdyn view nonholonomic_manipulator --trajectory run.npz
      dqdyn view humanoid --html humanoid.html
      dqdyn view arm7 --png arm7.png
    """
    run = None if trajectory is None else _run_of(robot, trajectory)
    if png is not None and html is not None:
        raise Error("--png and --html write one file each: give one of them.")
    if png is not None:
        yield from _write_png(robot, run, png)
    elif html is not None:
        yield from _write(robot, run, html)
    else:
        yield from _serve(robot, run, host, port, not no_browser)


def _run_of(robot: Robot, path: Path) -> Trajectory:
    """The trajectory on the robot of the command line, which knows its meshes."""
    run = Trajectory.load(path)
    if run.batch:
        raise Error(f"{path.name} holds {run.batch[0]} runs: save one of them, with trajectory.member(0).save(...).")
    require_same_joints(run, robot)
    return replace(run, robot=robot)


def _write(robot: Robot, run: Trajectory | None, path: Path) -> Iterator[Answer]:
    shown = sweep(robot) if run is None else run
    facts = {"robot": robot.name, **written(write_html(shown, path))}
    facts |= {"samples": len(shown.time), "seconds": float(shown.time[-1] - shown.time[0])}
    yield facts, escape(f"Wrote {robot.name!r} to {path} ({facts['bytes'] / 1e6:.2g} MB); open it in a browser.")


def _write_png(robot: Robot, run: Trajectory | None, path: Path) -> Iterator[Answer]:
    target = write_robot_png(robot, path) if run is None else write_png(run, path)
    yield {"robot": robot.name, **written(target)}, escape(f"Wrote a picture of {robot.name!r} to {path}.")


def _serve(robot: Robot, run: Trajectory | None, host: str, port: int, browser: bool) -> Iterator[Answer]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        viewer = server.serve(robot, trajectory=run, host=host, port=port)
    for warning in caught:
        if warning.category is server.PortWarning:
            warn(str(warning.message))
    with viewer, suppress(KeyboardInterrupt):
        for note in viewer.notes:
            warn(note)
        facts = {"robot": robot.name, "url": viewer.url, "host": host, "port": viewer.port}
        hint = forwarding(os.environ, getpass.getuser, viewer.port) if host == server.HOST else ""
        yield {**facts, **({"forwarding": hint} if hint else {})}, address(robot.name, viewer.url, hint)
        if browser and sys.stdout.isatty():
            webbrowser.open(viewer.url)
        viewer.wait()


def address(robot: str, url: str, hint: str) -> str:
    """Where the page is, and with a hint for users of SSH how they see it at home; a line each."""
    lines = [escape(f"{robot!r} is at {url}") + "  [dim](stop with Ctrl-C)[/]"]
    if hint:
        lines.append(escape(f"You are logged in through SSH. On your own machine: {hint}"))
        lines.append(escape(f"Then open {url} there."))
    return "\n".join(lines)


def forwarding(environment: Mapping[str, str], user: Callable[[], str], port: int) -> str:
    """The command by which a user who is logged in through SSH sees the page at home; "" for those who are not."""
    parts = environment.get("SSH_CONNECTION", "").split()
    if len(parts) != 4:  # address and port of the user, then of this machine
        return ""
    _, _, here, at = parts
    on = "" if at == "22" else f"-p {at} "
    return f"ssh {on}-N -L {port}:{server.HOST}:{port} {user()}@{here}"
