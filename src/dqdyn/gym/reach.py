"""Bring a frame to a point that is drawn anew for every episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.scalar import Scalars, less, select, sqrt
from dqdyn.arrays import Array
from dqdyn.gym.task import Observed, Task, place
from dqdyn.robot import Robot
from dqdyn.robot.named_states import columns

_ORIGIN = np.zeros(3)
_PLACE = 10.0  # m: no arm reaches further
_SAMPLES = 64  # configurations at which gravity and inertia are looked at


@dataclass(frozen=True)
class Reach(Task):
    """The goal is where ``frame`` is at a random configuration within the limits.

    Observed are q, v, the goal and the way to it from the frame. The reward is minus the distance in m, minus
    ``price`` times the mean square of the action. A speed beyond ``fastest`` times its limit ends the episode. The
    action 1 is what holds the joint against gravity wherever it is and gives it the ``acceleration``, within the limit
    of its motor.
    """

    frame: str
    price: float = 0.01
    fastest: float = 30.0
    acceleration: float = 20.0
    """rad/s² or m/s²"""

    goal_size = 3

    def start(self, robot: Robot, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        lower, upper = robot.limits.lower, robot.limits.upper
        if robot.nq == robot.nv and np.isfinite(lower).all() and np.isfinite(upper).all():
            there, here = lower + (upper - lower) * rng.random((2, robot.nq))
        else:
            there, here = robot.random_configuration(rng), robot.random_configuration(rng)
        return here, np.zeros(robot.nv), robot.point(self.frame, there).position

    def observed(self, robot: Robot) -> Sequence[Observed]:
        axes = [(f"{kind} of {name}", unit) for kind in "qv" for name, unit in columns(robot.model, kind)]
        speed = np.where(np.isfinite(robot.limits.velocity), self.fastest * robot.limits.velocity, 1e3)
        limits = [1e3] * robot.nq + speed.tolist()
        state = [Observed(name, unit, -x, x) for (name, unit), x in zip(axes, limits, strict=True)]
        places = [Observed(f"{what} {axis}", "m", -_PLACE, _PLACE) for what in ("goal", "way") for axis in "xyz"]
        return [*state, *places]

    def observation(self, robot: Robot, q: Scalars, v: Scalars, goal: Scalars) -> list[Any]:
        return [*q, *v, *goal, *self._way(robot, q, goal)]

    def reward(self, robot: Robot, q: Scalars, v: Scalars, goal: Scalars, u: Scalars) -> Any:
        square = sum((x * x for x in self._way(robot, q, goal)), 0.0)
        return -sqrt(square) - self.price / max(len(u), 1) * sum((x * x for x in u), 0.0)

    def margin(self, robot: Robot, q: Scalars, v: Scalars, goal: Scalars) -> Any:
        least: Any = 1.0
        for x, limit in zip(v, robot.limits.velocity.tolist(), strict=True):
            if np.isfinite(limit):
                left = (self.fastest * limit) ** 2 - x * x
                least = select(less(left, least), left, least)
        return least

    def efforts(self, robot: Robot) -> Array:
        rng = np.random.default_rng(0)
        q = np.array([robot.random_configuration(rng) for _ in range(_SAMPLES)])
        inertia = np.abs(np.diagonal(robot.mass_matrix(q), axis1=-2, axis2=-1)).max(axis=0)
        needed = np.abs(robot.gravity_forces(q)).max(axis=0) + self.acceleration * inertia
        driven = np.array([motor is not None for motor in robot.model.motors])
        return np.where(driven, np.minimum(needed, robot.limits.effort), 0.0)

    def _way(self, robot: Robot, q: Scalars, goal: Scalars) -> list[Any]:
        return [g - p for g, p in zip(goal, place(robot, self.frame, q), strict=True)]
