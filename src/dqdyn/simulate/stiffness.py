"""Which step a run would have needed: the linearised step of the integrator, measured after a run that diverged.

About a state, x = (w, v) follows ẋ = A x + B u. A control law makes that ẋ = (A + B K) x; a controller in Python is
asked once per step, so that u = K x holds during it. The step is stable where the map from x to the next x has no
eigenvalue beyond the growth that the motion itself has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.simulate.problem import joint_of
from dqdyn.simulate.record import Record
from dqdyn.simulate.system import law_forces

_CALM = 100.0
"""rad/s or m/s: faster states tell of the divergence, not of what caused it."""
_SMALLEST = 1e-9
"""Part of dt below which no step is sought."""
_SAFE = 0.5
"""Part of the largest stable step that is suggested."""
_DIFFERENCE = 1e-6


@dataclass(frozen=True)
class Stiffness:
    """The largest stable step in s, the fastest rate in 1/s, the joint that moves most, and whether u was held."""

    step: float
    rate: float
    joint: str
    held: bool

    def advice(self, can_be_implicit: bool, is_implicit: bool = False) -> str:
        """What helps, as the end of a sentence."""
        step = f"take dt = {self.step:.1g} s or less"
        fast = f"joint {self.joint!r} with a rate of {self.rate:.2g} 1/s"
        if self.held:
            law = ", or make it a dq.simulate.ControlLaw with integrator='implicit'" if can_be_implicit else ""
            law = (
                ", or make it a dq.simulate.ControlLaw, which integrator='implicit' solves for" if is_implicit else law
            )
            return f"the controller, asked once per step, is too stiff for it at {fast}: {step}, or lower gains{law}."
        other = ", or integrator='implicit'" if can_be_implicit else ""
        return f"{fast} is too stiff for it: {step}{other}."


def measured(record: Record, states: Array) -> Stiffness | None:
    """The stiffness at the calm states of one run (n, nq + nv); None where it is not what made the step too large."""
    problem, name = record.problem, getattr(record.method, "name", "")
    if problem.robot.constraints or record.actuation.level == "velocity" or not name:
        return None
    nq, found = record.system.nq, []
    with np.errstate(invalid="ignore"):
        calm = np.flatnonzero((np.abs(states[:, nq:]) < _CALM).all(axis=1) & np.isfinite(states).all(axis=1))
    for row in dict.fromkeys(calm[[0, -1]].tolist() if len(calm) else []):
        t = problem.start + min(row * problem.every, problem.steps) * problem.dt
        try:
            one = _at(record, name, t, states[row, :nq], states[row, nq : nq + record.system.nv])
        except Exception:  # a controller that takes no other states says nothing about its stiffness
            continue
        if one is not None:
            found.append(one)
    return min(found, key=lambda one: one.step, default=None)


def _at(record: Record, name: str, t: float, q: Array, v: Array) -> Stiffness | None:
    problem, nv = record.problem, record.system.nv
    forces = _forces(record, t)
    tau = forces(q, v)
    by_q, by_v, by_tau = problem.robot.forward_dynamics_derivatives(q, v, tau)
    a = np.block([[np.zeros((nv, nv)), np.eye(nv)], [by_q, by_v]])
    b = np.concatenate([np.zeros((nv, nv)), by_tau])
    gain = np.concatenate([_differences(record, forces, q, v, tau, which) for which in ("q", "v")], axis=1)
    closed = a + b @ gain
    held = record.actuation.asked is not None
    values = np.linalg.eigvals(closed)
    growth = max(0.0, float(values.real.max()))

    def map_of(h: float) -> Array:
        if not held:
            return _stepped(name, closed, np.zeros((2 * nv, 0)), h)[0]
        free, pushed = _stepped(name, a, b, h)
        return np.asarray(free + pushed @ gain)

    def stable(h: float) -> bool:
        return bool(np.abs(np.linalg.eigvals(map_of(h))).max() <= math.exp(min(growth * h, 50.0)) * (1.0 + 1e-6))

    if stable(problem.dt):
        return None
    low = high = problem.dt
    while not stable(low):
        high, low = low, 0.5 * low
        if low < _SMALLEST * problem.dt:
            return None
    for _ in range(8):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if stable(middle) else (low, middle)
    grown, modes = np.linalg.eig(map_of(problem.dt))
    worst = np.abs(modes[nv:, np.argmax(np.abs(grown))])
    joint = joint_of(problem.robot.model, int(np.argmax(worst)))
    return Stiffness(_rounded_down(_SAFE * low), float(np.abs(values).max()), joint, held)


def _forces(record: Record, t: float) -> Callable[[Array, Array], Array]:
    """τ (nv) as a function of q and v at the time t; a controller with a memory is asked on a copy."""
    actuation, system, problem = record.actuation, record.system, record.problem
    if actuation.asked is not None:
        ask = deepcopy(actuation.asked.ask)
        asked = deepcopy(actuation.asked, {id(actuation.asked.ask): ask, id(problem): problem})
        return lambda q, v: np.array(
            asked(t, np.tile(q, (problem.count, 1)), np.tile(v, (problem.count, 1)))[0], dtype=float
        )
    law = actuation.law
    if law is not None:
        return lambda q, v: np.array([float(x) for x in law_forces(law, system.model, t, q.tolist(), v.tolist())])
    return lambda q, v: np.array(actuation.tau[0, 0], dtype=float)


def _differences(record: Record, forces: Any, q: Array, v: Array, tau: Array, which: str) -> Array:
    """Derivative (nv, nv) of the forces with respect to w or v."""
    columns = []
    for unit in np.eye(record.system.nv):
        if which == "q":
            moved = forces(record.problem.robot.integrate(q, unit, _DIFFERENCE), v)
        else:
            moved = forces(q, v + _DIFFERENCE * unit)
        columns.append((moved - tau) / _DIFFERENCE)
    return np.array(columns).T


def _stepped(name: str, a: Array, b: Array, h: float) -> tuple[Array, Array]:
    """The linear step x ↦ P x + Q u of an integrator; exact for those whose order is not at stake."""
    n, m = len(a), b.shape[1]
    joined = np.zeros((n + m, n + m))
    joined[:n, :n], joined[:n, n:] = h * a, h * b
    if name == "semi-implicit-euler":
        half, one = n // 2, np.eye(n + m)
        kick, drift = one.copy(), one.copy()
        kick[half:n] += joined[half:n]
        drift[:half, half:n] += h * np.eye(half)
        step = drift @ kick
    elif name == "rkmk4":
        step = _taylor(joined, 4)
    else:
        doublings = max(0, math.ceil(math.log2(max(1.0, np.abs(joined).sum(axis=1).max()))) + 1)
        step = np.linalg.matrix_power(_taylor(joined / 2.0**doublings, 12), 2**doublings)
    return step[:n, :n], step[:n, n:]


def _taylor(x: Array, order: int) -> Array:
    term = total = np.eye(len(x))
    for k in range(1, order + 1):
        term = term @ x / k
        total = total + term
    return total


def _rounded_down(x: float) -> float:
    """One digit."""
    unit = 10.0 ** math.floor(math.log10(x))
    return math.floor(x / unit + 1e-9) * unit
