"""Functions of a robot with their derivatives of any order, in machine code."""

from __future__ import annotations

from collections.abc import Mapping

from dqdyn.compile.runtime.differentiable import Differentiable
from dqdyn.errors import Error
from dqdyn.robot.options import Option
from dqdyn.robot.robot import Robot


def differentiable(robot: Robot, name: str, threads: int, options: Mapping[str, Option]) -> Differentiable:
    """The function ``name`` of a robot, on states that are not checked."""
    if not isinstance(robot, Robot):
        raise Error(f"a function needs a robot, as dq.robots.arm7(); found {type(robot).__name__}.")
    function, chosen = robot._functions.named(name, options)
    compiled = robot._functions.get(function, chosen)
    if not compiled.program.inputs:
        raise Error(f"{name} of {robot.name!r} has no inputs: there is nothing to differentiate.", function=name)
    units = robot._functions.variables.unit_quaternions(function.all_inputs(chosen))
    return Differentiable(compiled.program, units, threads)
