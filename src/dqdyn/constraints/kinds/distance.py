"""Two frames keep their distance: a massless rod with ball joints at its ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dqdyn.algebra.quaternion import dot3
from dqdyn.algebra.scalar import Scalar
from dqdyn.constraints.between import Between, relative_pose
from dqdyn.constraints.constraint import Constraint, Rows, row
from dqdyn.errors import ModelError
from dqdyn.model.description import Loop
from dqdyn.model.model import Model


@dataclass(frozen=True)
class DistanceClosure(Constraint):
    """The origins of two frames are ``distance`` m apart: (‖p_12‖² − d²) / (2d) = 0.

    Near the right distance the residual is the error of the distance in m; its rate is A v everywhere.
    """

    frame1: str
    frame2: str
    distance: float
    name: str = ""

    def __post_init__(self) -> None:
        self._named(f"distance {self.frame1}-{self.frame2}")
        if not 0.0 < self.distance < float("inf"):
            raise ModelError(
                f"the distance of the constraint {self.name!r} must be above 0 m and finite; found {self.distance}: "
                "for coinciding points use PointClosure.",
                constraint=self.name,
            )

    def rows(self, model: Model) -> int:
        return 1

    def residual(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> list[Scalar]:
        p = relative_pose(model, self.frame1, self.frame2, q)[1]
        return [(dot3(p, p) - self.distance * self.distance) * (0.5 / self.distance)]

    def velocity(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> Rows:
        return [self._row(model, Between(model, self.frame1, self.frame2, q))], [0.0]

    def acceleration(self, model: Model, q: Sequence[Scalar], v: Sequence[Scalar], t: Scalar = 0.0) -> Rows:
        seen = Between(model, self.frame1, self.frame2, q)
        rate = seen.twist(v).dual
        b = -(dot3(seen.x.p, seen.bias(v).dual) + dot3(rate, rate)) * (1.0 / self.distance)
        return [self._row(model, seen)], [b]

    def _row(self, model: Model, seen: Between) -> list[Scalar]:
        p = seen.x.p * (1.0 / self.distance)
        return row(model, {k: dot3(p, s.dual) for k, s in seen.columns.items()})

    def check(self, model: Model) -> None:
        model.frame(self.frame1), model.frame(self.frame2)

    def loop(self) -> Loop:
        return Loop(self.name, "distance", (self.frame1, self.frame2), (float(self.distance),))
