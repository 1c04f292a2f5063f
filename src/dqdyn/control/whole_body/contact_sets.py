"""Sets of contacts that a whole-body controller is prepared for: one compiled program each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.contacts.contact import Contact
from dqdyn.control.core.braking import Brake
from dqdyn.control.core.errors import ControlError, refused
from dqdyn.control.core.optimum import Optimise, StrictLevels
from dqdyn.control.core.supervision import Supervisor
from dqdyn.control.whole_body.composition import WholeBodyComposition
from dqdyn.control.whole_body.torques import Torques
from dqdyn.errors import unknown_name
from dqdyn.progress import Progress

Make = Callable[["Asked"], tuple[WholeBodyComposition, Optimise]]
"""The program of a set, and what solves it."""
_THREADS = 2  # one traces while another compiles, which is done one at a time
NOTHING = "no contacts"


@dataclass(frozen=True, eq=False)
class Asked:
    """What a set is to have; None: as the controller was made."""

    contacts: Any
    tasks: Any = None
    constraints: Any = None
    damping: Any = None


@dataclass(frozen=True, eq=False)
class ContactSet:
    """Contacts, and all that a controller needs to control with them."""

    name: str
    composition: WholeBodyComposition
    optimum: Optimise
    torques: Torques
    supervisor: Supervisor
    brake: Brake

    @property
    def contacts(self) -> tuple[Contact, ...]:
        return self.composition.contacts.contacts


def name_of(contacts: Iterable[Contact]) -> str:
    """The names of contacts that are not off, as the name of their set."""
    return " + ".join(contact.name for contact in contacts if contact.mode != "off") or NOTHING


def named_sets(given: Any) -> dict[str, Any]:
    """Contacts by name of their set, of a dictionary, a list of lists of contacts, or one list."""
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str) or not name:
                raise refused("the name of a set of contacts is a text", name)
        return {name: listed(contacts) for name, contacts in given.items()}
    if isinstance(given, Contact):
        return {name_of([given]): (given,)}
    try:
        sets = list(given)
    except TypeError:
        raise refused("prepare takes sets of contacts: {name: contacts} or a list of lists", given) from None
    if sets and all(isinstance(contact, Contact) for contact in sets):
        sets = [sets]
    return {name_of(contacts): contacts for contacts in map(listed, sets)}


def asked_of(sets: Mapping[str, Any], **own: Mapping[str, Any] | None) -> dict[str, Asked]:
    """Sets of contacts with what each has of its ``own``, by name of the field and of the set."""
    for what, given in own.items():
        if given is not None and not isinstance(given, Mapping):
            raise refused(f"{what} of prepare are a dictionary by name of the set of contacts", given)
        for name in given or ():
            if name not in sets:
                raise unknown_name("set of contacts", name, sets)
    each = {what: given or {} for what, given in own.items()}
    return {
        name: Asked(contacts, **{what: given.get(name) for what, given in each.items()})
        for name, contacts in sets.items()
    }


def listed(contacts: Any) -> tuple[Contact, ...]:
    """One contact or several, as they are given; an error where something else is."""
    try:
        given = (contacts,) if isinstance(contacts, Contact) else tuple(contacts)
    except TypeError:
        raise refused("contacts are a list of dqdyn.contacts.Contact", contacts) from None
    for contact in given:
        if not isinstance(contact, Contact):
            raise refused("contacts are a list of dqdyn.contacts.Contact", contact)
    return given


def prepared(
    make: Make, sets: Mapping[str, Asked], finish: Callable[[str, Any, Any], ContactSet], show: bool | None
) -> list[ContactSet]:
    """A :class:`ContactSet` each; what one of them raises is raised."""

    def one(name: str) -> ContactSet:
        done = finish(name, *make(sets[name]))
        warm_up(done)
        return done

    with (
        Progress(len(sets), f"preparing {len(sets)} sets of contacts", show) as bar,
        ThreadPoolExecutor(_THREADS) as pool,
    ):
        running = [pool.submit(one, name) for name in sets]
        done = []
        for k, future in enumerate(running, 1):
            done.append(future.result())
            bar.at(k)
    return done


def warm_up(given: ContactSet) -> None:
    """Evaluate once, so that no step of a loop has to compile or to load anything."""
    composition = given.composition
    robot = composition.robot
    composition.function(
        np.zeros(1), robot.neutral(), np.zeros(robot.nv), *composition._arrays, out=composition.out, check=False
    )
    if isinstance(given.optimum, StrictLevels):
        given.optimum.prepare(composition.views)
    composition.out[:] = 0.0


def found(sets: Mapping[str, ContactSet], wanted: Any) -> ContactSet:
    """The prepared set of that name, or with those contacts."""
    if isinstance(wanted, str):
        if wanted in sets:
            return sets[wanted]
        shown = repr(wanted)
    else:
        contacts = tuple(contact for contact in listed(wanted) if contact.mode != "off")
        for known in sets.values():
            if set(known.contacts) == set(contacts):
                return known
        shown = repr(name_of(contacts))
    names = ", ".join(repr(name) for name in sets)
    raise ControlError(
        f"the set of contacts {shown} is not prepared: call controller.prepare(…) with it before the loop runs; "
        f"prepared are {names}.",
        contacts=wanted,
        prepared=tuple(sets),
    )


def kept_anchor(old: Sequence[Contact], new: Contact) -> int | None:
    """Which of the old contacts holds where the new one does: the same place, unless it slid and now is fixed."""
    for i, contact in enumerate(old):
        same = (contact.frame, contact.partner, contact.corners) == (new.frame, new.partner, new.corners)
        if same and (contact.mode == new.mode or new.mode == "sliding"):
            return i
    return None


def place(contact: Contact) -> tuple[str, str]:
    """What touches what: contacts of one place pass the load on to each other."""
    return contact.frame, contact.partner
