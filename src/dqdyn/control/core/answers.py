"""What holds a controller back, in words and numbers, computed when someone asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dqdyn.arrays import Array
from dqdyn.control.core.optimum import Optimum, StrictLevels
from dqdyn.control.qp.conflict import NamedRows

if TYPE_CHECKING:
    from dqdyn.control.core.controller import Controller

TOUCHES = 1e-6
"""In the unit of a bound, up to which it counts as used up."""
_MISSED = 1e-3  # of what a task asks for, from which on it counts as blocked
_SHARE = 0.02  # of what holds a task back, from which on it is told
_WITHOUT_COMMAND = ("held", "failed", "not started")
OTHERS, OTHER_TASKS, DAMPING = "other tasks and damping", "other tasks", "damping, as near a singularity"
HIGHER = "tasks of higher priority"


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
    """A task that the last command does not meet: ``missing`` of ``wanted``, norms of J u + r and of r.

    u is the velocity or acceleration; r is what is left to do without it, or without what can be chosen of the forces.
    For tasks of motion both are rates (by velocity) or accelerations of the error, in its unit per s or s², for tasks
    on forces in N or N m. ``shares``: what holds it back, by name, as parts of 1, the largest first. Along the shortest
    way to meet the task its cost falls as fast as constraints, by their multipliers, and other tasks resist; those that
    do are told. ``level`` is the level of priority of the task, from 1.
    """

    task: str
    missing: float
    wanted: float
    shares: dict[str, float]
    level: int = 1

    def __str__(self) -> str:
        held = ", ".join(f"{name!r} ({100.0 * s:.0f} %)" for name, s in self.shares.items() if s >= _SHARE)
        return f"{self.task!r} misses {self.missing:.3g} of {self.wanted:.3g}, held back by {held}"


def active(controller: Controller) -> tuple[ActiveConstraint, ...]:
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


def blocked(controller: Controller) -> tuple[BlockedTask, ...]:
    """The tasks that the last command does not meet, and what holds each back; those of the first level first."""
    composition, result, start = controller.composition, list[BlockedTask](), 0
    for k, tasks in enumerate(composition.design.tasks):
        found: list[BlockedTask] = []
        pulls = _Pulls(controller, k)
        opened = _Pulls.opened(controller) if k == 0 else None
        first = start
        for task in tasks:
            size = composition.task_sizes[id(task)]
            J = composition.views[f"J{k}"][start - first : start - first + size]
            r = composition.views["task_constants"][start : start + size]
            start += size
            residual = J @ controller.unknowns + r
            at_rest = controller.at_rest(task, residual, r)
            missing, wanted = float(np.linalg.norm(residual)), float(np.linalg.norm(at_rest))
            if missing <= _MISSED * max(wanted, 1e-3):
                continue
            by = pulls
            if opened is not None:  # bounds that close because a task is blocked are not what blocks it
                without = J @ opened.u + r
                if np.linalg.norm(without) > _MISSED * wanted:
                    by, residual = opened, without
            root = np.sqrt(task.row_weights(size))
            way = -np.linalg.pinv(root[:, None] * J, rcond=1e-9) @ (root * residual)
            falls = float(-(root**2 * residual) @ (J @ way))
            shares = by.shares(way, falls, float(np.linalg.norm(residual)))
            found.append(BlockedTask(task.name, missing, wanted, shares, k + 1))
        result += sorted(found, key=lambda one: -one.missing)
    return tuple(result)


def stall(controller: Controller) -> str:
    """Which tasks the last command does not meet, and why, in words; "" where it meets all."""
    if controller.report.status in _WITHOUT_COMMAND:
        return controller.report.reason
    return "; ".join(str(one) for one in controller.blocked if one.level == 1 or _is_constrained(one))


def _is_constrained(task: BlockedTask) -> bool:
    """Whether it is a constraint that holds a task back most, and not what stands above it."""
    return next(iter(task.shares)) not in (HIGHER, OTHERS, OTHER_TASKS, DAMPING)


class _Pulls:
    """What resists a change of the last command, in the cost of one level of tasks, by name."""

    def __init__(self, controller: Controller, level: int) -> None:
        composition, views, u = controller.composition, controller.composition.views, controller.unknowns
        rows = composition.rows()
        self.composition, self.u = composition, u
        self.forces: dict[str, Array] = {}
        self.damping = composition.damping_pull(level, u)
        if level == 0:
            self._take(rows, next(iter(_multipliers(controller, rows))))
        elif controller.report.status not in _WITHOUT_COMMAND:
            higher = np.vstack([views[f"J{k}"] for k in range(level)])
            touching = _touching(rows, u)
            found = _balancing(rows.a[touching], higher, views[f"H{level}"] @ u + views[f"f{level}"])
            for i, value in zip(touching.tolist(), found[: len(touching)].tolist(), strict=True):
                self._add(rows.names[i], value * rows.a[i])
            self._add(HIGHER, higher.T @ found[len(touching) :])

    @classmethod
    def opened(cls, controller: Controller) -> _Pulls | None:
        """That of the first level without the bounds that close where tasks are blocked; None where there are none."""
        progress, composition = controller.progress, controller.composition
        if not composition.progress_gains or progress.command is None or progress.multipliers is None:
            return None
        if controller.report.status in _WITHOUT_COMMAND:
            return None
        result = cls.__new__(cls)
        result.composition, result.u, result.forces = composition, progress.command, {}
        result.damping = composition.damping_pull(0, progress.command)
        closing = tuple(f"{c.name}: " for c in composition.design.constraints if c.follows_progress)
        result._take(_without(composition.rows(), closing), progress.multipliers)
        return result

    def _take(self, rows: NamedRows, multipliers: Array) -> None:
        for side, pull in enumerate(self.composition.pulls(multipliers)):
            if multipliers[side]:
                self._add(_named(rows, side, bool(multipliers[side] > 0.0))[0] or "a bound", pull)

    def _add(self, name: str, pull: Array) -> None:
        self.forces[name] = self.forces.get(name, 0.0) + pull

    def shares(self, way: Array, falls: float, missing: float) -> dict[str, float]:
        """What holds a task back along a way, as parts of 1."""
        if falls <= 1e-12 * missing**2:
            return {self.composition.no_way: 1.0}
        shares = {name: float(pull @ way) / falls for name, pull in self.forces.items()}
        rest = 1.0 - sum(shares.values())
        if self.damping is None:
            shares[OTHERS] = rest
        else:
            shares[DAMPING] = float(self.damping @ way) / falls
            shares[OTHER_TASKS] = rest - shares[DAMPING]
        against = {name: share for name, share in shares.items() if share > 0.0}
        whole = sum(against.values())
        return {name: share / whole for name, share in sorted(against.items(), key=lambda pair: -pair[1])}


def _without(rows: NamedRows, prefixes: tuple[str, ...]) -> NamedRows:
    kept = np.array([not name.startswith(prefixes) for name in rows.names], dtype=bool)
    names = tuple(name for name, keep in zip(rows.names, kept, strict=True) if keep)
    return NamedRows(rows.a[kept], rows.b[kept], names, rows.relaxable[kept], rows.index[kept], rows.is_upper[kept])


def _named(rows: NamedRows, side: int, upper: bool) -> tuple[str, float]:
    """The name of the tightest row of a side of the problem, and its length."""
    found = np.flatnonzero((rows.index == side) & (rows.is_upper == upper))
    if not len(found):
        return "", 0.0
    tightest = int(found[np.argmin(rows.b[found])])
    return rows.names[tightest], float(np.linalg.norm(rows.a[tightest]))


def _multipliers(controller: Controller, rows: NamedRows) -> list[Array]:
    """λ (sides,) of every level whose solver says them, of the first level always; zeros without a solution."""
    size, optimum = controller.composition.size, controller.optimum
    if controller.report.status in _WITHOUT_COMMAND:
        return [np.zeros(size.sides)]
    first = optimum.first if isinstance(optimum, StrictLevels) else optimum
    given = first.solver.multipliers if isinstance(first, Optimum) else None
    levels = [_by_least_squares(controller, rows) if given is None else np.asarray(given).copy()]
    if isinstance(optimum, StrictLevels):
        levels += optimum.lower_multipliers()
    return levels


def _touching(rows: NamedRows, u: Array) -> npt.NDArray[np.intp]:
    """Places of the rows that a command uses up."""
    return np.flatnonzero(np.abs(rows.b - rows.a @ u) <= TOUCHES * (1.0 + np.abs(rows.b)))


def _by_least_squares(controller: Controller, rows: NamedRows) -> Array:
    """Multipliers of the bounds that the command uses up, where no solver gives them: those that balance the cost."""
    composition, u = controller.composition, controller.unknowns
    size, views = composition.size, composition.views
    result = np.zeros(size.sides)
    touching = _touching(rows, u)
    found = _balancing(rows.a[touching], np.zeros((0, rows.a.shape[1])), views["H0"] @ u + views["f0"])
    for i, value in zip(touching.tolist(), found.tolist(), strict=True):
        result[rows.index[i]] += value * (1.0 if rows.is_upper[i] else -1.0)
    return result


def _balancing(bounds: Array, equalities: Array, gradient: Array) -> Array:
    """Multipliers, of bounds from 0 on, of equalities of any sign, with which the rows balance a gradient best."""
    rows, result = np.vstack([bounds, equalities]), np.zeros(len(bounds) + len(equalities))
    kept = np.arange(len(rows))
    while len(kept):
        values = np.linalg.lstsq(rows[kept].T, -gradient, rcond=1e-9)[0]
        wrong = (values < 0.0) & (kept < len(bounds))
        if not wrong.any():
            result[kept] = values
            break
        kept = kept[~wrong]
    return result
