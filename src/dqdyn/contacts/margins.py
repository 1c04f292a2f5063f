"""How far a contact wrench is from its bounds, by name, in N, N m and m."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dqdyn.arrays import Array
from dqdyn.contacts.cone_rows import FORCE, MOMENT, sides
from dqdyn.contacts.unknowns import FN, wrench_basis

if TYPE_CHECKING:
    from dqdyn.contacts.contact import Contact


class Margin(NamedTuple):
    """A distance to a bound and its unit, "N", "N m" or "m"; negative where the bound is broken."""

    value: float
    unit: str

    def __str__(self) -> str:
        return f"{self.value:.4g} {self.unit}"


def margins(contact: Contact, wrench: Array) -> dict[str, Margin]:
    """The margins of a wrench (6,).

    Components that the contact cannot have, such as the moment about an edge, have the margin −|component|.
    """
    found = {name: Margin(float(-(row @ wrench)), unit) for name, unit, row in contact.bounds}
    if np.isfinite(contact.greatest_normal_force):
        found["greatest normal force"] = Margin(float(contact.greatest_normal_force - wrench[FN]), FORCE)
    basis = wrench_basis(replace(contact, cone="wrench"))
    beyond = wrench - basis @ (np.linalg.pinv(basis) @ wrench)
    for what, unit, part in (("force", FORCE, beyond[:3]), ("moment", MOMENT, beyond[3:])):
        largest = float(np.abs(part).max())
        if basis.shape[1] < 6:
            found[f"{what} that the contact can have"] = Margin(-largest, unit)
    if contact.kind != "point" and contact.mode != "off" and wrench[FN] > 0.0:
        found["center of pressure to the border"] = Margin(_to_border(contact, wrench), "m")
    return {f"{contact.name}: {name}": margin for name, margin in found.items()}


def _to_border(contact: Contact, wrench: Array) -> float:
    """m from the center of pressure to the nearest side, negative outside by the side farthest behind it."""
    place = contact.center_of_pressure(wrench)
    return min(distance - float(normal @ place) for normal, distance in sides(contact.polygon))
