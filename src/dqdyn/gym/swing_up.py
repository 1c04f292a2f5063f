"""From hanging to standing on one's head, with motors too weak to lift the arm at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.scalar import Scalars, cos, less, select, sin
from dqdyn.arrays import Array
from dqdyn.errors import Error
from dqdyn.gym.task import Observed, Task, place
from dqdyn.robot import Robot


@dataclass(frozen=True)
class SwingUp(Task):
    """A chain of hinges starts near ``hanging`` and is to bring ``frame`` to the height ``top`` and rest there.

    The reward of a step is 1 at the top at rest and falls with depth, speed and action. Observed are cosine, sine and
    speed of each joint. A speed beyond ``fastest`` ends the episode.
    """

    frame: str = "tool"
    hanging: tuple[float, ...] = (-np.pi / 2, 0.0)
    """q in rad at which it hangs."""
    top: float = 2.0
    """m"""
    strength: tuple[float, ...] = (10.0, 5.0)
    """The force of the action 1 in N m. The two-link arm needs 19.6 and 4.9 to be held horizontally."""
    spread: float = 0.1
    """Standard deviation of q at the start, rad."""
    fastest: float = 25.0
    """rad/s"""

    def start(self, robot: Robot, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        return self.hanging + self.spread * rng.standard_normal(robot.nq), np.zeros(robot.nv), np.zeros(0)

    def observed(self, robot: Robot) -> Sequence[Observed]:
        names = [joint.name for joint in robot.joints]
        turned = [Observed(f"{kind} of {name}", "1", -1.0, 1.0) for name in names for kind in ("cosine", "sine")]
        return [*turned, *(Observed(f"speed of {name}", "rad/s", -self.fastest, self.fastest) for name in names)]

    def observation(self, robot: Robot, q: Scalars, v: Scalars, goal: Scalars) -> list[Any]:
        return [*(f(x) for x in q for f in (cos, sin)), *v]

    def reward(self, robot: Robot, q: Scalars, v: Scalars, goal: Scalars, u: Scalars) -> Any:
        below = 1.0 - place(robot, self.frame, q)[2] * (1.0 / self.top)
        missing = select(less(below, 0.0), -below, below)
        speed = sum((x * x for x in v), 0.0)
        action = sum((x * x for x in u), 0.0)
        near = 1.0 / (1.0 + 8.0 * missing)
        return near / (1.0 + 0.05 * speed) * 0.9 + 0.1 * (1.0 - 0.5 * missing) - 0.001 * action

    def margin(self, robot: Robot, q: Scalars, v: Scalars, goal: Scalars) -> Any:
        return self.fastest * self.fastest - sum((x * x for x in v), 0.0)

    def efforts(self, robot: Robot) -> Array:
        if len(self.strength) != robot.nv or len(self.hanging) != robot.nq:
            found = f"{len(self.hanging)} and {len(self.strength)}"
            what = f"SwingUp of {robot.name!r} takes {robot.nq} angles hanging and {robot.nv} forces strength"
            raise Error(f"{what}; found {found}.")
        return np.array(self.strength)
