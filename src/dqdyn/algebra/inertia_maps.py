"""The inertia tensor as a map, from angular velocity or twist to momentum."""

from __future__ import annotations

from typing import Any

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Columns, Quaternion, combine, dot3, pure
from dqdyn.algebra.scalar import Scalar


def L3(inertia: Columns, b: Quaternion) -> Quaternion:
    """i⟨I_x, b⟩ + j⟨I_y, b⟩ + k⟨I_z, b⟩ of the tensor given by its rows [Silva, eq. (11)] [Silva, eq. (12)].

    With ω for b it is the angular momentum [Silva, eq. (13)].
    """
    ix, iy, iz = inertia
    return pure(dot3(ix, b), dot3(iy, b), dot3(iz, b))


def G(mass: Scalar, inertia: Columns, twist: DQ) -> DQ:
    """m D(ω) + ε(I_x ω_x + I_y ω_y + I_z ω_z): momentum of a twist at the center of mass [Farias, eq. (30)]."""
    x, y, z = twist.dual.vector
    return DQ.of(pure(x * mass, y * mass, z * mass), combine(inertia, twist.primary))


def inertia_rows(tensor: Any) -> Columns:
    """A symmetric 3×3 tensor as three pure quaternions [Silva, eq. (11)]."""
    rows = [[tensor[i][j] for j in range(3)] for i in range(3)]
    return pure(*rows[0]), pure(*rows[1]), pure(*rows[2])
