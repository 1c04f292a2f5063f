"""What holds a whole-body controller back, in words and numbers, computed when someone asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dqdyn.arrays import Array
from dqdyn.contacts.margins import Margin
from dqdyn.control.core.optimum import Optimum, StrictLevels
from dqdyn.control.qp.conflict import NamedRows
from dqdyn.control.whole_body.composition import WholeBodyComposition
from dqdyn.control.whole_body.elimination import DEPENDENT
from dqdyn.control.whole_body.force_task import ForceTask

if TYPE_CHECKING:
    from dqdyn.control.whole_body.controller import WholeBodyController

_TOUCHES = 1e-6  # in the unit of a bound, up to which it counts as used up
_MISSED = 1e-3  # of what a task asks for, from which on it counts as blocked
_SHARE = 0.02  # of what holds a task back, from which on it is told
_NEARLY = 1e-4  # of a row that others leave, below which the state is called nearly singular
OTHERS, NOTHING = "other tasks and damping", "contacts, loops and axes without a motor"


@dataclass(frozen=True)
class ActiveConstraint:
    """A bound that the last command uses up.

    ``multiplier`` ≥ 0: what the cost would fall by per unit of the bound, if the bound gave way; ``unit`` is that of
    the bound, and ``level`` the level of priority whose cost it is, from 1.
    """

    name: str
    multiplier: float
    unit: str
    level: int = 1

    def __str__(self) -> str:
        return f"{self.name}: {self.multiplier:.4g} per {self.unit}"


@dataclass(frozen=True)
class BlockedTask:
    """A task that the last command does not meet: ``missing`` of ``wanted``, norms of J v̇ + r and of r.

    r is what is left to do without accelerations, or without what can be chosen of the forces. For tasks of motion both
    are accelerations of the error, in its unit per s², for tasks on forces in N or N m. ``shares``: what holds it back,
    by name, as parts of 1, the largest first. Along the shortest way to meet the task its cost falls as fast as
    constraints, by their multipliers, and other tasks resist; those that do are told.
    """

    task: str
    missing: float
    wanted: float
    shares: dict[str, float]

    def __str__(self) -> str:
        held = ", ".join(f"{name!r} ({100.0 * s:.0f} %)" for name, s in self.shares.items() if s >= _SHARE)
        return f"{self.task!r} misses {self.missing:.3g} of {self.wanted:.3g}, held back by {held}"


def active(controller: WholeBodyController) -> tuple[ActiveConstraint, ...]:
    """Bounds with multipliers at the last step, those that pull most first."""
    composition, optimum = controller.composition, controller.optimum
    rows = composition.rows()
    found: list[tuple[float, ActiveConstraint]] = []
    for level, multipliers in enumerate(_multipliers(controller, rows), 1):
        if level > 1 and not isinstance(optimum, StrictLevels):
            break
        for side in np.flatnonzero(multipliers).tolist():
            name, length = _named(rows, side, bool(multipliers[side] > 0.0))
            if name:
                size = abs(float(multipliers[side]))
                entry = ActiveConstraint(name, size, composition.unit_of(name), level)
                found.append((size * length, entry))
    return tuple(entry for _, entry in sorted(found, key=lambda pair: -pair[0]))


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


def blocked(controller: WholeBodyController) -> tuple[BlockedTask, ...]:
    """The tasks of the first level that the last command does not meet, and what holds each back."""
    composition = controller.composition
    if not composition.design.tasks:
        return ()
    views, u, rows = composition.views, controller.unknowns, composition.rows()
    multipliers = next(iter(_multipliers(controller, rows)))
    pulls, jacobians = composition.pulls(multipliers), controller.jacobians
    result, start = [], 0
    for task in composition.design.tasks[0]:
        size = composition.task_sizes[id(task)]
        part = slice(start, start + size)
        start += size
        J, r = views["J0"][part], views["task_constants"][part]
        residual = J @ u + r
        at_rest = r if isinstance(task, ForceTask) else residual - jacobians[task.name] @ controller.accelerations
        missing, wanted = float(np.linalg.norm(residual)), float(np.linalg.norm(at_rest))
        if missing <= _MISSED * max(wanted, 1e-3):
            continue
        way = -np.linalg.pinv(J, rcond=1e-9) @ residual
        falls = task.weight * float(-residual @ (J @ way))
        result.append(BlockedTask(task.name, missing, wanted, _shares(rows, multipliers, pulls @ way, falls, missing)))
    return tuple(sorted(result, key=lambda one: -one.missing))


def _shares(rows: NamedRows, multipliers: Array, along: Array, falls: float, missing: float) -> dict[str, float]:
    """What holds a task back, as parts of 1."""
    if falls <= 1e-12 * missing**2:
        return {NOTHING: 1.0}
    shares: dict[str, float] = {}
    for side in np.flatnonzero(multipliers).tolist():
        name, _ = _named(rows, side, bool(multipliers[side] > 0.0))
        shares[name or "a bound"] = shares.get(name or "a bound", 0.0) + float(along[side]) / falls
    shares[OTHERS] = 1.0 - sum(shares.values())
    against = {name: share for name, share in shares.items() if share > 0.0}
    whole = sum(against.values())
    return {name: share / whole for name, share in sorted(against.items(), key=lambda pair: -pair[1])}


def stall(controller: WholeBodyController) -> str:
    """Which tasks the last command does not meet, and why, in words; "" where it meets all."""
    if controller.report.status in ("held", "failed", "not started"):
        return controller.report.reason
    return "; ".join(map(str, blocked(controller)))


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


def _named(rows: NamedRows, side: int, upper: bool) -> tuple[str, float]:
    """The name of the tightest row of a side of the problem, and its length."""
    found = np.flatnonzero((rows.index == side) & (rows.is_upper == upper))
    if not len(found):
        return "", 0.0
    tightest = int(found[np.argmin(rows.b[found])])
    return rows.names[tightest], float(np.linalg.norm(rows.a[tightest]))


def _multipliers(controller: WholeBodyController, rows: NamedRows) -> list[Array]:
    """λ (sides,) of every level whose solver says them, of the first level always; zeros without a solution."""
    size, optimum = controller.composition.size, controller.optimum
    if controller.report.status in ("held", "failed", "not started"):
        return [np.zeros(size.sides)]
    first = optimum.first if isinstance(optimum, StrictLevels) else optimum
    given = first.solver.multipliers if isinstance(first, Optimum) else None
    levels = [_by_least_squares(controller, rows) if given is None else np.asarray(given).copy()]
    if isinstance(optimum, StrictLevels):
        levels += optimum.lower_multipliers()
    return levels


def _by_least_squares(controller: WholeBodyController, rows: NamedRows) -> Array:
    """Multipliers of the bounds that the command uses up, where no solver gives them: those that balance the cost."""
    composition, u = controller.composition, controller.unknowns
    size, views = composition.size, composition.views
    result = np.zeros(size.sides)
    touching = np.flatnonzero(np.abs(rows.b - rows.a @ u) <= _TOUCHES * (1.0 + np.abs(rows.b)))
    if len(touching):
        gradient = views["H0"] @ u + views["f0"]
        values = np.linalg.lstsq(rows.a[touching].T, -gradient, rcond=1e-9)[0]
        for i, value in zip(touching.tolist(), values.tolist(), strict=True):
            result[rows.index[i]] += max(value, 0.0) * (1.0 if rows.is_upper[i] else -1.0)
    return result
