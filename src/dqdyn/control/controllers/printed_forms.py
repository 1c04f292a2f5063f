"""Whole-body controllers in the forms that Bouyarmane prints, for robots in any coordinates."""

from __future__ import annotations

from dqdyn.control.core.composition import Dynamics
from dqdyn.control.core.coordinates import AnyRobot, own_robot
from dqdyn.control.core.design import Design
from dqdyn.control.core.errors import ControlError
from dqdyn.control.core.optimum import Optimise
from dqdyn.control.whole_body.context import Contacts
from dqdyn.control.whole_body.forms import FORMS, Form, LiteralComposition
from dqdyn.control.whole_body.null_space import InNullSpace, LevelsInNullSpace
from dqdyn.coordinates.tree import TreeCoordinates
from dqdyn.errors import unknown_name
from dqdyn.robot.coordinates import RobotInCoordinates


def literal_program(
    robot: AnyRobot,
    design: Design,
    contacts: Contacts,
    dynamics: Dynamics,
    force_damping: float,
    form: Form,
    solver: str,
) -> tuple[LiteralComposition, Optimise]:
    """The program of ``own_robot(robot)`` in a printed form, in the coordinates of the robot, and what solves it."""
    tree = TreeCoordinates(robot.robot.model, robot.coordinates) if isinstance(robot, RobotInCoordinates) else None
    composition = LiteralComposition(own_robot(robot), design, contacts, dynamics, force_damping, form, tree)
    levels, size = len(design.tasks), composition.size
    return composition, InNullSpace(size, solver) if levels == 1 else LevelsInNullSpace(size, solver, levels)


def require_form(robot: AnyRobot, form: Form) -> None:
    """An error where there is no such form, or where it does not suit the coordinates of the robot."""
    if not isinstance(form, str) or form not in FORMS:
        raise unknown_name("form of whole-body control", form, FORMS)
    if not isinstance(robot, RobotInCoordinates):
        if form in ("projected", "multipliers"):
            what = f"form={form!r} is about the conditions of coordinates, which {robot.name!r} does not have"
            raise ControlError(f"{what}: give robot.in_coordinates('quaternion'), or take form='minimal'.", form=form)
    elif form == "minimal" and robot.nc:
        what = f"form='minimal' has no multipliers, but {robot.nc} conditions bind the coordinates of"
        remedy = "take form='projected' or 'multipliers', or Euler angles"
        raise ControlError(f"{what} {robot.robot.name!r}: {remedy}.", form=form)
