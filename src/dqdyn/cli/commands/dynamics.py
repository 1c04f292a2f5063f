"""``dqdyn dynamics``: M, C, g, forces and energies of a robot at a state, and how well all formulations agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
from rich.console import RenderableType

from dqdyn.arrays import Array
from dqdyn.cli.command import Answer, command
from dqdyn.cli.dynamics_tables import SHOWN, agreement, constraint_table, listed, matrix_table, vectors
from dqdyn.cli.options import AOption, QOption, VOption, random_option, state_of
from dqdyn.cli.screen import escape, indented, number
from dqdyn.constraints.forward import CONSTRAINED_FORWARD
from dqdyn.dynamics import methods
from dqdyn.errors import ModelError
from dqdyn.robot import Robot
from dqdyn.simulate.tables import columns

CONSTRAINED = ("udwadia-kalaba", "kane")  # compared with the compiled multipliers


@command("Compute")
def dynamics(
    robot: Robot,
    q: QOption = None,
    v: VOption = None,
    a: AOption = None,
    seed: Annotated[int | None, random_option("state")] = None,
) -> Iterator[Answer]:
    """Show the dynamics of a robot at a state: M a + C v + g = τ + Aᵀλ.

    Prints the mass and Coriolis matrices, the forces, the constraints A a = b if there are any, the energies, and the
    largest deviation of every formulation. A list that begins with a minus is written as --v=-0.1,0.2.

    [dim]Examples:[/]

    \b
      dqdyn dynamics two_link --q 0.3,0.5 --v 0.1,0.2 --a 1,0
      dqdyn dynamics arm7 --random 1
      dqdyn dynamics humanoid --json
    """
    data = dynamics_of(robot, *state_of(robot, seed, q=q, v=v, a=a))
    yield data, _drawn(robot, data)


def dynamics_of(robot: Robot, q: Array, v: Array, a: Array) -> dict[str, Any]:
    """Everything at a state, as plain data; SI units."""
    tau, mass = robot.inverse_dynamics(q, v, a), robot.mass_matrix(q)
    data = {"robot": robot.name, "nq": robot.nq, "nv": robot.nv, "q": q, "v": v, "a": a}
    data |= {
        "mass_matrix": mass,
        "mass_matrix_eigenvalues": np.linalg.eigvalsh(mass),
        "coriolis_matrix": robot.coriolis_matrix(q, v),
        "gravity_forces": robot.gravity_forces(q),
        "bias_forces": robot.bias_forces(q, v),
        "inverse_dynamics": tau,
        "kinetic_energy": robot.kinetic_energy(q, v),
        "potential_energy": robot.potential_energy(q),
    }
    if robot.constraints:  # A (m, nv) and b (m) of A a = b
        matrix, bias = robot.constraint_matrix(q, v), robot.constraint_bias(q, v)
        data |= {"constraint_rows": robot.constraint_rows, "constraint_matrix": matrix, "constraint_bias": bias}
    return data | {"deviations": deviations(robot, q, v, a, tau, mass)}


def deviations(robot: Robot, q: Array, v: Array, a: Array, tau: Array, mass: Array) -> list[dict[str, Any]]:
    """Per formulation the largest deviation from the compiled result; run as written, on numbers, uncompiled.

    Forward dynamics returns the acceleration a; absent where M is singular. Under constraints, "constrained" forward
    dynamics is compared with its compiled form. Units are those of the result; "relative" is the deviation by the
    largest number of the result, None where that is zero or nothing but rounding.
    """
    state = (q.tolist(), v.tolist())
    result: list[dict[str, Any]] = []

    def add(function: str, method: str, values: Any, expected: Array) -> None:
        largest = float(np.abs(np.array(values, dtype=float) - expected).max(initial=0.0))
        size = float(np.abs(expected).max(initial=0.0))
        relative = largest / size if size > 1e-9 else None
        result.append({"function": function, "method": method, "deviation": largest, "relative": relative})

    for method, inverse in methods.INVERSE.items():
        add("inverse_dynamics", method, inverse(robot.model, *state, a.tolist(), None), tau)
    for method, matrix in methods.MASS_MATRIX.items():
        add("mass_matrix", method, matrix(robot.model, state[0]), mass)
    try:
        robot.require_regular(q)
    except ModelError:
        return result
    mimics = any(joint.is_mimic for joint in robot.joints)
    for method, forward in methods.FORWARD.items():
        if not (mimics and method == "articulated-body"):  # mimic joints couple branches
            add("forward_dynamics", method, forward(robot.model, *state, tau.tolist(), None), a)
    if robot.constraints:
        obeying = robot.forward_dynamics(q, v, tau)
        for method in CONSTRAINED:
            values = CONSTRAINED_FORWARD[method](robot.model, *state, tau.tolist())
            add("constrained forward_dynamics", method, values, obeying)
    return result


# --- for people -------------------------------------------------------------------------------------------------------


def _drawn(robot: Robot, data: dict[str, Any]) -> Iterator[RenderableType]:
    yield f"[bold cyan]{escape(robot.name)}[/]: nq = {robot.nq}, nv = {robot.nv}, {escape(robot.base)} base\n"
    yield indented(vectors(robot, data))
    names = [name for name, _ in columns(robot.model, "tau")]
    if robot.nv > SHOWN:
        yield f"  Of M and C the first {SHOWN} of {robot.nv} rows and columns; all with [bold]--json[/].\n"
    yield indented(matrix_table("M, mass matrix", names, data["mass_matrix"]))
    values = data["mass_matrix_eigenvalues"]
    if len(values):
        yield f"  eigenvalues of M from {number(values[0])} to {number(values[-1])}: {listed(values)}\n"
    yield indented(matrix_table("C, Coriolis matrix", names, data["coriolis_matrix"]))
    if robot.constraints:
        yield indented(constraint_table(robot, data))
    kinetic, potential = data["kinetic_energy"], data["potential_energy"]
    parts = f"{number(kinetic)} J kinetic, {number(potential)} J potential"
    yield f"  energy {number(kinetic + potential)} J: {parts}\n"
    yield indented(agreement(data["deviations"]))
