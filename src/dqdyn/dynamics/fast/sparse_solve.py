"""M x = b for a mass matrix over any scalar, from the leaves to the root, so that branches keep their zeros."""

from __future__ import annotations

from collections.abc import Iterable

from dqdyn.algebra.scalar import Scalar, divide
from dqdyn.dynamics.arguments import Scalars, is_absent

Matrix = list[list[Scalar]]


def factored(matrix: Matrix) -> tuple[Matrix, list[Scalar]]:
    """L (unit lower) and 1/D with M = Lᵀ D L, eliminating the last coordinate first (Featherstone's LTL).

    An entry is complete before the next one is touched, so that compiled code need not keep unfinished ones in memory.
    """
    n = len(matrix)
    lower: Matrix = [[] for _ in range(n)]
    unscaled: Matrix = [[] for _ in range(n)]  # D L
    inverse: list[Scalar] = [0.0] * n
    for i in reversed(range(n)):
        behind = [k for k in reversed(range(i + 1, n)) if not is_absent(lower[k][i])]
        row = [less(e, [(lower[k][i], unscaled[k][j]) for k in behind]) for j, e in enumerate(matrix[i][: i + 1])]
        over = inverse[i] = divide(1.0, row[i])
        unscaled[i], lower[i] = row, [e if is_absent(e) else e * over for e in row[:i]] + [1.0]
    return lower, inverse


def less(value: Scalar, products: Iterable[tuple[Scalar, Scalar]]) -> Scalar:
    """A value minus all products that are not zero by structure."""
    for a, b in products:
        if not (is_absent(a) or is_absent(b)):
            value = value - a * b
    return value


def solve(matrix: Matrix, right: Scalars) -> list[Scalar]:
    """M⁻¹ b."""
    return substitute(*factored(matrix), right)


def substitute(lower: Matrix, inverse: Scalars, right: Scalars) -> list[Scalar]:
    """(Lᵀ D L)⁻¹ b."""
    n = len(inverse)
    x = list(right)
    for i in reversed(range(n)):
        x[i] = less(x[i], ((lower[k][i], x[k]) for k in reversed(range(i + 1, n))))
    x = [a * d for a, d in zip(x, inverse, strict=True)]
    for k in range(n):
        x[k] = less(x[k], zip(lower[k][:k], x[:k], strict=True))
    return x


def inverted(lower: Matrix) -> Matrix:
    """L⁻¹, unit lower, with the zeros of L."""
    w: Matrix = []
    for k, row in enumerate(lower):
        own: list[Scalar] = [0.0] * k + [1.0]
        for i in range(k):
            first = row[i] if is_absent(row[i]) else -row[i]
            own[i] = less(first, ((row[j], w[j][i]) for j in range(i + 1, k)))
        w.append(own)
    return w


def inner(row: Iterable[Scalar], column: Iterable[Scalar]) -> Scalar:
    """Σ rowₖ columnₖ over what both have, as far as the shorter one goes; a plain 0.0 where nothing is."""
    result: Scalar = 0.0
    for a, b in zip(row, column, strict=False):
        if not (is_absent(a) or is_absent(b)):
            result = result + a * b
    return result
