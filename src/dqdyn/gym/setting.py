"""What one and many environments have in common: options, checked, spaces, and the compiled task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dqdyn.arrays import Array
from dqdyn.caching import cached_property
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.runtime.threads import whole
from dqdyn.compile.trace import trace
from dqdyn.errors import Error, unknown_name
from dqdyn.gym.plants import EnginePlant, OwnPlant, Plant
from dqdyn.gym.task import Task
from dqdyn.robot import Robot
from dqdyn.scenes.scene import Scene

Flags = npt.NDArray[np.bool_]
PLANTS = ("own", "mujoco")


@dataclass(frozen=True)
class Setting:
    """A robot, its task and how both are simulated.

    A step of an environment lasts ``substeps`` times ``dt`` s, during which the force is constant. ``horizon``: steps
    after which an episode is truncated. ``plant``: "own" dynamics by semi-implicit Euler, without contacts, or
    "mujoco" with its method Euler and the bodies of the ``scene``. ``threads`` share many environments.
    """

    robot: Robot
    task: Task
    dt: float = 0.002
    substeps: int = 10
    horizon: int = 500
    plant: Literal["own", "mujoco"] = "own"
    scene: Scene | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.robot, Robot):
            raise Error(f"an environment takes a robot, as dq.robots.arm7(); found {type(self.robot).__name__}.")
        if not isinstance(self.task, Task):
            raise Error(f"an environment takes a task, as dq.gym.Reach('tool'); found {type(self.task).__name__}.")
        if not isinstance(self.dt, (int, float)) or isinstance(self.dt, bool) or not 0.0 < self.dt < np.inf:
            raise Error(f"dt is the duration of a substep in s, above 0; found {self.dt!r}.", argument="dt")
        for name in ("substeps", "horizon"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise Error(f"{name} is a whole number of steps from 1; found {value!r}.", argument=name)
        whole(self.threads)
        if self.plant not in PLANTS:
            raise unknown_name("plant", self.plant, PLANTS)
        if self.scene is not None and self.plant == "own":
            what = "own dynamics in an environment know no contacts"
            raise Error(f"{what}: with a scene take plant='mujoco'.", argument="scene")
        driven = [body.name for body in self.scene or () if body.motion == "driven"]
        if driven:
            what = f"the body {driven[0]!r} of the scene follows a function of time, and the clocks of episodes differ"
            raise Error(f"{what}: take one that is fixed, free or on a hinge.", body=driven[0])
        if any(constraint.timed for constraint in self.robot.constraints):
            raise Error("constraints that depend on time do not fit environments, whose clocks differ: leave them out.")

    @property
    def period(self) -> float:
        """The duration of a step in s."""
        return self.dt * self.substeps

    @cached_property
    def driven(self) -> npt.NDArray[np.intp]:
        """Numbers of the velocities that have a motor: one action each."""
        return np.array([k for k, motor in enumerate(self.robot.model.motors) if motor is not None], dtype=np.intp)

    @cached_property
    def efforts(self) -> Array:
        """Force of the action 1, per action, in N m or N."""
        efforts: Array = np.asarray(self.task.efforts(self.robot), dtype=float)[self.driven]
        return efforts

    def made(self, count: int) -> Plant:
        """The plant of so many robots."""
        if self.plant == "own":
            return OwnPlant(self.robot, self.dt, self.substeps, count, self.threads)
        return EnginePlant(self.robot, self.dt, self.substeps, count, self.threads, self.scene)

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """Lowest and highest observation."""
        observed = self.task.observed(self.robot)
        return np.array([o.low for o in observed]), np.array([o.high for o in observed])

    @cached_property
    def judge(self) -> Function:
        """(q, v, goal, action) → observation, reward and margin, one after the other, as native code."""
        robot, task, observed = self.robot, self.task, list(self.task.observed(self.robot))
        sizes = [("q", robot.nq), ("v", robot.nv), ("goal", task.goal_size), ("action", len(self.driven))]

        def algorithm(q: Any, v: Any, goal: Any, u: Any) -> tuple[list[Any], tuple[int, ...]]:
            seen = list(task.observation(robot, q, v, goal))
            if len(seen) != len(observed):
                what = f"{type(task).__name__}.observation gives {len(seen)} scalars"
                raise Error(f"{what}, and observed lists {len(observed)}: make them agree.")
            values = [*seen, task.reward(robot, q, v, goal, u), task.margin(robot, q, v, goal)]
            return values, (len(values),)

        return Function(trace(f"{type(task).__name__} of {robot.name}", sizes, algorithm))

    def judged(self, q: Array, v: Array, goal: Array, action: Array) -> tuple[Array, Array, Flags]:
        """Observations (B, n), rewards (B,) and which episodes have failed (B,)."""
        values = self.judge(q, v, goal, action, check=False)  # too little work to be shared between threads
        low, high = self.limits
        seen = np.clip(values[:, :-2], low, high)
        reward, failed = values[:, -2].copy(), ~(values[:, -1] >= 0.0)
        lost = ~np.isfinite(values).all(axis=1) if failed.any() else failed
        if lost.any():  # a diverged state is an end, not an observation
            seen[lost] = np.clip(np.nan_to_num(seen[lost]), low, high)
            reward[lost] = 0.0
        return seen, reward, failed

    def forces(self, action: Any) -> tuple[Array, Array]:
        """Actions (B, n) within [−1, 1], and τ (B, nv)."""
        clipped = np.clip(np.asarray(action, dtype=float), -1.0, 1.0)
        tau = np.zeros((len(clipped), self.robot.nv))
        tau[:, self.driven] = clipped * self.efforts
        return clipped, tau
