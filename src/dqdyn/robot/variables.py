"""The variables in which a state is given: sizes of inputs, their conversion, and what a function requires."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dqdyn.compile.trace.program import Program
from dqdyn.dynamics.open_placements import POSE
from dqdyn.dynamics.parameters import PARAMETERS
from dqdyn.errors import Error
from dqdyn.kinematics import attached
from dqdyn.kinematics.pose_error import GOAL_SIZE
from dqdyn.model.model import Model
from dqdyn.robot.inertia_checks import InertiaChecks, RegularStates
from dqdyn.robot.options import Options
from dqdyn.robot.parameter_checks import ParameterChecks
from dqdyn.robot.robot_function import TIMES, RobotFunction
from dqdyn.robot.state import SIZES, as_input

FIXED_SIZES: Mapping[str, int] = {**dict.fromkeys(TIMES, 1), **attached.SIZE, "goal": GOAL_SIZE, "wrench": 6}
"""Length of the inputs that have the same on every robot."""
Verify = Callable[[list[np.ndarray]], None]
"""Raises where a function has no answer at a state, given its inputs as arrays."""


class Variables:
    """The robot's own q and v. Other coordinates and quasi-velocities derive from this class."""

    def __init__(self, model: Model, functions: Mapping[str, RobotFunction], native: bool | None = None) -> None:
        self.model, self.functions, self.native = model, functions, native
        self.inertia = InertiaChecks(model, native)

    @property
    def subject(self) -> Any:
        """The first argument of every algorithm."""
        return self.model

    @property
    def recipe(self) -> tuple[Any, ...]:
        """What the class of robots in these variables is called with: it travels to other processes."""
        return (self.model,)

    def size(self, name: str, options: Options) -> int:
        """Length of an input."""
        if name == "wrenches":
            return 6 * len(options.wrench_frames)
        if name in options.parameters:
            return PARAMETERS[name](self.model)
        if name == "contact_forces":
            return 3 * len(options.contacts)
        return int(getattr(self.model, SIZES[name])) if name in SIZES else FIXED_SIZES[name]

    def read(self, program: Program, argument: int, value: Any, check: bool) -> np.ndarray:
        """An input of a program as an array of shape (..., size)."""
        return as_input(self.model, *program.inputs[argument], value, check)

    def unit_quaternions(self, names: Sequence[str]) -> list[tuple[int, int]]:
        """(argument, start) of every unit quaternion in the inputs."""
        placed = [(argument, start) for argument, name in enumerate(names) for start in self._starts(name)]
        return placed + [
            (argument, joint.q.start + joint.motion.quaternion.start)
            for argument, name in enumerate(names)
            if name in ("q", "q1")
            for joint in self.model.joints
            if joint.motion.quaternion is not None
        ]

    def _starts(self, name: str) -> range:
        """Where poses among the inputs have their quaternions."""
        count = {"goal": 1, "joint_poses": len(self.model.joints)}.get(name, 0)
        return range(0, POSE * count, POSE)

    def require(self, function: RobotFunction, options: Options) -> Verify | None:
        """An error where the robot cannot have the function; else what every state must fulfil, if anything."""
        if function.requires is not None:
            function.requires(function, self.model, options)
        divides = function.divides == "M"
        weighs = function.name.startswith(("center_of_mass", "centroidal"))
        checks = ParameterChecks(self.model, function.all_inputs(options), divides, self.native, weighs)
        if checks.needed:
            return checks
        if not divides:
            return None
        self.inertia.require_inertia()
        self.require_time(function, options)
        return None if self.inertia.is_regular else RegularStates(self.inertia)

    def require_time(self, function: RobotFunction, options: Options) -> None:
        """An error where a constraint depends on a time that the function does not take."""
        timed = next((c.name for c in self.model.constraints if c.timed), None)
        if timed is not None and not options.time:
            remedy = "pass time=True" if "time" in function.options else "use robot.forward_dynamics(q, v, tau, t=...)"
            needs = f"{function.name} of {self.model.name!r} needs the time, on which its constraint {timed!r} depends"
            raise Error(f"{needs}: {remedy}.", constraint=timed)

    def times(self, names: Sequence[str]) -> list[int]:
        """Arguments that may be given as plain numbers."""
        return [argument for argument, name in enumerate(names) if name in TIMES]
