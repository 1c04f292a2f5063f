"""A state machine of a robot in other coordinates: asked with q and q̇, it thinks in the robot's own q and v."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from dqdyn.arrays import Array, RealArray
from dqdyn.control.core.controller import Controller
from dqdyn.control.core.coordinates import ControllerInCoordinates
from dqdyn.control.core.policy import Policy, StepReport
from dqdyn.robot.coordinates import RobotInCoordinates

if TYPE_CHECKING:
    from dqdyn.control.machine.machine import StateMachine


def asked_in_coordinates(machine: StateMachine, robot: RobotInCoordinates) -> ControllerInCoordinates:
    """What takes q and q̇ for the machine, and gives its commands in them."""
    return ControllerInCoordinates(cast(Controller, _Own(machine)), robot)


class _Own:
    """The machine as the controller of the robot's own q and v."""

    def __init__(self, machine: StateMachine) -> None:
        self.machine, self.level, self.model = machine, machine.level, machine.robot.model

    def __call__(self, t: float, q: RealArray, v: RealArray | None = None) -> Array:
        return self.machine.own_step(t, q, v)

    def reset(self) -> None:
        """The machine's own reset has been done."""

    @property
    def policy(self) -> Policy:
        """Of the present state's controller."""
        return self.machine.controller.policy

    def _hold(self, t: float, q: Array, v: Array, report: StepReport) -> Array:
        """What the present state's controller commands where the coordinates are of no use."""
        return self.machine.controller._hold(t, q, v, report)
