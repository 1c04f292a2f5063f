"""A controller of a robot in other coordinates: asked with q and q̇, it thinks in the robot's own q and v."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np

from dqdyn.arrays import Array, RealArray
from dqdyn.compile.runtime.array_memory import check_out
from dqdyn.control.core.controller import Controller
from dqdyn.control.core.errors import refused
from dqdyn.control.core.lemma import Activation
from dqdyn.control.core.policy import StepReport, unusable
from dqdyn.control.features.components import is_finite
from dqdyn.errors import Error, StateError
from dqdyn.robot import Robot
from dqdyn.robot.coordinates import RobotInCoordinates

C = TypeVar("C", bound=Controller)
AnyRobot = Robot | RobotInCoordinates
"""Whom a controller is made for."""


def require_robot(robot: Any) -> None:
    """An error if something other than a robot is given, such as a file name."""
    if not isinstance(robot, Robot):
        raise refused("A controller is made for a Robot, as dq.load(…) gives one", robot)


def own_robot(robot: Any) -> Robot:
    """The robot itself, whatever its coordinates; an error if it is none."""
    own: Robot = robot.robot if isinstance(robot, RobotInCoordinates) else robot
    require_robot(own)
    return own


def in_coordinates(robot: AnyRobot, controller: C) -> C:
    """The controller of ``own_robot(robot)`` as one of the robot; it has all that the given one has."""
    if not isinstance(robot, RobotInCoordinates):
        return controller
    return cast(C, ControllerInCoordinates(controller, robot))


class ControllerInCoordinates(Controller):
    """A function (t, q, q̇) → command of a robot in coordinates.

    The command is q̇ (nq) at the level of velocities and q̈ (nq) at that of accelerations. Torques are τ (nv) of the
    joints, as motors give them; ``robot.forces(q, τ)`` are their forces on q̇. What it reports is that of
    ``controller``, the one of the robot itself. Coordinates that break their conditions, or are in gimbal lock, count
    as NaN does: the policy decides.
    """

    def __init__(self, controller: Controller, robot: RobotInCoordinates) -> None:
        self.controller, self.robot = controller, robot
        self.level, self.model = controller.level, controller.model
        self._known: tuple[Array, Array] | None = None

    def __getattr__(self, name: str) -> Any:
        """Everything else is the inner controller's."""
        if name == "controller":  # not yet set, as while unpickling
            raise AttributeError(name)
        return getattr(self.controller, name)

    def reset(self) -> None:
        """As that of the controller."""
        self._known = None
        self.controller.reset()

    @property
    def report(self) -> StepReport:
        return self.controller.report

    @property
    def activations(self) -> tuple[Activation, ...]:
        return self.controller.activations

    def __call__(self, t: float, q: RealArray, v: RealArray | None = None, *, out: Array | None = None) -> Array:
        """The command at time t (s) for q and v = q̇ (nq,); at the level of velocities q̇ is the last command.

        ``out``, if given, gets the command and is returned.
        """
        if out is None:
            return self._step(t, q, v)
        check_out("a controller", out, (self.robot.nv if self.level == "torque" else self.robot.nq,))
        np.copyto(out, self._step(t, q, v))
        return out

    step = __call__

    def _step(self, t: float, q: RealArray, v: RealArray | None) -> Array:
        here = self._vector_of("q", q)
        if v is None and self.level != "velocity":
            raise Error(f"A controller by {self.level} needs q̇: call it with (t, q, q̇).", level=self.level)
        rate = None if v is None else self._vector_of("qd", v)
        problem = self._problem(here, rate)
        if problem:
            nothing = np.full(self.model.nq, np.nan), np.full(self.model.nv, np.nan)
            return self._told(self.controller._hold(t, *nothing, unusable(self.controller, t, problem)))
        own = self.robot.to_minimal(here, check=False)
        speed = None if rate is None else self.robot._run("velocity", (here, rate), check=False)
        self._known = here, np.zeros(self.robot.nq) if rate is None else rate
        return self._told(self.controller(t, own, speed))

    def _told(self, command: Array) -> Array:
        """The command in the coordinates, at the last state that was sound: at rest before there is one."""
        if self.level == "torque":
            return command
        if self._known is None:
            return np.zeros(self.robot.nq)
        q, rate = self._known
        if self.level == "velocity":
            return self.robot._run("rate", (q, command), check=False)
        v = self.robot._run("velocity", (q, rate), check=False)
        return self.robot._run("second_rate", (q, rate, v, command), check=False)

    def _vector_of(self, name: str, given: RealArray) -> Array:
        state = self.robot._variables.state(name, given, check=False)
        if state.shape != (self.robot.nq,) or state.dtype != np.float64:
            raise StateError(
                f"A controller takes one state of numbers at a time: {name} of {self.model.name!r} has shape "
                f"({self.robot.nq},); found {state.shape}.",
                argument=name,
                expected=(self.robot.nq,),
                found=state.shape,
            )
        return state

    def _problem(self, q: Array, rate: Array | None) -> str:
        """What is wrong with a state, in words, or ""."""
        for name, state in (("q", q), ("q̇", rate)):
            if state is not None and not is_finite(state):
                return f"{name} of the robot is not finite: {state}"
        try:
            self.robot._check((q,) if rate is None else (q, rate), regular=True)
        except StateError as problem:
            return str(problem).rstrip(".")
        return ""
