"""Unit quaternions (Euler parameters): four parameters, one condition, no singularity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.adjoint import Columns
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.scalar import Scalar, Scalars, total
from dqdyn.coordinates.parameterisation import Parameterisation


@dataclass(frozen=True)
class UnitQuaternion(Parameterisation):
    """θ = (α, β, γ, δ) = (w, x, y, z) with θᵀθ = 1 [Bouyarmane, table 1] [Bouyarmane, table 2]."""

    name = "quaternion"
    labels = ("w", "x", "y", "z")

    def rotation(self, theta: Scalars) -> Columns:
        """[Bouyarmane, eq. (11)] as printed; its derivatives are [Bouyarmane, eq. (12)]."""
        w, x, y, z = theta
        return (
            pure(2.0 * (w * w + x * x) - 1.0, 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)),
            pure(2.0 * (x * y - w * z), 2.0 * (w * w + y * y) - 1.0, 2.0 * (y * z + w * x)),
            pure(2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 2.0 * (w * w + z * z) - 1.0),
        )

    def parameters(self, r: Quaternion) -> list[Scalar]:
        return list(r.components)

    def quaternion(self, theta: Scalars) -> Quaternion:
        return Quaternion(*theta)

    def constraint(self, theta: Scalars) -> list[Scalar]:
        """θᵀθ − 1 [Bouyarmane, eq. (28)]."""
        return [total(c * c for c in theta) - 1.0]

    def rate(self, theta: Scalars, omega: Quaternion) -> list[Scalar]:
        """θ̇ = ½ θ ω."""
        return list((Quaternion(*theta) * omega * 0.5).components)

    def fault(self, theta: Any) -> tuple[Any, str]:
        norm = np.sqrt(sum(np.square(c) for c in theta))
        off = np.abs(norm - 1.0)
        return off, "the quaternion misses norm 1 by {off:.3g}: divide (w, x, y, z) by its norm"
