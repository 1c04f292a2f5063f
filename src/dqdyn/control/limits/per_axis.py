"""The base of limits of velocity, acceleration and torque: one size per axis, on both sides."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from dqdyn.control.core.command_bound import Context, Side
from dqdyn.control.limits.limit import FREE, Limit, axes, own
from dqdyn.errors import Error
from dqdyn.model.model import Model


class PerAxis(Limit):
    """|x| at most ``given``, one number or one per axis, or at most the robot's own limit named ``of_robot``.

    Limits of what is commanded itself do not give way unless ``relaxable`` is True; others do unless it is False.
    """

    quantity: ClassVar[str]
    """What is limited: "velocity", "acceleration" or "torque"."""
    of_robot: ClassVar[str | None] = None
    may_be_zero: ClassVar[bool] = False
    limit: np.ndarray

    def __init__(self, given: Any, name: str, relaxable: bool | None, gain: float = 1.0) -> None:
        self._set(name, gain, "auto", relaxable)
        self.given, self.auto = given, False

    def bound(self, model: Model) -> Self:
        result = copy.copy(self)
        default = np.full(model.nv, np.inf) if self.of_robot is None else own(model, self.of_robot)
        result.limit = self._values(self.given, default, f"limit of {self.name}")
        if (result.limit < 0.0).any() or (not self.may_be_zero and (result.limit == 0.0).any()):
            least = "from" if self.may_be_zero else "above"
            raise Error(f"The limit of {self.name} must be {least} 0; found {result.limit.min():.6g}.")
        return result

    def gives_way(self, level: str) -> bool:
        return self.quantity != level if self.relaxable is None else self.relaxable

    def change(self) -> np.ndarray:
        """By how much (nv,) the limit lets a command by velocity change in one step."""
        return np.full(len(self.limit), np.inf)

    def initial_gains(self, model: Model, level: str) -> list[tuple[float, float]]:
        return []

    def sides(self, context: Context) -> list[Side]:
        named = enumerate(zip(axes(context.model), self.limit.tolist(), strict=True))
        return [self.side(context, f"{self.name}: {name}", k, limit) for k, (name, limit) in named if limit < FREE]

    @abstractmethod
    def side(self, context: Context, name: str, k: int, limit: float) -> Side:
        """The bound on axis k."""
