"""Simulation of a robot in other coordinates: it moves in its own q and v, and is asked and told in q and q̇.

The integrators step on the group of rotations, so conditions never drift and gimbal lock is passed; the coordinates are
computed from the result. What controllers and events see is q and q̇ in the coordinates. Torques are those of the
joints, τ (nv), as for the robot itself, for that is what motors give; commands at the levels of velocity and
acceleration are q̇ and q̈ (nq).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.arrays import Array, RealArray
from dqdyn.errors import Error
from dqdyn.robot import Robot
from dqdyn.robot.control_law import ControlLaw
from dqdyn.robot.coordinate_branches import continued, unwrapped
from dqdyn.robot.coordinates import RobotInCoordinates
from dqdyn.simulate.faults import SimulationError


class CoordinatePath(NamedTuple):
    """Coordinates q, q̇ and q̈ (n, ..., nq) at the samples of a trajectory."""

    q: Array
    qd: Array
    qdd: Array


def path(robot: RobotInCoordinates, q: Array, v: Array, a: Array) -> CoordinatePath:
    """The robot's own q, v and a at samples, in the coordinates; Euler angles go on without jumps of 2π."""
    check = bool(np.isfinite(q).all())  # a run that diverged has NaN, which passes
    here, rate, second = robot.from_minimal(q, v, a, check=check)
    return CoordinatePath(unwrapped(robot._tree, here), rate, second)


def start(robot: RobotInCoordinates, q0: RealArray | None, v0: RealArray | None) -> tuple[Any, Any]:
    """q and v of the robot itself from q0 and v0 = q̇, where they are given."""
    if q0 is None:
        if v0 is None:
            return None, None
        q0 = robot.from_minimal(robot.robot.neutral())
    return (robot.to_minimal(q0), None) if v0 is None else robot.to_minimal(q0, v0)


def controller_of(robot: RobotInCoordinates, controller: Any) -> Any:
    """A controller in coordinates as one of the robot itself; torques, given as numbers, stay what they are."""
    if isinstance(controller, ControlLaw):
        return ControlLaw(_Law(robot, controller))
    if callable(controller) or callable(getattr(controller, "step", None)):
        return _Asked(robot, controller)
    return controller


def event_of(robot: RobotInCoordinates, event: Callable[..., float]) -> Callable[..., float]:
    """An event of q and q̇ as one of the robot's own q and v."""

    def in_own(t: float, q: Array, v: Array) -> float:
        return event(t, *robot.from_minimal(q, v))

    in_own.__name__ = getattr(event, "__name__", "event")
    in_own.__dict__.update({k: getattr(event, k) for k in ("terminal", "direction") if hasattr(event, k)})
    return in_own


@dataclass(frozen=True)
class _Law:
    """A compiled law of q and q̇ as one of the robot's own q and v; Euler angles are the principal ones."""

    robot: RobotInCoordinates
    law: ControlLaw

    def __call__(self, t: Scalar, q: Scalars, v: Scalars) -> Scalars:
        tree = self.robot._tree
        here = tree.from_minimal(q)
        return self.law(t, here, tree.rate(here, v))


class _Asked:
    """A Python controller that is asked with q and q̇; q̇ and q̈ that it commands become v and v̇."""

    def __init__(self, robot: RobotInCoordinates, controller: Any) -> None:
        step = getattr(controller, "step", None)
        self._ask: Callable[..., Any] = step if callable(step) else controller
        self._robot, self._given = robot, controller
        self.level = getattr(controller, "level", "torque")
        self.record, self.observe = getattr(controller, "record", None), getattr(controller, "observe", None)
        self._before: Array | None = None

    def reset(self) -> None:
        """Forget the turns of the angles, and what the controller remembers."""
        self._before = None
        reset = getattr(self._given, "reset", None)
        if callable(reset):
            reset()

    def step(self, t: float, q: Array, v: Array) -> Any:
        robot = self._robot
        q, rate = robot.from_minimal(q, v)
        q = self._before = continued(robot._tree, q, self._before)
        given = self._ask(t, q.copy(), rate)
        if self.level == "velocity":
            return robot.to_minimal(q, self._sized(given, "rates q̇", q, t), check=False)[1]
        if self.level == "acceleration":
            return robot.to_minimal(q, rate, self._sized(given, "accelerations q̈", q, t), check=False)[2]
        return given

    def _sized(self, given: Any, what: str, q: Array, t: float) -> Array:
        try:
            array = real_array(given, "a command")
        except (TypeError, ValueError) as problem:
            raise SimulationError(f"the controller returned no {what} at t = {t:.9g} s: {problem}", time=t) from None
        if array.shape != q.shape:
            needs = f"{self._robot.robot.name!r} in coordinates needs {what} of shape {q.shape}"
            raise SimulationError(
                f"the controller returned shape {array.shape} at t = {t:.9g} s; {needs}.",
                time=t,
                found=array.shape,
                expected=q.shape,
            )
        return array


def chosen(robot: Robot, coordinates: Any) -> RobotInCoordinates:
    """The robot in coordinates that are given by name, or as a robot in coordinates of the same robot."""
    if not isinstance(coordinates, RobotInCoordinates):
        return robot.in_coordinates(coordinates)
    if coordinates.robot != robot:
        raise Error(f"these are coordinates of {coordinates.robot.name!r}, not of the robot of this trajectory.")
    return coordinates
