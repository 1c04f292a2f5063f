"""Limits of velocities."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from dqdyn.control.constraint import Context, Side
from dqdyn.control.limits.base import FREE, Limit, axes, own
from dqdyn.errors import Error
from dqdyn.model.model import Model


class VelocityLimits(Limit):
    """|v| at most the robot's limits, or ``limit``; for accelerations v̇ ≤ ``gain`` (v_max − v), and likewise below."""

    def __init__(self, limit: Any = None, *, gain: float = 10.0, name: str = "velocity limits", relaxable: bool = True):
        self._set(name, gain, "auto", relaxable)
        self.given, self.auto = limit, False

    limit: np.ndarray

    def bound(self, model: Model) -> Self:
        result = copy.copy(self)
        result.limit = self._values(self.given, own(model, "velocity"), f"limit of {self.name}")
        if (result.limit <= 0.0).any():
            raise Error(f"The limit of {self.name} must be above 0; found {result.limit.min():.6g}.")
        return result

    def initial_gains(self, model: Model, level: str) -> list[tuple[float, float]]:
        return []

    def sides(self, context: Context) -> list[Side]:
        sides = []
        for k, name in enumerate(axes(context.model)):
            limit = float(self.limit[k])
            if limit < FREE:
                v = context.v[k]
                at_velocity = context.level == "velocity"
                right, left = (limit, -limit) if at_velocity else (self.gain * (limit - v), -self.gain * (limit + v))
                sides.append(Side(f"{self.name}: {name}", right, left, axis=k))
        return sides
