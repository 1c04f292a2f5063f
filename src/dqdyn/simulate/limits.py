"""Limits of joints and motors in a run: what left them, and forces clipped to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.scalar import Scalar, Scalars, less, select
from dqdyn.arrays import Array
from dqdyn.model.model import Model
from dqdyn.robot import Robot
from dqdyn.robot.control_law import ControlLaw
from dqdyn.robot.named_states import columns
from dqdyn.simulate.problem import Problem
from dqdyn.simulate.trajectory import BEYOND

SLACK = 1e-3
"""rad or m, or part of the largest velocity or effort, by which a limit is left before that is reported."""
_NAMED = 3
"""Joints that the status names; ``about["beyond"]`` has all."""
_KINDS = {"q": "position", "v": "velocity", "tau": "effort"}


@dataclass(frozen=True)
class Excess:
    """An axis beyond a limit: its worst sample, and where it first left.

    ``kind``: "position", "velocity" or "effort". ``time`` in s is when it first left, ``value`` and ``limit`` in
    ``unit`` are those of its worst sample, at the time ``worst``. ``samples`` counts those beyond the limit, in all
    runs of a batch; ``run`` is the one with the worst, None outside batches.
    """

    kind: str
    joint: str
    time: float
    value: float
    limit: float
    unit: str
    worst: float
    samples: int
    run: int | None

    def __str__(self) -> str:
        found = f"{self.value:.4g} {self.unit} at t = {self.worst:.6g} s"
        run = "" if self.run is None else f" of run {self.run}"
        limit = f"limit {self.limit:.4g}, left at {self.time:.6g} s"
        return f"the {self.kind} of joint {self.joint!r}{run} was {found} ({limit})"


def motor_efforts(model: Model) -> Array:
    """Largest generalized force (nv) of each motor in N m or N; infinite where nothing bounds it."""
    return np.array([np.inf if motor is None else motor.effort for motor in model.motors])


def excesses(problem: Problem, time: Array, q: Array, v: Array, tau: Array | None) -> list[Excess]:
    """What left its limits at the samples q (n, B, nq), v, τ (n, B, nv), the worst first by kind; τ None for unknown.

    NaN, as after a divergence, left none.
    """
    robot, model = problem.robot, problem.robot.model
    limits = robot.limits
    found = _beyond(model, "q", problem.batch, time, q, limits.lower, limits.upper, SLACK)
    found += _beyond(model, "v", problem.batch, time, v, -limits.velocity, limits.velocity, SLACK * limits.velocity)
    if tau is not None:
        most = motor_efforts(model)
        found += _beyond(model, "tau", problem.batch, time, tau, -most, most, SLACK * most)
    return found


def clipped(problem: Problem, time: Array, tau: Array) -> list[dict[str, Any]]:
    """Axes whose forces τ (n, B, nv) are at the limits they were clipped to: since when, and in how many samples."""
    at = np.abs(tau) >= motor_efforts(problem.robot.model)
    rows = []
    for k in np.flatnonzero(at.any(axis=(0, 1))):
        when = at[:, :, k].any(axis=1)
        name, _ = columns(problem.robot.model, "tau")[k]
        rows.append({"joint": name, "time": float(time[when.argmax()]), "samples": int(at[:, :, k].sum())})
    return rows


def as_data(found: Sequence[Excess]) -> list[dict[str, Any]]:
    """Plain values, as a trajectory keeps them."""
    return [{name: value for name, value in asdict(e).items() if value is not None} for e in found]


def status(found: Sequence[Excess]) -> str:
    """The status of a run that left limits."""
    named = "; ".join(str(e) for e in found[:_NAMED])
    more = f"; and {len(found) - _NAMED} more in about['beyond']" if len(found) > _NAMED else ""
    kinds = {e.kind for e in found}
    remedies = {"position": "limits=True adds end stops", "effort": "efforts='clip' bounds the forces"}
    ways = ", ".join(remedy for kind, remedy in remedies.items() if kind in kinds)
    return f"{BEYOND}: {named}{more}{'; ' + ways if ways else ''}."


def _beyond(
    model: Model, kind: str, batch: bool, time: Array, x: Array, lower: Array, upper: Array, slack: Any
) -> list[Excess]:
    """Axes of x (n, B, k) beyond bounds (k,), in the order of the joints."""
    with np.errstate(invalid="ignore"):
        over = np.maximum(x - upper, lower - x) - np.where(np.isfinite(slack), slack, 0.0)
        bad = over > 0.0
    found = []
    names = columns(model, kind)
    for k in np.flatnonzero(bad.any(axis=(0, 1))):
        name, unit = names[k]
        row, run = np.unravel_index(np.nanargmax(np.where(bad[:, :, k], over[:, :, k], -np.inf)), bad.shape[:2])
        value = float(x[row, run, k])
        limit = float(upper[k] if value > upper[k] else lower[k])
        first = float(time[bad[:, :, k].any(axis=1).argmax()])
        worst, count = float(time[row]), int(bad[:, :, k].sum())
        found.append(Excess(_KINDS[kind], name, first, value, limit, unit, worst, count, int(run) if batch else None))
    return sorted(found, key=lambda e: -abs(e.value - e.limit))


# --- clipping ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _ClippedLaw:
    """A control law whose forces stay within the motors' efforts, over any scalar."""

    law: ControlLaw
    most: tuple[float, ...]

    def __call__(self, t: Scalar, q: Scalars, v: Scalars) -> list[Scalar]:
        given = list(self.law(t, q, v))
        if len(given) != len(self.most):
            return given  # what takes it says so
        return [x if most == np.inf else _within(x, most) for x, most in zip(given, self.most, strict=True)]


def _within(x: Scalar, most: float) -> Scalar:
    return select(less(most, x), most, select(less(x, -most), -most, x))


def clipped_law(law: ControlLaw, robot: Robot) -> ControlLaw:
    """The law within the efforts of the motors."""
    return ControlLaw(_ClippedLaw(law, tuple(motor_efforts(robot.model).tolist())))


def clipped_forces(robot: Robot, tau: Array) -> Array:
    """τ (..., nv) within the efforts of the motors."""
    most = motor_efforts(robot.model)
    return np.clip(tau, -most, most)
