"""What a joint must answer. A new kind is one file with one class; add it to ``KINDS``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dqdyn.algebra.adjoint import Adjoint, Columns
from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.quaternion import I, J, K, Quaternion, pure
from dqdyn.algebra.scalar import Scalar, cos, sin, total

Vector = tuple[float, float, float]
Coordinates = Sequence[Scalar]


@dataclass(frozen=True)
class JointKind(ABC):
    """The motion of a child frame against its parent frame, over any scalar.

    Defining identity: for q moving with q̇ = ``rate(q, v)``, the pose x = ``pose(q)`` obeys ẋ = ½ x ξ with
    ξ = ``twist(q, v)`` = Σ Sᵢ vᵢ, expressed in the child frame.
    """

    name: ClassVar[str]
    nq: ClassVar[int]
    nv: ClassVar[int]
    constant_subspace: ClassVar[bool] = True
    quaternion: ClassVar[slice | None] = None  # where q holds a unit quaternion
    angular: ClassVar[tuple[bool, ...]] = ()  # per coordinate of q: an angle (rad) rather than a length (m)

    @abstractmethod
    def pose(self, q: Coordinates) -> DQ:
        """x_pc: pose of the child side in the parent side."""

    def adjoint(self, q: Coordinates) -> Adjoint:
        """Ad(x_pc), directly from q where that is cheaper than through the pose."""
        return Adjoint(self.pose(q))

    @abstractmethod
    def subspace(self, q: Coordinates) -> tuple[DQ, ...]:
        """Motion subspace S: nv pure dual quaternions in the child frame."""

    def subspace_rate(self, q: Coordinates, v: Coordinates) -> tuple[DQ, ...]:
        """Ṡ: the rate of the components of S in the child frame."""
        return tuple(zero_twist() for _ in range(self.nv))

    def twist(self, q: Coordinates, v: Coordinates) -> DQ:
        """ξ = Σ Sᵢ vᵢ of the child against the parent, in the child frame [Silva, table 1]."""
        return total(s * vi for s, vi in zip(self.subspace(q), v, strict=True))

    def twist_rate(self, q: Coordinates, v: Coordinates, a: Coordinates) -> DQ:
        """ξ̇ = Σ Sᵢ aᵢ + Ṡᵢ vᵢ."""
        rate = self.twist(q, a)
        if self.constant_subspace:
            return rate
        return rate + total(s * vi for s, vi in zip(self.subspace_rate(q, v), v, strict=True))

    def rate(self, q: Coordinates, v: Coordinates) -> list[Scalar]:
        """q̇ for the velocity v."""
        return list(v)

    def integrate(self, q: Coordinates, v: Coordinates, dt: Scalar) -> list[Scalar]:
        """q after following the constant v for the time dt in s."""
        return [qi + vi * dt for qi, vi in zip(q, v, strict=True)]

    def difference(self, q0: Coordinates, q1: Coordinates) -> list[Scalar]:
        """The v that leads from q0 to q1 in unit time."""
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def neutral(self) -> list[float]:
        """q at which parent and child side coincide."""
        return [0.0] * self.nq

    def random(self, rng: np.random.Generator, lower: Sequence[float], upper: Sequence[float]) -> list[float]:
        """q drawn uniformly between the limits; an angle without limits from ±π, a length from ±1 m."""
        result = []
        for angular, low, high in zip(self.angular, lower, upper, strict=True):
            reach = np.pi if angular else 1.0
            low_finite, high_finite = np.isfinite(low), np.isfinite(high)
            a = low if low_finite else (high - 2 * reach if high_finite else -reach)
            b = high if high_finite else (low + 2 * reach if low_finite else reach)
            # NumPy refuses an empty range where the upper end is −0, and one that is wider than the largest float.
            result.append(float(rng.uniform(a / 2.0 + 0.0, b / 2.0 + 0.0)) * 2.0)
        return result


@dataclass(frozen=True)
class AxisJoint(JointKind):
    """A joint with one unit axis l."""

    axis: Vector = (0.0, 0.0, 1.0)

    @property
    def l(self) -> Quaternion:
        """The axis as a pure quaternion."""
        return pure(*self.axis)

    def turn(self, angle: Scalar) -> Quaternion:
        """cos(θ/2) + l sin(θ/2)."""
        return turn(self.axis, angle)


def turn(axis: Vector, angle: Scalar) -> Quaternion:
    """cos(θ/2) + l sin(θ/2), the rotation about a unit axis."""
    half = 0.5 * angle
    s = sin(half)
    x, y, z = axis
    return Quaternion(cos(half), x * s, y * s, z * s)


def turn_columns(axis: Vector, angle: Scalar) -> Columns:
    """The images of i, j, k under the rotation about a unit axis, by Rodrigues: l lᵀ + c (1 − l lᵀ) + s [l]×."""
    c, s = cos(angle), sin(angle)
    x, y, z = axis

    def entry(outer: float, same: float, skew: float) -> Scalar:
        if skew == 0.0 and same == outer:  # constant, and known as such to those who look for zeros
            return outer
        return c * (same - outer) + s * skew + outer

    return (
        pure(entry(x * x, 1.0, 0.0), entry(y * x, 0.0, z), entry(z * x, 0.0, -y)),
        pure(entry(x * y, 0.0, -z), entry(y * y, 1.0, 0.0), entry(z * y, 0.0, x)),
        pure(entry(x * z, 0.0, y), entry(y * z, 0.0, -x), entry(z * z, 1.0, 0.0)),
    )


UPRIGHT: Columns = (I, J, K)
"""No rotation."""


def nearest_sign(r: Quaternion) -> Quaternion:
    """r or −r, the one with non-negative real part: the shorter way round."""
    from dqdyn.algebra.scalar import less, select

    return r * select(less(r.w, 0.0), -1.0, 1.0)


def random_rotation(rng: np.random.Generator) -> list[float]:
    """A uniformly distributed unit quaternion."""
    r = rng.normal(size=4)
    return [float(c) for c in r / np.linalg.norm(r)]
