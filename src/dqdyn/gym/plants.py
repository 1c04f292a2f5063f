"""What moves the robots of environments: our own dynamics in one native roll-out, or MuJoCo's."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from dqdyn.arrays import Array
from dqdyn.compile.runtime.rollout_runner import Runner
from dqdyn.errors import ModelWarning
from dqdyn.model.layouts import mujoco_layout
from dqdyn.robot import Robot
from dqdyn.scenes.scene import Scene
from dqdyn.simulate.engine_scene_state import SceneState
from dqdyn.simulate.engine_state import EngineState
from dqdyn.simulate.integrators.semi_implicit_euler import SemiImplicitEuler
from dqdyn.simulate.mujoco_plant import engine_model, imported_engine
from dqdyn.simulate.system import System

Numbers = npt.NDArray[np.intp]


class Plant(ABC):
    """Some robots, each with its state."""

    @abstractmethod
    def put(self, which: Numbers, q: Array, v: Array) -> None:
        """Give some robots, by their numbers (n,), other states (n, nq) and (n, nv)."""

    @abstractmethod
    def step(self, tau: Array) -> None:
        """Move all under the forces τ (B, nv) for one step."""

    @abstractmethod
    def states(self) -> tuple[Array, Array]:
        """q (B, nq) and v (B, nv) now."""


class OwnPlant(Plant):
    """One roll-out in machine code for all robots."""

    def __init__(self, robot: Robot, dt: float, substeps: int, count: int, threads: int) -> None:
        self.robot, self.substeps, self.threads = robot, substeps, threads
        states = np.concatenate([robot.neutral(), np.zeros(robot.nv)])
        rollout = SemiImplicitEuler().rollout(System(robot))
        self._runner = Runner(rollout, np.tile(states, (count, 1)), 0.0, dt, batch=count > 1)

    def put(self, which: Numbers, q: Array, v: Array) -> None:
        self._runner.replace(which, np.concatenate([q, v], axis=1))

    def step(self, tau: Array) -> None:
        with np.errstate(all="ignore"):
            self._runner.run(tau[None], self.substeps, self.threads, record=False)

    def states(self) -> tuple[Array, Array]:
        rows = self._runner.leading(self.robot.nq + self.robot.nv)
        return rows[:, : self.robot.nq], rows[:, self.robot.nq :]


class EnginePlant(Plant):
    """MuJoCo: one data for each robot, so that contacts keep their warm start."""

    def __init__(
        self, robot: Robot, dt: float, substeps: int, count: int, threads: int, scene: Scene | None = None
    ) -> None:
        self._engine = imported_engine("plant='mujoco'")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # what is left out has no part in the dynamics
            # As with own dynamics, a task says what happens beyond limits.
            self.model = engine_model(robot, dt, scene=scene, limits=scene is not None)
        self.robot, self.substeps = robot, substeps
        self._data = [self._engine.MjData(self.model) for _ in range(count)]
        self._scene, self._dt, self._threads = scene, dt, min(threads, count)
        self._executor = ThreadPoolExecutor(self._threads, "dqdyn-mujoco") if self._threads > 1 else None
        others = self._scene_at_start(self._data[0]).joints
        self._state = EngineState(self._engine, mujoco_layout(robot.model, self.model, others))

    def _scene_at_start(self, data: Any) -> SceneState:
        return SceneState(self.model, data, self._scene, 0.0, self._dt)

    def put(self, which: Numbers, q: Array, v: Array) -> None:
        layout = self._state.layout
        for k, row, speed in zip(which.tolist(), q, v, strict=True):
            data = self._data[k]
            self._engine.mj_resetData(self.model, data)
            self._scene_at_start(data)
            data.qpos[: layout.nq] = layout.q(row)
            data.qvel[: layout.nv] = layout.v(row, speed)

    def step(self, tau: Array) -> None:
        for data, force in zip(self._data, tau, strict=True):
            self._state.apply(data, self._state.read(data)[0], force)
        if self._executor is None:
            self._move(self._data)
        else:  # MuJoCo lets other threads run during its steps
            for _ in self._executor.map(self._move, (self._data[k :: self._threads] for k in range(self._threads))):
                pass

    def _move(self, some: list[Any]) -> None:
        for data in some:
            self._engine.mj_step(self.model, data, self.substeps)

    def states(self) -> tuple[Array, Array]:
        pairs = [self._state.read(data) for data in self._data]
        return np.stack([q for q, _ in pairs]), np.stack([v for _, v in pairs])
