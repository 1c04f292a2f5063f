"""Joints whose q is any element of a Lie group, by a unit quaternion, and whose v is its body twist.

Along q(t) = q₀ exp(w(t)) the velocity, seen from the moving side, is v where

    ẇ = v + ½ w × v + 1/12 w × (w × v) − 1/720 w × (w × (w × (w × v))) + …

with the product of quaternions for a spherical joint and of dual quaternions for a free one: the coefficients are
Bernoulli numbers over factorials (Iserles, Munthe-Kaas, Nørsett, Zanna, Lie-group methods, Acta Numerica 2000). A
method of order p needs the terms up to p − 1 factors of w, since w itself is of the order of the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.exponential_jacobians import carried_back, right_jacobian, right_jacobian_inverse
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import ZERO, Quaternion, pure
from dqdyn.algebra.scalar import Scalar, less, select
from dqdyn.model.joints.joint_kind import Coordinates, JointKind, Rows

_COEFFICIENTS = (1.0, 0.5, 1.0 / 12.0, 0.0, -1.0 / 720.0, 0.0, 1.0 / 30240.0)


@dataclass(frozen=True)
class GroupJoint(JointKind):
    """A joint with a velocity that does not commute with itself: v = ω or [ω, v] in the child frame."""

    quaternion = slice(0, 4)

    def exponential_rate(self, w: Coordinates, v: Coordinates, order: int) -> list[Scalar]:
        a, power = _element(w), _element(v)
        result = power
        for c in _COEFFICIENTS[1:order]:
            power = cross(a, power)
            if c:
                result = result + power * c
        return _components(result)[: self.nv]

    def integrate_jacobians(self, q: Coordinates, v: Coordinates, dt: Scalar) -> tuple[Rows, Rows]:
        xi = _element([c * dt for c in v])
        return self._matrix(carried_back(xi)), self._matrix(right_jacobian(xi), dt)

    def difference_jacobians(self, q0: Coordinates, q1: Coordinates) -> tuple[Rows, Rows]:
        xi = _element(self.difference(q0, q1))
        return self._matrix(right_jacobian_inverse(-xi), -1.0), self._matrix(right_jacobian_inverse(xi))

    def _matrix(self, function: Callable[[DQ], DQ], scale: Scalar = 1.0) -> Rows:
        """A map of twists by rows, times a number."""
        units = [_element([1.0 if i == k else 0.0 for i in range(self.nv)]) for k in range(self.nv)]
        columns = [_components(function(unit))[: self.nv] for unit in units]
        return [[column[i] * scale for column in columns] for i in range(self.nv)]


def _components(x: DQ) -> list[Scalar]:
    return [*x.primary.vector, *x.dual.vector]


def _element(v: Coordinates) -> DQ:
    return DQ.of(pure(*v[:3]), pure(*v[3:]) if len(v) > 3 else ZERO)


def nearest_sign(r: Quaternion) -> Scalar:
    """1, or −1 where −r is the shorter way round: the one of the two with non-negative real part."""
    return select(less(r.w, 0.0), -1.0, 1.0)


def random_rotation(rng: np.random.Generator) -> list[float]:
    """A uniformly distributed unit quaternion."""
    r = rng.normal(size=4)
    return [float(c) for c in r / np.linalg.norm(r)]
