"""The variables of a robot in other coordinates: q, q̇ and q̈, beside the robot's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dqdyn.compile.trace.program import Program
from dqdyn.coordinates.joint_coordinates import JointCoordinates
from dqdyn.coordinates.tree import TreeCoordinates
from dqdyn.model.model import Model
from dqdyn.robot.functions.coordinates import functions_of
from dqdyn.robot.options import Options
from dqdyn.robot.robot_function import TIMES, RobotFunction
from dqdyn.robot.state import as_input, as_state
from dqdyn.robot.variables import Variables, Verify

_OWN = {"own_q": "nq", "v": "nv", "a": "nv", "own_tau": "nv"}
_NAMES = {"q": "coordinates", "qd": "rates", "qdd": "accelerations", "tau": "forces"}
"""How messages name inputs that differ from those of the robot itself."""


class CoordinateVariables(Variables):
    """Every velocity is q̇."""

    def __init__(self, model: Model, choices: Mapping[str, JointCoordinates]) -> None:
        super().__init__(model, functions_of(model))
        self.choices = dict(choices)
        self.tree = TreeCoordinates(model, self.choices)

    @property
    def recipe(self) -> tuple[Any, ...]:
        from dqdyn.robot.robot import Robot

        return Robot(self.model), self.choices

    @property
    def subject(self) -> TreeCoordinates:
        return self.tree

    def size(self, name: str, options: Options) -> int:
        if name == "contact_forces" or name in TIMES:
            return super().size(name, options)
        return int(getattr(self.model, _OWN[name])) if name in _OWN else self.tree.n

    def read(self, program: Program, argument: int, value: Any, check: bool) -> np.ndarray:
        name, size = program.inputs[argument]
        if name in TIMES:
            return as_input(self.model, name, size, value, check)
        return as_state(self.model, _NAMES.get(name, name), value, check, size=size)

    def state(self, name: str, value: Any, check: bool = True) -> np.ndarray:
        """q or q̇ as a checked array."""
        return as_state(self.model, _NAMES[name], value, check, size=self.tree.n)

    def unit_quaternions(self, names: Sequence[str]) -> list[tuple[int, int]]:
        """None: the conditions of the coordinates are checked by the robot's methods."""
        return []

    def require(self, function: RobotFunction, options: Options) -> Verify | None:
        """An error for forward dynamics without the time on which a constraint depends; states are checked before."""
        if function.name == "forward_dynamics":
            self.require_time(function, options)
        return None
