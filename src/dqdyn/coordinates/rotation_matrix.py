"""Rotation matrices: nine parameters, six independent conditions, no singularity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.adjoint import Columns
from dqdyn.algebra.quaternion import Quaternion, cross3, dot3, pure, rotation_columns
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.coordinates.parameterisation import Parameterisation

_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))


@dataclass(frozen=True)
class RotationMatrix(Parameterisation):
    """θ = the entries of R row by row, with RᵀR = 1 [Bouyarmane, table 1] [Bouyarmane, table 2]."""

    name = "rotation-matrix"
    labels = tuple(f"R{i}{j}" for i in "123" for j in "123")

    def rotation(self, theta: Scalars) -> Columns:
        return pure(*theta[0::3]), pure(*theta[1::3]), pure(*theta[2::3])

    def parameters(self, r: Quaternion) -> list[Scalar]:
        return _by_rows(rotation_columns(r))

    def constraint(self, theta: Scalars) -> list[Scalar]:
        """The six entries of RᵀR − 1 on and above the diagonal; the other three would repeat them."""
        R = self.rotation(theta)
        return [dot3(R[i], R[j]) - (1.0 if i == j else 0.0) for i, j in _PAIRS]

    def rate(self, theta: Scalars, omega: Quaternion) -> list[Scalar]:
        """Ṙ = R [ω]×."""
        a, b, c = self.rotation(theta)
        x, y, z = omega.vector
        return _by_rows((b * z - c * y, c * x - a * z, a * y - b * x))

    def regularity(self, theta: Scalars) -> Scalar:
        """The determinant: −1 for a reflection, which orthogonality alone lets pass."""
        a, b, c = self.rotation(theta)
        return dot3(a, cross3(b, c))

    def fault(self, theta: Any) -> tuple[Any, str]:
        off = np.max(np.abs(np.array(np.broadcast_arrays(*self.constraint(theta)))), axis=0)
        reflected = np.asarray(self.regularity(theta)) < 0.0
        if np.any(reflected):
            return np.where(reflected, 2.0, off), "the matrix is a reflection: change the sign of a column"
        remedy = "replace it by the nearest rotation U Vᵀ of its singular value decomposition, as project(q) does"
        return off, f"the matrix is not orthogonal, RᵀR misses 1 by {{off:.3g}}: {remedy}"


def _by_rows(columns: Columns) -> list[Scalar]:
    return [entry for row in zip(*(c.vector for c in columns), strict=True) for entry in row]
