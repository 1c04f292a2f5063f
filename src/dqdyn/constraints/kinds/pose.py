"""Two frames hold one pose to each other: a weld."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dqdyn.algebra.checks import require_unit
from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.exponential import log
from dqdyn.algebra.poses import position
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.constraints.kinds.frame_constraint import Closure, Components
from dqdyn.constraints.relative_motion import RelativeMotion, relative_pose
from dqdyn.model.joints.group_joint import nearest_sign
from dqdyn.model.model import Model


@dataclass(frozen=True)
class PoseClosure(Closure):
    """x_12, the pose of the second frame in the first, is ``pose``: a Pose, DQ or vec8; the identity unless given.

    A is the relative twist [ω, v] in axes of the first frame. The residual is the rotation vector from the wanted to
    the present rotation, then the difference of positions. The rate of the rotation vector is ω along the vector
    itself, and everywhere to first order, so that a step −residual leads there exactly.
    """

    pose: Any = IDENTITY
    name: str = ""
    kind = "pose"
    count = 6

    def __post_init__(self) -> None:
        pose = getattr(self.pose, "dq", self.pose)
        pose = pose if isinstance(pose, DQ) else DQ(pose)
        require_unit(pose, "the pose that a constraint holds")
        object.__setattr__(self, "pose", pose)
        super().__post_init__()

    def residual(self, model: Model, q: Scalars, t: Scalar = 0.0) -> list[Scalar]:
        r, p = relative_pose(model, self.frame1, self.frame2, q)
        turned = r * self.pose.primary.conj()
        rotation = log(DQ.of(turned * nearest_sign(turned))).primary * 2.0  # of r and −r the shorter way
        return [*rotation.vector, *(p - position(self.pose)).vector]

    def components(self, relative: RelativeMotion) -> Components:
        return lambda twist: (*twist.primary.vector, *twist.dual.vector)

    def _values(self) -> tuple[float, ...]:
        return tuple(float(c) for c in self.pose.components)
