"""Fixed joint: no motion. Models fold it into its parent body; descriptions keep it."""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra.dual import DQ, IDENTITY, zero_twist
from dqdyn.model.joints.joint_kind import Coordinates, JointKind


@dataclass(frozen=True)
class Fixed(JointKind):
    """No coordinates, ξ = 0."""

    name, nq, nv = "fixed", 0, 0
    angular = ()

    def pose(self, q: Coordinates) -> DQ:
        return IDENTITY

    def subspace(self, q: Coordinates) -> tuple[DQ, ...]:
        return ()

    def twist(self, q: Coordinates, v: Coordinates) -> DQ:
        return zero_twist()
