"""Matrices as [Quiroz, table 5.1] counts them: lists of rows, in full, zeros included."""

from __future__ import annotations

from functools import reduce

from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.arguments import Matrix, Scalars


def scaled(factor: Scalar, a: Matrix) -> Matrix:
    """λA."""
    return [[factor * x for x in row] for row in a]


def plus(a: Matrix, b: Matrix) -> Matrix:
    """A + B."""
    return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]


def product(a: Matrix, b: Matrix) -> Matrix:
    """AB."""
    return [[_dot(row, column) for column in zip(*b, strict=True)] for row in a]


def times(a: Matrix, x: Scalars) -> list[Scalar]:
    """Ax."""
    return [_dot(row, x) for row in a]


def transposed(a: Matrix) -> Matrix:
    """Aᵀ."""
    return [list(column) for column in zip(*a, strict=True)]


def skew(c: Scalars) -> Matrix:
    """S(c) with three changes of sign."""
    x, y, z = c
    return [[0.0, z * -1.0, y], [z, 0.0, x * -1.0], [y * -1.0, x, 0.0]]


def block_diagonal(a: Matrix, b: Matrix) -> Matrix:
    """The two 3×3 matrices on the diagonal of a 6×6 one."""
    return [[*row, 0.0, 0.0, 0.0] for row in a] + [[0.0, 0.0, 0.0, *row] for row in b]


def _dot(row: Scalars, column: Scalars) -> Scalar:
    return reduce(lambda x, y: x + y, [x * y for x, y in zip(row, column, strict=True)])
