"""Two frames hold one pose to each other: a weld."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dqdyn.algebra.checks import require_unit
from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.exponential import log
from dqdyn.algebra.poses import position
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.algebra.scalar import Scalar, less, select
from dqdyn.constraints.between import Between, relative_pose
from dqdyn.constraints.constraint import Constraint, Rows, row
from dqdyn.model.description import Loop
from dqdyn.model.model import Model


@dataclass(frozen=True)
class PoseClosure(Constraint):
    """x_12, the pose of the second frame in the first, is ``pose``: a Pose, DQ or vec8; the identity unless given.

    A is the relative twist [ω, v] in axes of the first frame. The residual is the rotation vector from the wanted to
    the present rotation, then the difference of positions. The rate of the rotation vector is ω along the vector
    itself, and everywhere to first order, so that a step −residual leads there exactly.
    """

    frame1: str
    frame2: str
    pose: Any = IDENTITY
    name: str = ""

    def __post_init__(self) -> None:
        pose = getattr(self.pose, "dq", self.pose)
        pose = pose if isinstance(pose, DQ) else DQ(pose)
        require_unit(pose, "the pose that a constraint holds")
        object.__setattr__(self, "pose", pose)
        self._named(f"pose {self.frame1}-{self.frame2}")

    def rows(self, model: Model) -> int:
        return 6

    def residual(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> list[Scalar]:
        r, p = relative_pose(model, self.frame1, self.frame2, q)
        turned = r * self.pose.primary.conj()
        flip = select(less(turned.w, 0.0), -1.0, 1.0)  # of r and −r the shorter way
        short = Quaternion(*(c * flip for c in turned.components))
        rotation = log(DQ.of(short)).primary * 2.0
        return [*rotation.vector, *(p - position(self.pose)).vector]

    def velocity(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> Rows:
        return twist_rows(model, Between(model, self.frame1, self.frame2, q)), [0.0] * 6

    def acceleration(self, model: Model, q: Sequence[Scalar], v: Sequence[Scalar], t: Scalar = 0.0) -> Rows:
        seen = Between(model, self.frame1, self.frame2, q)
        bias = seen.bias(v)
        return twist_rows(model, seen), [-c for c in (*bias.primary.vector, *bias.dual.vector)]

    def check(self, model: Model) -> None:
        model.frame(self.frame1), model.frame(self.frame2)

    def loop(self) -> Loop:
        return Loop(self.name, "pose", (self.frame1, self.frame2), tuple(float(c) for c in self.pose.components))


def twist_rows(model: Model, seen: Between) -> list[list[Scalar]]:
    """Rows [ω, v] of the relative twist."""
    columns = {k: (*s.primary.vector, *s.dual.vector) for k, s in seen.columns.items()}
    return [row(model, {k: c[i] for k, c in columns.items()}) for i in range(6)]
