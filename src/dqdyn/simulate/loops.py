"""The loops of a run with a fixed step: in machine code where nothing in Python has to be asked."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from dqdyn.compile.runner import Runner
from dqdyn.simulate.controllers import Sampled
from dqdyn.simulate.integrators.base import Integrator
from dqdyn.simulate.problem import Problem
from dqdyn.simulate.progress import Progress
from dqdyn.simulate.system import System

_PATCH = 0.05  # s of machine code between two looks at the world: Ctrl-C, divergence, the progress bar
TOO_FAST = 1e8  # rad/s or m/s: no robot, but a step that was too large


@dataclass
class Seen:
    """Samples so far: states (n, B, nq + nv + records), forces (n, B, nv), and why the run ended early."""

    states: list[np.ndarray]
    tau: list[np.ndarray] = field(default_factory=list)
    stopped: str = ""

    def state_array(self) -> np.ndarray:
        return np.concatenate(self.states)


def first_state(problem: Problem, system: System, integrator: Integrator) -> np.ndarray:
    """(B, size): configuration, velocity and empty memory."""
    memory = np.zeros((problem.count, integrator.memory(system)))
    return np.concatenate([problem.q0, problem.v0, memory], axis=1)


def native_loop(
    problem: Problem,
    integrator: Integrator,
    system: System,
    tau: np.ndarray,
    seen: Seen,
    progress: Progress,
    threads: int,
) -> None:
    """All steps in patches of machine code; ``seen`` grows as they are done."""
    rollout = integrator.rollout(system)
    runner = Runner(
        rollout, first_state(problem, system, integrator), problem.start, problem.dt, problem.every, problem.batch
    )
    inputs = problem.inputs(tau)
    patch = problem.every * max(1, 64 // problem.every)
    while runner.done < problem.steps and not seen.stopped:
        n = min(patch, problem.steps - runner.done)
        begin = time.perf_counter()
        part = inputs if len(inputs) == 1 else inputs[runner.done : runner.done + n]
        seen.states.append(runner.run(part, n, threads))
        faster = _PATCH / max(time.perf_counter() - begin, 1e-9)
        patch = problem.every * max(1, int(n * min(faster, 8.0)) // problem.every)
        progress.at(runner.done)
        if not alive(runner.states[:, : problem.robot.nq + problem.robot.nv], problem.robot.nq).any():
            seen.stopped = "diverged"


def sampled_loop(
    problem: Problem, integrator: Integrator, system: System, controller: Sampled, seen: Seen, progress: Progress
) -> None:
    """One question to the controller per step, then one step of machine code."""
    nq, nv = system.nq, system.nv
    rollout = integrator.rollout(system)
    runner = Runner(rollout, first_state(problem, system, integrator), problem.start, problem.dt, batch=problem.batch)
    samples = problem.steps // problem.every + 1
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
            if k % problem.every == 0:
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
        v = np.array(controller(problem.start + k * problem.dt, q, v))
        if k == 0:
            seen.states.clear()
        if k % problem.every == 0:
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
    return bool(np.dot(flat, flat) < TOO_FAST)
