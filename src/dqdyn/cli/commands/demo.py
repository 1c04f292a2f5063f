"""``dqdyn demo``: a robot from its equation of motion to its animation, in half a minute."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import RenderableType

from dqdyn.cli.command import Answer, command
from dqdyn.cli.commands.bench import BATCH, FUNCTIONS, function_speed, random_state, speed_cells, speed_table
from dqdyn.cli.commands.dynamics import deviations, dynamics_of
from dqdyn.cli.commands.info import headline
from dqdyn.cli.demo_motion import DT, drive, markers_of, reference
from dqdyn.cli.demo_report import report_of
from dqdyn.cli.dynamics_tables import agreement, constraint_table, matrix_table, vectors
from dqdyn.cli.facts import facts_of
from dqdyn.cli.options import output_option
from dqdyn.cli.robot_argument import robot_of
from dqdyn.cli.screen import Steps, attributes, escape, indented, mark, number, width
from dqdyn.errors import FormatError
from dqdyn.robot import Robot
from dqdyn.simulate import Trajectory

ROBOT, FOLDER = "nonholonomic_manipulator", "dqdyn-demo"
STATES = 10
AGREEMENT, SLIP, ERROR = 1e-9, 1e-10, 1e-3  # relative; m/s; rad and m with forces that hold for DT
_SLIP_ORDER = 4  # of the integrator: slip grows with this power of the step
SLOW_DT = 0.01  # s, on NumPy
WIDE, NARROW = 116, 5  # columns of a terminal that hold all of M; rows and columns of M otherwise
SHOWN_TIME = 4.0  # s on the wanted motion, where the equation is printed


@command("Explore")
def demo(
    output: Annotated[Path, output_option(f"The folder to write to; default: {FOLDER}.")] = Path(FOLDER),
) -> Iterator[Answer]:
    """Take a mobile manipulator from its equation of motion to its animation, in half a minute.

    Prints the equation in numbers, compares all formulations, times compiled code against NumPy, drives the robot by
    computed torque, and writes an animation and a report as pages for the browser.

    [dim]Examples:[/]

    \b
      dqdyn demo
      dqdyn demo --output /tmp/demo
      dqdyn demo --json
    """
    begin = time.perf_counter()
    folder = _folder(output)
    robot = robot_of(ROBOT)
    with Steps(6) as steps:
        data = demo_of(robot, folder, steps)
    data["seconds"] = time.perf_counter() - begin
    yield data, _drawn(robot, data)
    if not all(check["passed"] for check in data["checks"]):
        raise typer.Exit(1)


def demo_of(robot: Robot, folder: Path, steps: Steps) -> dict[str, Any]:
    """Compute, simulate and write everything; plain data in SI units."""
    steps.at("the equation of motion")
    data: dict[str, Any] = {"robot": robot.name, "time": SHOWN_TIME}
    data["equation"] = dynamics_of(robot, *(np.array(x) for x in reference(SHOWN_TIME)))
    steps.at(f"{STATES} states by all formulations")
    data |= {"states": STATES, "agreement": agreement_of(robot)}
    steps.at("compiled code against NumPy")
    state = random_state(robot)
    data |= {"batch": BATCH, "speed": [function_speed(robot, name, state, 0.3) for name in FUNCTIONS]}
    steps.at("a drive by computed torque")
    begin = time.perf_counter()
    run = drive(robot, DT if _is_compiled(data) else SLOW_DT)
    data["motion"] = motion_of(run, time.perf_counter() - begin)
    data["checks"] = checks_of(data)
    steps.at("the animation")
    names = {"animation": "animation.html", "report": "report.html", "trajectory": "run.npz"}
    data["files"] = files = {what: folder.resolve() / name for what, name in names.items()}
    run.save(files["trajectory"])
    run.to_html(files["animation"], markers=markers_of(run), title=f"{robot.name}: a figure eight by computed torque")
    steps.at("the report")
    report_of(robot, data, run).write(files["report"])
    return data


def agreement_of(robot: Robot) -> list[dict[str, Any]]:
    """The largest relative difference of every formulation from the compiled one, over random states."""
    rng = np.random.default_rng(1)
    worst: dict[tuple[str, str], float] = {}
    for _ in range(STATES):
        q, v = robot.project(robot.random_configuration(rng), rng.normal(size=robot.nv))
        a = rng.normal(size=robot.nv)
        for row in deviations(robot, q, v, a, robot.inverse_dynamics(q, v, a), robot.mass_matrix(q)):
            key = row["function"], row["method"]
            worst[key] = max(worst.get(key, 0.0), row["relative"])
    return [{"function": f, "method": m, "relative": relative} for (f, m), relative in worst.items()]


def motion_of(run: Trajectory, seconds: float) -> dict[str, Any]:
    """What happened in the run."""
    arm, platform = (np.abs(x) for x in run.extra.values())
    return {
        **attributes(run, "duration", "status"),
        "dt": run.about["dt"],
        "wall_time": seconds,
        "arm_error_start": arm[0].max(),
        "arm_error_end": arm[-1].max(),
        "platform_error_largest": platform.max(),
        "slip_largest": np.abs(run.residual).max(),
        "force_largest": np.hypot(run.tau[:, 0], run.tau[:, 1]).max(),
        "speed_largest": np.hypot(run.v[:, 0], run.v[:, 1]).max(),
    }


def checks_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    """What the demo promises, each with whether it held."""
    worst = max(row["relative"] for row in data["agreement"])
    first, motion = data["speed"][0], data["motion"]
    one, each = speed_cells(first)[2::3]
    error = max(motion["arm_error_end"], motion["platform_error_largest"])
    fast = f"Inverse dynamics, compiled: {one} as fast as on NumPy, {each} in batches."
    if not _is_compiled(data):
        fast = "Native code is unavailable here: functions run on NumPy."
    slip, step = motion["slip_largest"], motion["dt"] / DT
    accurate = error < ERROR * step and slip < SLIP * step**_SLIP_ORDER and motion["status"].startswith("finished")
    span = f"{number(motion['duration'])} s of motion in {motion['wall_time']:.1f} s"
    checks = {
        f"{len(data['agreement'])} formulations agree to {worst:.0e} of their results.": worst < AGREEMENT,
        fast: True,
        f"{span}: error {error:.0e} rad or m, wheel slip {slip:.0e} m/s.": accurate,
    }
    return [{"check": text, "passed": bool(passed)} for text, passed in checks.items()]


def _is_compiled(data: dict[str, Any]) -> bool:
    """Whether there is native code; without it, what is called compiled runs on NumPy too."""
    first = data["speed"][0]
    return bool(first["numpy"] > 2.0 * first["native"])


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        text = f"the folder {str(path)!r} cannot be created ({problem.strerror}): choose another with --output."
        raise FormatError(text, path=str(path)) from None
    return path


# --- for people -------------------------------------------------------------------------------------------------------


def _drawn(robot: Robot, data: dict[str, Any]) -> Iterator[RenderableType]:
    equation = data["equation"]
    yield headline(facts_of(robot))
    yield f"Its equation of motion, [bold]M a + C v + g = τ + Aᵀλ[/] with [bold]A a = b[/], at {data['time']:g} s:\n"
    yield indented(vectors(robot, equation))
    places, shown = [str(k) for k in range(robot.nv)], robot.nv if width() >= WIDE else NARROW
    yield indented(matrix_table("M, mass matrix", places, equation["mass_matrix"], shown))
    yield indented(matrix_table("C, Coriolis matrix", places, equation["coriolis_matrix"], shown))
    yield indented(constraint_table(robot, equation))
    yield indented(agreement(data["agreement"], f"All formulations at {data['states']} states"))
    yield indented(speed_table(data["speed"], data["batch"]))
    for check in data["checks"]:
        yield f"{mark(check['passed'])} {escape(check['check'])}"
    yield f"\nDone in {data['seconds']:.1f} s. Open in a browser:"
    for name in ("animation", "report"):
        yield f"  {name:10} [bold]{escape(str(data['files'][name]))}[/]"
    yield f"\nNext: [bold]dqdyn info {escape(robot.name)}[/], [bold]dqdyn robots[/], [bold]dqdyn --help[/]."
