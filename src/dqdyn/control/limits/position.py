"""Limits of positions: by the coordinates themselves, or by the angle between lines."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Self

import numpy as np

from dqdyn.algebra.scalar import Scalar, cos, sin
from dqdyn.arrays import Array
from dqdyn.control.core.command_constraint import CommandBound, CommandConstraint, Context
from dqdyn.control.core.kinematics import Rows
from dqdyn.control.core.settings import Gains, number
from dqdyn.control.core.task import Task
from dqdyn.control.features.features import Configuration
from dqdyn.control.limits.coordinates import FREE, LimitLike, coordinates, given_or_own, own
from dqdyn.errors import Error
from dqdyn.model.model import Model


class JointLimits(CommandConstraint):
    """Every coordinate between ``lower`` and ``upper`` (default: the robot's), ``margin`` inside of them.

    Where a joint follows another, the robot's own limits are those that keep both inside. Joints without limits, and
    spherical and free joints, are left alone: to bound where a free base is, use :class:`Region` on its frame.
    """

    lower: Array
    upper: Array

    def __init__(
        self,
        lower: LimitLike = None,
        upper: LimitLike = None,
        *,
        margin: float = 0.0,
        gain: float = 1.0,
        gains: Gains = "auto",
        name: str = "joint limits",
        relaxable: bool = True,
    ) -> None:
        super().__init__(name, gain, gains, relaxable)
        self.given, self.margin = (lower, upper), number(margin, f"margin of {name}")

    def bound_to(self, model: Model) -> Self:
        result = copy.copy(self)
        result.lower = given_or_own(self.given[0], own(model, "lower"), f"lower of {self.name}") + self.margin
        result.upper = given_or_own(self.given[1], own(model, "upper"), f"upper of {self.name}") - self.margin
        for name, i, _ in coordinates(model):
            if not result.lower[i] < result.upper[i]:
                room = f"{result.lower[i]:.6g} to {result.upper[i]:.6g}"
                raise Error(f"{self.name} leave no room for joint {name!r}: {room}.", joint=name)
        return result

    def _guarded(self, model: Model) -> list[tuple[str, int, int, float, float]]:
        """(name, index into q, index into v, sign, limit) of every bound."""
        both = ("lower", 1.0, self.lower), ("upper", -1.0, self.upper)
        return [
            (f"{self.name}: {name} {word}", i, k, sign, float(limit[i]))
            for name, i, k in coordinates(model)
            for word, sign, limit in both
            if -sign * limit[i] < FREE
        ]

    def guard_count(self, model: Model) -> int:
        return len(self._guarded(model))

    def bounds(self, context: Context) -> list[CommandBound]:
        result = []
        for name, i, k, sign, limit in self._guarded(context.model):
            index, gains = context.next_gains()
            h = sign * (context.q[i] - limit)
            rate = sign * context.v[k] if context.level == "acceleration" else None
            room = Rows([h], [], [0.0], None if rate is None else [rate], [0.0]).decay(0, gains)
            side = {"left": -room} if sign > 0 else {"right": room}
            result.append(CommandBound(name, **side, axis=k, h=h, rate=rate, gains=index))
        return result

    def clearances_at_target(self, task: Task, model: Model) -> Iterable[tuple[str, float]]:
        q = task.components_at_target(Configuration())
        if q is None:
            return []
        gains = list(self.initial_gains(model, "velocity"))
        context = Context(model, "velocity", q, [0.0] * model.nv, lambda signal: signal.at(0.0), gains)
        return [(bound.name, float(bound.h or 0.0)) for bound in self.bounds(context)]


class ConeJointLimits(JointLimits):
    """The same limits by the angle between lines: a line ⟂ to the axis on the link, one at mid-range on its parent.

    f(φ_safe) − f(q − q_mid) ≥ 0 with f = 2 − 2 cos φ, as [Quiroz, eq. (4.35)] and [Quiroz, eq. (4.36)] state it for the
    two lines. Both turn with the parent, so only q enters. For revolute joints with a range below 2π.

    At mid-range the gradient of f vanishes, and no acceleration changes ḧ = −2q̇² there: a joint that passes fast has
    the second-order form infeasible for that moment, far from its limits. It is feasible with η_p f(φ_safe) ≥ 2q̇² at
    mid-range: give ``gains`` for the joint's highest speed, or use :class:`JointLimits`.
    """

    def bound_to(self, model: Model) -> Self:
        result = super().bound_to(model)
        angular = [j.q.start for j in model.joints if j.kind == "revolute" and j.master is None]
        limited = np.isin(np.arange(model.nq), angular) & (result.upper - result.lower < 2.0 * np.pi)
        result.lower = np.where(limited, result.lower, -np.inf)
        result.upper = np.where(limited, result.upper, np.inf)
        return result

    def _guarded(self, model: Model) -> list[tuple[str, int, int, float, float]]:
        """(name, index into q, index into v, middle, half of the range) of every bound."""
        both = [(n, i, k, float(self.lower[i]), float(self.upper[i])) for n, i, k in coordinates(model)]
        return [
            (f"{self.name}: {n}", i, k, 0.5 * (lower + upper), 0.5 * (upper - lower))
            for n, i, k, lower, upper in both
            if lower > -FREE and upper < FREE
        ]

    def bounds(self, context: Context) -> list[CommandBound]:
        bounds = []
        for name, i, k, middle, reach in self._guarded(context.model):
            angle, v = context.q[i] - middle, context.v[k]
            h, slope = 2.0 * cos(angle) - 2.0 * float(np.cos(reach)), -(2.0 * sin(angle))
            jacobian: list[Scalar] = [0.0] * context.model.nv
            jacobian[k] = slope
            rate = None if context.level == "velocity" else [slope * v]
            bounds += context.guards([name], Rows([h], [jacobian], [0.0], rate, [-(2.0 * cos(angle) * v * v)]))
        return bounds
