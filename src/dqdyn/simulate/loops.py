"""The loops of a run with a fixed step: in machine code where nothing in Python has to be asked."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from dqdyn.arrays import Array
from dqdyn.compile.runtime.pacing import in_parts
from dqdyn.compile.runtime.rollout_runner import Runner
from dqdyn.progress import Progress
from dqdyn.simulate.controllers import Sampled
from dqdyn.simulate.faults import SimulationError
from dqdyn.simulate.integrators.integrator import Integrator
from dqdyn.simulate.problem import TOO_FAST, joint_of
from dqdyn.simulate.record import Record


def native_loop(record: Record, integrator: Integrator, progress: Progress, threads: int) -> None:
    """All steps in patches of machine code, each checked for divergence; the record grows as they are done."""
    problem = record.problem
    rollout = integrator.rollout(record.system)
    runner = Runner(rollout, problem.state0, problem.start, problem.dt, problem.every, problem.batch)
    inputs = problem.inputs(record.actuation.tau)
    constant = len(inputs) == 1
    if constant:
        runner.hold(inputs)
    living = partial(alive, nq=problem.robot.nq)
    while runner.done < problem.steps and not record.stopped:
        n = min(runner.patch, problem.steps - runner.done)
        record.states.append(runner.run(None if constant else inputs[runner.done : runner.done + n], n, threads))
        progress.at(runner.done)
        if not in_parts(living, runner.leading(problem.robot.nq + problem.robot.nv)[None]).any():
            record.stopped = "diverged"
    if runner.done == problem.steps and problem.steps % problem.every:
        record.states.append(runner.leading(rollout.kept)[None])


def sampled_loop(record: Record, integrator: Integrator, controller: Sampled, progress: Progress) -> None:
    """One question to the controller per step, then one step of machine code."""
    problem, nq, nv = record.problem, record.system.nq, record.system.nv
    rollout = integrator.rollout(record.system)
    runner = Runner(rollout, problem.state0, problem.start, problem.dt, batch=problem.batch)
    samples = problem.samples
    kept, forces = np.empty((samples, problem.count, rollout.kept)), np.empty((samples, problem.count, nv))
    states, done = runner.states, 0
    try:
        for k in range(problem.steps + 1):
            state = states[:, : nq + nv].copy()  # the controller may keep it, or spoil it
            living = None if surely_alive(state) else alive(state, nq)
            if living is not None and not living.any():
                record.stopped = "diverged"
                return
            tau = controller(problem.start + k * problem.dt, state[:, :nq], state[:, nq:], living)
            if problem.is_sample(k):
                kept[done], forces[done] = states[:, : rollout.kept], tau
                controller.note()
                done += 1
                progress.at(k)
            if k < problem.steps:
                states = runner.step(problem.input(tau, k))
    finally:
        record.states.append(kept[1:done])
        record.tau.append(forces[:done])


def kinematic_loop(record: Record, controller: Sampled, progress: Progress) -> None:
    """A controller at velocity level: the robot follows the commanded velocity exactly."""
    problem = record.problem
    q, v = problem.q0.copy(), problem.v0.copy()
    for k in range(problem.steps + 1):
        t = problem.start + k * problem.dt
        v = np.array(controller(t, q, v))
        if not (np.abs(v) < TOO_FAST).all():
            joint = joint_of(problem.robot.model, int(np.argmax(np.abs(v).max(axis=0))))
            speed = f"{TOO_FAST:g} rad/s or m/s at t = {t:.9g} s"
            raise SimulationError(f"the controller commands joint {joint!r} to exceed {speed}.", time=t, joint=joint)
        if k == 0:
            record.states.clear()  # the velocity at the start is the commanded one
        if problem.is_sample(k):
            record.states.append(np.concatenate([q, v], axis=1)[None])
            controller.note()
            progress.at(k)
        q = problem.robot.integrate(q, v, problem.dt)


def alive(states: Array, nq: int) -> npt.NDArray[np.bool_]:
    """Which states (…, nq + nv) are finite and of a speed that a robot can have."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.isfinite(states).all(axis=-1) & (np.abs(states[..., nq:]) < TOO_FAST).all(axis=-1))


def surely_alive(states: Array) -> bool:
    """A quick yes for states of usual size."""
    flat = states.ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.dot(flat, flat) < TOO_FAST)
