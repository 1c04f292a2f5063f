"""The loops of a run with a fixed step: in machine code where nothing in Python has to be asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from dqdyn.compile.runtime.pacing import in_parts
from dqdyn.compile.runtime.rollout_runner import Runner
from dqdyn.simulate.controllers import Sampled
from dqdyn.simulate.faults import SimulationError
from dqdyn.simulate.integrators.integrator import Integrator
from dqdyn.simulate.problem import TOO_FAST, Problem, joint_of
from dqdyn.simulate.progress import Progress
from dqdyn.simulate.system import System


@dataclass
class Seen:
    """Samples so far: states (n, B, nq + nv + records), forces (n, B, nv), and why the run ended early."""

    states: list[np.ndarray]
    tau: list[np.ndarray] = field(default_factory=list)
    stopped: str = ""

    def state_array(self) -> np.ndarray:
        """All of them, copied one by one, so that a signal need not wait for long."""
        result = np.empty((sum(map(len, self.states)), *self.states[0].shape[1:]))
        row = 0
        for some in self.states:
            result[row : row + len(some)] = some
            row += len(some)
        return result


def native_loop(
    problem: Problem,
    integrator: Integrator,
    system: System,
    tau: np.ndarray,
    seen: Seen,
    progress: Progress,
    threads: int,
) -> None:
    """All steps in patches of machine code, after which divergence is looked for; ``seen`` grows as they are done."""
    rollout = integrator.rollout(system)
    first = np.concatenate([problem.q0, problem.v0], axis=1)
    runner = Runner(rollout, first, problem.start, problem.dt, problem.every, problem.batch)
    inputs = problem.inputs(tau)
    constant = len(inputs) == 1
    if constant:
        runner.hold(inputs)
    living = partial(alive, nq=problem.robot.nq)
    while runner.done < problem.steps and not seen.stopped:
        n = min(runner.patch, problem.steps - runner.done)
        seen.states.append(runner.run(None if constant else inputs[runner.done : runner.done + n], n, threads))
        progress.at(runner.done)
        if not in_parts(living, runner.leading(problem.robot.nq + problem.robot.nv)[None]).any():
            seen.stopped = "diverged"
    if runner.done == problem.steps and problem.steps % problem.every:
        seen.states.append(runner.leading(rollout.kept)[None])


def sampled_loop(
    problem: Problem, integrator: Integrator, system: System, controller: Sampled, seen: Seen, progress: Progress
) -> None:
    """One question to the controller per step, then one step of machine code."""
    nq, nv = system.nq, system.nv
    rollout = integrator.rollout(system)
    first = np.concatenate([problem.q0, problem.v0], axis=1)
    runner = Runner(rollout, first, problem.start, problem.dt, batch=problem.batch)
    samples = problem.samples
    kept, forces = np.empty((samples, problem.count, rollout.kept)), np.empty((samples, problem.count, nv))
    states, done = runner.states, 0
    try:
        for k in range(problem.steps + 1):
            state = states[:, : nq + nv].copy()  # the controller may keep it, or spoil it
            living = None if _surely_alive(state) else alive(state, nq)
            if living is not None and not living.any():
                seen.stopped = "diverged"
                return
            tau = controller(problem.start + k * problem.dt, state[:, :nq], state[:, nq:], living)
            if problem.is_sample(k):
                kept[done], forces[done] = states[:, : rollout.kept], tau
                controller.note()
                done += 1
                progress.at(k)
            if k < problem.steps:
                states = runner.step(_input(problem, tau, k))
    finally:
        seen.states.append(kept[1:done])
        seen.tau.append(forces[:done])


def _input(problem: Problem, tau: np.ndarray, k: int) -> np.ndarray:
    if not problem.frames:
        return tau
    wrench = problem.wrenches[min(k, len(problem.wrenches) - 1)]
    return np.concatenate([tau, np.broadcast_to(wrench, (len(tau), wrench.shape[-1]))], axis=1)


def kinematic_loop(problem: Problem, controller: Sampled, seen: Seen, progress: Progress) -> None:
    """A controller at velocity level: the robot follows the commanded velocity exactly."""
    q, v = problem.q0.copy(), problem.v0.copy()
    for k in range(problem.steps + 1):
        t = problem.start + k * problem.dt
        v = np.array(controller(t, q, v))
        if not (np.abs(v) < TOO_FAST).all():
            joint = joint_of(problem.robot.model, int(np.argmax(np.abs(v).max(axis=0))))
            text = (
                f"the controller wants joint {joint!r} to move faster than {TOO_FAST:g} rad/s or m/s at t = {t:.9g} s."
            )
            raise SimulationError(text, time=t, joint=joint)
        if k == 0:
            seen.states.clear()
        if problem.is_sample(k):
            seen.states.append(np.concatenate([q, v], axis=1)[None])
            controller.note()
            progress.at(k)
        q = problem.robot.integrate(q, v, problem.dt)


def alive(states: np.ndarray, nq: int) -> np.ndarray:
    """Which states (…, nq + nv) are still numbers of a robot."""
    with np.errstate(invalid="ignore"):
        return np.isfinite(states).all(axis=-1) & (np.abs(states[..., nq:]) < TOO_FAST).all(axis=-1)


def _surely_alive(states: np.ndarray) -> bool:
    """A quick yes for states of usual size."""
    flat = states.ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.dot(flat, flat) < TOO_FAST)
