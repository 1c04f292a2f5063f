"""Dormand-Prince 5(4) in the form of Runge-Kutta-Munthe-Kaas: adaptive steps with dense output on the manifold.

Order 5, with an estimate of the error by a method of order 4, and an interpolant of order 4 for the state anywhere in
a step (Dormand and Prince, J. Comput. Appl. Math. 6 (1980); interpolant of Shampine, Math. Comp. 46 (1986)). As in
:mod:`dqdyn.simulate.integrators.rkmk4` everything happens in the Lie algebra at the start of the step, where the
interpolant is a polynomial, and the exponential leads back to the manifold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.simulate.system import System

ORDER = 5
NODES = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
SLOPES = np.array(
    [
        [0.0] * 6,
        [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0],
        [44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],  # these are the weights too
    ]
)
ERROR = np.array([-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40])
DENSE = np.array(
    [  # of θ, θ², θ³, θ⁴
        [1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
        [0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
        [0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
        [0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
        [0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
    ]
)


@dataclass(frozen=True)
class Span:
    """A step from the state (q, v) at t over h s, with its slopes: gives the state anywhere in it."""

    system: System
    t: float
    h: float
    q: Array
    v: Array
    slopes: Array

    def at(self, times: Array) -> tuple[Array, Array]:
        """q (n, nq) and v (n, nv) at times in the span."""
        theta = (np.asarray(times) - self.t)[:, None] / self.h
        moved = self.h * ((theta ** np.arange(1, 5)) @ DENSE.T @ self.slopes)
        n = self.system.nv
        return self.system.robot.integrate(self.q, moved[:, :n], 1.0, check=False), self.v + moved[:, n:]


class DormandPrince:
    """One step at a time, of any size; the slope at the end of a step is that at the start of the next."""

    def __init__(self, system: System) -> None:
        nq, nv = system.nq, system.nv
        inputs = [("q", nq), ("v", nv), ("moved", 2 * nv), ("input", system.inputs), ("t", 1)]

        def stage(q: Any, v: Any, moved: Any, u: Any, t: Any) -> tuple[list[Any], tuple[int, ...]]:
            w, speed = moved[:nv], [a + b for a, b in zip(v, moved[nv:], strict=True)]
            slope = system.corrected(w, speed, ORDER)
            return [*slope, *system.acceleration(t[0], system.moved(q, w), speed, u)], (2 * nv,)

        self.system = system
        self.slope = Function(trace("adaptive stage", inputs, stage)).fast
        self.evaluations = 0

    def first_slope(self, t: float, q: Array, v: Array, u: Array) -> Array:
        """(v, a) at the start."""
        self.evaluations += 1
        return np.asarray(self.slope(q, v, np.zeros(2 * len(v)), u, np.array([t]), check=False))

    def span(self, t: float, h: float, q: Array, v: Array, u: Array, slope: Array) -> Span:
        """A step with its seven slopes."""
        slopes = np.empty((7, len(slope)))
        slopes[0] = slope
        for i in range(1, 7):
            with np.errstate(all="ignore"):  # a step that overflows is refused by its error
                moved = h * (SLOPES[i, :i] @ slopes[:i])
            slopes[i] = self.slope(q, v, moved, u, np.array([t + NODES[i] * h]), check=False)
        self.evaluations += 6
        return Span(self.system, t, h, q, v, slopes)

    def end(self, span: Span) -> tuple[Array, Array, Array]:
        """q, v and the slope at the end of a step."""
        n = self.system.nv
        with np.errstate(all="ignore"):
            moved = span.h * (SLOPES[6] @ span.slopes[:6])
        q, v = self.system.robot.integrate(span.q, moved[:n], 1.0, check=False), span.v + moved[n:]
        return q, v, np.concatenate([v, span.slopes[6, n:]])
