"""What only whole-body control knows of what holds it back: margins of contacts and motors, singular states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dqdyn.contacts.margins import Margin
from dqdyn.control.whole_body.composition import WholeBodyComposition
from dqdyn.control.whole_body.elimination import DEPENDENT

if TYPE_CHECKING:
    from dqdyn.control.whole_body.controller import WholeBodyController

_NEARLY = 1e-4  # of a row that others leave, below which the state is called nearly singular


def margins(controller: WholeBodyController) -> dict[str, Margin]:
    """How far the last command is from cones, centers of pressure and limits of motors, in N, N m and m."""
    composition, found = controller.composition, dict[str, Margin]()
    wrenches = controller.contact_wrenches
    for contact in composition.contacts.contacts:
        if np.isfinite(wrenches[contact.name]).all():
            found |= contact.margins(wrenches[contact.name])
    names = composition.axis_names
    for k in composition.motors:
        if np.isfinite(composition.effort[k]):
            left = float(composition.effort[k] - abs(controller.last_torques[k]))
            found[f"motor: {names[k]}"] = Margin(left, composition.torque_units[k])
    return found


def singular(composition: WholeBodyComposition) -> str:
    """Which contact or loop depends on the others at this state, in words, or ""."""
    given = composition.views["margins"]
    if given.min(initial=1.0) >= _NEARLY**2:
        return ""
    left = np.sqrt(np.maximum(given, 0.0))
    names = [name for name, part in zip(composition.margin_names, left.tolist(), strict=True) if part < _NEARLY]
    told = " and ".join(repr(name) for name in dict.fromkeys(names))
    what = "depends on the others" if float(left.min()) < DEPENDENT else "nearly depends on the others"
    return f"the state is singular: {told} {what}"
