"""Limits of accelerations."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from dqdyn.control.constraint import Context, Side
from dqdyn.control.limits.base import FREE, Limit, axes
from dqdyn.control.task import positive
from dqdyn.errors import Error
from dqdyn.model.model import Model


class AccelerationLimits(Limit):
    """|v̇| at most ``limit``, one number or one per joint. For velocities it needs the time step ``dt`` in s:
    the command may differ from v by ``limit``·dt."""

    def __init__(
        self, limit: Any, *, dt: float | None = None, name: str = "acceleration limits", relaxable: bool = True
    ) -> None:
        self._set(name, 1.0, "auto", relaxable)
        self.given, self.auto, self.dt = limit, False, None if dt is None else positive(dt, f"dt of {name}")
        if dt is None:
            self.levels = ("acceleration", "torque")

    limit: np.ndarray

    def bound(self, model: Model) -> Self:
        result = copy.copy(self)
        result.limit = self._values(self.given, np.full(model.nv, np.inf), f"limit of {self.name}")
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
                if context.level == "velocity":
                    step = limit * float(self.dt or 0.0)
                    sides.append(Side(f"{self.name}: {name}", v + step, v - step, axis=k))
                else:
                    sides.append(Side(f"{self.name}: {name}", limit, -limit, axis=k))
        return sides
