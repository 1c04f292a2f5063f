"""What to do where no command obeys all constraints, or where something is no number: raise, relax or hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from dqdyn.control.core.errors import ControlError, InfeasibleError
from dqdyn.control.core.report import Report
from dqdyn.control.features.components import is_finite
from dqdyn.control.qp.conflict import is_feasible
from dqdyn.control.qp.relax import least_violation
from dqdyn.control.qp.rows import NamedRows
from dqdyn.control.qp.solver import INFINITE

if TYPE_CHECKING:
    from dqdyn.control.core.controller import Controller

Policy = Callable[["Controller", float], tuple[np.ndarray | None, Report]]
"""The command of a step without solution, None for the last one, and the report."""

_CONFLICT = "no command obeys all constraints"
_FAILED = "the solver found no command, though no constraints are in conflict"
_REMEDY = "a gain or a distance is out of scale, or try another solver"
_ROOM = 1e-8  # beyond the least violation, so that rounding leaves something to choose from


def give_up(controller: Controller, t: float) -> tuple[np.ndarray | None, Report]:
    """Raise, naming a minimal set in conflict."""
    report = Report(t, "infeasible", rows=controller.composition.rows())
    if not report.conflict:
        raise ControlError(f"At t = {t:.6g} s {_FAILED}: {_REMEDY}.", reason=_FAILED, t=t)
    names = " and ".join(repr(name) for name in report.conflict)
    raise InfeasibleError(
        f"At t = {t:.6g} s no command obeys {names} at a time: leave one out, or choose infeasible='relax' or 'hold'.",
        conflict=report.conflict,
        t=t,
    )


def relax(controller: Controller, t: float) -> tuple[np.ndarray | None, Report]:
    """Bounds give way by as little as possible; which and by how much is reported."""
    composition = controller.composition
    rows = composition.rows()
    violation = least_violation(rows)
    if violation is None:
        reason = "constraints that must not give way are in conflict"
        return None, Report(t, "held", reason, rows=rows)
    amounts: dict[str, float] = {}
    for name, amount in zip(rows.names, violation, strict=True):
        if amount > 0.0:
            amounts[name] = max(amounts.get(name, 0.0), float(amount))
    command = controller.optimum(_widened(controller, rows, violation))
    if command is None or not is_finite(command):
        return _without_command(t, rows)
    return command, Report(t, "relaxed", _CONFLICT, amounts, rows)


def hold(controller: Controller, t: float) -> tuple[np.ndarray | None, Report]:
    """The last command that obeyed all constraints."""
    return _without_command(t, controller.composition.rows())


def _without_command(t: float, rows: NamedRows) -> tuple[None, Report]:
    """The last command once more: for a conflict, or for numbers that the solver cannot handle."""
    a, b, _ = rows.scaled()
    if is_feasible(a, b):
        return None, Report(t, "failed", _FAILED, rows=rows)
    return None, Report(t, "held", _CONFLICT, rows=rows)


POLICIES: dict[str, Policy] = {"raise": give_up, "relax": relax, "hold": hold}


def no_number(controller: Controller, t: float, reason: str) -> Report:
    """The report of a step that gave NaN or infinity; the policy "raise" raises it."""
    if controller.policy is give_up:
        raise ControlError(f"At t = {t:.6g} s {reason}.", reason=reason, t=t)
    return Report(t, "held", reason)


def _widened(controller: Controller, rows: NamedRows, violation: np.ndarray) -> dict[str, np.ndarray]:
    """The blocks with bounds that gave way, each by its violation and a little room."""
    composition = controller.composition
    views, shape = dict(composition.views), composition.shape
    upper, lower = views["upper"].copy(), views["lower"].copy()
    given = rows.b + violation + _ROOM * (1.0 + np.abs(rows.b)) * rows.relaxable
    first = shape.unknowns if shape.bounds else 0
    if first:
        upper[:first], lower[:first] = INFINITE, -INFINITE
    index = 0
    for k, left, right in composition.sides_in_order():
        if right < INFINITE:
            upper[k] = min(upper[k], given[index]) if k < first else given[index]
            index += 1
        if left > -INFINITE:
            lower[k] = max(lower[k], -given[index]) if k < first else -given[index]
            index += 1
    views["upper"], views["lower"] = upper, lower
    return views
