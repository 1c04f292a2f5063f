"""The trajectory of a record: accelerations, energies, residuals, and whether the step was small enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.runtime.pacing import in_parts
from dqdyn.compile.trace.tracer import trace
from dqdyn.dynamics.joint_forces import damping
from dqdyn.robot import Robot
from dqdyn.simulate.integrators.joint_impulses import WithJointImpulses
from dqdyn.simulate.limits import as_data, clipped, excesses, watched
from dqdyn.simulate.limits import status as limit_status
from dqdyn.simulate.loops import alive
from dqdyn.simulate.problem import Problem
from dqdyn.simulate.record import Record
from dqdyn.simulate.stiffness import measured
from dqdyn.simulate.system import law_forces
from dqdyn.simulate.trajectory import UNTRUSTED, WATCHED, Trajectory

_GAIN = 0.1
"""Part of the energy in motion that may be wrong before the step is called too large."""
_FORCED_GAIN = 0.5
"""The same under forces, whose work is known less well."""

_MEASURED = 8
"""Runs of a batch whose largest stable step is measured where they diverged; others are told to take a smaller one."""
_OFF = 0.01
"""m, rad, m/s or rad/s by which constraints may be off before the step is called too large."""


def assembled(record: Record) -> Trajectory:
    """The trajectory of a record; accelerations are those of the model unless they were measured.

    Samples after a divergence are left out; in a batch they are NaN.
    """
    problem, system, asked, tau = record.problem, record.system, record.actuation.asked, record.tau
    robot, nq, nv = problem.robot, system.nq, system.nv
    states = record.state_array()
    if asked is not None and asked.level == "torque":
        if not sum(map(len, tau)):  # the controller failed at once: the start is known, its forces are not
            tau.append(np.full((1, problem.count, nv), np.nan))
        states = states[: sum(map(len, tau))]  # where it failed later, the last sample has no forces
    living = np.logical_and.accumulate(in_parts(lambda x: alive(x[:, : nq + nv], nq), states), axis=0)
    diverged = ~living[-1]
    if diverged.all():
        states, living = states[: living.any(axis=1).sum()], living[: living.any(axis=1).sum()]
    if not living.all():
        states = np.where(living[..., None], states, np.nan)
    n = len(states)
    time = (problem.time if record.times is None else record.times)[:n]
    q, v = in_parts(lambda x: x[:, :nq], states), in_parts(lambda x: x[:, nq : nq + nv], states)
    wrenches = _per_sample(problem, n)
    # Impulses of end stops and stiction, as the mean force of the step that ended at the sample.
    held = states[..., nq + nv : nq + 2 * nv] / problem.dt if isinstance(record.method, WithJointImpulses) else None
    if record.actuation.level == "velocity":
        a = np.gradient(v, time, axis=0) if n > 1 else np.zeros_like(v)
        forces = _dynamics(robot.inverse_dynamics, problem, wrenches, q, v, a)
    else:
        forces = _forces(record, time, q, v)
        if record.measured is not None:
            a = record.measured[:n]
        else:
            t = [time[:, None]] if system.timed else []
            acting = forces if held is None else forces + held
            a = _dynamics(system.robot.forward_dynamics, problem, wrenches, q, v, acting, *t)
    arrays = {"q": q, "v": v, "a": a, "tau": forces, "residual": residuals(robot, time, q, v)}
    arrays["kinetic"] = in_parts(partial(robot.kinetic_energy, check=False), q, v)
    arrays["potential"] = in_parts(partial(robot.potential_energy, check=False), q)
    per_sample: dict[str, Any] = {name: problem.as_given(array) for name, array in arrays.items()}
    trajectory = Trajectory(
        robot,
        time,
        **per_sample,
        wrenches={frame: problem.as_given(np.array(w)) for frame, w in wrenches.items()},
        extra=(asked.extra(n) if asked is not None else {})
        | ({} if held is None else {"joint_forces": problem.as_given(held)}),
        about=record.about | ({"expressed": problem.expressed} if problem.frames else {}),
    )
    kinds, about = watched(problem, record.actuation.level), dict(trajectory.about)
    found = excesses(robot, kinds, time, trajectory.q, trajectory.v, trajectory.tau)
    if found:
        about["beyond"] = as_data(found)
    if problem.efforts == "clip" and record.actuation.level == "torque":
        about["clipped"] = clipped(robot, time, trajectory.tau)
    said = _status(trajectory, record, states, diverged)
    if problem.batch:
        about[WATCHED] = kinds
        faults = _faults(trajectory, record, states, living) if said else {}
        about |= {UNTRUSTED: [{"run": run, "status": text} for run, text in faults.items()]} if faults else {}
    return replace(trajectory, about=about, status=said or (limit_status(found, about) if found else "finished"))


def _dynamics(function: Callable[..., Array], problem: Problem, wrenches: Mapping[str, Array], *inputs: Array) -> Array:
    """Forward or inverse dynamics of (q, v, force or acceleration), at a time where that is given too."""

    def some(q: Array, v: Array, x: Array, *more: Array) -> Array:
        t, values = more[: len(inputs) - 3], more[len(inputs) - 3 :]
        acting = dict(zip(wrenches, values, strict=True)) or None
        options = {"t": t[0]} if t else {}
        return function(q, v, x, acting, expressed=problem.expressed, check=False, **options)

    return in_parts(some, *inputs, *wrenches.values())


def _forces(record: Record, time: Array, q: Array, v: Array) -> Array:
    """τ (n, B, nv) at the samples."""
    n, problem, system = len(time), record.problem, record.system
    if record.actuation.asked is not None:
        return np.concatenate(record.tau)[:n]
    if system.law is not None:
        law = system.law
        inputs = [("t", 1), ("q", system.nq), ("v", system.nv)]
        program = trace("law", inputs, lambda t, q, v: (law_forces(law, system.model, t[0], q, v), (system.nv,)))
        return in_parts(partial(Function(program), check=False), time[:, None, None], q, v)
    tau = _sampled(record.actuation.tau, problem.every, n)
    return in_parts(lambda x: x, np.broadcast_to(tau, (n, problem.count, system.nv)))


def _sampled(values: Array, every: int, n: int) -> Array:
    """Values per step at the samples; the last one holds at the end."""
    if len(values) == 1:
        return values
    return values[np.minimum(np.arange(n) * every, len(values) - 1)]


def _per_sample(problem: Problem, n: int) -> dict[str, Array]:
    shape = (n, problem.count, 6)
    values = _sampled(problem.wrenches, problem.every, n)
    return {f: np.broadcast_to(values[..., 6 * i : 6 * i + 6], shape) for i, f in enumerate(problem.frames)}


def residuals(robot: Robot, time: Array, q: Array, v: Array) -> Array:
    """(n, B, m): constraints at position level, then at velocity level; m = 0 without constraints."""
    if not robot.constraints:
        return np.zeros((*q.shape[:-1], 0))
    t = time[:, None]
    position = in_parts(partial(robot.constraint_residual, check=False), q, t)
    return np.concatenate([position, in_parts(partial(robot.constraint_velocity, check=False), q, v, t)], axis=-1)


def _too_large(record: Record, states: Array, measure: bool = True) -> str:
    """That the step is too large for one run (n, nq + nv), and what helps: measured where stiffness is the cause."""
    text, found = f"the step of {record.problem.dt:g} s is too large", measured(record, states) if measure else None
    if found is None:
        return f"{text}: take a smaller step or another integrator."
    implicit = getattr(record.method, "name", "") == "implicit"
    return f"{text}: {found.advice(not implicit and not record.problem.robot.constraints, implicit)}"


def _status(trajectory: Trajectory, record: Record, states: Array, diverged: Array) -> str:
    """Why the run ended early or cannot be trusted; empty for neither."""
    problem = record.problem
    if diverged.any() or record.stopped == "diverged":
        too_large = _too_large(record, states[:, int(diverged.argmax())])
        if problem.batch and diverged.any() and not diverged.all():
            runs = ", ".join(str(i) for i in np.flatnonzero(diverged)[:8])
            return f"diverged: runs {runs} left all bounds; {too_large}"
        return f"diverged after t = {trajectory.time[-1]:.6g} s: {too_large}"
    if record.stopped:
        return record.stopped
    return _doubts(record, trajectory, states, trajectory.residual, energy_errors(trajectory, record))


def _doubts(record: Record, trajectory: Trajectory, states: Array, residual: Array, wrong: Array) -> str:
    """Why the numbers of runs with these states (n, B, …) that came to their end cannot be trusted; empty if they can.

    ``wrong`` are their parts of the energy that nothing accounts for.
    """
    off = np.nanmax(np.abs(residual), initial=0.0)
    if off > _OFF:
        remedy = f"take a smaller step than {record.problem.dt:g} s, or a stabilisation"
        example = "as in robot.with_constraints(stabilisation='projection')"
        return f"doubtful: the constraints are off by {off:.2g}: {remedy}, {example}."
    worst = int(np.argmax(wrong))
    if wrong[worst] > (_FORCED_GAIN if trajectory.tau.any() else _GAIN):
        off_by = f"the energy is off by {100 * wrong[worst]:.3g} % of the energy in motion"
        return f"doubtful: {off_by}, so {_too_large(record, states[:, worst])}"
    nq, nv = record.system.nq, record.system.nv
    if record.method is None or len(states) < 2:
        return ""
    doubt = record.method.doubt(states[..., nq + nv :], states[..., nq : nq + nv])
    return f"doubtful: {doubt}, so {_too_large(record, states[:, 0])}" if doubt else ""


def _faults(trajectory: Trajectory, record: Record, states: Array, living: Array) -> dict[int, str]:
    """Why each run of a batch ended early or cannot be trusted, by its index; those that can are left out."""
    if record.stopped and record.stopped != "diverged":
        return dict.fromkeys(range(record.problem.count), record.stopped)
    result, wrong, measured_ones = {}, energy_errors(trajectory, record), 0
    for run in range(record.problem.count):
        part = slice(run, run + 1)
        if living[-1, run]:
            result[run] = _doubts(record, trajectory, states[:, part], trajectory.residual[:, part], wrong[part])
            continue
        measured_ones += 1
        why = _too_large(record, states[:, run], measured_ones <= _MEASURED)
        result[run] = f"diverged after t = {trajectory.time[living[:, run].sum() - 1]:.6g} s: {why}"
    return {run: text for run, text in result.items() if text}


def energy_errors(trajectory: Trajectory, record: Record) -> Array:
    """Energy of each run (B,) that no force accounts for, as a part of that in motion; 0 where it is not known."""
    robot, problem = trajectory.robot, record.problem
    unknown = np.zeros(problem.count)
    if record.measured is not None or len(trajectory) < 2:
        return unknown
    if problem.frames or robot.constraints or record.actuation.level == "velocity":
        return unknown
    energy, tau, v = trajectory.energy, trajectory.tau, trajectory.v
    gained = energy - energy[0]
    size = np.abs(trajectory.kinetic).max(axis=0)
    if tau.any():
        damps = record.method is not None and record.method.damps
        if problem.every > 1 or (damps and record.system.law is not None):
            return (
                unknown  # the work between two samples is not known, nor that of a law that the step does not resolve
            )
        # τ holds from a sample to the next; damping follows the speed.
        held = np.einsum("k...i,k...i->k...", tau[:-1], 0.5 * (v[:-1] + v[1:]))
        lost = (np.array(damping(robot.model)) * v * v).sum(axis=-1)
        steps = np.diff(trajectory.time).reshape(-1, *([1] * (gained.ndim - 1)))
        work = (held - 0.5 * (lost[:-1] + lost[1:])) * steps
        gained = gained[1:] - np.cumsum(work, axis=0)
        size = size + np.abs(work).sum(axis=0)
        if any(any(joint.friction) for joint in robot.joints):
            return np.atleast_1d(np.maximum(gained, 0.0).max(axis=0) / np.maximum(size, 1e-9))
        gained = np.maximum(gained, 0.0) if damps else np.abs(gained)
    return np.atleast_1d(gained.max(axis=0) / np.maximum(size, 1e-9))
