"""What a robot is to learn: start, observation, reward and end, written over any scalar.

An environment traces them and compiles them into one program, so a thousand environments cost one native call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.scalar import Scalars
from dqdyn.arrays import Array
from dqdyn.compile.trace.interpret import interpret
from dqdyn.errors import Error
from dqdyn.robot import Robot


@dataclass(frozen=True)
class Observed:
    """A component of an observation, clipped to its limits: ``Observed("speed of joint1", "rad/s", -20.0, 20.0)``."""

    name: str
    unit: str
    low: float
    high: float


def place(robot: Robot, frame: str, q: Scalars) -> list[Any]:
    """Where the origin of a frame is in the world, m, on scalars of any kind."""
    return interpret(robot.program("point_on", frame=frame), [q, [0.0, 0.0, 0.0]])


class Task(ABC):
    """Scalars are q (nq) in rad or m, v (nv) in rad/s or m/s, the goal, and the action u, one per motor in [−1, 1]."""

    goal_size: int = 0
    """How many numbers describe the goal of an episode."""

    @abstractmethod
    def start(self, robot: Robot, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """q, v and the goal at the start of an episode."""

    @abstractmethod
    def observed(self, robot: Robot) -> Sequence[Observed]:
        """What is observed."""

    @abstractmethod
    def observation(self, robot: Robot, q: Scalars, v: Scalars, goal: Scalars) -> Sequence[Any]:
        """One scalar for each component."""

    @abstractmethod
    def reward(self, robot: Robot, q: Scalars, v: Scalars, goal: Scalars, u: Scalars) -> Any:
        """Of a step that ends at q and v under the action u."""

    def margin(self, robot: Robot, q: Scalars, v: Scalars, goal: Scalars) -> Any:
        """A scalar that is negative where the episode ends at once, as after a failure."""
        return 1.0

    def efforts(self, robot: Robot) -> Array:
        """The force that the action 1 stands for, one per velocity, in N m or N; 0 where there is no motor."""
        driven = np.array([motor is not None for motor in robot.model.motors])
        efforts = np.where(driven, robot.limits.effort, 0.0)
        if not np.isfinite(efforts).all():
            unlimited = robot.model.joints[0].name if len(robot.model.joints) == 1 else "a joint"
            what = f"{unlimited} of {robot.name!r} has a motor without a limit of effort"
            raise Error(f"{what}: give the robot limits, or the task a method efforts(robot).")
        return efforts
