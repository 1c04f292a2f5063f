"""What a robot in other coordinates compiles, and the checks in front of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.coordinates.joint_coordinates import JointCoordinates
from dqdyn.coordinates.tree import TreeCoordinates
from dqdyn.robot.coordinate_checks import check_rates, check_regular, check_state, is_healthy
from dqdyn.robot.coordinate_functions import FUNCTIONS
from dqdyn.robot.made_once import MadeOnce
from dqdyn.robot.state import as_state

if TYPE_CHECKING:
    from dqdyn.robot.robot import Robot

_SHOWN = {"q": "coordinates", "qd": "rates", "qdd": "accelerations", "tau": "forces"}
"""How the door names inputs that differ from those of the robot itself."""


class CoordinateBindings:
    """A robot and coordinates of its joints, with the functions that have been asked for, each compiled once."""

    def __init__(self, robot: Robot, choices: Mapping[str, JointCoordinates]) -> None:
        self.robot = robot
        self.coordinates: dict[str, JointCoordinates] = dict(choices)
        self._tree = TreeCoordinates(robot.model, self.coordinates)
        self._functions: MadeOnce[Function] = MadeOnce()

    @property
    def nq(self) -> int:
        """Number of coordinates, and of rates."""
        return self._tree.n

    def _run(
        self,
        name: str,
        inputs: tuple[Any, ...],
        *,
        options: tuple[Any, ...] = (),
        regular: bool = False,
        check: bool = True,
    ) -> np.ndarray:
        """A function of the state with q first, and q̇ second where it is wanted; its coordinates are checked."""
        if check:
            with_rates = len(inputs) > 1 and FUNCTIONS[name].inputs[1] == "qd"
            self._check(inputs[: 2 if with_rates else 1], regular)
        return self._call(name, inputs, check, options)

    def _check(self, state: tuple[Any, ...], regular: bool) -> None:
        health = self._call("health" if len(state) == 1 else "health_with_rates", state)
        if health.dtype == object or is_healthy(self._tree, health):
            return
        q = self._door("q", state[0])
        check_state(self._tree, q)
        if regular:
            check_regular(self._tree, q)
        if len(state) > 1:
            check_rates(self._tree, self._call("constraint_matrix", (q,)), self._door("qd", state[1]))

    def _call(
        self, name: str, inputs: tuple[Any, ...], check: bool = True, options: tuple[Any, ...] = ()
    ) -> np.ndarray:
        function = self._function(name, options).fast
        found: np.ndarray = function(*inputs) if check else function(*inputs, check=False)
        return found

    def _function(self, name: str, options: tuple[Any, ...]) -> Function:
        return self._functions.get((name, options), lambda: self._compiled(name, options))

    def _compiled(self, name: str, options: tuple[Any, ...]) -> Function:
        chosen = FUNCTIONS[name]
        contacts = options[0] if chosen.options else ()
        inputs = [(i, self._size(i)) for i in chosen.inputs]
        if contacts and name != "point_jacobian":
            inputs.append(("contact_forces", 3 * len(contacts)))
        programs = [trace(name, inputs, form) for form in chosen.forms(self._tree, *options)]
        program = min(programs, key=lambda p: p.counts.total)

        def door(argument: int, value: Any, check: bool) -> np.ndarray:
            name, size = program.inputs[argument]
            return as_state(self.robot.model, _SHOWN.get(name, name), value, check, size=size)

        return Function(program, door, summary=chosen.summary)

    def _size(self, name: str) -> int:
        sizes = {"own_q": self.robot.nq, "v": self.robot.nv, "a": self.robot.nv, "own_tau": self.robot.nv}
        return sizes.get(name, self.nq)

    def _door(self, name: str, value: Any) -> np.ndarray:
        return as_state(self.robot.model, _SHOWN[name], value, size=self._size(name))
