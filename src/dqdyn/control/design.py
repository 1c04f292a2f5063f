"""What a controller is made of: tasks by levels, equalities and constraints, with names of their own."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dqdyn.control.constraint import Constraint
from dqdyn.control.signals import Signal
from dqdyn.control.task import Task

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


def levels_of(tasks: Sequence[Any]) -> tuple[tuple[Task, ...], ...]:
    """Tasks by level: a plain list is one level, a list of lists has one level each."""
    if any(isinstance(t, (list, tuple)) for t in tasks):
        return tuple(tuple(level) if isinstance(level, (list, tuple)) else (level,) for level in tasks)
    return (tuple(tasks),) if tasks else ()


def numbered(parts: Sequence[P]) -> list[P]:
    """The parts with names that tell them apart: of several that share one, the later get a number."""
    seen: Counter[str] = Counter()
    result = []
    for part in parts:
        seen[part.name] += 1
        if seen[part.name] > 1:
            number, part = seen[part.name], copy.copy(part)
            part.name = f"{part.name} ({number})"
        result.append(part)
    return result
