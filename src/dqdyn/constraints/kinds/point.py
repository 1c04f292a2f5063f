"""Two frames share their origin: a ball joint that closes a loop."""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.constraints.kinds.frame_constraint import Closure, Components
from dqdyn.constraints.relative_motion import RelativeMotion, relative_pose
from dqdyn.model.model import Model


@dataclass(frozen=True)
class PointClosure(Closure):
    """The origins of two frames coincide: p_12 = 0, in axes of the first frame. Either may be "world".

    In a planar linkage the row across the plane is zero: it has no effect.
    """

    name: str = ""
    kind = "point"
    count = 3

    def residual(self, model: Model, q: Scalars, t: Scalar = 0.0) -> list[Scalar]:
        """p_12 in m; its rate is A v everywhere."""
        return list(relative_pose(model, self.frame1, self.frame2, q)[1].vector)

    def components(self, relative: RelativeMotion) -> Components:
        return lambda twist: twist.dual.vector
