"""Limits of accelerations."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.control.core.command_bound import Context, Side
from dqdyn.control.core.task import positive
from dqdyn.control.limits.per_axis import PerAxis
from dqdyn.errors import Error


class AccelerationLimits(PerAxis):
    """|v̇| at most ``limit``, one number or one per joint. For velocities it needs the time step ``dt`` in s:
    the command may differ from v by ``limit``·dt."""

    quantity = "acceleration"

    def __init__(
        self, limit: Any, *, dt: float | None = None, name: str = "acceleration limits", relaxable: bool | None = None
    ) -> None:
        if limit is None:
            raise Error(f"The {name} need a limit: robots have none of their own.")
        super().__init__(limit, name, relaxable)
        self.dt = None if dt is None else positive(dt, f"dt of {name}")
        if dt is None:
            self.levels = ("acceleration", "torque")

    def gives_way(self, level: str) -> bool:
        return super().gives_way("acceleration" if level == "velocity" else level)

    def change(self) -> np.ndarray:
        return self.limit * float(self.dt or 0.0)

    def side(self, context: Context, name: str, k: int, limit: float) -> Side:
        if context.level == "acceleration":
            return Side(name, limit, -limit, axis=k)
        v, step = context.v[k], limit * float(self.dt or 0.0)
        return Side(name, v + step, v - step, axis=k)
