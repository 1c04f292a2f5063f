"""What to do where no command obeys all constraints, or where a value is not finite: raise, relax, hold or rest.

What came of it is in the report of the step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dqdyn.arrays import Array
from dqdyn.caching import cached_property
from dqdyn.control.core.errors import ControlError, InfeasibleError
from dqdyn.control.features.components import is_finite
from dqdyn.control.qp.conflict import NamedRows, is_feasible, least_violation, minimal_conflict
from dqdyn.control.qp.solver import INFINITE

if TYPE_CHECKING:
    from dqdyn.control.core.controller import Controller
    from dqdyn.control.core.optimum import Views

_CONFLICT = "no command obeys all constraints"
_CHOICE = "leave one out, or choose infeasible='relax' or 'hold'"
_FAILED = "the solver found no command, though no constraints are in conflict"
_REMEDY = "a gain or a distance is out of scale, or try another solver"
ROOM = 1e-8  # beyond the least violation, so that rounding leaves something to choose from
ROOMS = (0.0, 1e-6, 1e-5)  # further, of bounds that give way, one after the other until the solver finds something


@dataclass(frozen=True)
class StepReport:
    """What a controller says about its last step.

    ``status``: "solved", "relaxed" (bounds gave way), "held" (there is no command to give) or "failed" (the same, as
    the solver found none though nothing is in conflict); ``reason`` in words.

    ``motion``: what the robot does where it is held or the solver failed, "braking" or "still". ``violation`` maps the
    names of constraints that gave way to by how much, in the unit of their right side.
    """

    t: float
    status: str = "solved"
    reason: str = ""
    violation: dict[str, float] = field(default_factory=dict)
    rows: NamedRows | None = field(default=None, repr=False)
    motion: str = ""

    @property
    def excused(self) -> Collection[str] | None:
        """Names of the constraints that the command did not have to obey; None stands for all."""
        return None if self.status in ("held", "failed") else self.violation

    @cached_property
    def conflict(self) -> tuple[str, ...]:
        """A minimal set of constraints in conflict, by name: without any one of them the rest can be obeyed."""
        return () if self.rows is None else minimal_conflict(self.rows)


Policy = Callable[["Controller", float], tuple[Array | None, StepReport]]
"""The command of a step without solution, None for the last one, and the report."""


def give_up(controller: Controller, t: float) -> tuple[Array | None, StepReport]:
    """Raise, naming a minimal set in conflict."""
    report = StepReport(t, "infeasible", rows=controller.composition.rows())
    if not report.conflict:
        u = second_opinion(controller, controller.composition.views)
        if u is not None:
            return u, StepReport(t)
        raise ControlError(f"At t = {t:.6g} s {_FAILED}: {_REMEDY}.", reason=_FAILED, t=t)
    names = " and ".join(repr(name) for name in report.conflict)
    text = f"At t = {t:.6g} s no command satisfies {names} together: {_CHOICE}."
    raise InfeasibleError(text, conflict=report.conflict, t=t)


def relax(controller: Controller, t: float) -> tuple[Array | None, StepReport]:
    """Bounds give way by as little as possible; which and by how much is reported."""
    return relax_rows(controller, t, controller.composition.rows())


def relax_rows(controller: Controller, t: float, rows: NamedRows) -> tuple[Array | None, StepReport]:
    """Those of the rows that may give way do, by as little as possible."""
    violation = least_violation(rows)
    if violation is None:
        reason = "constraints that must not give way are in conflict"
        return None, StepReport(t, "held", reason, rows=rows)
    amounts: dict[str, float] = {}
    for name, amount in zip(rows.names, violation, strict=True):
        if amount > 0.0:
            amounts[name] = max(amounts.get(name, 0.0), float(amount))
    command = _widest_needed(controller, rows, violation, controller.optimum)
    if command is None:  # another solver knows the first level only, so it comes second
        command = _widest_needed(controller, rows, violation, lambda views: second_opinion(controller, views))
    if command is None:
        return _without_command(controller, t, rows)
    if not amounts:  # nothing was in conflict: the solver found nothing at first
        return command, StepReport(t)
    return command, StepReport(t, "relaxed", _CONFLICT, amounts, rows)


def _widest_needed(
    controller: Controller, rows: NamedRows, violation: Array, optimum: Callable[[Views], Array | None]
) -> Array | None:
    """The command with the least room beyond the violation in which an optimum is found; None where there is none."""
    for room in ROOMS:  # so little room is left that a solver may see none
        wide = np.where(violation > 0.0, violation + room * (1.0 + np.abs(rows.b)), 0.0)
        command = optimum(_widened(controller, rows, wide))
        if command is not None and is_finite(command):
            return command
    return None


def hold(controller: Controller, t: float) -> tuple[Array | None, StepReport]:
    """The last command that obeyed all constraints."""
    return _without_command(controller, t, controller.composition.rows())


def _without_command(controller: Controller, t: float, rows: NamedRows) -> tuple[Array | None, StepReport]:
    """The last command once more: for a conflict, or for numbers that no solver can handle."""
    a, b, _ = rows.scaled()
    if is_feasible(a, b):
        u = second_opinion(controller, controller.composition.views)
        if u is not None:
            return u, StepReport(t)
        return None, StepReport(t, "failed", _FAILED, rows=rows)
    return None, StepReport(t, "held", _CONFLICT, rows=rows)


def second_opinion(controller: Controller, views: Views) -> Array | None:
    """A command of another solver for the same problem; None where it finds none either."""
    ask = getattr(controller.optimum, "second_opinion", None)
    u = None if ask is None else ask(views)
    return u if u is not None and is_finite(u) else None


def rest(controller: Controller, t: float) -> tuple[Array | None, StepReport]:
    """As :func:`hold`, and from then on the robot is brought to rest and stays there, until the next reset."""
    return hold(controller, t)


POLICIES: dict[str, Policy] = {"raise": give_up, "relax": relax, "hold": hold, "rest": rest}


def unusable(controller: Controller, t: float, reason: str) -> StepReport:
    """The report of a step that gave NaN or infinity; the policy "raise" raises it."""
    if controller.policy is give_up:
        raise ControlError(f"At t = {t:.6g} s {reason}.", reason=reason, t=t)
    return StepReport(t, "held", reason)


def _widened(controller: Controller, rows: NamedRows, violation: Array) -> dict[str, Array]:
    """The blocks with bounds that gave way, each by its violation and a little room."""
    views, up = controller.composition.views, rows.is_upper
    bounds = rows.b + violation + ROOM * (1.0 + np.abs(rows.b)) * rows.relaxable
    upper, lower = np.full_like(views["upper"], INFINITE), np.full_like(views["lower"], -INFINITE)
    np.minimum.at(upper, rows.index[up], bounds[up])
    np.maximum.at(lower, rows.index[~up], -bounds[~up])
    return {**views, "upper": upper, "lower": lower}
