"""Coordinates of a joint: what replaces the q of a free or spherical joint, with q̇ as its velocity."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from dqdyn.algebra.quaternion import Quaternion, combine, dot3, pure
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.coordinates.parameterisation import Coordinates, Parameterisation


class JointCoordinates(Coordinates):
    """n coordinates q of a joint that has ``nv`` velocities v; "minimal" are the q and v of the joint itself.

    Defining identity: q̇ = ``rate(q, v)`` keeps ``constraint(q)`` at zero and has ``velocity(q, q̇)`` = v.
    """

    nv: int

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.labels)

    @abstractmethod
    def minimal(self, q: Scalars) -> list[Scalar]:
        """The joint's own q."""

    @abstractmethod
    def from_minimal(self, own: Scalars) -> list[Scalar]:
        """q from the joint's own."""

    @abstractmethod
    def velocity(self, q: Scalars, rate: Scalars) -> list[Scalar]:
        """v = E(q) q̇ in the child's axes; linear in q̇."""

    @abstractmethod
    def rate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """q̇ = B(q) v; linear in v, with E B = 1."""


@dataclass(frozen=True)
class RotationCoordinates(JointCoordinates):
    """A spherical joint: q = θ."""

    by: Parameterisation
    nv = 3
    position: ClassVar[tuple[str, ...]] = ()  # labels behind those of the rotation

    def __post_init__(self) -> None:
        self._set(self.by.name, (*self.by.labels, *self.position))

    def minimal(self, q: Scalars) -> list[Scalar]:
        return [*self.by.quaternion(self._theta(q)).components, *q[self.by.d :]]

    def from_minimal(self, own: Scalars) -> list[Scalar]:
        return [*self.by.parameters(Quaternion(*own[:4])), *own[4:]]

    def velocity(self, q: Scalars, rate: Scalars) -> list[Scalar]:
        return list(self.by.body_velocity(self._theta(q), self._theta(rate)).vector)

    def rate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        return self.by.rate(self._theta(q), pure(*v[:3]))

    def constraint(self, q: Scalars) -> list[Scalar]:
        return self.by.constraint(self._theta(q))

    def fault(self, q: Any) -> tuple[Any, str]:
        return self.by.fault(self._theta(q))

    def regularity(self, q: Scalars) -> Scalar:
        return self.by.regularity(self._theta(q))

    def lock(self, q: Any) -> str:
        return self.by.lock(self._theta(q))

    def _theta(self, q: Any) -> Any:
        return q[: self.by.d]


@dataclass(frozen=True)
class PoseCoordinates(RotationCoordinates):
    """A free joint: q = (θ, p), the rotation's parameters and the position in the parent's axes.

    The paper has the position first [Bouyarmane, eq. (1)]; here the rotation is, as in all of this library.
    """

    nv = 6
    position: ClassVar[tuple[str, ...]] = ("px", "py", "pz")

    def velocity(self, q: Scalars, rate: Scalars) -> list[Scalar]:
        """ω by [Bouyarmane, eq. (13)], and R₀ᵀ ṗ."""
        shift = pure(*rate[-3:])
        return [*super().velocity(q, rate), *(dot3(column, shift) for column in self.by.rotation(self._theta(q)))]

    def rate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        shift = combine(self.by.rotation(self._theta(q)), pure(*v[3:]))
        return [*super().rate(q, v), *shift.vector]
