"""The kinds of guards, as data; :mod:`dqdyn.control.machine.guards` makes them.

Each time its state begins, a guard gives a new watch, a function of a :class:`~dqdyn.control.Moment`, which keeps what
there is to remember: since when something has been true, or the least error so far.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.contacts.contact import Contact
from dqdyn.control.core.errors import ControlError, refused
from dqdyn.control.core.task import Task
from dqdyn.control.machine.stall import Stall, StallWatch
from dqdyn.control.whole_body.touch_down import TouchDown
from dqdyn.errors import unknown_name
from dqdyn.robot import Robot

if TYPE_CHECKING:
    from dqdyn.control.machine.moment import Moment

Watch = Callable[["Moment"], bool]
_EARLY = 1e-9  # s by which rounding lets a time come early


@dataclass(frozen=True, eq=False)
class Scope:
    """What a guard may refer to: the robot, tasks of its state and contacts of all by name, the machine's stall."""

    robot: Robot
    state: str
    time_limit: float
    tasks: Mapping[str, Task]
    contacts: Mapping[str, Contact]
    stall: Stall
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Numbers of the errors' components by task, once they are known."""

    def task(self, name: str) -> Task:
        """The task of that name; an error where the state has none."""
        if name not in self.tasks:
            raise unknown_name(f"task of the state {self.state!r}", name, self.tasks)
        return self.tasks[name]


class Guard(ABC):
    """What has to be true for a transition, ``words`` say it."""

    words: str
    kind: str = ""
    """ "success" or "failure" for the color of arrows, "" for neither."""

    @abstractmethod
    def watch(self, scope: Scope) -> Watch:
        """A function of a Moment for one stay in a state; raises where the guard cannot be used there."""

    def __repr__(self) -> str:
        return f"<guard: {self.words}>"


@dataclass(frozen=True, eq=False, repr=False)
class When(Guard):
    """A function of a Moment."""

    function: Callable[[Moment], bool]
    words: str

    def watch(self, scope: Scope) -> Watch:
        return self.function


@dataclass(frozen=True, eq=False, repr=False)
class After(Guard):
    seconds: float

    @property
    def words(self) -> str:  # type: ignore[override]
        return f"after {self.seconds:g} s"

    def watch(self, scope: Scope) -> Watch:
        if self.seconds >= scope.time_limit:
            what = f"of the state {scope.state!r} comes at its time limit of {scope.time_limit:g} s or later"
            raise ControlError(f"the guard {self.words!r} {what}: raise one or lower the other.", state=scope.state)
        enough = self.seconds - _EARLY
        return lambda moment: moment.elapsed >= enough


@dataclass(frozen=True, eq=False, repr=False)
class Reached(Guard):
    task: str
    tolerance: float | Array
    during: float
    kind = "success"

    @property
    def words(self) -> str:  # type: ignore[override]
        limit = f"{self.tolerance:g}" if isinstance(self.tolerance, float) else f"{self.tolerance.tolist()}"
        return f"{self.task!r} is within {limit}{_lasting(self.during)}"

    def watch(self, scope: Scope) -> Watch:
        scope.task(self.task)
        name, tolerance = self.task, self.tolerance
        if isinstance(tolerance, float):
            return _held(lambda moment: moment.error_norm(name) <= tolerance, self.during)
        size = scope.sizes.get(name, len(tolerance))
        if len(tolerance) != size:
            what = f"the tolerance of {name!r} has one number, or one per component of its error, {size}"
            raise refused(what, len(tolerance), expected=size, state=scope.state)
        return _held(lambda moment: bool((np.abs(moment.error(name)) <= tolerance).all()), self.during)


@dataclass(frozen=True, eq=False, repr=False)
class Stalled(Guard):
    task: str
    stall: Stall | None
    kind = "failure"

    @property
    def words(self) -> str:  # type: ignore[override]
        return f"{self.task!r} has stalled"

    def watch(self, scope: Scope) -> Watch:
        task, rule = scope.task(self.task), self.stall or scope.stall
        if rule.window >= scope.time_limit:
            what = f"the window of {rule.window:g} s is not shorter than the time limit of {scope.time_limit:g} s"
            raise ControlError(
                f"{self.words!r} is never noticed in the state {scope.state!r}: {what}.", state=scope.state
            )
        grows = bool(np.min(task.gain) < 0.0) if rule.grows is None else rule.grows
        follow, name = StallWatch(rule, grows), self.task
        # Until the state's own program runs there is no error to follow.
        return lambda moment: moment.machine.is_active and follow(moment.t, moment.error_norm(name))


@dataclass(frozen=True, eq=False, repr=False)
class Touching(Guard):
    contacts: tuple[Contact | str, ...]
    options: Mapping[str, Any]

    @property
    def words(self) -> str:  # type: ignore[override]
        names = " and ".join(repr(c if isinstance(c, str) else c.name) for c in self.contacts)
        force = self.options["force"]
        by = f" by {force:g} N" if force is not None else ""
        return f"{names} touch{'es' if len(self.contacts) == 1 else ''}{by}{_lasting(self.options['lasting'])}"

    def watch(self, scope: Scope) -> Watch:
        landed = [TouchDown(scope.robot, self._contact(c, scope), **self.options) for c in self.contacts]
        by_force, by_height = self.options["force"] is not None, self.options["ground"] is not None
        words = self.words

        def watch(moment: Moment) -> bool:
            if by_force and moment.observed is not None:
                for each in landed:
                    each.observe(moment.observed)
            elif not by_height:
                what = f"the guard {words!r} needs measured forces, and the plant measures none"
                raise ControlError(f"{what}: give it ground=…, or call machine.observe(…) before each step.")
            touches = [each(moment.t, moment.q) for each in landed]  # all of them, for each has a memory
            return all(touches)

        return watch

    def _contact(self, given: Contact | str, scope: Scope) -> Contact:
        if isinstance(given, Contact):
            return given
        if given not in scope.contacts:
            raise unknown_name("contact of the machine's states", given, scope.contacts)
        return scope.contacts[given]


@dataclass(frozen=True, eq=False, repr=False)
class AtRest(Guard):
    speed: float
    during: float

    @property
    def words(self) -> str:  # type: ignore[override]
        return f"no joint is faster than {self.speed:g}{_lasting(self.during)}"

    def watch(self, scope: Scope) -> Watch:
        speed = self.speed
        return _held(lambda moment: bool(np.abs(moment.v).max(initial=0.0) <= speed), self.during)


@dataclass(frozen=True, eq=False, repr=False)
class Switched(Guard):
    words = "the contacts have changed"

    def watch(self, scope: Scope) -> Watch:
        return lambda moment: moment.machine.is_active and not moment.is_switching


@dataclass(frozen=True, eq=False, repr=False)
class Unsolved(Guard):
    during: float
    kind = "failure"

    @property
    def words(self) -> str:  # type: ignore[override]
        return f"no command obeys all constraints{_lasting(self.during)}"

    def watch(self, scope: Scope) -> Watch:
        return _held(lambda moment: moment.machine.report.status not in ("solved", "not started"), self.during)


@dataclass(frozen=True, eq=False, repr=False)
class Combined(Guard):
    """All or any of several guards; each is asked at every step, for each may have a memory."""

    guards: tuple[Guard, ...]
    every: bool

    @property
    def words(self) -> str:  # type: ignore[override]
        word = " and " if self.every else " or "
        inner = (f"({g.words})" if isinstance(g, Combined) and g.every != self.every else g.words for g in self.guards)
        return word.join(inner)

    @property
    def kind(self) -> str:  # type: ignore[override]
        kinds = {guard.kind for guard in self.guards} - {""}
        return kinds.pop() if len(kinds) == 1 else ""

    def watch(self, scope: Scope) -> Watch:
        watches, decide = [guard.watch(scope) for guard in self.guards], all if self.every else any
        return lambda moment: decide([bool(watch(moment)) for watch in watches])


@dataclass(frozen=True, eq=False, repr=False)
class IsNot(Guard):
    guard: Guard

    @property
    def words(self) -> str:  # type: ignore[override]
        return f"not ({self.guard.words})"

    @property
    def kind(self) -> str:  # type: ignore[override]
        return {"success": "failure", "failure": "success"}.get(self.guard.kind, "")

    def watch(self, scope: Scope) -> Watch:
        watch = self.guard.watch(scope)
        return lambda moment: not watch(moment)


def _lasting(during: float) -> str:
    return f" for {during:g} s" if during > 0.0 else ""


def _held(condition: Watch, during: float) -> Watch:
    """Whether a condition has been true for so many s."""
    if during <= 0.0:
        return condition
    since = math.inf

    def watch(moment: Moment) -> bool:
        nonlocal since
        since = min(since, moment.t) if condition(moment) else math.inf
        return moment.t - since >= during - _EARLY

    return watch
