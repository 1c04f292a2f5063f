"""States and transitions, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dqdyn.contacts.contact import Contact
from dqdyn.control.core.build import Constraints, Tasks
from dqdyn.control.core.design import as_list
from dqdyn.control.core.errors import ControlError, refused
from dqdyn.control.core.inequality import Inequality
from dqdyn.control.core.settings import number, positive
from dqdyn.control.core.task import Task
from dqdyn.control.machine.guard_kinds import Guard
from dqdyn.control.machine.guards import as_guard
from dqdyn.control.whole_body.contact_sets import listed
from dqdyn.errors import unknown_name

if TYPE_CHECKING:
    from dqdyn.control.machine.moment import Moment

ENDS = ("done", "failed")
KINDS = ("success", "failure", "")
Call = Callable[["Moment"], None]


@dataclass(frozen=True, eq=False)
class Transition:
    """The way to the state ``to``, taken where ``when`` is true: a guard of ``ct.guards``, or a function of a Moment.

    ``name`` is said in reports instead of the words of the guard. ``kind``: "success", "failure" or "" for neither, the
    color of the arrow in pictures; None takes that of the guard, and "failure" where the state to go to has failed.
    """

    to: str
    when: Guard | Callable[[Moment], bool]
    name: str = ""
    kind: str | None = None

    def __post_init__(self) -> None:
        text(self.to, "the state that a transition goes to")
        if not isinstance(self.name, str):
            raise refused(f"the name of a transition to {self.to!r} is a text", self.name)
        if self.kind is not None and self.kind not in KINDS:
            raise unknown_name("kind of transitions", self.kind, [kind for kind in KINDS if kind])
        object.__setattr__(self, "when", as_guard(self.when, f"the guard of the transition to {self.to!r}"))

    @property
    def guard(self) -> Guard:
        """The guard, also where a function was given."""
        assert isinstance(self.when, Guard)
        return self.when

    @property
    def words(self) -> str:
        """What has to be true, in words."""
        return self.name or self.guard.words


@dataclass(frozen=True, eq=False)
class State:
    """What a machine does until a guard leads on, such as the attempts and ends of [Quiroz, table 6.3].

    * ``tasks``, ``constraints``: as those of controllers. ``contacts``: those of whole-body control; at other levels
      they hold nothing, which tasks among the constraints do, but guards may name them.
    * ``transitions``: the first whose guard is true is taken, from the next step on.
    * ``time_limit`` in s, of every state that is not final: where no guard was true by then, the log names those that
      were not, and the machine goes to ``on_time_limit``, by default its failing final state.
    * ``ends``: "done" or "failed" of a final state. Its tasks go on; without any, the robot is brought to rest, or
      whole-body control goes on with the tasks and contacts of the state before.
    * ``enter``: called once when the state begins, ``during`` before each of its steps, both with a
      :class:`~dqdyn.control.Moment`: to move targets (:class:`~dqdyn.control.Measured`) and planes.
    * ``ramp`` in s: of the contact forces when whole-body control goes over to the state; see ``switch``.
    * ``options`` of its controller, such as ``{"damping": 0.05}``.
    * ``reaches``: tasks and inequalities that one posture has to meet at once, such as the region of a hand and the
      poses of the feet: where :func:`~dqdyn.control.reachable` finds none from 50 starts, building the machine warns.
    """

    name: str
    tasks: Tasks = ()
    constraints: Constraints = ()
    contacts: Contact | Sequence[Contact] = ()
    transitions: Transition | Sequence[Transition] = ()
    time_limit: float | None = None
    ends: str = ""
    on_time_limit: str = ""
    enter: Call | None = None
    during: Call | None = None
    ramp: float | None = None
    options: Mapping[str, Any] | None = None
    reaches: Task | Inequality | Sequence[Task | Inequality] = ()

    def __post_init__(self) -> None:
        name = text(self.name, "the name of a state")
        own = {
            "tasks": tuple(as_list(self.tasks, f"tasks of the state {name!r} are Tasks, or a list per level")),
            "constraints": tuple(as_list(self.constraints)),
            "contacts": listed(self.contacts),
            "transitions": _transitions(self.transitions, name),
            "options": _mapping(self.options, f"options of the state {name!r}"),
            "reaches": tuple(as_list(self.reaches, f"reaches of the state {name!r} are tasks and inequalities")),
        }
        for field, value in own.items():
            object.__setattr__(self, field, value)
        if not isinstance(self.ends, str) or (self.ends and self.ends not in ENDS):
            raise unknown_name("end of a state", self.ends, ENDS)
        if not isinstance(self.on_time_limit, str):
            raise refused(f"on_time_limit of the state {name!r} is the name of a state", self.on_time_limit)
        for what in ("enter", "during"):
            given = getattr(self, what)
            if given is not None and not callable(given):
                raise refused(f"{what} of the state {name!r} is a function of a Moment", given)
        if self.ramp is not None:
            number(self.ramp, f"ramp of the state {name!r} in s", 0.0)
        self._check_end(name)

    def _check_end(self, name: str) -> None:
        if self.ends:
            if self.transitions:
                raise ControlError(f"the state {name!r} is final ({self.ends}): it has no transitions.", state=name)
            if self.time_limit is not None or self.on_time_limit:
                raise ControlError(f"the state {name!r} is final ({self.ends}): it has no time limit.", state=name)
            return
        if self.time_limit is None:
            remedy = "give time_limit=… in s, or ends='done' or 'failed' if it is final"
            raise ControlError(f"the state {name!r} has no time limit: {remedy}.", state=name)
        positive(self.time_limit, f"time limit of the state {name!r} in s")
        if not self.transitions:
            remedy = "add a transition, or ends='done' or 'failed' if it is final"
            raise ControlError(f"the state {name!r} has no exit but its time limit: {remedy}.", state=name)
        if not self.tasks:
            raise ControlError(f"the state {name!r} has no tasks: ct.RestTask() keeps the robot at rest.", state=name)


def text(given: Any, what: str) -> str:
    """A name; an error where it is none."""
    if not isinstance(given, str) or not given.strip():
        raise refused(f"{what} is a text", given)
    return given


def _transitions(given: Any, name: str) -> tuple[Transition, ...]:
    wanted = f"transitions of the state {name!r} are a list of ct.Transition"
    if isinstance(given, Transition):
        return (given,)
    try:
        found = tuple(given)
    except TypeError:
        raise refused(wanted, given) from None
    for transition in found:
        if not isinstance(transition, Transition):
            raise refused(wanted, transition)
    return found


def _mapping(given: Any, what: str) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise refused(f"{what} are a dictionary by name", given)
    return dict(given)
