"""One state on its way with adaptive steps: error control, samples, events."""

from __future__ import annotations

import numpy as np

from dqdyn.simulate.controllers import Sampled
from dqdyn.simulate.events import Events
from dqdyn.simulate.integrators.dormand_prince import ERROR, ORDER, DormandPrince, Span
from dqdyn.simulate.loops import Seen
from dqdyn.simulate.problem import TOO_FAST, Problem
from dqdyn.simulate.progress import Progress
from dqdyn.simulate.system import System

_SAFETY, _SLOWEST, _FASTEST = 0.9, 0.2, 5.0  # how a step size may change
_SMALLEST = 1e-13  # of the duration


class Run:
    """One state on its way."""

    def __init__(
        self,
        problem: Problem,
        system: System,
        member: int,
        tau: np.ndarray,
        asked: Sampled | None,
        events: Events,
        tolerances: tuple[float, float],
        bar: Progress,
    ) -> None:
        self.problem, self.system, self.asked, self.events, self.bar = problem, system, asked, events, bar
        self.rtol, self.atol = tolerances
        self.tau = tau
        self.inputs = problem.inputs(tau)[:, min(member, problem.inputs(tau).shape[1] - 1)]
        self.method = DormandPrince(system)
        self.member = member
        self.q, self.v, self.t = problem.q0[member], problem.v0[member], problem.start
        self.samples = problem.time
        self.times, self.states = [self.t], [np.concatenate([self.q, self.v])]
        self.forces: list[np.ndarray] = []
        self.h, self.accepted, self.rejected = 0.0, 0, 0
        self.status = "finished"

    def all_steps(self) -> None:
        """Until the end, an event, or a step size of nothing."""
        p = self.problem
        piecewise = self.asked is not None or len(self.inputs) > 1
        pieces = p.steps if piecewise else 1
        self.events.begin(self.t, self.q, self.v)
        for k in range(pieces):
            u = self._input(k)
            end = p.start + p.dt * (k + 1 if piecewise else p.steps)
            if not self._until(end, u):
                return
        if self.asked is not None:
            self._input(p.steps)

    def _input(self, k: int) -> np.ndarray:
        if self.asked is None:
            return self.inputs[min(k, len(self.inputs) - 1)]
        given = self.asked(self.t, self.q[None], self.v[None])[0]
        if self.problem.is_sample(k):
            self.forces.append(np.array(given))
            self.asked.note()
        wrench = self.problem.wrenches[min(k, len(self.problem.wrenches) - 1), 0]
        return np.concatenate([given, wrench])

    def _until(self, end: float, u: np.ndarray) -> bool:
        """Steps under one input; False where the run is over."""
        slope = self.method.first_slope(self.t, self.q, self.v, u)
        span_of_run = self.problem.dt * self.problem.steps
        if not self.h:
            self.h = self._first(slope, span_of_run)
        while self.t < end - _SMALLEST * span_of_run:
            h = min(self.h, end - self.t)
            span = self.method.span(self.t, h, self.q, self.v, u, slope)
            q, v, next_slope = self.method.end(span)
            error = self._error(span, v)
            if not error <= 1.0 or np.abs(v).max(initial=0.0) > TOO_FAST:
                self.rejected += 1
                self.h = h * (max(_SLOWEST, _SAFETY * error ** (-1 / ORDER)) if 1.0 < error < np.inf else 0.1)
                if self.h < _SMALLEST * span_of_run:
                    self.status = (
                        f"diverged at t = {self.t:.6g} s: no step is small enough for rtol = {self.rtol:g}; "
                        "look for forces that jump or grow without bound."
                    )
                    return False
                continue
            self.accepted += 1
            grown = h * min(_FASTEST, _SAFETY * error ** (-1 / ORDER)) if error > 0.0 else h * _FASTEST
            self.h = max(self.h, grown) if h < self.h else grown  # a step cut short says little
            stop = self.events.in_span(span, q, v) if self.events.functions else None
            self._sample(span, stop[0] if stop else span.t + h)
            if stop:
                self.status = f"event {stop[1]!r} at t = {stop[0]:.9g} s"
                return False
            self.t, self.q, self.v, slope = (end if h == end - self.t else self.t + h), q, v, next_slope
            if self.system.projects:
                self.q, self.v = self.problem.robot.project(self.q, self.v, self.t)
                slope = self.method.first_slope(self.t, self.q, self.v, u)
            self.bar.at(int((self.t - self.problem.start) / self.problem.dt))
        return True

    def _first(self, slope: np.ndarray, longest: float) -> float:
        size = np.abs(slope).max()
        return min(longest, 0.01 / size if size > 1e-5 else 1e-3 * longest)

    def _error(self, span: Span, v: np.ndarray) -> float:
        n = self.system.nv
        scale = np.concatenate(
            [np.full(n, self.atol + self.rtol), self.atol + self.rtol * np.maximum(np.abs(span.v), np.abs(v))]
        )
        with np.errstate(all="ignore"):
            return float(np.sqrt(np.mean((span.h * (ERROR @ span.slopes) / scale) ** 2)))

    def _sample(self, span: Span, until: float) -> None:
        """Samples in (span.t, until], and one at the very end of a run that an event ends."""
        edge = _SMALLEST * self.problem.dt * self.problem.steps
        first = len(self.times)
        due = self.samples[first:]
        due = due[due <= until + edge]
        if until < span.t + span.h and (not len(due) or due[-1] < until):
            due = np.append(due, until)
        if len(due):
            q, v = span.at(np.minimum(due, span.t + span.h))
            self.times += due.tolist()
            self.states += list(np.concatenate([q, v], axis=1))

    def seen(self) -> Seen:
        states = np.array(self.states)[:, None]
        forces = [f[None, None] for f in self.forces]
        while self.asked is not None and len(forces) < len(states):  # the forces at the end are those that acted
            forces.append(forces[-1] if forces else np.zeros((1, 1, self.system.nv)))
        return Seen([states], forces)
