"""What a controller is made of: tasks by levels, equalities and constraints, with names of their own."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dqdyn.control.core.command_bound import Constraint
from dqdyn.control.core.task import Task
from dqdyn.control.features.signals import Signal

P = TypeVar("P", Task, Constraint)


@dataclass(frozen=True)
class Design:
    """What a controller is made of; ``tasks`` by levels of priority, ``equalities`` are tasks that must be met."""

    tasks: tuple[tuple[Task, ...], ...]
    equalities: tuple[Task, ...]
    constraints: tuple[Constraint, ...]
    damping: float

    @property
    def all_tasks(self) -> list[Task]:
        return [*self.equalities, *(task for level in self.tasks for task in level)]

    @property
    def signals(self) -> list[Signal]:
        parts: list[Task | Constraint] = [*self.all_tasks, *self.constraints]
        found = [s for part in parts for s in part.signals]
        return list({id(s): s for s in found}.values())

    def called(self, signal: Signal) -> str:
        """A signal in words, with the name of the task or constraint that it belongs to."""
        parts: list[Task | Constraint] = [*self.all_tasks, *self.constraints]
        owner = next((part.name for part in parts if any(s is signal for s in part.signals)), "")
        return signal.what if not owner or owner in signal.what else f"{signal.what} of {owner!r}"


def levels_of(tasks: Sequence[Any]) -> tuple[tuple[Task, ...], ...]:
    """Tasks by level: a plain list is one level, a list of lists has one level each."""
    if any(isinstance(t, (list, tuple)) for t in tasks):
        return tuple(tuple(level) if isinstance(level, (list, tuple)) else (level,) for level in tasks)
    return (tuple(tasks),) if tasks else ()


def numbered(parts: Sequence[P], taken: Collection[str] = ()) -> list[P]:
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
