"""What a robot in quasi-velocities compiles, and what is looked at before it computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.dynamics.formulations.speeds import speeds_from
from dqdyn.dynamics.massless_joints import is_regular
from dqdyn.errors import Error, unknown_name
from dqdyn.quasi_velocities.equations import QuasiVelocities
from dqdyn.robot import speed_checks as checks
from dqdyn.robot.bound import unit_quaternions
from dqdyn.robot.made_once import MadeOnce
from dqdyn.robot.speed_functions import CHECKS, FUNCTIONS, SpeedFunction
from dqdyn.robot.state import SIZES, as_input, as_state

if TYPE_CHECKING:
    from dqdyn.robot.robot import Robot

Verify = Callable[[list[np.ndarray]], None]


class SpeedBindings:
    """A robot and quasi-velocities, with the functions that have been asked for, each compiled once."""

    def __init__(self, robot: Robot, B: Any = None, Y: Any = None) -> None:
        if (B is None) == (Y is None):
            raise Error("in_speeds takes one of B, with v = B(q) u, and Y, with u = Y(q) v.")
        timed = next((c.name for c in robot.constraints if c.timed), None)
        if timed is not None:
            raise Error(
                f"the constraint {timed!r} of {robot.name!r} depends on the time, and v = B(q) u does not: use "
                "robot.forward_dynamics, or without_constraints() first.",
                constraint=timed,
            )
        self.robot = robot
        self._given, self._name = (B, "B") if Y is None else (Y, "Y")
        matrix, self._entries = checks.as_matrix(robot.model, self._name, self._given)
        size = len(self._entries.outputs) // robot.nv
        self._speeds = QuasiVelocities(
            robot.model, *((matrix, size) if Y is None else (speeds_from(matrix), size, matrix))
        )
        self._functions: MadeOnce[Function] = MadeOnce()
        if checks.is_constant(self._entries):
            checks.check_independent(robot.model, self._name, self._check("independence", robot.neutral()))

    @property
    def m(self) -> int:
        """Number of quasi-velocities."""
        return self._speeds.size

    def _run(
        self, name: str, inputs: tuple[Any, ...], options: tuple[Any, ...], out: np.ndarray | None, check: bool
    ) -> np.ndarray:
        function = self._function(name, options)
        batch = any(isinstance(x, np.ndarray) and x.ndim > 1 for x in inputs)
        chosen: Callable[..., np.ndarray] = function if batch else function.fast
        if check:  # the built-in is quickest without names of arguments
            return chosen(*inputs) if out is None else chosen(*inputs, out=out)
        return chosen(*inputs, out=out, check=False)

    def _function(self, name: str, options: tuple[Any, ...] = ()) -> Function:
        return self._functions.get((name, options), lambda: self._compiled(name, options))

    def _compiled(self, name: str, options: tuple[Any, ...]) -> Function:
        if name not in FUNCTIONS and name not in CHECKS:
            raise unknown_name("function in quasi-velocities", name, FUNCTIONS)
        chosen = FUNCTIONS[name] if name in FUNCTIONS else CHECKS[name]
        model, names = self.robot.model, chosen.inputs
        if options and "wrench_frames" in chosen.options and options[0]:
            names = (*names, "wrenches")
        inputs = [(i, self._size(i, options)) for i in names]
        program = trace(name, inputs, lambda *given: chosen.entries(self._speeds, options, given))

        def door(argument: int, value: Any, check: bool) -> np.ndarray:
            name, size = program.inputs[argument]
            if name in SIZES:
                return as_input(model, name, size, value, check)
            return as_state(model, name, value, check, size=size)

        verify = self._verify(name, chosen) if name in FUNCTIONS else None
        return Function(program, door, unit_quaternions(model, names), chosen.summary, verify=verify)

    def _size(self, name: str, options: tuple[Any, ...]) -> int:
        if name == "wrenches":
            return 6 * len(options[0])
        return int(getattr(self.robot, SIZES[name])) if name in SIZES else self.m

    def _check(self, name: str, *inputs: np.ndarray) -> np.ndarray:
        function = self._function(name)
        found: np.ndarray = function(*inputs, check=False) if inputs[0].ndim > 1 else function.fast(*inputs)
        return found

    def _verify(self, name: str, chosen: SpeedFunction) -> Verify | None:
        """What has to be looked at before the function computes; None where nothing can go wrong."""
        model, given = self.robot.model, self._name
        looks: list[Verify] = []
        if checks.may_be_infinite(self._entries):
            entries = Function(self._entries)
            looks.append(lambda x: checks.check_finite(model, given, entries(x[0], check=False)))
        inverts = given == "Y" and name != "speeds"
        if (inverts or (given == "B" and chosen.divides)) and not checks.is_constant(self._entries):
            looks.append(lambda x: checks.check_independent(model, given, self._check("independence", x[0])))
        if chosen.divides == "M" and not is_regular(model):
            looks.append(lambda x: checks.check_inertia(model, self._check("pivots", x[0])))
        if model.constraints:
            rows = self.robot.constraint_rows
            looks.append(lambda x: checks.check_admitted(model, self._check("drift", x[0]), rows))
        if name == "speeds" and self.m < self.robot.nv:
            looks.append(lambda x: checks.check_reached(model, x[1], self._check("missed", *x)))
        if not looks:
            return None

        def verify(arrays: list[np.ndarray]) -> None:
            for look in looks:
                look(arrays)

        return verify
