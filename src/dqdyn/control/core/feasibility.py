"""Targets that cannot be reached since a constraint forbids them, told when a controller is built, as of t = 0."""

from __future__ import annotations

import warnings

from dqdyn.control.core.design import Design
from dqdyn.control.core.errors import ControlWarning
from dqdyn.model.model import Model

_ROUNDING = 1e-9


def warn_of_forbidden_targets(model: Model, design: Design, callers: int) -> None:
    """A warning for every target and constraint that cannot both be met, as far as the target alone tells.

    The task says where features are once it is met, the constraint how far from its boundary they are there.
    ``callers``: how many calls from here the controller is built.
    """
    for task in design.all_tasks:
        for constraint in design.constraints:
            for name, h in constraint.clearances_at_target(task, model):
                if h < -_ROUNDING:
                    text = f"The target of {task.name!r} lies in the zone that {name!r} forbids, by {-h:.4g}."
                    warnings.warn(text, ControlWarning, stacklevel=callers + 1)
