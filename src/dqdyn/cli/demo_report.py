"""The report page of ``dqdyn demo``."""

from __future__ import annotations

from typing import Any

from dqdyn.cli.commands.bench import speed_cells, speed_table
from dqdyn.cli.dynamics_tables import agreement, vectors
from dqdyn.cli.screen import number
from dqdyn.cli.timing import machine
from dqdyn.robot import Robot
from dqdyn.simulate import Trajectory
from dqdyn.view.report import Report
from dqdyn.view.series import Panel, panels_of


def report_of(robot: Robot, data: dict[str, Any], run: Trajectory) -> Report:
    """The numbers of the demo, section by section."""
    facts = [f"nq = {robot.nq}, nv = {robot.nv}", f"{robot.base} base", f"{robot.mass:.4g} kg"]
    report = Report(f"{robot.name}: from equation to motion", facts)
    _summary(report, data)
    _equation(report, robot, data)
    _agreement(report, data)
    _speed(report, data)
    _motion(report, data, run)
    return report


def _summary(report: Report, data: dict[str, Any]) -> None:
    motion, worst = data["motion"], max(row["relative"] for row in data["agreement"])
    single, batched = speed_cells(data["speed"][0])[2::3]
    report.section("At a glance").numbers(
        {
            f"largest difference of {len(data['agreement'])} formulations": f"{worst:.0e}",
            "compiled against NumPy, one state": single,
            f"the same, batch of {data['batch']}": batched,
            "arm error at the end": f"{motion['arm_error_end']:.0e} rad",
            "largest slip of the wheels": f"{motion['slip_largest']:.0e} m/s",
        }
    )
    report.link("The animation of this motion", data["files"]["animation"].name)


def _equation(report: Report, robot: Robot, data: dict[str, Any]) -> None:
    equation = data["equation"]
    report.section("Equation of motion").text(
        f"M a + C v + g = τ + Aᵀλ with A a = b, {data['time']:g} s into the wanted motion. The platform moves in x, y "
        "and φ; its wheels do not slip sideways: that is the row of A, and leaves eight degrees of freedom of nine."
    )
    report.table(**vars(vectors(robot, equation)))
    titles = {"mass": "Mass matrix M", "coriolis": "Coriolis matrix C", "constraint": "Constraint A"}
    for key, title in titles.items():
        report.matrix(title, equation[f"{key}_matrix"])
    report.text(f"b = {', '.join(number(b) for b in equation['constraint_bias'])}")


def _agreement(report: Report, data: dict[str, Any]) -> None:
    report.section("All formulations agree").text(
        f"Each formulation, run as written, against the compiled program at {data['states']} random states: the "
        "largest difference, relative to the largest number of the result."
    )
    report.table(**vars(agreement(data["agreement"], "")))


def _speed(report: Report, data: dict[str, Any]) -> None:
    facts = machine()
    report.section("Speed").text(
        "Time per state of the compiled code, and of the same program run operation by operation on NumPy arrays: for "
        f"one state, and for each of a batch of {data['batch']}, on one thread. "
        f"Measured on {facts['cores']} cores of {facts['processor']}, Python {facts['python']}."
    )
    report.table(**vars(speed_table(data["speed"], data["batch"])))


def _motion(report: Report, data: dict[str, Any], run: Trajectory) -> None:
    motion = data["motion"]
    report.section("Computed torque").text(
        f"The platform drives a figure eight from rest to rest in {motion['duration']:g} s while the arm swings; the "
        f"arm starts up to {motion['arm_error_start']:.2g} rad aside. The sideways part of the computed force is left "
        f"out: no wheel can give it, and the ground does. Forces hold for {1e3 * motion['dt']:g} ms; what is left of "
        "the errors comes from that."
    )
    report.curves(_panels(run), run.time)


def _panels(run: Trajectory) -> list[Panel]:
    """Errors first, then the run; the residual of the wheels speaks in the summary."""
    arm, platform = run.extra.values()
    joints = [joint.name for joint in run.robot.joints[1:]]
    errors = [
        Panel("arm error", "rad", dict(zip(joints, arm.T, strict=True))),
        Panel("platform error", "m and rad", dict(zip(("x", "y", "φ"), platform.T, strict=True))),
    ]
    wanted = ("positions", "velocities", "joint efforts", "energy")
    return errors + [panel for panel in panels_of(run) if panel.title in wanted]
