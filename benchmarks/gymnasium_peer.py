"""Peers of our environments: Gymnasium's own vector environment over MuJoCo, and ``mujoco.rollout``.

Same robot, step, substeps, forces, observations, reward and ends as ``dq.gym.Reach``; written directly on MuJoCo, as
one would without our library. ``AsyncVectorEnv`` has one process for each environment, a thousand here, so the peer is
given the better of both worlds: half of the environments in each of two processes that do not wait for each other.
"""

from __future__ import annotations

import multiprocessing
import time
from typing import Any

import numpy as np

DT, SUBSTEPS, HORIZON = 0.002, 10, 500
SECONDS = 4.0


def engine() -> tuple[Any, Any, Any]:
    """MuJoCo's model of arm7, our robot and the setting of our environment."""
    import dqdyn as dq
    from dqdyn.gym.setting import Setting
    from dqdyn.simulate.mujoco_plant import engine_model

    robot = dq.robots.arm7()
    return engine_model(robot, DT, limits=False), robot, Setting(robot, dq.gym.Reach("tool"))


def environment_class() -> type:
    """An environment in which MuJoCo does all there is to do."""
    import gymnasium
    import mujoco

    class ArmReach(gymnasium.Env):  # type: ignore[misc,unused-ignore]
        def __init__(self, shared: tuple[Any, Any, Any]) -> None:
            self.model, robot, setting = shared
            self.data = mujoco.MjData(self.model)
            self.efforts, (low, high) = setting.efforts, setting.limits
            self.low, self.high = robot.limits.lower, robot.limits.upper
            self.fastest = setting.task.fastest * robot.limits.velocity
            self.tool = int(self.model.site("tool").id)
            self.observation_space = gymnasium.spaces.Box(low, high, dtype=np.float64)
            self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (7,), dtype=np.float64)
            self.goal, self.steps = np.zeros(3), 0

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            there, here = self.low + (self.high - self.low) * self.np_random.random((2, 7))
            mujoco.mj_resetData(self.model, self.data)
            self.data.qpos[:] = there
            mujoco.mj_kinematics(self.model, self.data)
            self.goal = self.data.site_xpos[self.tool].copy()
            self.data.qpos[:] = here
            mujoco.mj_kinematics(self.model, self.data)
            self.steps = 0
            return self._seen(), {}

        def _seen(self) -> Any:
            data = self.data
            return np.concatenate([data.qpos, data.qvel, self.goal, self.goal - data.site_xpos[self.tool]])

        def step(self, action: Any) -> Any:
            data = self.data
            data.qfrc_applied[:] = np.clip(action, -1.0, 1.0) * self.efforts
            mujoco.mj_step(self.model, data, SUBSTEPS)
            mujoco.mj_kinematics(self.model, data)
            seen = self._seen()
            self.steps += 1
            reward = -float(np.sqrt(seen[-3:] @ seen[-3:])) - 0.01 / 7.0 * float(action @ action)
            failed = bool((np.abs(data.qvel) > self.fastest).any())
            return seen, reward, failed, self.steps >= HORIZON, {}

    return ArmReach


def _steps_per_second(count: int, ready: Any, answers: Any) -> None:
    import gymnasium

    shared, kind = engine(), environment_class()
    envs = gymnasium.vector.SyncVectorEnv([lambda: kind(shared)] * count)
    envs.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-0.3, 0.3, (count, 7))
    envs.step(actions)
    ready.wait()
    end, best = time.perf_counter() + SECONDS, np.inf
    while time.perf_counter() < end:
        start = time.perf_counter()
        envs.step(actions)
        best = min(best, time.perf_counter() - start)
    answers.put(count / best)


def sync_rate(count: int, processes: int) -> float:
    """Steps per second of all environments together, each process in its best step of all."""
    context = multiprocessing.get_context("spawn")
    ready, answers = context.Barrier(processes), context.Queue()
    workers = [
        context.Process(target=_steps_per_second, args=(count // processes, ready, answers)) for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    total = sum(answers.get(timeout=120) for _ in workers)
    for worker in workers:
        worker.join()
    return float(total)


def engine_rollouts(count: int, threads: int) -> float:
    """Steps per second of ``mujoco.rollout``, without observations."""
    import mujoco
    import mujoco.rollout

    model, robot, setting = engine()
    data = [mujoco.MjData(model) for _ in range(threads)]
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    rng = np.random.default_rng(0)
    state = np.zeros((count, size))
    state[:, 1:8] = rng.uniform(robot.limits.lower, robot.limits.upper, (count, 7))
    force = rng.uniform(-0.3, 0.3, (count, 1, 7)) * setting.efforts
    forces = np.repeat(force, SUBSTEPS, axis=1)
    spec = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
    best = np.inf
    with mujoco.rollout.Rollout(nthread=threads) as runner:
        for _ in range(12):
            start = time.perf_counter()
            runner.rollout(model, data, state, forces, control_spec=spec)
            best = min(best, time.perf_counter() - start)
    return count / best
