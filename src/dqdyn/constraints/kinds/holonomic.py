"""Any constraint on positions, given by a function of the algebra; its rows and rates come from jets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.constraints.constraint import Constraint, Place, Rows
from dqdyn.constraints.kinds.pfaffian import neutral
from dqdyn.kinematics.configuration import configuration_rate
from dqdyn.model.model import Model


@dataclass(frozen=True)
class Holonomic(Constraint):
    """``function(at)`` = 0, a sequence of ``count`` scalars of q, t and poses of frames: e(q, t) = 0.

    ``at`` is a :class:`~dqdyn.constraints.Place`. A is ∂e/∂q in the tangent space, b is −∂e/∂t, and A a = b
    comes from ë = 0. ``timed=True`` lets the time enter. Give a function of a module where robots are pickled.
    """

    function: Callable[[Place], Scalars]
    count: int = 1
    timed: bool = False
    name: str = "holonomic"

    def residual(self, model: Model, q: Scalars, t: Scalar = 0.0) -> list[Scalar]:
        return list(self.function(Place(model, q, t)))

    def velocity(self, model: Model, q: Scalars, t: Scalar = 0.0) -> Rows:
        columns = []
        for k in range(model.nv):
            along = configuration_rate(model, q, [1.0 if i == k else 0.0 for i in range(model.nv)])
            columns.append(derivative(lambda x: self.residual(model, x, t), list(q), along))
        rows = [[column[i] for column in columns] for i in range(self.count)]
        if not self.timed:
            return rows, [0.0] * self.count
        return rows, [-c for c in derivative(lambda x: self.residual(model, q, x[0]), [t], [1.0])]

    def acceleration(self, model: Model, q: Scalars, v: Scalars, t: Scalar = 0.0) -> Rows:
        """b = −ë at a = 0: the second derivative of e along the motion with constant v."""

        def rate(x: list[Scalar]) -> list[Scalar]:
            at, time = x[:-1], x[-1]
            along = [*configuration_rate(model, at, v), 1.0]
            return derivative(lambda y: self.residual(model, y[:-1], y[-1]), [*at, time], along)

        a, _ = self.velocity(model, q, t)
        return a, [-c for c in derivative(rate, [*q, t], [*configuration_rate(model, q, v), 1.0])]

    def check(self, model: Model) -> None:
        values = len(self.residual(model, neutral(model)))
        if values != self.count:
            must = f"the function of the constraint {self.name!r} must give {self.count} values"
            raise self._error(f"{must}; found {values}.")
