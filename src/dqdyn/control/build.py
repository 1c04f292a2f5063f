"""What all builders of controllers share: parts that are checked and bound to the robot."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.functions import Adjoint
from dqdyn.algebra.quaternion import I, J, K, Quaternion, pure
from dqdyn.control.composition import Composition, Dynamics
from dqdyn.control.constraint import Constraint
from dqdyn.control.design import Design, levels_of, numbered
from dqdyn.control.errors import ControlWarning
from dqdyn.control.inequality import Inequality
from dqdyn.control.optimum import Optimum, StrictLevels
from dqdyn.control.task import Task
from dqdyn.control.tasks.hands import AbsolutePoseTask, RelativePoseTask
from dqdyn.control.tasks.poses import PoseTask, TranslationTask
from dqdyn.control.things import Attached
from dqdyn.errors import Error
from dqdyn.model.model import Model


def parts(model: Model, level: str, tasks: Sequence[Any], constraints: Sequence[Any], damping: float) -> Design:
    """Tasks by levels, equalities and constraints, each for this robot and this level."""
    if isinstance(tasks, Task):
        tasks = [tasks]
    levels = levels_of(list(tasks))
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
    if not 0.0 <= damping < np.inf:
        raise Error(f"damping must be a number from 0; found {damping!r}.", found=damping)
    hard = [c.bound(model) for c in constraints if isinstance(c, Task)]
    named = iter(numbered([*hard, *(task.bound(model) for level_tasks in levels for task in level_tasks)]))
    equalities = tuple(next(named) for _ in hard)
    bound_levels = tuple(tuple(next(named) for _ in level_tasks) for level_tasks in levels)
    bound = numbered([c.bound(model) for c in constraints if isinstance(c, Constraint)])
    found = Design(bound_levels, equalities, tuple(bound), float(damping))
    _warn_of_forbidden_targets(found)
    return found


def composed(model: Model, level: str, found: Design, solver: str, dynamics: Dynamics | None = None) -> tuple[Any, Any]:
    """The composition and its optimum."""
    composition = Composition(model, level, found, dynamics)
    count = len(found.tasks)
    optimum = Optimum(composition.shape, solver) if count == 1 else StrictLevels(composition.shape, solver, count)
    return composition, optimum


def _warn_of_forbidden_targets(found: Design) -> None:
    """Targets of poses and positions that lie, at t = 0, where a constraint on the same frame forbids it."""
    for task in found.all_tasks:
        placed = _placed(task)
        if placed is None:
            continue
        adjoints, oriented = placed
        for constraint in found.constraints:
            if not isinstance(constraint, Inequality):
                continue
            at_origin = all(isinstance(thing, Attached) and not any(thing.local) for thing in constraint.things)
            things = [thing.at(adjoints) for thing in constraint.things]
            if not (oriented or at_origin) or any(c is None for c in things):
                continue
            h = constraint.value([c or [] for c in things], [s.at(0.0).value for s in constraint.signals])
            for name, value in zip(constraint.row_names(), h, strict=True):
                if value < 0.0:
                    text = f"The target of {task.name!r} lies in the zone that {name!r} forbids, by {-value:.4g}."
                    warnings.warn(text, ControlWarning, stacklevel=5)


def _placed(task: Task) -> tuple[dict[str, Adjoint], bool] | None:
    """Where the task wants its frame, as Ad of the pose by the frame's name, and whether its orientation is known."""
    if isinstance(task, (PoseTask, AbsolutePoseTask, RelativePoseTask)):
        c = task.signals[0].at(0.0).value
        return {task.things[0].place: Adjoint(DQ.of(Quaternion(*c[:4]), Quaternion(*c[4:])))}, True
    thing = task.things[0] if isinstance(task, TranslationTask) else None
    if isinstance(thing, Attached) and not any(thing.local):
        return {thing.frame: Adjoint.of((I, J, K), pure(*task.signals[0].at(0.0).value))}, False
    return None
