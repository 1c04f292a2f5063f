"""One task or inequality by itself: its value, Jacobian and residual, and their rates, compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import Scalar
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.control.core.differentiate import Given
from dqdyn.control.core.parts import model_of
from dqdyn.control.core.state import State
from dqdyn.control.core.term import Quantity
from dqdyn.control.features.features import Configuration
from dqdyn.control.features.signals import Board
from dqdyn.errors import Error
from dqdyn.robot import Robot
from dqdyn.robot.state import as_state


@dataclass(frozen=True, eq=False)
class Linear:
    """y (m,) at a state, with ẏ = J v + ζ and ÿ = J v̇ + J̇ v + ζ̇."""

    value: np.ndarray
    jacobian: np.ndarray
    residual: np.ndarray
    jacobian_derivative: np.ndarray
    residual_derivative: np.ndarray
    drift: np.ndarray
    """J̇ v + ζ̇ as controllers compute it: in one go, without J̇."""


class Linearised:
    """``f = linearise(robot, task); f(t, q, v).jacobian``: what a controller knows of a task or an inequality."""

    def __init__(self, robot: Robot, quantity: Quantity) -> None:
        self.model, self.quantity = robot.model, quantity.bound(robot.model)
        self.board = Board(list(self.quantity.signals))
        n, p = robot.nv, self.board.size
        inputs = [("t", 1), ("q", robot.nq), ("v", n), ("signals", p), ("rates", p), ("accelerations", p)]
        self._function = Function(trace("linearised", inputs, self._trace)).fast

    def __call__(self, t: float, q: Any, v: Any = None) -> Linear:
        """At time t (s), q (nq,) and v (nv,), zero if not given."""
        q = as_state(self.model, "q", q)
        v = np.zeros(self.model.nv) if v is None else as_state(self.model, "v", v)
        board = self.board
        board.update(t)
        out = self._function(np.array([float(t)]), q, v, board.value, board.rate, board.acceleration)
        m, n = self._rows, self.model.nv
        parts = np.split(out, np.cumsum([m, m * n, m, m * n, m]))
        return Linear(parts[0], parts[1].reshape(m, n), parts[2], parts[3].reshape(m, n), parts[4], parts[5])

    def _trace(self, *inputs: list[Scalar]) -> tuple[list[Scalar], tuple[int, ...]]:
        t, q, v, value, rate, acceleration = inputs
        state = State(self.model, q, v)
        inside = [s.at(t[0]) if s.inside else None for s in self.quantity.signals]
        where = [self.board.where.get(id(s), slice(0, 0)) for s in self.quantity.signals]

        def given(p: list[Scalar], p_rate: list[Scalar]) -> list[Given]:
            pairs = zip(inside, where, strict=True)
            return [Given(p[w], p_rate[w], acceleration[w]) if g is None else g for g, w in pairs]

        def flat(c: list[Scalar]) -> list[Scalar]:
            """J and ζ as functions of the state and the signals, for their rates along the motion."""
            at, p, p_rate = c[: len(q)], c[len(q) : len(q) + len(value)], c[len(q) + len(value) : -1]
            now = [
                s.at(c[-1]) if s.inside else Given(p[w], p_rate[w], [0.0] * s.size)
                for s, w in zip(self.quantity.signals, where, strict=True)
            ]
            rows = self.quantity.rows(State(self.model, at), now)
            return [*(e for row in rows.jacobian for e in row), *rows.residual]

        rows = self.quantity.rows(state, given(value, rate))
        q_rate = Configuration().seen(state).rate or []
        rates = derivative(flat, [*q, *value, *rate, t[0]], [*q_rate, *rate, *acceleration, 1.0])
        self._rows = m = len(rows.value)
        entries = [*rows.value, *(e for row in rows.jacobian for e in row), *rows.residual]
        entries += [*rates, *(rows.drift or [0.0] * m)]
        return entries, (len(entries),)


def linearise(robot: Robot, quantity: Quantity) -> Linearised:
    """A task or an inequality by itself, compiled for a robot."""
    model_of(robot)
    if not isinstance(quantity, Quantity):
        raise Error(f"linearise takes a task or an inequality; found {quantity!r}.", found=quantity)
    return Linearised(robot, quantity)
