"""Two frames keep their distance: a massless rod with ball joints at its ends."""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import dot3
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.constraints.kinds.frame_constraint import Closure, Components
from dqdyn.constraints.relative_motion import RelativeMotion, relative_pose
from dqdyn.model.model import Model


@dataclass(frozen=True)
class DistanceClosure(Closure):
    """The origins of two frames are ``distance`` m apart: (‖p_12‖² − d²) / (2d) = 0.

    Near the right distance the residual is the error of the distance in m; its rate is A v everywhere.
    """

    distance: float
    name: str = ""
    kind = "distance"
    count = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.distance < float("inf"):
            found = f"found {self.distance}: for coinciding points use PointClosure"
            raise self._error(f"the distance of the constraint {self.name!r} must be above 0 m and finite; {found}.")

    def residual(self, model: Model, q: Scalars, t: Scalar = 0.0) -> list[Scalar]:
        p = relative_pose(model, self.frame1, self.frame2, q)[1]
        return [(dot3(p, p) - self.distance * self.distance) * (0.5 / self.distance)]

    def components(self, relative: RelativeMotion) -> Components:
        """ṗ along the line between the origins."""
        p = relative.x.p * (1.0 / self.distance)
        return lambda twist: [dot3(p, twist.dual)]

    def turning(self, relative: RelativeMotion, twist: DQ) -> Scalars:
        """‖ṗ‖²/d."""
        return [dot3(twist.dual, twist.dual) * (1.0 / self.distance)]

    def _values(self) -> tuple[float, ...]:
        return (float(self.distance),)
