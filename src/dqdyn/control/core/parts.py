"""What all builders of controllers share: parts that are checked and bound to the robot."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.control.core.command_bound import Constraint
from dqdyn.control.core.composition import Composition, Dynamics
from dqdyn.control.core.design import Design, levels_of, numbered
from dqdyn.control.core.feasibility import warn_of_forbidden_targets
from dqdyn.control.core.optimum import Optimum, StrictLevels
from dqdyn.control.core.task import Task, fair
from dqdyn.errors import Error
from dqdyn.model.model import Model
from dqdyn.robot import Robot


def model_of(robot: Any) -> Model:
    """The robot's model; an error where a file's name or something else is given in its place."""
    if not isinstance(robot, Robot):
        raise Error(f"A controller is made for a Robot, as dq.load(…) gives one; found {robot!r}.", found=robot)
    return robot.model


def parts(robot: Robot, level: str, tasks: Any, constraints: Any, damping: float) -> Design:
    """Tasks by levels, equalities and constraints, each for this robot and this level."""
    model = model_of(robot)
    levels = levels_of(_listed(tasks, "tasks are Tasks or lists of them, one per level of priority"))
    constraints = _listed(constraints, "constraints are Constraints, or Tasks that must be met")
    for task in (t for found in levels for t in found):
        if not isinstance(task, Task):
            raise Error(f"tasks are Tasks or lists of them, one per level of priority; found {task!r}.", found=task)
    if not levels:
        raise Error("A controller needs at least one task: ct.RestTask() asks for nothing but rest.")
    for constraint in constraints:
        if not isinstance(constraint, (Task, Constraint)):
            raise Error(
                f"constraints are Constraints, or Tasks that must be met; found {constraint!r}.", found=constraint
            )
        if isinstance(constraint, Constraint) and level not in constraint.levels:
            raise Error(
                f"{constraint.name!r} works for controllers by {' or '.join(constraint.levels)}, not by {level}.",
                constraint=constraint.name,
                level=level,
            )
        if isinstance(constraint, Task) and constraint.instead_of_equality:
            raise Error(
                f"{constraint.name!r} cannot be met exactly, its rows depend on each other: "
                f"{constraint.instead_of_equality}.",
                task=constraint.name,
            )
    if (
        isinstance(damping, bool)
        or not isinstance(damping, (int, float, np.integer, np.floating))
        or not 0.0 <= damping < np.inf
    ):
        raise Error(f"damping must be a number from 0; found {damping!r}.", found=damping)
    hard = [c.bound(model) for c in constraints if isinstance(c, Task)]
    named = iter(numbered([*hard, *(task.bound(model) for level_tasks in levels for task in level_tasks)]))
    equalities = tuple(next(named) for _ in hard)
    bound_levels = tuple(tuple(next(named) for _ in level_tasks) for level_tasks in levels)
    own = [c.bound(model) for c in constraints if isinstance(c, Constraint)]
    bound = numbered(own, taken=[task.name for task in equalities])
    found = Design(bound_levels, equalities, tuple(bound), fair(damping, "damping"))
    warn_of_forbidden_targets(model, found)
    return found


def _listed(given: Any, what: str) -> list[Any]:
    """A list of parts; one of them alone counts as a list."""
    if isinstance(given, (Task, Constraint)):
        return [given]
    try:
        return list(given)
    except TypeError:
        raise Error(f"{what}; found {given!r}.", found=given) from None


def composed(model: Model, level: str, found: Design, solver: str, dynamics: Dynamics | None = None) -> tuple[Any, Any]:
    """The composition and its optimum."""
    composition = Composition(model, level, found, dynamics)
    count = len(found.tasks)
    optimum = Optimum(composition.shape, solver) if count == 1 else StrictLevels(composition.shape, solver, count)
    return composition, optimum
