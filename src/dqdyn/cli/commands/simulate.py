"""``dqdyn simulate``: simulate a robot, and save or animate the trajectory."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import RenderableType

from dqdyn.arrays import Array
from dqdyn.cli.command import Answer, command
from dqdyn.cli.options import QOption, VOption, option, output_option, random_option, state_of
from dqdyn.cli.screen import INTERRUPTED, escape, number, table, warn
from dqdyn.errors import Error, unknown_name
from dqdyn.formats.whole_file import checked_target
from dqdyn.references import ComputedTorque, waves
from dqdyn.robot import Robot
from dqdyn.simulate import Interrupted, LimitWarning, SimulationError, SimulationWarning, Trajectory
from dqdyn.simulate import simulate as run
from dqdyn.simulate.files import checked_path
from dqdyn.simulate.integrators import INTEGRATORS
from dqdyn.simulate.limits import has_stops
from dqdyn.simulate.trajectory import BEYOND
from dqdyn.view.film import checked_video

CONTROLLERS: dict[str, Callable[[Robot, Array], Any]] = {
    "none": lambda robot, q0: None,
    "gravity": lambda robot, q0: lambda t, q, v: np.where(robot.actuated, robot.gravity_forces(q), 0.0),
    "hold": lambda robot, q0: ComputedTorque(robot, lambda t: (q0, np.zeros(robot.nv), np.zeros(robot.nv))),
    "waves": lambda robot, q0: ComputedTorque(robot, waves(robot, q0.tolist())),
}
"""Control laws by name, for a robot that starts at q0."""
LIMITS = {"report": None, "stop": True, "ignore": False}
"""Words for the option ``limits`` of a simulation."""
TOLD = 1
"""Exit code of a run that says something, where --check asks for it."""


@command("Compute")
def simulate(
    robot: Robot,
    duration: Annotated[float, option("Time in s.")] = 2.0,
    dt: Annotated[float, option("Step in s.")] = 1e-3,
    integrator: Annotated[str, option(f"{', '.join(INTEGRATORS)} or adaptive.")] = "rkmk4",
    controller: Annotated[
        str, option("none, gravity (borne by the motors), hold (the initial pose) or waves, both by computed torque.")
    ] = "none",
    limits: Annotated[
        str | None,
        option("Where joints reach their limits: report (move on and say so), stop (end stops) or ignore."),
    ] = None,
    efforts: Annotated[
        str, option("Forces above those of the motors: report (they act, and it is said), clip (bounded) or ignore.")
    ] = "report",
    stiction: Annotated[
        bool,
        option("Coulomb friction holds joints that rest; without it they creep.", "--stiction", show_default=False),
    ] = False,
    check: Annotated[
        bool,
        option("Exit with 1 where the run diverged, is doubtful or left limits.", "--check", show_default=False),
    ] = False,
    plant: Annotated[str | None, option("mujoco: simulate with MuJoCo instead, where joints stop.")] = None,
    ground: Annotated[float | None, option("Height in m of a ground plane; with --plant mujoco.")] = None,
    q: QOption = None,
    v: VOption = None,
    seed: Annotated[int | None, random_option("configuration")] = None,
    every: Annotated[int, option("Steps from one sample to the next.", min=1)] = 1,
    output: Annotated[Path | None, output_option("Save the trajectory: .npz, or as a table .csv or .parquet.")] = None,
    html: Annotated[Path | None, option("Write a page with an animation and plots.")] = None,
    video: Annotated[Path | None, option("Write the 3-D view as .mp4 (by ffmpeg) or .gif; needs no browser.")] = None,
) -> Iterator[Answer]:
    """Simulate a robot under a controller, or falling freely.

    Prints a summary, with the joints and forces that left their limits: a robot that falls freely moves on beyond them
    unless --limits stop holds it. --output saves every sample, --html and --video animate them. Ctrl-C stops the run
    and keeps its samples.

    The exit code is 0 after a run, with --check 1 where it says more than that it finished; 2 for an error; 130 after
    Ctrl-C.

    [dim]Examples:[/]

    \b
      dqdyn simulate two_link --q 0.3,0.2 --duration 5 --output fall.npz
      dqdyn simulate arm7 --controller waves --html waves.html --video waves.mp4
      dqdyn simulate arm7 --random 1 --limits stop --stiction
      dqdyn simulate arm7 --controller hold --efforts clip --check
      dqdyn simulate chain:4 --base free --plant mujoco --ground -0.5
    """
    q0, v0 = _state(robot, q, v, seed)
    if controller not in CONTROLLERS:
        raise unknown_name("controller", controller, CONTROLLERS)
    law = CONTROLLERS[controller](robot, q0)
    options: dict[str, Any] = {"integrator": integrator, "plant": plant, "efforts": efforts, "stiction": stiction}
    options["limits"] = _limits(limits, plant)
    if plant is not None:
        options["ground"] = ground
    if ground is not None and plant is None:
        raise Error("--ground needs --plant mujoco: the built-in integrators do not model contact.")
    if output is not None:  # a file that cannot be written is an error before the run, not after it
        checked_target(checked_path(output))
    if video is not None:
        checked_video(video)
    begin, stopped = time.perf_counter(), None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SimulationWarning)
        try:
            trajectory = run(robot, law, duration, dt, q0=q0, v0=v0, every=every, **options)
        except (Interrupted, SimulationError) as problem:
            stopped, trajectory = problem, problem.trajectory
    for warning in caught:
        is_limit = issubclass(warning.category, LimitWarning)
        warn(_left(trajectory) if is_limit else str(warning.message))
    data = summary(trajectory, time.perf_counter() - begin)
    if output is not None:
        data["output"] = trajectory.save(output)
    if html is not None and stopped is None:
        data["html"] = trajectory.to_html(html)
    if video is not None and stopped is None:
        data["video"] = trajectory.to_video(video)
    yield data, _drawn(data, trajectory)
    if isinstance(stopped, SimulationError):
        raise stopped
    if stopped is not None:
        raise typer.Exit(INTERRUPTED)
    if check and trajectory.status != "finished":
        raise typer.Exit(TOLD)


def summary(trajectory: Trajectory, seconds: float) -> dict[str, Any]:
    """What happened, as plain data; SI units."""
    energy = trajectory.energy
    extremes = {"speed": trajectory.v, "force": trajectory.tau, "residual": trajectory.residual}
    return {
        "robot": trajectory.robot.name,
        "status": trajectory.status,
        "finished": trajectory.finished,
        **trajectory.about,
        "samples": len(trajectory),
        "wall_time": seconds,
        **{name: getattr(trajectory, name)[-1] for name in ("time", "q", "v")},
        "energy_start": energy[0],
        "energy_end": energy[-1],
        **{f"largest_{name}": np.abs(values).max(initial=0.0) for name, values in extremes.items()},
    }


def _drawn(data: dict[str, Any], trajectory: Trajectory) -> Iterator[RenderableType]:
    status = BEYOND if trajectory.finished and trajectory.status != "finished" else trajectory.status
    yield f"[bold]{escape(data['robot'])}[/] moved for {number(data['time'])} s ({escape(status)})"
    rows = [
        ["samples", str(data["samples"])],
        ["wall time", f"{number(data['wall_time'])} s"],
        ["energy", f"{number(data['energy_start'])} J at the start, {number(data['energy_end'])} J at the end"],
        ["largest speed", f"{number(data['largest_speed'])} rad/s or m/s"],
        ["largest force", f"{number(data['largest_force'])} N m or N"],
    ]
    if trajectory.residual.shape[-1]:
        rows.append(["constraints", f"off by at most {number(data['largest_residual'])}"])
    rows += [[name, str(data[name])] for name in ("output", "html", "video") if name in data]
    yield table("", ["what", "value"], rows)
    if beyond := trajectory.about.get("beyond"):
        yield table(
            "Beyond limits",
            ["limit of", "joint", "limit", "worst", "at", "first left", "samples"],
            [
                [
                    row["kind"],
                    escape(row["joint"]),
                    f"{number(row['limit'])} {row['unit']}",
                    f"{number(row['value'])} {row['unit']}",
                    f"{number(row['worst'])} s",
                    f"{number(row['time'])} s",
                    str(row["samples"]),
                ]
                for row in beyond
            ],
        )
    if clipped := trajectory.about.get("clipped"):
        yield table(
            "Clipped forces",
            ["joint", "first at", "samples"],
            [[escape(row["joint"]), f"{number(row['time'])} s", str(row["samples"])] for row in clipped],
        )


def _limits(limits: str | None, plant: str | None) -> bool | None:
    """The option ``limits`` of a simulation."""
    if limits is not None and limits not in LIMITS:
        raise unknown_name("treatment of limits", limits, LIMITS)
    if limits == "report" and plant is not None:
        raise Error("with --plant mujoco joints stop at their limits: leave out --limits, or say --limits ignore.")
    return None if limits is None else LIMITS[limits]


def _left(trajectory: Trajectory) -> str:
    """That limits were left, and which options help."""
    kinds = {row["kind"] for row in trajectory.about["beyond"]}
    stops = "the end stops gave way" if has_stops(trajectory.about) else "--limits stop adds end stops"
    ways = {"position": stops, "effort": "--efforts clip bounds the forces"}
    helps = [way for kind, way in ways.items() if kind in kinds] or ["--limits ignore leaves it unsaid"]
    joints = ", ".join(dict.fromkeys(row["joint"] for row in trajectory.about["beyond"]))
    return f"limits were left by {joints}: {', '.join(helps)}."


def _state(robot: Robot, q: str | None, v: str | None, seed: int | None) -> tuple[Array, Array]:
    """What was given, as it is; without a q, brought onto the constraints."""
    (given_q,), (given_v,) = state_of(robot, seed, q=q), state_of(robot, None, v=v)
    return (given_q, given_v) if q is not None or not robot.constraints else robot.project(given_q, given_v)
