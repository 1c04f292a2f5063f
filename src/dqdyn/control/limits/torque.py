"""Limits of torques."""

from __future__ import annotations

from typing import Any

from dqdyn.control.core.command_bound import Context, Side
from dqdyn.control.limits.per_axis import PerAxis


class TorqueLimits(PerAxis):
    """|τ| at most the robot's limits, or ``limit``: −τ_max ≤ M v̇ + n ≤ τ_max, for controllers by torque.

    A ``limit`` per axis with 0 tells that an axis has no motor, as a passive joint: without it the controller takes
    every axis to have one. Of a free or planar base a limit per axis tells what thrusters or wheels give.
    """

    levels = ("torque",)
    quantity = "torque"
    of_robot, may_be_zero = "effort", True  # a joint without a motor

    def __init__(self, limit: Any = None, *, name: str = "torque limits", relaxable: bool | None = None) -> None:
        super().__init__(limit, name, relaxable)

    def side(self, context: Context, name: str, k: int, limit: float) -> Side:
        matrix, bias = context.mass_and_bias
        return Side(name, limit - bias[k], -limit - bias[k], normal=list(matrix[k]))
