"""Two frames share their origin: a ball joint that closes a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dqdyn.algebra.scalar import Scalar
from dqdyn.constraints.between import Between, relative_pose
from dqdyn.constraints.constraint import Constraint, Rows, row
from dqdyn.model.description import Loop
from dqdyn.model.model import Model


@dataclass(frozen=True)
class PointClosure(Constraint):
    """The origins of two frames coincide: p_12 = 0, in axes of the first frame. Either may be "world".

    In a planar linkage the row across the plane is zero: it depends on none and changes nothing.
    """

    frame1: str
    frame2: str
    name: str = ""

    def __post_init__(self) -> None:
        self._named(f"point {self.frame1}-{self.frame2}")

    def rows(self, model: Model) -> int:
        return 3

    def residual(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> list[Scalar]:
        """p_12 in m; its rate is A v everywhere."""
        return list(relative_pose(model, self.frame1, self.frame2, q)[1].vector)

    def velocity(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> Rows:
        return _rows(model, Between(model, self.frame1, self.frame2, q)), [0.0] * 3

    def acceleration(self, model: Model, q: Sequence[Scalar], v: Sequence[Scalar], t: Scalar = 0.0) -> Rows:
        seen = Between(model, self.frame1, self.frame2, q)
        return _rows(model, seen), [-c for c in seen.bias(v).dual.vector]

    def check(self, model: Model) -> None:
        model.frame(self.frame1), model.frame(self.frame2)

    def loop(self) -> Loop:
        return Loop(self.name, "point", (self.frame1, self.frame2))


def _rows(model: Model, seen: Between) -> list[list[Scalar]]:
    columns = {k: s.dual.vector for k, s in seen.columns.items()}
    return [row(model, {k: c[i] for k, c in columns.items()}) for i in range(3)]
