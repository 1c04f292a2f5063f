"""The kinematics of a robot at one state, shared by all that a controller evaluates there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.scalar import Scalar
from dqdyn.caching import cached_property
from dqdyn.kinematics.tree import WorldMotion
from dqdyn.model.model import Model


@dataclass(frozen=True)
class FeatureKinematics:
    """Components of a feature of the robot and how they move: ȧ = J v, ä = J v̇ + drift.

    ``columns[k]`` is column k of J; missing ones are zero. Without velocities ``rate`` and ``drift`` are None.
    """

    value: list[Scalar]
    columns: Mapping[int, Sequence[Scalar]]
    rate: list[Scalar] | None = None
    drift: list[Scalar] | None = None


class State:
    """q and, at the level of accelerations, v; over any scalar."""

    def __init__(self, model: Model, q: Sequence[Scalar], v: Sequence[Scalar] | None = None) -> None:
        self.model, self.q, self.v = model, q, v
        self.motion = WorldMotion(model, q, v)

    @cached_property
    def twist_drifts(self) -> dict[int, DQ]:
        """Rates of the world twists of the bodies where no joint accelerates."""
        assert self.v is not None
        return self.motion.twist_rates(self.v, [0.0] * self.model.nv)
