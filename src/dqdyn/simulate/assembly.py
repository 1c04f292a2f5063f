"""From the samples of a run to a trajectory: accelerations, energies, residuals, and doubts about the step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dqdyn.compile.runtime.function import Function
from dqdyn.compile.runtime.pacing import in_parts
from dqdyn.compile.trace.tracer import trace
from dqdyn.dynamics.joint_forces import damping
from dqdyn.robot import Robot
from dqdyn.simulate.controllers import Sampled
from dqdyn.simulate.integrators.integrator import Integrator
from dqdyn.simulate.loops import Seen, alive
from dqdyn.simulate.problem import Problem
from dqdyn.simulate.system import System, law_forces
from dqdyn.simulate.trajectory import Trajectory

_GAIN = 0.1
"""Part of the energy in motion that may be wrong before the step is called too large."""
_FORCED_GAIN = 0.5
"""The same under forces, whose work is known less well."""

_OFF = 0.01
"""m, rad, m/s or rad/s by which constraints may be off before the step is called too large."""


def assembled(
    problem: Problem,
    system: System,
    seen: Seen,
    about: dict[str, Any],
    asked: Sampled | None,
    tau: np.ndarray | None,
    times: np.ndarray | None = None,
    method: Integrator | None = None,
    measured: np.ndarray | None = None,
) -> Trajectory:
    """The trajectory of what was seen, with accelerations of the model unless they were ``measured``.

    Samples after a divergence are left out; in a batch they are NaN.
    """
    robot, nq, nv = problem.robot, problem.robot.nq, problem.robot.nv
    states = seen.state_array()
    if asked is not None and asked.level == "torque":
        if not sum(
            len(part) for part in seen.tau
        ):  # the controller failed at once: the start is known, its forces are not
            seen.tau.append(np.full((1, problem.count, nv), np.nan))
        states = states[: sum(len(part) for part in seen.tau)]  # where it failed later, the last sample has no forces
    living = np.logical_and.accumulate(in_parts(lambda x: alive(x[:, : nq + nv], nq), states), axis=0)
    diverged = ~living[-1]
    if diverged.all():
        states, living = states[: living.any(axis=1).sum()], living[: living.any(axis=1).sum()]
    if not living.all():
        states = np.where(living[..., None], states, np.nan)
    n = len(states)
    time = (problem.time if times is None else times)[:n]
    q, v = in_parts(lambda x: x[:, :nq], states), in_parts(lambda x: x[:, nq : nq + nv], states)
    wrenches = _per_sample(problem, n)
    if asked is not None and asked.level == "velocity":
        a = np.gradient(v, time, axis=0) if n > 1 else np.zeros_like(v)
        forces = _dynamics(robot.inverse_dynamics, problem, wrenches, q, v, a)
    else:
        forces = _forces(problem, system, seen, tau, time, q, v)
        if measured is not None:
            a = measured[:n]
        elif system.timed:
            a = _dynamics(robot.forward_dynamics, problem, wrenches, q, v, forces, time[:, None])
        else:
            a = _dynamics(robot.forward_dynamics, problem, wrenches, q, v, forces)
    kinetic = in_parts(partial(robot.kinetic_energy, check=False), q, v)
    potential = in_parts(partial(robot.potential_energy, check=False), q)
    arrays = {"q": q, "v": v, "a": a, "tau": forces, "kinetic": kinetic, "potential": potential}
    arrays["residual"] = residuals(robot, time, q, v)
    per_sample: dict[str, Any] = {name: problem.as_given(array) for name, array in arrays.items()}
    trajectory = Trajectory(
        robot,
        time,
        **per_sample,
        wrenches={frame: problem.as_given(np.array(w)) for frame, w in wrenches.items()},
        extra=asked.extra(n) if asked is not None else {},
        about=about | {"expressed": problem.expressed} if problem.frames else about,
    )
    doubt = method.doubt(states[..., nq + nv :], v) if method is not None and n > 1 else ""
    return _with_status(trajectory, problem, seen, diverged, asked, doubt, measured is not None)


def _dynamics(
    function: Callable[..., np.ndarray], problem: Problem, wrenches: Mapping[str, np.ndarray], *inputs: np.ndarray
) -> np.ndarray:
    """Forward or inverse dynamics of (q, v, force or acceleration), at a time where that is given too."""

    def some(q: np.ndarray, v: np.ndarray, x: np.ndarray, *more: np.ndarray) -> np.ndarray:
        t, values = more[: len(inputs) - 3], more[len(inputs) - 3 :]
        acting = dict(zip(wrenches, values, strict=True)) or None
        options = {"t": t[0]} if t else {}
        return function(q, v, x, acting, expressed=problem.expressed, check=False, **options)

    return in_parts(some, *inputs, *wrenches.values())


def _forces(
    problem: Problem,
    system: System,
    seen: Seen,
    tau: np.ndarray | None,
    time: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
) -> np.ndarray:
    """τ (n, B, nv) at the samples."""
    n, shape = len(time), (len(time), problem.count, problem.robot.nv)
    if tau is None:
        return np.concatenate(seen.tau)[:n]
    if system.law is not None:
        law = system.law
        inputs = [("t", 1), ("q", system.nq), ("v", system.nv)]
        program = trace("law", inputs, lambda t, q, v: (law_forces(law, system.nv, t[0], q, v), (system.nv,)))
        return in_parts(partial(Function(program), check=False), time[:, None, None], q, v)
    return in_parts(lambda x: x, np.broadcast_to(_sampled(tau, problem.every, n), shape))


def _sampled(values: np.ndarray, every: int, n: int) -> np.ndarray:
    """Values per step at the samples; the last one holds at the end."""
    if len(values) == 1:
        return values
    return values[np.minimum(np.arange(n) * every, len(values) - 1)]


def _per_sample(problem: Problem, n: int) -> dict[str, np.ndarray]:
    shape = (n, problem.count, 6)
    values = _sampled(problem.wrenches, problem.every, n)
    return {f: np.broadcast_to(values[..., 6 * i : 6 * i + 6], shape) for i, f in enumerate(problem.frames)}


def residuals(robot: Robot, time: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(n, B, m): constraints at position level, then at velocity level; m = 0 without constraints."""
    if not robot.constraints:
        return np.zeros((*q.shape[:-1], 0))
    t = time[:, None]
    position = in_parts(partial(robot.constraint_residual, check=False), q, t)
    return np.concatenate([position, in_parts(partial(robot.constraint_velocity, check=False), q, v, t)], axis=-1)


def _with_status(
    trajectory: Trajectory,
    problem: Problem,
    seen: Seen,
    diverged: np.ndarray,
    asked: Sampled | None,
    doubt: str,
    measured: bool,
) -> Trajectory:
    remedy = "take a smaller step or another integrator"
    if diverged.any() or seen.stopped == "diverged":
        last = trajectory.time[-1]
        if problem.batch and not diverged.all():
            found = ", ".join(str(i) for i in np.flatnonzero(diverged)[:8])
            status = f"diverged: runs {found} left all bounds; the step of {problem.dt:g} s is too large: {remedy}."
        else:
            status = f"diverged after t = {last:.6g} s: the step of {problem.dt:g} s is too large: {remedy}."
    elif seen.stopped:
        status = seen.stopped
    elif (off := np.nanmax(np.abs(trajectory.residual), initial=0.0)) > _OFF:
        status = (
            f"doubtful: the constraints are off by {off:.2g}: take a smaller step than {problem.dt:g} s, or a "
            "stabilisation, as in robot.with_constraints(stabilisation='projection')."
        )
    elif (wrong := 0.0 if measured else energy_error(trajectory, problem, asked)) > (
        _FORCED_GAIN if trajectory.tau.any() else _GAIN
    ):
        status = (
            f"doubtful: the energy is off by {100 * wrong:.3g} % of the energy in motion, so the step of "
            f"{problem.dt:g} s is too large: {remedy}."
        )
    elif doubt:
        status = f"doubtful: {doubt}, so the step of {problem.dt:g} s is too large: {remedy}."
    else:
        return trajectory
    return replace(trajectory, status=status)


def energy_error(trajectory: Trajectory, problem: Problem, asked: Sampled | None) -> float:
    """Energy that came from nowhere, as a part of the energy in motion; 0 where the work cannot be followed."""
    robot = trajectory.robot
    if len(trajectory) < 2 or problem.frames or robot.constraints or (asked is not None and asked.level == "velocity"):
        return 0.0
    energy, tau, v = trajectory.energy, trajectory.tau, trajectory.v
    gained = energy - energy[0]
    size = np.abs(trajectory.kinetic).max(axis=0)
    if tau.any():
        if problem.every > 1:
            return 0.0  # the work between two samples is not known
        # τ holds from a sample to the next; damping follows the speed.
        held = np.einsum("k...i,k...i->k...", tau[:-1], 0.5 * (v[:-1] + v[1:]))
        lost = (np.array(damping(robot.model)) * v * v).sum(axis=-1)
        steps = np.diff(trajectory.time).reshape(-1, *([1] * (gained.ndim - 1)))
        work = (held - 0.5 * (lost[:-1] + lost[1:])) * steps
        gained = gained[1:] - np.cumsum(work, axis=0)
        size = size + np.abs(work).sum(axis=0)
        if any(any(joint.friction) for joint in robot.joints):
            return float((np.maximum(gained, 0.0).max(axis=0) / np.maximum(size, 1e-9)).max())
        gained = np.abs(gained)
    return float((gained.max(axis=0) / np.maximum(size, 1e-9)).max())
