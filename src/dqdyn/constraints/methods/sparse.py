"""Vectors by their entries that are not zero by structure: rows of A touch few coordinates, so programs stay short."""

from __future__ import annotations

from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.dynamics.fast.sparse_solve import Matrix

Sparse = dict[int, Scalar]


def sparse(row: Scalars) -> Sparse:
    """The entries of a row by their index."""
    return {k: c for k, c in enumerate(row) if not is_zero(c)}


def dot(a: Sparse, b: Sparse) -> Scalar:
    """aᵀb; a plain 0.0 where the two have no coordinate in common."""
    result: Scalar = 0.0
    for k, c in a.items():
        if k in b:
            result = result + c * b[k]
    return result


def less_share(x: Sparse, share: Scalar, y: Sparse) -> Sparse:
    """x − share · y."""
    result = dict(x)
    for k, c in y.items():
        part = share * c
        result[k] = result[k] - part if k in result else -part
    return result


def solve_transposed(lower: Matrix, right: Sparse) -> Sparse:
    """L⁻ᵀ b for a unit lower L, along the coordinates that it reaches only."""
    x = dict(right)
    for k in reversed(range(len(lower))):
        if k not in x:
            continue
        for i in range(k):
            if not is_zero(lower[k][i]):
                share = lower[k][i] * x[k]
                x[i] = x[i] - share if i in x else -share
    return x


def solve_lower(lower: Matrix, right: Scalars) -> list[Scalar]:
    """L⁻¹ b for a unit lower L."""
    x = list(right)
    for k, row in enumerate(lower):
        for i in range(k):
            if not is_zero(row[i]):
                x[k] = x[k] - row[i] * x[i]
    return x


def is_zero(entry: Scalar) -> bool:
    """A zero by structure; it is a plain number whatever the scalars are."""
    return type(entry) is float and entry == 0.0
