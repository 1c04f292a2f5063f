"""Guards of transitions: what has to be true, with words for reports.

``ct.Transition("done", ct.guards.reached("ball", 0.04))``. A function of a :class:`~dqdyn.control.Moment` is a guard
too; :func:`when` gives it words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array, RealArray
from dqdyn.contacts.contact import Contact
from dqdyn.control.core.errors import ControlError, refused
from dqdyn.control.core.settings import is_number, number, positive
from dqdyn.control.machine.guard_kinds import (
    After,
    AtRest,
    Combined,
    Guard,
    IsNot,
    Reached,
    Stalled,
    Switched,
    Touching,
    Unsolved,
    When,
)
from dqdyn.control.machine.stall import Stall
from dqdyn.control.whole_body.ground import Ground
from dqdyn.errors import Error, one_line, unknown_name

if TYPE_CHECKING:
    from dqdyn.control.machine.moment import Moment

__all__ = [
    "after",
    "all_of",
    "any_of",
    "at_rest",
    "is_not",
    "reached",
    "stalled",
    "switched",
    "touching",
    "unsolved",
    "when",
]


def after(seconds: float) -> Guard:
    """The state has lasted ``seconds``."""
    return After(positive(seconds, "time of the guard 'after' in s"))


def reached(task: str, tolerance: float | RealArray, during: float = 0.0) -> Guard:
    """The norm of a task's error is at most ``tolerance``, in its unit; or each component, where there is one each.

    ``during`` in s: it must have been so for that long.
    """
    _task_name(task, "reached")
    if is_number(tolerance):
        limit: float | Array = positive(tolerance, f"tolerance of {task!r}")
    else:
        limit = real_array(tolerance, f"the tolerance of {task!r}", Error)
        if limit.ndim != 1 or not len(limit) or not (np.isfinite(limit) & (limit > 0.0)).all():
            raise refused(f"the tolerance of {task!r} is a number above 0, or one per component", tolerance)
    return Reached(task, limit, _duration(during))


def stalled(task: str, stall: Stall | None = None, **changes: Any) -> Guard:
    """The error of a task no longer falls though it is not met, by ``stall`` or the machine's criterion.

    ``stalled("ball", window=0.5)`` takes the default criterion with what is given here: see :class:`Stall`.
    """
    _task_name(task, "stalled")
    if stall is not None and not isinstance(stall, Stall):
        raise refused("the criterion of the guard 'stalled' is a ct.Stall", stall)
    if changes:
        try:
            stall = replace(stall or Stall(), **changes)
        except TypeError:
            unknown = sorted(set(changes) - set(Stall.__dataclass_fields__))
            raise unknown_name(
                "setting of a stall", unknown[0] if unknown else "", Stall.__dataclass_fields__
            ) from None
    return Stalled(task, stall)


def touching(
    *contacts: Contact | str,
    force: float | None = None,
    ground: Ground | None = None,
    height: float = 2e-3,
    during: float = 0.0,
) -> Guard:
    """All of the contacts, or those of these names, touch: see :class:`~dqdyn.control.TouchDown`.

    ``force`` in N that a plant measures, the ``ground`` that no corner is more than ``height`` m above, or either.
    """
    if not contacts:
        raise ControlError("the guard 'touching' needs contacts: give one or more.")
    for contact in contacts:
        if not isinstance(contact, (Contact, str)):
            raise refused("the guard 'touching' takes contacts of dqdyn.contacts, or their names", contact)
    if force is None and ground is None:
        raise ControlError("the guard 'touching' needs a force in N or the ground: give one of them.")
    limit = None if force is None else positive(force, "force of the guard 'touching' in N")
    options = {"force": limit, "ground": ground, "height": height, "lasting": _duration(during)}
    return Touching(tuple(contacts), options)


def at_rest(speed: float = 1e-3, during: float = 0.0) -> Guard:
    """No joint moves faster than ``speed`` in rad/s or m/s."""
    return AtRest(positive(speed, "speed of the guard 'at_rest'"), _duration(during))


def switched() -> Guard:
    """Whole-body control has let go the contacts of the state before, and loaded those of this one."""
    return Switched()


def unsolved(during: float = 0.0) -> Guard:
    """The controller found no command that obeys all constraints: bounds gave way, or it holds still."""
    return Unsolved(_duration(during))


def all_of(*guards: Guard | Callable[[Moment], bool]) -> Guard:
    """All of the guards are true."""
    return Combined(_several(guards, "all_of"), every=True)


def any_of(*guards: Guard | Callable[[Moment], bool]) -> Guard:
    """At least one of the guards is true."""
    return Combined(_several(guards, "any_of"), every=False)


def is_not(guard: Guard | Callable[[Moment], bool]) -> Guard:
    """The guard is not true."""
    return IsNot(as_guard(guard, "what 'is_not' takes"))


def when(function: Callable[[Moment], bool], words: str) -> Guard:
    """A function of a Moment, with words for reports."""
    if not isinstance(words, str) or not words.strip():
        raise refused("the words of the guard 'when' are a text", words)
    return replace(_function_guard(function, "the function of the guard 'when'"), words=one_line(words))


def as_guard(given: Any, what: str) -> Guard:
    """A guard as it is, or that of a function."""
    return given if isinstance(given, Guard) else _function_guard(given, what)


def _function_guard(given: Any, what: str) -> When:
    if isinstance(given, (bool, np.bool_)):
        raise ControlError(f"{what} is always {bool(given)}: give a guard of ct.guards, or a function of a Moment.")
    if not callable(given):
        raise refused(f"{what} is one of ct.guards, or a function of a Moment", given)
    name = getattr(given, "__name__", type(given).__name__)
    return When(given, "a function is true" if name == "<lambda>" else name.strip("_").replace("_", " "))


def _several(guards: tuple[Any, ...], name: str) -> tuple[Guard, ...]:
    if not guards:
        raise ControlError(f"the guard {name!r} needs guards: give one or more.")
    return tuple(as_guard(guard, f"what {name!r} takes") for guard in guards)


def _task_name(task: Any, guard: str) -> None:
    if not isinstance(task, str) or not task:
        raise refused(f"the guard {guard!r} takes the name of a task", task)


def _duration(during: Any) -> float:
    return number(during, "during of a guard in s", 0.0)
