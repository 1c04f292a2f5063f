"""Limits of joints and motors in a run: what left them, and forces clipped to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from dqdyn.algebra.scalar import Scalar, Scalars, less, select
from dqdyn.arrays import Array
from dqdyn.model.model import Model
from dqdyn.robot import Robot
from dqdyn.robot.control_law import ControlLaw
from dqdyn.robot.named_states import columns
from dqdyn.simulate.problem import Problem
from dqdyn.simulate.trajectory import BEYOND, UNTRUSTED, WATCHED, Trajectory

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


def watched(problem: Problem, level: str) -> list[str]:
    """The kinds of limits that a run reports, of a controller that commands at this level."""
    kinds = [] if problem.limits is False else ["position", "velocity"]
    return [*kinds, "effort"] if problem.efforts == "report" and level == "torque" else kinds


def excesses(robot: Robot, kinds: Sequence[str], time: Array, q: Array, v: Array, tau: Array) -> list[Excess]:
    """What left its limits at the samples q (n, nq), v, τ (n, nv) or (n, B, …) of a batch, the worst first by kind.

    NaN, as after a divergence, left none.
    """
    limits, most = robot.limits, motor_efforts(robot.model)
    bounds = {
        "q": (q, limits.lower, limits.upper, SLACK),
        "v": (v, -limits.velocity, limits.velocity, SLACK * limits.velocity),
        "tau": (tau, -most, most, SLACK * most),
    }
    return [e for name, given in bounds.items() if _KINDS[name] in kinds for e in _beyond(robot, name, time, *given)]


def clipped(robot: Robot, time: Array, tau: Array) -> list[dict[str, Any]]:
    """Axes whose forces τ (n, nv) or (n, B, nv) were clipped to their limits: since when, and in how many samples."""
    tau = tau.reshape(len(tau), -1, tau.shape[-1])
    at = np.abs(tau) >= motor_efforts(robot.model)
    rows = []
    for k in np.flatnonzero(at.any(axis=(0, 1))):
        when = at[:, :, k].any(axis=1)
        name, _ = columns(robot.model, "tau")[k]
        rows.append({"joint": name, "time": float(time[when.argmax()]), "samples": int(at[:, :, k].sum())})
    return rows


def told(batch: Trajectory, index: int, member: Trajectory) -> Trajectory:
    """A run of a batch with a status and with ``about["beyond"]`` and ``about["clipped"]`` of its own."""
    about = dict(member.about)
    kinds, untrusted = about.pop(WATCHED, None), about.pop(UNTRUSTED, [])
    if kinds is None:
        return member  # saved before runs of a batch were told apart
    robot, time, tau = member.robot, member.time, member.tau
    found = excesses(robot, kinds, time, member.q, member.v, tau)
    about.pop("beyond", None)
    if found:
        about["beyond"] = as_data(found)
    if "clipped" in about:
        about["clipped"] = clipped(robot, time, tau)
    said = next((row["status"] for row in untrusted if row["run"] == index % batch.batch[0]), "")
    return replace(member, about=about, status=said or (status(found, about) if found else "finished"))


def as_data(found: Sequence[Excess]) -> list[dict[str, Any]]:
    """Plain values, as a trajectory keeps them."""
    return [{name: value for name, value in asdict(e).items() if value is not None} for e in found]


def has_stops(about: Mapping[str, Any]) -> bool:
    """Whether joints of a run with these settings stop at their limits; those of MuJoCo, which are soft, may give."""
    return about.get("plant") == "mujoco" or bool(about.get("limits"))


def status(found: Sequence[Excess], about: Mapping[str, Any]) -> str:
    """The status of a run with these settings that left limits."""
    named = "; ".join(str(e) for e in found[:_NAMED])
    more = f"; and {len(found) - _NAMED} more in about['beyond']" if len(found) > _NAMED else ""
    kinds = {e.kind for e in found}
    remedies = {"position": "limits=True adds end stops", "effort": "efforts='clip' bounds the forces"}
    if has_stops(about):
        remedies["position"] = "the end stops gave way"
    ways = ", ".join(remedy for kind, remedy in remedies.items() if kind in kinds)
    each = "; statuses has that of each run" if any(e.run is not None for e in found) else ""
    return f"{BEYOND}: {named}{more}{'; ' + ways if ways else ''}{each}."


def _beyond(robot: Robot, kind: str, time: Array, x: Array, lower: Array, upper: Array, slack: Any) -> list[Excess]:
    """Axes of x (n, k) or (n, B, k) beyond bounds (k,), the worst first."""
    batch, x = x.ndim == 3, x.reshape(len(x), -1, x.shape[-1])
    with np.errstate(invalid="ignore"):
        over = np.maximum(x - upper, lower - x) - np.where(np.isfinite(slack), slack, 0.0)
        bad = over > 0.0
    found = []
    names = columns(robot.model, kind)
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
