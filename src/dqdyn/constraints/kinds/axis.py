"""Two frames share an axis: a hinge or a sliding cylinder that closes a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dqdyn.algebra.quaternion import Quaternion, cross3, dot3, pure
from dqdyn.algebra.scalar import Scalar
from dqdyn.constraints.between import Between
from dqdyn.constraints.constraint import Constraint, Rows, row
from dqdyn.constraints.directions import Vector, across, unit
from dqdyn.model.description import Loop
from dqdyn.model.model import Model


@dataclass(frozen=True)
class AxisClosure(Constraint):
    """The line through the origin of each frame along ``axis``, in its own axes, is the same line.

    Four rows: the directions agree (or oppose) and the origins lie on one line; turning about and sliding along it
    stay free. ``slide=False`` adds the row that makes it a hinge. The residual's rate is A v everywhere.
    """

    frame1: str
    frame2: str
    axis: Vector = (0.0, 0.0, 1.0)
    slide: bool = True
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit(self.axis, "the axis of a closure"))
        self._named(f"axis {self.frame1}-{self.frame2}")

    def rows(self, model: Model) -> int:
        return 4 if self.slide else 5

    def residual(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> list[Scalar]:
        seen = Between(model, self.frame1, self.frame2, q)
        l = seen.x.rotate(pure(*self.axis))
        return [*(dot3(u, l) for u in across(self.axis)), *(dot3(u, seen.x.p) for u in self._held())]

    def velocity(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> Rows:
        return self._rows(model, Between(model, self.frame1, self.frame2, q)), [0.0] * self.rows(model)

    def acceleration(self, model: Model, q: Sequence[Scalar], v: Sequence[Scalar], t: Scalar = 0.0) -> Rows:
        """From l̇ = ω × l, twice; positions as in a point closure."""
        seen = Between(model, self.frame1, self.frame2, q)
        bias, omega = seen.bias(v), seen.twist(v).primary
        l = seen.x.rotate(pure(*self.axis))
        turning = cross3(bias.primary, l) + cross3(omega, cross3(omega, l))
        b = [-dot3(u, turning) for u in across(self.axis)] + [-dot3(u, bias.dual) for u in self._held()]
        return self._rows(model, seen), b

    def _held(self) -> list[Quaternion]:
        """Directions, in the first frame, along which the origins must not part."""
        return [*across(self.axis), *([] if self.slide else [pure(*self.axis)])]

    def _rows(self, model: Model, seen: Between) -> list[list[Scalar]]:
        l, columns = seen.x.rotate(pure(*self.axis)), seen.columns
        arms = [cross3(l, u) for u in across(self.axis)]
        rows = [row(model, {k: dot3(arm, s.primary) for k, s in columns.items()}) for arm in arms]
        return rows + [row(model, {k: dot3(u, s.dual) for k, s in columns.items()}) for u in self._held()]

    def check(self, model: Model) -> None:
        model.frame(self.frame1), model.frame(self.frame2)

    def loop(self) -> Loop:
        return Loop(self.name, "axis", (self.frame1, self.frame2), (*self.axis, float(self.slide)))
