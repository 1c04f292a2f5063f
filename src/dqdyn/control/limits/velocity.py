"""Limits of velocities."""

from __future__ import annotations

from typing import Any

from dqdyn.control.constraint import Context, Side
from dqdyn.control.limits.per_axis import PerAxis


class VelocityLimits(PerAxis):
    """|v| at most the robot's limits, or ``limit``; for accelerations v̇ ≤ ``gain`` (v_max − v), and likewise below."""

    of_robot = "velocity"

    def __init__(
        self, limit: Any = None, *, gain: float = 10.0, name: str = "velocity limits", relaxable: bool = True
    ) -> None:
        super().__init__(limit, name, relaxable, gain)

    def side(self, context: Context, name: str, k: int, limit: float) -> Side:
        if context.level == "velocity":
            return Side(name, limit, -limit, axis=k)
        v = context.v[k]
        return Side(name, self.gain * (limit - v), -self.gain * (limit + v), axis=k)
