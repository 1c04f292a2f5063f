"""Many environments as one batch: a roll-out and a judgement per step, both in machine code."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from dqdyn.arrays import Array
from dqdyn.errors import StateError
from dqdyn.gym.environment import begun, spaces
from dqdyn.gym.pictures import RENDER_MODES, Pictures
from dqdyn.gym.setting import Flags, Setting
from dqdyn.gym.task import Task
from dqdyn.robot import Robot


class RobotVectorEnv(VectorEnv):  # type: ignore[misc]
    """``num_envs`` robots with one task; ``options`` are those of :class:`Setting`.

    Environment k with the seed s is the single environment with the seed s + k, state by state. An episode that ended
    begins anew in the step after, as Gymnasium's own vector environments do it.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": RENDER_MODES,
        "render_fps": 50,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self, robot: Robot, task: Task, num_envs: int = 1, render_mode: str | None = None, **options: Any
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, (int, np.integer)) or num_envs < 1:
            raise StateError(f"num_envs is a whole number from 1; found {num_envs!r}.", argument="num_envs")
        self.num_envs, self.setting = int(num_envs), Setting(robot, task, **options)
        self.single_observation_space, self.single_action_space = spaces(self.setting)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.render_mode = render_mode
        self._pictures = Pictures(self.setting, render_mode)
        self._plant = self.setting.made(self.num_envs)
        self._goal = np.zeros((self.num_envs, task.goal_size))
        self._steps = np.zeros(self.num_envs, dtype=np.int64)
        self._over: Flags = np.zeros(self.num_envs, dtype=bool)
        self._generators: list[np.random.Generator] = []

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """All episodes anew; a seed s stands for s, s + 1, …, and a list has one for each environment."""
        self._seed(seed)
        everyone = np.arange(self.num_envs)
        self._begin(everyone, options)
        self._over[:] = False
        nothing = np.zeros((self.num_envs, len(self.setting.driven)))
        seen, _, _ = self.setting.judged(*self._plant.states(), self._goal, nothing)
        return seen, {}

    def step(self, actions: Any) -> tuple[Array, Array, Flags, Flags, dict[str, Any]]:
        """Observations, rewards, failures and truncations, one row or entry for each environment."""
        actions = np.asarray(actions, dtype=float)
        if actions.shape != self.action_space.shape:
            raise StateError(f"actions have shape {self.action_space.shape}; found {actions.shape}.")
        if not self._generators:
            raise StateError("step comes after reset: call reset(seed=...) first.")
        used, tau = self.setting.forces(actions)
        self._plant.step(tau)
        self._steps += 1
        anew = np.flatnonzero(self._over)
        if len(anew):
            self._begin(anew, None)
        seen, reward, failed = self.setting.judged(*self._plant.states(), self._goal, used)
        truncated = self._steps >= self.setting.horizon
        reward[anew], failed[anew], truncated[anew] = 0.0, False, False
        self._over = failed | truncated
        return seen, reward, failed, truncated, {}

    def render(self) -> tuple[Array | None, ...] | None:
        """One picture for each environment with ``render_mode="rgb_array"``."""
        if self.render_mode is None:
            return None
        return tuple(self._pictures.of(q) for q in self._plant.states()[0])

    @property
    def states(self) -> tuple[Array, Array]:
        """q (num_envs, nq) and v (num_envs, nv) now."""
        return self._plant.states()

    def _seed(self, seed: int | list[int | None] | None) -> None:
        if seed is None and self._generators:
            return
        numbers = range(self.num_envs)
        seeds = seed if isinstance(seed, list) else [None if seed is None else seed + k for k in numbers]
        if len(seeds) != self.num_envs:
            raise StateError(f"a list of seeds has one for each of {self.num_envs} environments; found {len(seeds)}.")
        self._generators = [np_random(s)[0] for s in seeds]

    def _begin(self, which: npt.NDArray[np.intp], options: dict[str, Any] | None) -> None:
        starts = [begun(self.setting, self._generators[k], options) for k in which.tolist()]
        q, v, goal = (np.stack([np.asarray(s[i], dtype=float) for s in starts]) for i in range(3))
        self._goal[which], self._steps[which] = goal, 0
        self._plant.put(which, q, v)
