"""M x = b for a mass matrix over any scalar, from the leaves to the root, so that branches keep their zeros."""

from __future__ import annotations

from dqdyn.algebra.scalar import Scalar, divide
from dqdyn.dynamics.arguments import Scalars, is_absent

Matrix = list[list[Scalar]]


def factored(matrix: Matrix) -> tuple[Matrix, list[Scalar]]:
    """L (unit lower) and 1/D with M = Lᵀ D L, eliminating the last coordinate first (Featherstone's LTL)."""
    n = len(matrix)
    m = [list(row[: i + 1]) for i, row in enumerate(matrix)]
    inverse: list[Scalar] = [0.0] * n
    for k in reversed(range(n)):
        inverse[k] = divide(1.0, m[k][k])
        for i in reversed(range(k)):
            if is_absent(m[k][i]):
                continue
            share = m[k][i] * inverse[k]
            for j in range(i + 1):
                if not is_absent(m[k][j]):
                    m[i][j] = m[i][j] - share * m[k][j]
            m[k][i] = share
    return m, inverse


def solve(matrix: Matrix, right: Scalars) -> list[Scalar]:
    """M⁻¹ b."""
    return substitute(*factored(matrix), right)


def substitute(lower: Matrix, inverse: Scalars, right: Scalars) -> list[Scalar]:
    """(Lᵀ D L)⁻¹ b."""
    n = len(inverse)
    x = list(right)
    for k in reversed(range(n)):
        for i in range(k):
            if not is_absent(lower[k][i]):
                x[i] = x[i] - lower[k][i] * x[k]
    x = [a * d for a, d in zip(x, inverse, strict=True)]
    for k in range(n):
        for i in range(k):
            if not is_absent(lower[k][i]):
                x[k] = x[k] - lower[k][i] * x[i]
    return x
