"""Two frames share an axis: a hinge or a sliding cylinder that closes a loop."""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion, cross3, dot3, pure
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.constraints.directions import Vector, across, unit
from dqdyn.constraints.kinds.frame_constraint import Closure, Components
from dqdyn.constraints.relative_motion import RelativeMotion
from dqdyn.model.model import Model


@dataclass(frozen=True)
class AxisClosure(Closure):
    """The line through the origin of each frame along ``axis``, in its own axes, is the same line.

    Four rows: the directions agree (or oppose) and the origins lie on one line; turning about and sliding along it
    stay free. ``slide=False`` adds the row that makes it a hinge. The residual's rate is A v everywhere.
    """

    axis: Vector = (0.0, 0.0, 1.0)
    slide: bool = True
    name: str = ""
    kind = "axis"

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit(self.axis, "the axis of a closure"))
        object.__setattr__(self, "count", 4 if self.slide else 5)
        super().__post_init__()

    def residual(self, model: Model, q: Scalars, t: Scalar = 0.0) -> list[Scalar]:
        relative = self._relative(model, q)
        l = self._line(relative)
        return [*(dot3(u, l) for u in across(self.axis)), *(dot3(u, relative.x.p) for u in self._held())]

    def components(self, relative: RelativeMotion) -> Components:
        """Of l̇ = ω × l across the axis, and of ṗ along the directions that are held."""
        l, held = self._line(relative), self._held()
        arms = [cross3(l, u) for u in across(self.axis)]
        return lambda twist: [*(dot3(arm, twist.primary) for arm in arms), *(dot3(u, twist.dual) for u in held)]

    def turning(self, relative: RelativeMotion, twist: DQ) -> Scalars:
        """Of ω × (ω × l)."""
        omega = twist.primary
        turned = cross3(omega, cross3(omega, self._line(relative)))
        return [*(dot3(u, turned) for u in across(self.axis)), *(0.0 for _ in self._held())]

    def _line(self, relative: RelativeMotion) -> Quaternion:
        """Direction l of the second frame's line, in axes of the first."""
        return relative.x.rotate(pure(*self.axis))

    def _held(self) -> list[Quaternion]:
        """Directions, in the first frame, along which the origins must not part."""
        return [*across(self.axis), *([] if self.slide else [pure(*self.axis)])]

    def _values(self) -> tuple[float, ...]:
        return (*self.axis, float(self.slide))
