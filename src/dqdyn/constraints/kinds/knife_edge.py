"""A knife edge, a skate, a keel: a point of a body that does not move sideways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dqdyn.algebra.quaternion import cross3, dot3, pure
from dqdyn.algebra.scalar import Scalar
from dqdyn.constraints.between import Between
from dqdyn.constraints.constraint import Constraint, Rows, row
from dqdyn.constraints.directions import Vector, unit
from dqdyn.model.model import WORLD_FRAME, Model


@dataclass(frozen=True)
class KnifeEdge(Constraint):
    """The origin of ``frame`` has no velocity along ``sideways``, a direction fixed to the frame."""

    frame: str
    sideways: Vector = (0.0, 1.0, 0.0)
    name: str = ""
    holonomic: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "sideways", unit(self.sideways, "the sideways direction of a knife edge"))
        self._named(f"knife edge {self.frame}")

    def rows(self, model: Model) -> int:
        return 1

    def residual(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> None:
        return None

    def velocity(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> Rows:
        """⟨n, v⟩ with the velocity of the frame in the world."""
        seen = Between(model, WORLD_FRAME, self.frame, q)
        n = seen.x.rotate(pure(*self.sideways))
        return [row(model, {k: dot3(n, s.dual) for k, s in seen.columns.items()})], [0.0]

    def acceleration(self, model: Model, q: Sequence[Scalar], v: Sequence[Scalar], t: Scalar = 0.0) -> Rows:
        """b = −⟨n, J̇ v⟩ − ⟨ω × n, v⟩."""
        seen = Between(model, WORLD_FRAME, self.frame, q)
        n, twist = seen.x.rotate(pure(*self.sideways)), seen.twist(v)
        a = row(model, {k: dot3(n, s.dual) for k, s in seen.columns.items()})
        return [a], [-(dot3(n, seen.bias(v).dual) + dot3(cross3(twist.primary, n), twist.dual))]

    def check(self, model: Model) -> None:
        model.frame(self.frame)
