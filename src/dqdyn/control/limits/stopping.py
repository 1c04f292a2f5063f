"""Bounds on accelerations that bring the joints to rest with the task."""

from __future__ import annotations

from dqdyn.algebra.scalar import Scalar, sqrt, total
from dqdyn.control.core.command_constraint import CommandBound, CommandConstraint, Context
from dqdyn.control.core.settings import number
from dqdyn.control.limits.coordinates import axes
from dqdyn.model.model import Model


class StoppingBounds(CommandConstraint):
    """k(−g − v) ≤ v̇ ≤ k(g − v) with g = ‖ẋ̃‖ + c‖x̃‖ over the tasks of the first level [Quiroz, eq. (3.4)].

    As the task is met the bounds close in on v̇ = −k v, so the joints stop too. ``reach`` is c in 1/s. The paper's
    example is g = ‖ẋ̃‖, c = 0, with which a robot at rest never starts: ẋ̃ = 0 requires v̇ = 0.

    Where other constraints, or the reach of the robot, keep the task from being met, x̃ stays, and with it c‖x̃‖. So of
    c‖x̃‖ counts the share that can be worked off, σ: of the k_p x̃ that the tasks ask for, the part that the best command
    within 100 times these bounds brings about. It is 1 where nothing blocks the task, as printed, and 0 where it is
    blocked.
    """

    follows_progress = True
    levels = ("acceleration", "torque")

    def __init__(
        self, k: float = 1.0, *, reach: float = 1.0, name: str = "stopping bounds", relaxable: bool = True
    ) -> None:
        super().__init__(name, k, relaxable=relaxable)
        self.reach = number(reach, f"reach of {name}", 0.0)

    def initial_gains(self, model: Model, level: str) -> list[tuple[float, float]]:
        """(σ, what is added to g where c = 0): not gains, but inputs of the program too."""
        return [(1.0, 0.0)]

    def bounds(self, context: Context) -> list[CommandBound]:
        _, (share, opened) = context.next_gains()
        wider = self.reach * (share * _norm(context.task_errors)) if self.reach else opened
        g = _norm(context.task_rates) + wider
        return [
            CommandBound(f"{self.name}: {name}", self.gain * (g - v), -(self.gain * (g + v)), axis=k)
            for k, (name, v) in enumerate(zip(axes(context.model), context.v, strict=True))
        ]


def _norm(c: list[Scalar]) -> Scalar:
    return sqrt(total([0.0, *(x * x for x in c)]))
