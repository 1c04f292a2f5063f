"""Derivatives of a pose: by its logarithm, and from its coefficients' rates to velocities."""

from __future__ import annotations

from dqdyn.algebra import removable
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.exponential import log
from dqdyn.algebra.hamilton import matrix_of_rows, minus_rows, plus_rows
from dqdyn.algebra.quaternion import ZERO, I, J, K, Quaternion, dot3
from dqdyn.arrays import Array


def _exp_columns(g: DQ) -> list[Quaternion]:
    """∂ exp(a)/∂aᵢ of the pure quaternion a = P(g), one quaternion for each of its three components."""
    a = g.primary
    s = dot3(a, a)
    f, k = removable.sinc_root(s), removable.sinc_slope_root(s)
    columns = []
    for unit, c in zip((I, J, K), a.vector, strict=True):
        v = a * (k * c) + unit * f
        columns.append(Quaternion(-(f * c), v.x, v.y, v.z))
    return columns


def Q4(r: DQ) -> Array:
    """∂ vec4(r)/∂ vec3(log r), shape (..., 4, 3): how a rotation answers to its logarithm."""
    columns = _exp_columns(log(r))
    return matrix_of_rows([list(row) for row in zip(*(c.components for c in columns), strict=True)])


def Q8(x: DQ) -> Array:
    """∂ vec8(x)/∂ vec6(log x), shape (..., 8, 6): how a pose answers to its logarithm."""
    g = log(x)
    turning = [DQ.of(c, g.dual * c) for c in _exp_columns(g)]
    shifting = [DQ.of(ZERO, unit * x.primary) for unit in (I, J, K)]
    return matrix_of_rows([list(row) for row in zip(*(c.components for c in turning + shifting), strict=True)])


def generalized_jacobian(x: DQ) -> Array:
    """The 8×8 matrix that takes vec8(ẋ) of a pose to [vec4(ṗ), vec4(ω)], both in the reference frame.

    Its rows are ṗ = 2(ẋ_D x_P* + x_D ẋ_P*) and ω = 2 ẋ_P x_P*.
    """
    rotation_rows = minus_rows(x.primary.conj() * 2.0)
    # vec4(x_D ẋ_P*) is H⁺₄(x_D) C₄ vec4(ẋ_P)
    moment_rows = [[row[0], -row[1], -row[2], -row[3]] for row in plus_rows(x.dual * 2.0)]
    return matrix_of_rows(
        [a + b for a, b in zip(moment_rows, rotation_rows, strict=True)] + [r + [0.0] * 4 for r in rotation_rows]
    )
