"""Bounds on accelerations that bring the joints to rest with the task."""

from __future__ import annotations

from dqdyn.algebra.scalar import Scalar, sqrt, total
from dqdyn.control.core.command_bound import Context, Side
from dqdyn.control.limits.limit import Limit, axes, number
from dqdyn.model.model import Model


class StoppingBounds(Limit):
    """k(−g − v) ≤ v̇ ≤ k(g − v) with g = ‖ẋ̃‖ + c‖x̃‖ over the tasks of the first level [Quiroz, eq. (3.4)].

    As the task is met the bounds close in on v̇ = −k v, so the joints stop too. ``reach`` is c in 1/s. The paper's
    example is g = ‖ẋ̃‖, c = 0, with which a robot at rest never starts: ẋ̃ = 0 asks for v̇ = 0.
    """

    levels = ("acceleration", "torque")

    def __init__(
        self, k: float = 1.0, *, reach: float = 1.0, name: str = "stopping bounds", relaxable: bool = True
    ) -> None:
        self._set(name, k, "auto", relaxable)
        self.auto, self.reach = False, number(reach, f"reach of {name}", 0.0)

    def initial_gains(self, model: Model, level: str) -> list[tuple[float, float]]:
        return []

    def sides(self, context: Context) -> list[Side]:
        g = _norm(context.task_rates)
        if self.reach:
            g = g + self.reach * _norm(context.task_errors)
        return [
            Side(f"{self.name}: {name}", self.gain * (g - v), -(self.gain * (g + v)), axis=k)
            for k, (name, v) in enumerate(zip(axes(context.model), context.v, strict=True))
        ]


def _norm(c: list[Scalar]) -> Scalar:
    return sqrt(total([0.0, *(x * x for x in c)]))
