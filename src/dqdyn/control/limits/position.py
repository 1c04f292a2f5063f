"""Limits of positions."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from dqdyn.control.core.command_bound import Context, Side
from dqdyn.control.limits.limit import FREE, Limit, coordinates, number, own
from dqdyn.errors import Error
from dqdyn.model.model import Model


class JointLimits(Limit):
    """Every coordinate between ``lower`` and ``upper`` (default: the robot's), ``margin`` inside of them.

    Where a joint follows another, the robot's own limits are those that keep both inside. Joints without limits, and
    spherical and free joints, are left alone: to bound where a free base is, use :class:`Region` on its frame.
    """

    def __init__(
        self,
        lower: Any = None,
        upper: Any = None,
        *,
        margin: float = 0.0,
        gain: float = 1.0,
        gains: Any = "auto",
        name: str = "joint limits",
        relaxable: bool = True,
    ) -> None:
        self._set(name, gain, gains, relaxable)
        self.given, self.margin = (lower, upper), number(margin, f"margin of {name}")

    def bound(self, model: Model) -> Self:
        result = copy.copy(self)
        result.lower = self._values(self.given[0], own(model, "lower"), f"lower of {self.name}") + self.margin
        result.upper = self._values(self.given[1], own(model, "upper"), f"upper of {self.name}") - self.margin
        for name, i, _ in coordinates(model):
            if not result.lower[i] < result.upper[i]:
                raise Error(
                    f"{self.name} leave no room for joint {name!r}: {result.lower[i]:.6g} to {result.upper[i]:.6g}.",
                    joint=name,
                )
        return result

    lower: np.ndarray
    upper: np.ndarray

    def _limited(self, model: Model) -> list[tuple[str, int, int, float, float]]:
        """(name, index into q, index into v, sign, limit) of every side."""
        result = []
        for name, i, k in coordinates(model):
            if self.lower[i] > -FREE:
                result.append((f"{self.name}: {name} lower", i, k, 1.0, float(self.lower[i])))
            if self.upper[i] < FREE:
                result.append((f"{self.name}: {name} upper", i, k, -1.0, float(self.upper[i])))
        return result

    def initial_gains(self, model: Model, level: str) -> list[tuple[float, float]]:
        return [(self.gain, 0.0) if level == "velocity" else self.pair] * len(self._limited(model))

    def sides(self, context: Context) -> list[Side]:
        sides = []
        for name, i, k, sign, limit in self._limited(context.model):
            index, first, second = context.next_gains()
            h = sign * (context.q[i] - limit)
            rate = sign * context.v[k] if context.level == "acceleration" else None
            room = first * h if rate is None else first * rate + second * h
            if sign > 0:
                sides.append(Side(name, None, -room, axis=k, h=h, rate=rate, gains=index))
            else:
                sides.append(Side(name, room, None, axis=k, h=h, rate=rate, gains=index))
        return sides
