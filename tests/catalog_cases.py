"""Every function of a robot as a case for tests, with and without the inputs that options add."""

from __future__ import annotations

from typing import Any

from dqdyn.errors import Error
from dqdyn.robot import Robot
from dqdyn.robot.catalog import CATALOG
from dqdyn.robot.options import FRAMES, Options
from dqdyn.robot.robot_function import RobotFunction

_WRENCHES = "_with_wrenches"
NAMES = (*CATALOG, *(f"{name}{_WRENCHES}" for name, entry in CATALOG.items() if "wrench_frames" in entry.options))
"""The functions of the catalog, and again those that take wrenches."""
INVERTED = ("operational_space_inertia", "dynamically_consistent_inverse")
"""Functions that divide by a matrix of mixed units, which costs digits."""


def function_of(name: str) -> RobotFunction:
    """The function of a case."""
    return CATALOG[name.removesuffix(_WRENCHES)]


def options_of(name: str, choices: dict[str, Any]) -> dict[str, Any]:
    """Of the choices those that the function of a case takes; a frame that has no choice is an error."""
    entry = function_of(name)
    taken = [o for o in entry.options if not o.startswith("wrench") or name.endswith(_WRENCHES)]
    return {o: choices[o] for o in taken if o in choices or o in FRAMES}


def exists(robot: Robot, name: str, options: dict[str, Any]) -> bool:
    """Whether the robot has the function: some need a frame that six axes can move, and refuse others."""
    try:
        robot._functions.variables.require(*bound(robot, name, options))
    except Error:
        return False
    return True


def bound(robot: Robot, name: str, options: dict[str, Any]) -> tuple[RobotFunction, Options]:
    """The function of a case with its options checked."""
    return robot._functions.named(function_of(name).name, options)


def inputs_of(robot: Robot, name: str, options: dict[str, Any]) -> tuple[str, ...]:
    """Names of the inputs of a case."""
    entry, checked = bound(robot, name, options)
    return entry.all_inputs(checked)
