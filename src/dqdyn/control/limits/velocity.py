"""Limits of velocities."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.control.core.command_bound import Context, Side
from dqdyn.control.limits.limit import axes
from dqdyn.control.limits.per_axis import PerAxis
from dqdyn.model.model import Model

_ROUNDING = 1e-9  # rad/s or m/s, of a joint that runs at its limit


class VelocityLimits(PerAxis):
    """|v| at most the robot's limits, or ``limit``; for accelerations v̇ ≤ ``gain`` (v_max − v), and likewise below."""

    quantity = of_robot = "velocity"

    def __init__(
        self, limit: Any = None, *, gain: float = 10.0, name: str = "velocity limits", relaxable: bool | None = None
    ) -> None:
        super().__init__(limit, name, relaxable, gain)

    def side(self, context: Context, name: str, k: int, limit: float) -> Side:
        if context.level == "velocity":
            return Side(name, limit, -limit, axis=k)
        v = context.v[k]
        return Side(name, self.gain * (limit - v), -self.gain * (limit + v), axis=k)

    def exceeded(self, model: Model, v: np.ndarray) -> list[tuple[str, float]]:
        over = np.abs(v) - self.limit
        return [(f"{self.name}: {name}", float(x)) for name, x in zip(axes(model), over, strict=True) if x > _ROUNDING]
