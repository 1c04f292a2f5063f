"""Limits of positions by the angle between lines."""

from __future__ import annotations

from typing import Self

import numpy as np

from dqdyn.algebra.scalar import Scalar, cos, sin
from dqdyn.control.core.command_bound import Context, Side
from dqdyn.control.limits.limit import FREE, coordinates
from dqdyn.control.limits.position import JointLimits
from dqdyn.model.model import Model


class ConeJointLimits(JointLimits):
    """The same limits by the angle between lines: a line ⟂ to the axis on the link, one at mid-range on its parent.

    f(φ_safe) − f(q − q_mid) ≥ 0 with f = 2 − 2 cos φ, as [Quiroz, eq. (4.35)] and [Quiroz, eq. (4.36)] state it for the
    two lines. Both turn with the parent, so only q enters. For revolute joints with a range below 2π.

    At mid-range the gradient of f vanishes, and no acceleration changes ḧ = −2q̇² there: a joint that passes fast has
    the second-order form infeasible for that moment, far from its limits. It is feasible with η_p f(φ_safe) ≥ 2q̇² at
    mid-range: give ``gains`` for the joint's highest speed, or use :class:`JointLimits`.
    """

    def bound(self, model: Model) -> Self:
        result = super().bound(model)
        angular = {j.q.start for j in model.joints if j.kind == "revolute" and j.master is None}
        for _, i, _ in coordinates(model):
            if i not in angular or not result.upper[i] - result.lower[i] < 2.0 * np.pi:
                result.lower = np.where(np.arange(len(result.lower)) == i, -np.inf, result.lower)
                result.upper = np.where(np.arange(len(result.upper)) == i, np.inf, result.upper)
        return result

    def _limited(self, model: Model) -> list[tuple[str, int, int, float, float]]:
        both = [(n, i, k, float(self.lower[i]), float(self.upper[i])) for n, i, k in coordinates(model)]
        return [
            (f"{self.name}: {n}", i, k, 0.5 * (lower + upper), 0.5 * (upper - lower))
            for n, i, k, lower, upper in both
            if lower > -FREE and upper < FREE
        ]

    def sides(self, context: Context) -> list[Side]:
        sides = []
        for name, i, k, middle, reach in self._limited(context.model):
            index, first, second = context.next_gains()
            angle, v = context.q[i] - middle, context.v[k]
            h, slope = 2.0 * cos(angle) - 2.0 * float(np.cos(reach)), -(2.0 * sin(angle))
            normal: list[Scalar] = [0.0] * context.model.nv
            normal[k] = -slope
            if context.level == "velocity":
                sides.append(Side(name, first * h, normal=normal, h=h, gains=index))
                continue
            rate, drift = slope * v, -(2.0 * cos(angle) * v * v)
            sides.append(Side(name, drift + first * rate + second * h, normal=normal, h=h, rate=rate, gains=index))
        return sides
