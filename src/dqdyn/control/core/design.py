"""What a controller is made of: tasks by levels, equalities and constraints, with names of their own."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from dqdyn.control.core.command_constraint import CommandConstraint
from dqdyn.control.core.errors import refused
from dqdyn.control.core.settings import number
from dqdyn.control.core.task import Task
from dqdyn.control.core.term import ControlPart
from dqdyn.control.features.signals import Signal
from dqdyn.errors import Error
from dqdyn.model.model import Model

P = TypeVar("P", bound=ControlPart)
BELOW = 1e-3
"""Damping of the levels below the first, unless it is given or that of the first is less."""
_TASKS = "tasks are Tasks or lists of them, one per level of priority"
_CONSTRAINTS = "constraints are inequalities, limits, or Tasks that must be met"


@dataclass(frozen=True)
class Design:
    """What a controller is made of; ``tasks`` by levels of priority, ``equalities`` are tasks that must be met.

    ``dampings`` has a λ for every level of the tasks.
    """

    tasks: tuple[tuple[Task, ...], ...]
    equalities: tuple[Task, ...]
    constraints: tuple[CommandConstraint, ...]
    dampings: tuple[float, ...]

    @classmethod
    def of(cls, model: Model, level: str, tasks: Any, constraints: Any, damping: Any) -> Design:
        """The parts as users give them, checked and bound to a robot."""
        levels = _levels(as_list(tasks, _TASKS))
        if not levels:
            raise Error("A controller needs at least one task: ct.RestTask() only keeps the robot at rest.")
        constraints = as_list(constraints)
        for constraint in constraints:
            _check_constraint(constraint, level)
        dampings = _dampings(damping, len(levels))
        for task in (task for each in (*levels, constraints) for task in each):
            _check_level(task, level)
        hard = [c.bound_to(model) for c in constraints if isinstance(c, Task)]
        named = iter(_numbered([*hard, *(task.bound_to(model) for each in levels for task in each)]))
        equalities = tuple(next(named) for _ in hard)
        own_levels = tuple(tuple(next(named) for _ in each) for each in levels)
        own = [c.bound_to(model) for c in constraints if isinstance(c, CommandConstraint)]
        return cls(own_levels, equalities, tuple(_numbered(own, [task.name for task in equalities])), dampings)

    @property
    def damping(self) -> float:
        """λ of the first level."""
        return self.dampings[0]

    @property
    def all_tasks(self) -> list[Task]:
        return [*self.equalities, *(task for level in self.tasks for task in level)]

    @property
    def _parts(self) -> list[ControlPart]:
        return [*self.all_tasks, *self.constraints]

    @property
    def signals(self) -> list[Signal]:
        return list({id(s): s for part in self._parts for s in part.signals}.values())

    def called(self, signal: Signal) -> str:
        """A signal in words, with the name of the task or constraint that it belongs to."""
        owner = next((part.name for part in self._parts if any(s is signal for s in part.signals)), "")
        return signal.what if not owner or owner in signal.what else f"{signal.what} of {owner!r}"


def as_list(given: Any, expected: str = _CONSTRAINTS) -> list[Any]:
    """A list of parts; one of them alone counts as a list."""
    if isinstance(given, ControlPart):
        return [given]
    try:
        return list(given)
    except TypeError:
        raise refused(expected, given) from None


def _levels(tasks: Sequence[Any]) -> list[tuple[Task, ...]]:
    """Tasks by level: a plain list is one level, a list of lists has one level each."""
    levels = [tuple(tasks)] if tasks else []
    if any(isinstance(t, (list, tuple)) for t in tasks):
        levels = [tuple(level) if isinstance(level, (list, tuple)) else (level,) for level in tasks]
    for task in (task for level in levels for task in level):
        if not isinstance(task, Task):
            raise refused(_TASKS, task)
    return levels


def _dampings(given: Any, levels: int) -> tuple[float, ...]:
    """λ of every level: one number damps the first, and the others by no more than it needs for one solution."""
    if not isinstance(given, (list, tuple, np.ndarray)):
        first = number(given, "damping", 0.0)
        return first, *[min(first, BELOW)] * (levels - 1)
    if np.ndim(given) != 1 or len(given) != levels:
        raise refused(f"damping is one number, or one per level of the tasks, {levels}", given, expected=levels)
    return tuple(number(each, "damping", 0.0) for each in given)


def _check_level(part: ControlPart, level: str) -> None:
    """An error where a task is a law of accelerations and the controller commands velocities."""
    if level == "velocity" and isinstance(part, Task) and part.instead_of_velocities:
        why = f"is a law of accelerations, and a controller by velocity has none: {part.instead_of_velocities}"
        raise Error(f"{part.name!r} {why}.", task=part.name, level=level)


def _check_constraint(constraint: Any, level: str) -> None:
    if isinstance(constraint, Task):
        if constraint.instead_of_equality:
            why = f"cannot be met exactly, its rows depend on each other: {constraint.instead_of_equality}"
            raise Error(f"{constraint.name!r} {why}.", task=constraint.name)
    elif not isinstance(constraint, CommandConstraint):
        raise refused(_CONSTRAINTS, constraint)
    elif level not in constraint.levels:
        works = f"works for controllers by {' or '.join(constraint.levels)}, not by {level}"
        raise Error(f"{constraint.name!r} {works}.", constraint=constraint.name, level=level)


def _numbered(parts: Sequence[P], taken: Collection[str] = ()) -> list[P]:
    """The parts with names that tell them apart: of several that share one, the later get a number.

    ``taken``: names of others that are reported along with these.
    """
    used, given = set(taken), {part.name for part in parts}
    result = []
    for part in parts:
        name, number = part.name, 1
        while name in used or (number > 1 and name in given):
            number += 1
            name = f"{part.name} ({number})"
        if number > 1:
            part = copy.copy(part)
            part.name = name
        used.add(name)
        result.append(part)
    return result
