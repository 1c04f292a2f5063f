"""Runs with adaptive steps, sampled by dense output at the requested times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import Error
from dqdyn.progress import Progress
from dqdyn.simulate.assembly import assembled
from dqdyn.simulate.events import Event, Events
from dqdyn.simulate.integrators.dormand_prince import ERROR, ORDER, DormandPrince, Span
from dqdyn.simulate.problem import TOO_FAST, Problem, positive
from dqdyn.simulate.record import Record, completed
from dqdyn.simulate.trajectory import UNTRUSTED, Trajectory

_SAFETY, _SLOWEST, _FASTEST = 0.9, 0.2, 5.0  # how a step size may change
_SMALLEST = 1e-13  # of the duration


def run_adaptive(
    problem: Problem, controller: Any, events: Sequence[Event], rtol: float, atol: float, progress: bool | None
) -> Trajectory:
    """Dormand-Prince with error control: per step at most ``atol`` + ``rtol`` (rad or m; of velocities relative).

    Samples lie ``dt`` · ``every`` apart. A controller in Python is asked every ``dt`` and its forces hold in between;
    steps then end at these times. Runs of a batch have their own steps.
    """
    rtol, atol = positive("rtol", rtol, "number", ""), positive("atol", atol, "number", "")
    record = Record.begin(problem, controller, integrator="adaptive", rtol=rtol, atol=atol)
    asked = record.actuation.asked
    if problem.batch and (asked is not None or events):
        what = "events" if events else "a controller in Python"
        raise Error(f"the integrator 'adaptive' takes a batch without {what}: run the states one by one.")
    if record.actuation.level == "velocity":
        raise Error("a controller at velocity level needs no adaptive steps: use a fixed step.")
    method, watched = DormandPrince(record.system), Events(events)
    with Progress(problem.steps * problem.count, f"simulating {problem.robot.name}", progress) as bar:
        runs = [AdaptiveRun(record, method, 0, watched, bar)]

        def steps() -> None:
            runs[0].all_steps()
            for member in range(1, problem.count):
                runs.append(AdaptiveRun(record, method, member, watched, bar))
                runs[-1].all_steps()

        def stop(reason: str) -> None:
            runs[-1].status = reason

        return completed(steps, stop, lambda: _joined(record, method, runs))


def _joined(record: Record, method: DormandPrince, runs: list[AdaptiveRun]) -> Trajectory:
    """The runs as one trajectory; those that ended early are continued by NaN."""
    longest = max(runs, key=lambda run: len(run.times))
    states = np.full((len(longest.times), record.problem.count, len(longest.states[0])), np.nan)
    for run in runs:
        states[: len(run.states), run.member] = run.states
    counts = {"steps": sum(run.accepted for run in runs), "rejected": sum(run.rejected for run in runs)}
    about = record.about | counts | {"evaluations": method.evaluations}
    times, forces = np.array(longest.times), runs[0].sample_forces()
    trajectory = assembled(replace(record, states=[states], tau=forces, times=times, about=about))
    status = next((run.status for run in runs if run.status != "finished"), "")
    status = status or (trajectory.status if trajectory.finished else "finished")
    if record.problem.batch:  # how each run ended is known here, NaN or not
        ended = [run.status for run in runs] + [status] * (record.problem.count - len(runs))
        faults = [{"run": i, "status": text} for i, text in enumerate(ended) if text != "finished"]
        kept = {name: value for name, value in trajectory.about.items() if name != UNTRUSTED}
        trajectory = replace(trajectory, about=kept | ({UNTRUSTED: faults} if faults else {}))
    return replace(trajectory, status=status, events={k: np.array(t) for k, t in runs[0].events.times.items()})


class AdaptiveRun:
    """The run of one state: error control, samples, events."""

    def __init__(self, record: Record, method: DormandPrince, member: int, events: Events, bar: Progress) -> None:
        problem, self.asked = record.problem, record.actuation.asked
        self.problem, self.system, self.method, self.events, self.bar = problem, record.system, method, events, bar
        self.rtol, self.atol = record.about["rtol"], record.about["atol"]
        inputs = problem.inputs(record.actuation.tau)
        self.inputs = inputs[:, min(member, inputs.shape[1] - 1)]
        self.member, self.samples = member, problem.time
        self.q, self.v, self.t = problem.q0[member], problem.v0[member], problem.start
        self.times, self.states = [self.t], [problem.state0[member]]
        self.forces: list[Array] = []
        self.h, self.accepted, self.rejected = 0.0, 0, 0
        self.status = "finished"

    def all_steps(self) -> None:
        """Until the end, an event, or a vanishing step size."""
        p = self.problem
        piecewise = self.asked is not None or len(self.inputs) > 1
        pieces = p.steps if piecewise else 1
        self.events.begin(self.t, self.q, self.v)
        for k in range(pieces):
            end = p.start + p.dt * (k + 1 if piecewise else p.steps)
            if not self._until(end, self._input(k)):
                return
        if self.asked is not None:
            self._input(p.steps)

    def _input(self, k: int) -> Array:
        if self.asked is None:
            return np.asarray(self.inputs[min(k, len(self.inputs) - 1)])
        given = self.asked(self.t, self.q[None], self.v[None])
        if self.problem.is_sample(k):
            self.forces.append(np.array(given)[None])
            self.asked.note()
        return np.asarray(self.problem.input(given, k)[0])

    def _until(self, end: float, u: Array) -> bool:
        """Steps under one input; False where the run is over."""
        slope = self.method.first_slope(self.t, self.q, self.v, u)
        span_of_run = self.problem.dt * self.problem.steps
        if not self.h:
            size = np.abs(slope).max()
            self.h = min(span_of_run, 0.01 / size if size > 1e-5 else 1e-3 * span_of_run)
        while self.t < end - _SMALLEST * span_of_run:
            h = min(self.h, end - self.t)
            span = self.method.span(self.t, h, self.q, self.v, u, slope)
            q, v, next_slope = self.method.end(span)
            error = self._error(span, v)
            if not error <= 1.0 or np.abs(v).max(initial=0.0) > TOO_FAST:
                self.rejected += 1
                self.h = h * (max(_SLOWEST, _SAFETY * error ** (-1 / ORDER)) if 1.0 < error < np.inf else 0.1)
                if self.h < _SMALLEST * span_of_run:
                    what = f"diverged at t = {self.t:.6g} s: no step is small enough for rtol = {self.rtol:g}"
                    self.status = f"{what}; look for forces that jump or grow without bound."
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

    def _error(self, span: Span, v: Array) -> float:
        speeds = np.maximum(np.abs(span.v), np.abs(v))
        scale = self.atol + self.rtol * np.concatenate([np.ones(len(v)), speeds])
        with np.errstate(all="ignore"):
            return float(np.sqrt(np.mean((span.h * (ERROR @ span.slopes) / scale) ** 2)))

    def _sample(self, span: Span, until: float) -> None:
        """Samples in (span.t, until], and one at the very end of a run that an event ends."""
        edge = _SMALLEST * self.problem.dt * self.problem.steps
        due = self.samples[len(self.times) :]
        due = due[due <= until + edge]
        if until < span.t + span.h and (not len(due) or due[-1] < until):
            due = np.append(due, until)
        if len(due):
            q, v = span.at(np.minimum(due, span.t + span.h))
            self.times += due.tolist()
            self.states += list(np.concatenate([q, v], axis=1))

    def sample_forces(self) -> list[Array]:
        """What the controller gave at the samples, (1, 1, nv) each; the forces at the end are those that acted."""
        if self.asked is None:
            return []
        last = self.forces[-1:] or [np.zeros((1, 1, self.system.nv))]
        return self.forces + last * (len(self.states) - len(self.forces))
