"""Tasks on contact forces, for whole-body controllers: wrenches, center of pressure, zero-moment point, load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dqdyn.algebra.quaternion import ZERO, Quaternion, cross3
from dqdyn.algebra.scalar import Scalar
from dqdyn.contacts.contact import Contact
from dqdyn.control.core.errors import refused
from dqdyn.control.core.settings import number
from dqdyn.control.features.signals import Moving, Signal, SignalLike, as_signal
from dqdyn.control.whole_body.force_task import ForceRows, ForceTask
from dqdyn.errors import Error, unknown_name
from dqdyn.model.description import WORLD
from dqdyn.references.path import TimedPath

if TYPE_CHECKING:
    from dqdyn.control.whole_body.context import WholeBodyContext

COMPONENTS = ("f_t1", "f_t2", "f_n", "tau_t1", "tau_t2", "tau_n")
"""Of a contact wrench: along the tangents and the normal of the contact frame, in N and N m."""
_NORMAL = 2
ContactLike = str | Contact
"""A contact of the controller, or its name."""
_ROUNDING = 1e-9  # of a sum of shares


class ContactWrenchTask(ForceTask):
    """The wrench of a contact at a target: wrench − target is small, in N and N m, in the contact frame.

    ``components`` names those that the target has, of "f_t1", "f_t2", "f_n", "tau_t1", "tau_t2" and "tau_n"; by default
    all six. ``ContactWrenchTask("hand", 20.0, components="f_n")`` presses with 20 N.
    """

    def __init__(
        self,
        contact: ContactLike,
        target: SignalLike,
        *,
        components: str | Sequence[str] = COMPONENTS,
        weight: float = 1.0,
        name: str | None = None,
    ) -> None:
        self.contact, self.components = _name(contact), _components(components)
        what = f"wrench of {self.contact}"
        signal = _signal(target, f"the target of the {what}", len(self.components))
        super().__init__(what, (signal,), weight=weight, name=name)

    def force_rows(self, context: WholeBodyContext) -> ForceRows:
        rows = _wrench_rows(context, self.contact, self.components)
        return rows, [-c for c in context.given(self.signals[0]).value]


class CenterOfPressureTask(ForceTask):
    """The center of pressure p of a contact at a target (x, y) in m in the contact frame: f_n (p − p_d) is small.

    The error is in N m: f_n p = (−τ_t2, τ_t1) is linear in the forces, and a foot that presses little counts little.
    """

    def __init__(
        self, contact: ContactLike, target: SignalLike = (0.0, 0.0), *, weight: float = 1.0, name: str | None = None
    ) -> None:
        self.contact = _name(contact)
        what = f"center of pressure of {self.contact}"
        super().__init__(what, (_signal(target, f"the target of the {what}", 2),), weight=weight, name=name)

    def force_rows(self, context: WholeBodyContext) -> ForceRows:
        names = ("f_n", "tau_t1", "tau_t2")
        normal, about_x, about_y = _wrench_rows(context, self.contact, names, any_of=names[1:])
        x, y = context.given(self.signals[0]).value
        rows = [_sum((-1.0, about_y), (-x, normal)), _sum((1.0, about_x), (-y, normal))]
        return rows, [0.0, 0.0]


class ZeroMomentPointTask(ForceTask):
    """The zero-moment point z of several contacts at a target (x, y) in m in the world: F_z (z − z_d) in N m is small.

    It is where, in the level plane at ``height`` in m, the forces of the ground together have no horizontal moment; on
    level ground the center of pressure of all feet. ``contacts``: those that count, by default all with the world.
    """

    def __init__(
        self,
        target: SignalLike,
        *,
        contacts: Sequence[ContactLike] | None = None,
        height: float = 0.0,
        weight: float = 1.0,
        name: str | None = None,
    ) -> None:
        what = "zero-moment point"
        self.contacts = None if contacts is None else _names(contacts)
        super().__init__(what, (_signal(target, f"the target of the {what}", 2),), weight=weight, name=name)
        self.height = number(height, f"height of {self.name}")

    def force_rows(self, context: WholeBodyContext) -> ForceRows:
        force, moment = _total_wrench(context, _on_the_world(context, self.contacts, self.name))
        x, y = context.given(self.signals[0]).value
        h = self.height
        # h F_x − M_y = x F_z and h F_y + M_x = y F_z with the moment M about the origin.
        along_x = _sum((h, force[0]), (-1.0, moment[1]), (-x, force[2]))
        along_y = _sum((h, force[1]), (1.0, moment[0]), (-y, force[2]))
        return [along_x, along_y], [0.0, 0.0]


class LoadSharingTask(ForceTask):
    """Normal forces in given ``shares``: f_n − share · Σ f_n in N is small, for every contact.

    ``shares`` add up to 1 and may move, as the weight shifts from foot to foot; by default all are equal. ``contacts``:
    those that share, by default all with the world; one alone has all of it.
    """

    def __init__(
        self,
        contacts: Sequence[ContactLike] | None = None,
        shares: SignalLike | None = None,
        *,
        weight: float = 1.0,
        name: str | None = None,
    ) -> None:
        self.contacts = None if contacts is None else _names(contacts)
        signals: tuple[Signal, ...] = ()
        if shares is not None:
            if self.contacts is None:
                raise Error(
                    "the shares of a LoadSharingTask belong to contacts: name these, in the order of the shares."
                )
            signals = (_signal(shares, "the shares of the load", len(self.contacts)),)
            _check_shares(signals[0].at(0.0).value)
        super().__init__("load sharing", signals, weight=weight, name=name)

    def force_rows(self, context: WholeBodyContext) -> ForceRows:
        names = _on_the_world(context, self.contacts, self.name)
        normals = [context.wrench(name)[_NORMAL] for name in names]
        shares = context.given(self.signals[0]).value if self.signals else [1.0 / len(names)] * len(names)
        whole = _sum(*((1.0, row) for row in normals))
        rows = [_sum((1.0, row), (-share, whole)) for row, share in zip(normals, shares, strict=True)]
        return rows, [0.0] * len(rows)


class ForceRegularisation(ForceTask):
    """Contact wrenches small: the ``components`` of every contact in N and N m; see :class:`ContactWrenchTask`.

    ``components=("f_t1", "f_t2")`` keeps forces near the normal, away from slipping. Components that a contact cannot
    have are left out. ``contacts``: which, by default all.
    """

    def __init__(
        self,
        contacts: Sequence[ContactLike] | None = None,
        *,
        components: str | Sequence[str] = COMPONENTS,
        weight: float = 1e-4,
        name: str | None = None,
    ) -> None:
        self.contacts = None if contacts is None else _names(contacts)
        self.components = _components(components)
        super().__init__("force regularisation", (), weight=weight, name=name)

    def force_rows(self, context: WholeBodyContext) -> ForceRows:
        names = self.contacts if self.contacts is not None else _all(context)
        wrenches = ([context.wrench(name)[COMPONENTS.index(c)] for c in self.components] for name in names)
        rows = [row for wrench in wrenches for row in wrench if any(row)]
        if not rows:
            raise Error(f"{self.name} finds no contact with {', '.join(self.components)}: choose other components.")
        return rows, [0.0] * len(rows)


# --- rows over φ ------------------------------------------------------------------------------------------------------


def _sum(*terms: tuple[Scalar, list[Scalar]]) -> list[Scalar]:
    """Σ factor · row."""
    result: list[Scalar] = [0.0] * len(terms[0][1])
    for factor, row in terms:
        result = [a + factor * b if _is_there(b) else a for a, b in zip(result, row, strict=True)]
    return result


def _is_there(entry: Scalar) -> bool:
    return not (type(entry) is float and entry == 0.0)


def _total_wrench(context: WholeBodyContext, names: Sequence[str]) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """Rows over φ of the force and of the moment about the origin of the world, in its axes, of several contacts."""
    columns: list[tuple[Quaternion, Quaternion]] = [(ZERO, ZERO)] * context.contacts.forces
    for name in names:
        frame, wrench = context.contact_frame(name), context.wrench(name)
        for k in range(context.contacts.forces):
            f, tau = ([row[k] for row in part] for part in (wrench[:3], wrench[3:]))
            if any(f) or any(tau):
                force, torque = (_combined(frame.columns, c) for c in (f, tau))
                columns[k] = force, cross3(frame.p, force) + torque
    force_rows, moment_rows = ([[c[i].vector[j] for c in columns] for j in range(3)] for i in range(2))
    return force_rows, moment_rows


def _combined(axes: Sequence[Quaternion], c: Sequence[float]) -> Quaternion:
    result = ZERO
    for axis, factor in zip(axes, c, strict=True):
        if factor:
            result = result + axis * factor
    return result


def _wrench_rows(
    context: WholeBodyContext, contact: str, components: Sequence[str], any_of: Sequence[str] = ()
) -> list[list[Scalar]]:
    """Components of a contact's wrench; an error where the contact cannot have one, or none of ``any_of``."""
    wrench = dict(zip(COMPONENTS, context.wrench(contact), strict=True))
    able = [name for name, row in wrench.items() if any(row)]
    missing = [name for name in components if name not in able]
    if (missing and not any_of) or (any_of and not set(any_of) & set(able)):
        lack = f"the contact {contact!r} cannot have {', '.join(missing)}"
        raise Error(f"{lack}: choose among {', '.join(able)}.", contact=contact, missing=tuple(missing))
    return [wrench[name] for name in components]


def _all(context: WholeBodyContext) -> tuple[str, ...]:
    return tuple(contact.name for contact in context.contacts.contacts)


def _on_the_world(context: WholeBodyContext, names: Sequence[str] | None, task: str) -> tuple[str, ...]:
    """Contacts whose partner is the world; an error where a named one has another, or where there is none."""
    inside = {contact.name for contact in context.contacts.contacts if contact.partner != WORLD}
    for name in names or ():
        context.contacts.index(name)
        if name in inside:
            raise Error(f"{task} takes contacts with the world, and {name!r} is inside the robot.", contact=name)
    found = tuple(name for name in (_all(context) if names is None else names) if name not in inside)
    if not found:
        raise Error(f"{task} finds no contact with the world: give the controller some.")
    return found


# --- what users give --------------------------------------------------------------------------------------------------


def _signal(given: SignalLike, what: str, size: int) -> Signal:
    """A signal of which values count alone: of a function of time no velocity is asked."""
    if callable(given) and not isinstance(given, (Signal, TimedPath)):
        given = Moving(given, known=False)
    return as_signal("number" if size == 1 else "vector", given, what, size)


def _name(contact: Any) -> str:
    if isinstance(contact, Contact):
        return contact.name
    if not isinstance(contact, str) or not contact:
        raise refused("A contact is given by its name, or as a dqdyn.contacts.Contact", contact)
    return contact


def _names(contacts: Any) -> tuple[str, ...]:
    if isinstance(contacts, (str, Contact)):
        contacts = (contacts,)
    try:
        names = tuple(_name(contact) for contact in contacts)
    except TypeError:
        raise refused("contacts are a list of names or of dqdyn.contacts.Contact", contacts) from None
    if not names or len(set(names)) < len(names):
        raise refused("contacts are one or more, each named once", contacts)
    return names


def _components(given: Any) -> tuple[str, ...]:
    try:
        names = (given,) if isinstance(given, str) else tuple(given)
    except TypeError:
        raise refused(f"components are some of {', '.join(COMPONENTS)}", given) from None
    for name in names:
        if not isinstance(name, str) or name not in COMPONENTS:
            raise unknown_name("component of a contact wrench", name, COMPONENTS)
    if not names or len(set(names)) < len(names):
        raise refused("components are one or more, each named once", given)
    return names


def _check_shares(shares: list[Scalar]) -> None:
    if min(shares) < 0.0 or abs(sum(shares) - 1.0) > _ROUNDING:
        raise refused("the shares of the load are from 0 on and add up to 1", list(shares))
