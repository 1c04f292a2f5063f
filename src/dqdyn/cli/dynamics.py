"""``dqdyn dynamics``: M, C, g, forces and energies of a robot at a state, and how well all formulations agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import RenderableType
from rich.markup import escape

from dqdyn.cli.robot_argument import BaseOption, NoMimicOption, RobotArgument, StrictOption, robot_of
from dqdyn.cli.screen import JsonOption, count, emit, indented, number, table, warn
from dqdyn.dynamics import methods
from dqdyn.dynamics.singular import joint_without_inertia
from dqdyn.errors import StateError
from dqdyn.robot import Robot

SHOWN = 8  # rows and columns of a matrix that fit on a screen


def dynamics(
    source: RobotArgument,
    q: Annotated[str | None, typer.Option("--q", help="Configuration, as in 0.1,0.2; default: neutral.")] = None,
    v: Annotated[str | None, typer.Option("--v", help="Velocity, as in 0.1,0.2; default: 0.")] = None,
    a: Annotated[str | None, typer.Option("--a", help="Acceleration, as in 0.1,0.2; default: 0.")] = None,
    seed: Annotated[
        int | None, typer.Option("--random", metavar="SEED", min=0, help="A random state where none is given.")
    ] = None,
    base: BaseOption = None,
    no_mimic: NoMimicOption = False,
    strict: StrictOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the dynamics of a robot at a state: M a + C v + g = τ.

    Prints the mass and Coriolis matrices, the forces, the energies, and the largest deviation of every formulation.
    A list that begins with a minus is written as --v=-0.1,0.2.

    [dim]Examples:[/]

    \b
      dqdyn dynamics two_link --q 0.3,0.5 --v 0.1,0.2 --a 1,0
      dqdyn dynamics arm7 --random 1
      dqdyn dynamics humanoid --json
    """
    robot = robot_of(source, base=base, mimic=not no_mimic, strict=strict)
    for text in robot.warnings:
        warn(text)
    data = dynamics_of(robot, *_state(robot, q, v, a, seed))
    emit(data, lambda: _drawn(robot, data), as_json)


def dynamics_of(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, Any]:
    """Everything at a state, as plain data; SI units."""
    tau, mass = robot.inverse_dynamics(q, v, a), robot.mass_matrix(q)
    return {
        "robot": robot.name,
        "nq": robot.nq,
        "nv": robot.nv,
        "q": q.tolist(),
        "v": v.tolist(),
        "a": a.tolist(),
        "mass_matrix": mass.tolist(),
        "mass_matrix_eigenvalues": np.linalg.eigvalsh(mass).tolist(),
        "coriolis_matrix": robot.coriolis_matrix(q, v).tolist(),
        "gravity_forces": robot.gravity_forces(q).tolist(),
        "bias_forces": robot.bias_forces(q, v).tolist(),
        "inverse_dynamics": tau.tolist(),
        "kinetic_energy": float(robot.kinetic_energy(q, v)),
        "potential_energy": float(robot.potential_energy(q)),
        "deviations": deviations(robot, q, v, a, tau, mass),
    }


def deviations(
    robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray, mass: np.ndarray
) -> list[dict[str, Any]]:
    """Per formulation the largest deviation from the compiled result; run as written, on numbers, uncompiled.

    Forward dynamics returns the acceleration a; absent where M is singular. Units are those of the result.
    """
    state = (q.tolist(), v.tolist())
    result: list[dict[str, Any]] = []

    def add(function: str, method: str, found: Any, expected: np.ndarray) -> None:
        largest = float(np.abs(np.array(found, dtype=float) - expected).max()) if expected.size else 0.0
        result.append({"function": function, "method": method, "deviation": largest})

    for method, inverse in methods.INVERSE.items():
        add("inverse_dynamics", method, inverse(robot.model, *state, a.tolist(), None), tau)
    for method, matrix in methods.MASS_MATRIX.items():
        add("mass_matrix", method, matrix(robot.model, state[0]), mass)
    if joint_without_inertia(robot.model) is not None:
        return result
    mimics = any(joint.is_mimic for joint in robot.joints)
    for method, forward in methods.FORWARD.items():
        if not (mimics and method == "articulated-body"):  # mimic joints couple branches
            add("forward_dynamics", method, forward(robot.model, *state, tau.tolist(), None), a)
    return result


# --- the state --------------------------------------------------------------------------------------------------------


def _state(robot: Robot, *texts: Any) -> list[np.ndarray]:
    *given, seed = texts
    if seed is None:
        defaults = [robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)]
    else:
        rng = np.random.default_rng(seed)
        defaults = [robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)]
    return [
        default if text is None else _numbers(name, text, len(default))
        for name, text, default in zip("qva", given, defaults, strict=True)
    ]


def _numbers(name: str, text: str, size: int) -> np.ndarray:
    try:
        found = np.array([float(part) for part in text.split(",")] if text.strip() else [])
    except ValueError:
        raise StateError(
            f"--{name} {text!r} is not a list of numbers: write them as in 0.1,0.2.", option=name
        ) from None
    if len(found) != size:
        raise StateError(f"--{name} takes {count(size, 'number')}; found {len(found)}.", option=name, expected=size)
    return found


# --- for people -------------------------------------------------------------------------------------------------------


def _drawn(robot: Robot, data: dict[str, Any]) -> Iterator[RenderableType]:
    yield f"[bold cyan]{escape(robot.name)}[/]: nq = {robot.nq}, nv = {robot.nv}, {escape(robot.base)} base\n"
    yield indented(_vectors(robot, data))
    names = [name for _, name in _axes(robot)]
    if robot.nv > SHOWN:
        yield f"  Of M and C the first {SHOWN} of {robot.nv} rows and columns; all with [bold]--json[/].\n"
    yield indented(_matrix("M, mass matrix", names, data["mass_matrix"]))
    values = data["mass_matrix_eigenvalues"]
    if values:
        yield f"  eigenvalues of M from {number(values[0])} to {number(values[-1])}: {_list(values)}\n"
    yield indented(_matrix("C, Coriolis matrix", names, data["coriolis_matrix"]))
    kinetic, potential = data["kinetic_energy"], data["potential_energy"]
    total = number(kinetic + potential)
    yield f"  energy {total} J: {number(kinetic)} J kinetic, {number(potential)} J potential\n"
    yield indented(_agreement(data["deviations"]))


def _axes(robot: Robot) -> list[tuple[str, str]]:
    """(unit of the force, name) per velocity; mimic joints have none of their own."""
    result = []
    for joint in robot.joints:
        if joint.is_mimic:
            continue
        motion = joint.motion
        turning = motion.angular if motion.nq == motion.nv else (True, True, True, False, False, False)[: motion.nv]
        for k, angular in enumerate(turning):
            name = joint.name if motion.nv == 1 else f"{joint.name}[{k}]"
            result.append(("N m" if angular else "N", name))
    return result


def _vectors(robot: Robot, data: dict[str, Any]) -> RenderableType:
    columns = ("velocity of", "v", "a", "g", "bias", "τ", "unit")
    rows = [
        (name, *(number(data[key][k]) for key in ("v", "a", "gravity_forces", "bias_forces", "inverse_dynamics")), unit)
        for k, (unit, name) in enumerate(_axes(robot))
    ]
    return table("Forces: τ = M a + C v + g, with damping and friction", columns, rows, right=columns[1:6])


def _matrix(title: str, names: Sequence[str], rows: Sequence[Sequence[float]]) -> RenderableType:
    n = len(rows)
    shown = min(n, SHOWN)
    more = n > shown
    columns = ["", *(str(k) for k in range(shown)), *(["…"] if more else [])]
    drawn = [[names[i], *(number(x) for x in rows[i][:shown]), *(["…"] if more else [])] for i in range(shown)]
    return table(title, columns, drawn, right=columns[1:])


def _list(values: Sequence[float]) -> str:
    shown = ", ".join(number(x) for x in values[:SHOWN])
    return shown + (f", … ({len(values) - SHOWN} more)" if len(values) > SHOWN else "")


def _agreement(rows: Sequence[dict[str, Any]]) -> RenderableType:
    drawn = [(row["function"], row["method"], f"{row['deviation']:.1e}") for row in rows]
    columns = ("function", "method", "largest deviation")
    return table("Agreement with the compiled programs", columns, drawn, right=columns[2:])
