"""Limits of velocities, accelerations and torques: one size per axis, on both sides."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import ClassVar, Literal, Self

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control.core.command_constraint import CommandBound, CommandConstraint, Context, Relax
from dqdyn.control.core.settings import positive
from dqdyn.control.limits.coordinates import FREE, LimitLike, axes, given_or_own, own
from dqdyn.errors import Error
from dqdyn.model.model import Model

_ROUNDING = 1e-9  # rad/s or m/s, of a joint that runs at its limit


class PerAxis(CommandConstraint):
    """|x| at most ``given``, one number or one per axis, or at most the robot's own limit named ``of_robot``.

    Limits of what is commanded itself do not give way unless ``relaxable`` is True; others do unless it is False.
    """

    limited: ClassVar[Literal["velocity", "acceleration", "torque"]]
    """What is limited."""
    of_robot: ClassVar[Literal["velocity", "effort"] | None] = None
    may_be_zero: ClassVar[bool] = False
    limit: Array

    def __init__(self, given: LimitLike, name: str, relaxable: Relax, gain: float = 1.0) -> None:
        super().__init__(name, gain, relaxable=relaxable)
        self.given = given

    def bound_to(self, model: Model) -> Self:
        result = copy.copy(self)
        default = np.full(model.nv, np.inf) if self.of_robot is None else own(model, self.of_robot)
        result.limit = given_or_own(self.given, default, f"limit of {self.name}")
        if (result.limit < 0.0).any() or (not self.may_be_zero and (result.limit == 0.0).any()):
            least = "from" if self.may_be_zero else "above"
            raise Error(f"The limit of {self.name} must be {least} 0; found {result.limit.min():.6g}.")
        return result

    def gives_way(self, level: str) -> bool:
        return self.limited != level if self.relaxable is None else self.relaxable

    def bounds(self, context: Context) -> list[CommandBound]:
        named = enumerate(zip(axes(context.model), self.limit.tolist(), strict=True))
        return [self.bound(context, f"{self.name}: {name}", k, limit) for k, (name, limit) in named if limit < FREE]

    @abstractmethod
    def bound(self, context: Context, name: str, k: int, limit: float) -> CommandBound:
        """The bound on axis k."""


class VelocityLimits(PerAxis):
    """|v| at most the robot's limits, or ``limit``; for accelerations v̇ ≤ ``gain`` (v_max − v), and likewise below."""

    limited = of_robot = "velocity"

    def __init__(
        self, limit: LimitLike = None, *, gain: float = 10.0, name: str = "velocity limits", relaxable: Relax = None
    ) -> None:
        super().__init__(limit, name, relaxable, gain)

    def bound(self, context: Context, name: str, k: int, limit: float) -> CommandBound:
        if context.level == "velocity":
            return CommandBound(name, limit, -limit, axis=k)
        v = context.v[k]
        return CommandBound(name, self.gain * (limit - v), -self.gain * (limit + v), axis=k)

    def exceeded(self, model: Model, v: Array) -> list[tuple[str, float]]:
        over = np.abs(v) - self.limit
        return [(f"{self.name}: {name}", float(x)) for name, x in zip(axes(model), over, strict=True) if x > _ROUNDING]


class AccelerationLimits(PerAxis):
    """|v̇| at most ``limit``, one number or one per joint. For velocities it needs the time step ``dt`` in s:
    the command may differ from v by ``limit``·dt."""

    limited = "acceleration"

    def __init__(
        self, limit: LimitLike, *, dt: float | None = None, name: str = "acceleration limits", relaxable: Relax = None
    ) -> None:
        if limit is None:
            raise Error(f"The {name} need a limit: robots have none of their own.")
        super().__init__(limit, name, relaxable)
        self.dt = None if dt is None else positive(dt, f"dt of {name}")
        if dt is None:
            self.levels = ("acceleration", "torque")

    def gives_way(self, level: str) -> bool:
        return super().gives_way("acceleration" if level == "velocity" else level)

    def change(self) -> Array:
        """By how much (nv,) the limit lets a command by velocity change in one step."""
        return self.limit * float(self.dt or 0.0)

    def bound(self, context: Context, name: str, k: int, limit: float) -> CommandBound:
        if context.level == "acceleration":
            return CommandBound(name, limit, -limit, axis=k)
        v, step = context.v[k], limit * float(self.dt or 0.0)
        return CommandBound(name, v + step, v - step, axis=k)


class TorqueLimits(PerAxis):
    """|τ| at most what the robot's motors give, or ``limit``: −τ_max ≤ M v̇ + n ≤ τ_max, for controllers by torque.

    Which axes have motors at all is the robot's to say, see ``robot.with_motors``: no controller commands a force on
    an axis without one, whatever its ``limit``.
    """

    levels = ("torque",)
    limited = "torque"
    of_robot, may_be_zero = "effort", True  # a motor that is switched off

    def __init__(self, limit: LimitLike = None, *, name: str = "torque limits", relaxable: Relax = None) -> None:
        super().__init__(limit, name, relaxable)

    def bound(self, context: Context, name: str, k: int, limit: float) -> CommandBound:
        return CommandBound(name, limit, -limit, torque=k)
