"""The variables of a robot in quasi-velocities: u and u̇ beside q, and what must hold before anything is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.program import Program
from dqdyn.dynamics.formulations.speeds import Speeds, speeds_from
from dqdyn.dynamics.massless_joints import is_regular
from dqdyn.errors import Error
from dqdyn.quasi_velocities.equations import QuasiVelocities
from dqdyn.robot import speed_checks as checks
from dqdyn.robot.functions.quasi_velocities import CHECKS, QUASI_VELOCITIES
from dqdyn.robot.options import Options
from dqdyn.robot.robot_function import RobotFunction
from dqdyn.robot.state import SIZES, as_state
from dqdyn.robot.variables import Variables, Verify

if TYPE_CHECKING:
    from dqdyn.robot.robot import Robot

Evaluate = Callable[..., np.ndarray]
"""``evaluate(name, *inputs)`` computes one of the functions of a robot in quasi-velocities."""


class SpeedVariables(Variables):
    """v = B(q) u."""

    def __init__(self, robot: Robot, B: Speeds | None = None, Y: Speeds | None = None) -> None:
        if (B is None) == (Y is None):
            raise Error("in_speeds takes one of B, with v = B(q) u, and Y, with u = Y(q) v.")
        timed = next((c.name for c in robot.constraints if c.timed), None)
        if timed is not None:
            raise Error(
                f"the constraint {timed!r} of {robot.name!r} depends on the time, and v = B(q) u does not: use "
                "robot.forward_dynamics, or without_constraints() first.",
                constraint=timed,
            )
        super().__init__(robot.model, {**QUASI_VELOCITIES, **CHECKS})
        self.robot, self._given = robot, (robot, B, Y)
        given, self.matrix_name = (B, "B") if Y is None else (Y, "Y")
        matrix, self.entries = checks.as_matrix(robot.model, self.matrix_name, given)
        size = len(self.entries.outputs) // robot.nv
        self.speeds = QuasiVelocities(
            robot.model, *((matrix, size) if Y is None else (speeds_from(matrix), size, matrix))
        )
        self.evaluate: Evaluate

    @property
    def recipe(self) -> tuple[Any, ...]:
        return self._given

    @property
    def subject(self) -> QuasiVelocities:
        return self.speeds

    def size(self, name: str, options: Options) -> int:
        if name in SIZES or name == "wrenches":
            return super().size(name, options)
        return self.speeds.size

    def read(self, program: Program, argument: int, value: Any, check: bool) -> np.ndarray:
        name, size = program.inputs[argument]
        return as_state(self.model, name, value, check, size=size)

    def require_independent(self) -> None:
        """An error where a constant B or Y is singular; others are checked at every state."""
        if checks.is_constant(self.entries):
            self._check_independent([self.robot.neutral()])

    def require(self, function: RobotFunction, options: Options) -> Verify | None:
        """All that must hold at a state before the function computes."""
        if function.name in CHECKS:
            return None
        conditions: list[Verify] = []
        if checks.may_be_infinite(self.entries):
            entries = Function(self.entries)
            conditions.append(lambda x: checks.check_finite(self.model, self.matrix_name, entries(x[0], check=False)))
        inverts = self.matrix_name == "Y" and function.name != "speeds"
        if (inverts or (self.matrix_name == "B" and function.divides)) and not checks.is_constant(self.entries):
            conditions.append(self._check_independent)
        if function.divides == "M" and not is_regular(self.model):
            conditions.append(lambda x: checks.check_inertia(self.model, self.evaluate("pivots", x[0])))
        if self.model.constraints:
            rows = self.robot.constraint_rows
            conditions.append(lambda x: checks.check_admitted(self.model, self.evaluate("drift", x[0]), rows))
        if function.name == "speeds" and self.speeds.size < self.model.nv:
            conditions.append(lambda x: checks.check_reached(self.model, x[1], self.evaluate("missed", *x)))
        if not conditions:
            return None

        def verify(arrays: list[np.ndarray]) -> None:
            for condition in conditions:
                condition(arrays)

        return verify

    def _check_independent(self, arrays: list[np.ndarray]) -> None:
        checks.check_independent(self.model, self.matrix_name, self.evaluate("independence", arrays[0]))
