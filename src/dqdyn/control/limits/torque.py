"""Limits of torques."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from dqdyn.control.constraint import Context, Side
from dqdyn.control.limits.base import FREE, Limit, axes, own
from dqdyn.model.model import Model


class TorqueLimits(Limit):
    """|τ| at most the robot's limits, or ``limit``: −τ_max ≤ M v̇ + n ≤ τ_max, for controllers by torque."""

    levels = ("torque",)

    def __init__(self, limit: Any = None, *, name: str = "torque limits", relaxable: bool = True) -> None:
        self._set(name, 1.0, "auto", relaxable)
        self.given, self.auto = limit, False

    limit: np.ndarray

    def bound(self, model: Model) -> Self:
        result = copy.copy(self)
        result.limit = self._values(self.given, own(model, "effort"), f"limit of {self.name}")
        return result

    def initial_gains(self, model: Model, level: str) -> list[tuple[float, float]]:
        return []

    def sides(self, context: Context) -> list[Side]:
        matrix, bias = context.mass_and_bias
        sides = []
        for k, name in enumerate(axes(context.model)):
            limit = float(self.limit[k])
            if limit < FREE:
                sides.append(Side(f"{self.name}: {name}", limit - bias[k], -limit - bias[k], normal=list(matrix[k])))
        return sides
