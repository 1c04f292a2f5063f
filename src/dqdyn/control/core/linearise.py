"""One task or inequality by itself: its value, Jacobian and residual, and their rates, compiled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import Scalar
from dqdyn.arrays import Array, RealArray
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.control.core.build import require_robot
from dqdyn.control.core.errors import refused
from dqdyn.control.core.kinematics import Rows, State
from dqdyn.control.core.term import Term
from dqdyn.control.features.signals import SignalBuffer
from dqdyn.kinematics.configuration import configuration_rate
from dqdyn.robot import Robot
from dqdyn.robot.state import as_state


@dataclass(frozen=True, eq=False)
class Linear:
    """y (m,) at a state, with ẏ = J v + ζ and ÿ = J v̇ + J̇ v + ζ̇."""

    value: Array
    jacobian: Array
    residual: Array
    jacobian_derivative: Array
    residual_derivative: Array
    drift: Array
    """J̇ v + ζ̇ as controllers compute it: in one go, without J̇."""


class Linearised:
    """``f = linearise(robot, task); f(t, q, v).jacobian``: what a controller knows of a task or an inequality."""

    def __init__(self, robot: Robot, term: Term) -> None:
        self.model, self.term = robot.model, term.bound_to(robot.model)
        self.buffer = SignalBuffer(list(self.term.signals))
        self._function = Function(trace("linearised", self.buffer.inputs(robot.model), self._trace)).fast

    def __call__(self, t: float, q: RealArray, v: RealArray | None = None) -> Linear:
        """At time t (s), q (nq,) and v (nv,), zero if not given."""
        q = as_state(self.model, "q", q)
        v = np.zeros(self.model.nv) if v is None else as_state(self.model, "v", v)
        buffer = self.buffer
        self.term.look_around(t, np.asarray(q, dtype=float))
        buffer.update(t)
        out = self._function(np.array([float(t)]), q, v, buffer.value, buffer.rate, buffer.acceleration)
        m, n = self._rows, self.model.nv
        parts = np.split(out, np.cumsum([m, m * n, m, m * n, m]))
        return Linear(parts[0], parts[1].reshape(m, n), parts[2], parts[3].reshape(m, n), parts[4], parts[5])

    def _trace(self, *inputs: list[Scalar]) -> tuple[list[Scalar], tuple[int, ...]]:
        t, q, v, value, rate, acceleration = inputs
        n, p = len(q), len(value)

        def rows_at(state: State, time: Scalar, *signals: list[Scalar]) -> Rows:
            return self.term.rows(state, [self.buffer.motion(s, time, *signals) for s in self.term.signals])

        def first_order(c: list[Scalar]) -> list[Scalar]:
            """J and ζ as functions of the state, the signals and the time, for their rates along the motion."""
            rows = rows_at(State(self.model, c[:n]), c[-1], c[n : n + p], c[n + p : -1], [0.0] * p)
            return [*(e for row in rows.jacobian for e in row), *rows.residual]

        state = State(self.model, q, v)
        rows = rows_at(state, t[0], value, rate, acceleration)
        q_rate = configuration_rate(self.model, q, v)
        rates = derivative(first_order, [*q, *value, *rate, t[0]], [*q_rate, *rate, *acceleration, 1.0])
        self._rows = m = len(rows.value)
        entries = [*rows.value, *(e for row in rows.jacobian for e in row), *rows.residual]
        entries += [*rates, *(rows.drift or [0.0] * m)]
        return entries, (len(entries),)


def linearise(robot: Robot, quantity: Term) -> Linearised:
    """A task or an inequality by itself, compiled for a robot."""
    require_robot(robot)
    if not isinstance(quantity, Term):
        raise refused("linearise takes a task or an inequality", quantity)
    return Linearised(robot, quantity)
