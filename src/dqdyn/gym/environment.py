"""One environment."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import StateError
from dqdyn.gym.pictures import RENDER_MODES, Pictures
from dqdyn.gym.setting import Setting
from dqdyn.gym.task import Task
from dqdyn.robot import Robot

ONE = np.zeros(1, dtype=np.intp)


class RobotEnv(gymnasium.Env):  # type: ignore[misc]
    """A robot and a task; ``options`` are those of :class:`Setting`.

    Actions (n,) in [−1, 1] are shares of the forces ``setting.efforts``; what the components of an observation are, and
    in which units, ``setting.task.observed(setting.robot)`` says. ``reset(options={"q": ..., "v": ...})`` starts from a
    state of your choice.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": RENDER_MODES, "render_fps": 50}

    def __init__(self, robot: Robot, task: Task, render_mode: str | None = None, **options: Any) -> None:
        self.setting = Setting(robot, task, **options)
        self.observation_space, self.action_space = spaces(self.setting)
        self.render_mode = render_mode
        self._pictures = Pictures(self.setting, render_mode)
        self._plant = self.setting.made(1)
        self._goal = np.zeros((1, task.goal_size))
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """The first observation of an episode; a seed makes it, and those that follow, reproducible."""
        super().reset(seed=seed)
        q, v, goal = begun(self.setting, self.np_random, options)
        self._goal[0], self._steps = goal, 0
        self._plant.put(ONE, q[None], v[None])
        seen, _, _ = self.setting.judged(q[None], v[None], self._goal, np.zeros((1, len(self.setting.driven))))
        return seen[0], {}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Observation, reward, whether the episode failed, whether it is at its horizon, and the state q, v."""
        action = np.asarray(action, dtype=float)
        if action.shape != self.action_space.shape:
            raise StateError(f"action has shape {self.action_space.shape}; found {action.shape}.", argument="action")
        used, tau = self.setting.forces(action[None])
        self._plant.step(tau)
        q, v = self._plant.states()
        seen, reward, failed = self.setting.judged(q, v, self._goal, used)
        self._steps += 1
        info = {"q": q[0].copy(), "v": v[0].copy()}
        return seen[0], float(reward[0]), bool(failed[0]), self._steps >= self.setting.horizon, info

    def render(self) -> Array | None:
        """A picture (height, width, 3) with ``render_mode="rgb_array"``."""
        return self._pictures.of(self._plant.states()[0][0])


def spaces(setting: Setting) -> tuple[Any, Any]:
    """The spaces of observations and actions, float64."""
    low, high = setting.limits
    motors = len(setting.efforts)
    observations = gymnasium.spaces.Box(low, high, dtype=np.float64)
    return observations, gymnasium.spaces.Box(-1.0, 1.0, (motors,), dtype=np.float64)


def begun(setting: Setting, rng: np.random.Generator, options: dict[str, Any] | None) -> tuple[Array, Array, Array]:
    """q, v and goal of a new episode: drawn, or from the options ``q``, ``v`` and ``goal``."""
    drawn = dict(zip(("q", "v", "goal"), setting.task.start(setting.robot, rng), strict=True))
    for name, value in (options or {}).items():
        if name not in drawn:
            raise StateError(f"reset has the options q, v and goal; found {name!r}.", argument=name)
        given = np.asarray(value, dtype=float)
        if given.shape != np.shape(drawn[name]) or not np.isfinite(given).all():
            raise StateError(f"{name} of reset is finite, of shape {np.shape(drawn[name])}; found {value!r}.")
        drawn[name] = given
    return drawn["q"], drawn["v"], drawn["goal"]
