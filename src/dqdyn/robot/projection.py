"""States brought onto the constraints, and states refused for being off them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dqdyn.arrays import Array, Reals, Times
from dqdyn.errors import StateError
from dqdyn.robot.state import as_state

if TYPE_CHECKING:
    from dqdyn.robot.constrained import ConstrainedMethods

_PATIENCE, _PROGRESS = 5, 0.99  # so many steps in a row that leave more than this of the residual, and it is given up


def project(
    robot: ConstrainedMethods, q: Reals, v: Reals | None, t: Times, tolerance: float, iterations: int
) -> tuple[Array, Array]:
    """(q, v) on the constraints, by Gauss-Newton steps that are shortest in the metric of M."""
    model = robot.model
    at, speed = as_state(model, "q", q), np.zeros(model.nv) if v is None else as_state(model, "v", v)
    batch = np.broadcast_shapes(at.shape[:-1], speed.shape[:-1], np.asarray(t).shape)
    at, speed = np.array(np.broadcast_to(at, (*batch, model.nq))), np.array(np.broadcast_to(speed, (*batch, model.nv)))
    if not model.constraints:
        return at, speed
    if any(c.holonomic for c in model.constraints):
        at = _onto(robot, at, t, tolerance, iterations)
    speed = robot._run("projected_velocity", (at, speed, t))
    left = robot.constraint_velocity(at, speed, t)
    if np.abs(left).max(initial=0.0) > 1e-7 * max(1.0, np.abs(speed).max(initial=0.0)):
        name, size = _worst(robot.constraint_rows, left)
        problem = f"no velocity of {model.name!r} obeys all constraints there: {name!r} misses A v = b by {size:.3g}"
        remedy = "so it contradicts others; see robot.constraint_report(q)"
        raise StateError(f"{problem}, {remedy}.", constraint=name, residual=size)
    return at, speed


def _onto(robot: ConstrainedMethods, q: Array, t: Times, tolerance: float, iterations: int) -> Array:
    """Newton steps, halved where they would make the residual larger; rows of a batch go their own way."""
    residual = robot.constraint_residual(q, t)
    size = np.linalg.norm(residual, axis=-1)
    patience = _PATIENCE
    for _ in range(iterations):
        active = np.abs(residual).max(-1) > tolerance
        if not np.any(active):
            return q
        step = robot._run("step_to_position", (q, t))
        length = np.where(active, 1.0, 0.0)
        for _ in range(25):
            trial = robot.integrate(q, step * length[..., None], 1.0)
            trial_residual = robot.constraint_residual(trial, t, check=False)
            trial_size = np.linalg.norm(trial_residual, axis=-1)
            worse = active & ~(trial_size < size)
            if not np.any(worse):
                break
            length = np.where(worse, 0.5 * length, length)
        better = active & (trial_size < size)
        patience = _PATIENCE if np.any(better & (trial_size < _PROGRESS * size)) else patience - 1
        if not np.any(better) or not patience:
            break
        q = np.where(better[..., None], trial, q)
        residual = np.where(better[..., None], trial_residual, residual)
        size = np.where(better, trial_size, size)
    if np.abs(residual).max(initial=0.0) <= 1e3 * tolerance:  # rounding is reached
        return q
    name, worst = _worst(_holonomic_rows(robot), residual)
    problem = f"no configuration of {robot.model.name!r} that obeys its constraints was found from there: {name!r}"
    remedy = "start nearer, or see whether the constraints contradict each other"
    raise StateError(f"{problem} is still off by {worst:.3g} (m or rad); {remedy}.", constraint=name, residual=worst)


def require_consistent(robot: ConstrainedMethods, q: Reals, v: Reals | None, t: Times, tolerance: float) -> None:
    """An error that says which constraint is off, how far, and how to project."""
    if not robot.model.constraints:
        return
    parts = [(robot.constraint_residual(q, t), _holonomic_rows(robot), "m or rad", "q")]
    if v is not None:
        parts.append((robot.constraint_velocity(q, v, t), list(robot.constraint_rows), "m/s or rad/s", "v"))
    for values, names, unit, argument in parts:
        if values.size and np.abs(values).max() > tolerance:
            name, size = _worst(names, values)
            problem = f"the state of {robot.model.name!r} does not obey the constraint {name!r}: {argument} is off by"
            text = f"{problem} {size:.3g} {unit}; bring it there with q, v = robot.project(q, v)."
            raise StateError(text, argument=argument, constraint=name, residual=size)


def _holonomic_rows(robot: ConstrainedMethods) -> list[str]:
    model = robot.model
    return [c.name for c in model.constraints if c.holonomic for _ in range(c.rows(model))]


def _worst(names: Sequence[str], values: Array) -> tuple[str, float]:
    """The constraint with the largest entry in any row of a batch, and that entry's size."""
    flat = np.abs(values).reshape(-1, values.shape[-1])
    flat = np.where(np.isnan(flat), np.inf, flat)
    k = int(np.argmax(flat.max(axis=0)))
    return names[k], float(flat[:, k].max())
