"""Constraints on the twist of one frame as seen from another, and the closures among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.constraints.constraint import Constraint, Rows, undefined
from dqdyn.constraints.described import has_loop_kind
from dqdyn.constraints.relative_motion import RelativeMotion
from dqdyn.model.description import Loop
from dqdyn.model.model import Frame, Model

Components = Callable[[DQ], Scalars]
"""Components of a twist, linear in it."""
FramePair = tuple[str | Frame, str | Frame]


class FrameConstraint(Constraint):
    """Some components of the twist of the second frame of a ``pair`` against the first must vanish.

    A kind gives them by :meth:`components`, and by :meth:`turning` where their directions move. The rows of A are the
    components of the twist per unit of each velocity.
    """

    at_second: ClassVar[bool] = True  # whether the twist is that at the origin of the second frame, or of the first

    @property
    def pair(self) -> FramePair:
        """The frames."""
        raise undefined(self, "pair")

    def components(self, relative: RelativeMotion) -> Components:
        """From a twist to the components that must vanish."""
        raise undefined(self, "components")

    def turning(self, relative: RelativeMotion, twist: DQ) -> Scalars:
        """What the change of the components' directions adds to their rate."""
        return [0.0] * self.count

    def velocity(self, model: Model, q: Scalars, t: Scalar = 0.0) -> Rows:
        relative = self._relative(model, q)
        return relative.rows(self.components(relative), self.count), [0.0] * self.count

    def acceleration(self, model: Model, q: Scalars, v: Scalars, t: Scalar = 0.0) -> Rows:
        relative = self._relative(model, q)
        components = self.components(relative)
        pairs = zip(components(relative.bias(v)), self.turning(relative, relative.twist(v)), strict=True)
        return relative.rows(components, self.count), [-(rate + turn) for rate, turn in pairs]

    def check(self, model: Model) -> None:
        for frame in self.pair:
            model.frame(frame)

    def _relative(self, model: Model, q: Scalars) -> RelativeMotion:
        return RelativeMotion(model, *self.pair, q, self.at_second)


@dataclass(frozen=True)
class Closure(FrameConstraint):
    """Two frames of a loop, either of which may be "world".

    ``kind`` is part of the default name. Files hold the closures of this package as loops of that kind, and no others.
    """

    frame1: str
    frame2: str
    kind: ClassVar[str] = "closure"

    def __post_init__(self) -> None:
        self._named(f"{self.kind} {self.frame1}-{self.frame2}")

    @property
    def pair(self) -> FramePair:
        return self.frame1, self.frame2

    def loop(self) -> Loop | None:
        if not has_loop_kind(self, self.kind):
            return None
        return Loop(self.name, self.kind, (self.frame1, self.frame2), self._values())

    def _values(self) -> tuple[float, ...]:
        """The numbers of the loop."""
        return ()
