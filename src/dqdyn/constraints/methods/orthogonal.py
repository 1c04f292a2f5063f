"""The generalized inverse, straight-line: rows made orthonormal one after the other, dependent ones left out.

By Gram and Schmidt, B = L N with orthonormal rows in N and a lower triangle L; a row that depends on those before it
gets a row of zeros in N. The point of B z = b nearest to any y has the coordinates α along N with L α = b and is as y
elsewhere: y + B⁺(b − B y). That is backward stable (Björck and Paige 1994); BBᵀ would square the condition of B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dqdyn.algebra.scalar import Scalar, Scalars, divide, less, select, sqrt, total
from dqdyn.constraints.methods.sparse import Sparse, dot, is_zero, less_share
from dqdyn.constraints.methods.terms import DEPENDENT, ROUNDING
from dqdyn.dynamics.fast.sparse_solve import Matrix, solve

_ABOVE_ROUNDING = 1.0 + 1e-14
"""Keeps I + XXᵀ positive where X is so large, after a tiny row, that rounding takes the identity away."""


@dataclass(frozen=True, eq=False)
class Orthonormal:
    """B = L N; where ``sound`` does not hold, the row depends on those before it."""

    normals: list[Sparse]
    """Rows of N, orthonormal or zero."""
    lower: Matrix
    """Row i of L without its diagonal entry."""
    inverse: list[Scalar]
    """1 over the diagonal of L, or 0."""
    sound: list[Any]
    """Per row the condition that it is independent of those before it."""


def orthonormal(rows: Sequence[Sparse], nothing: Scalars | None = None) -> Orthonormal:
    """Gram's and Schmidt's rows, modified: each share is taken from what the shares before it have left.

    A row whose square is below its entry of ``nothing`` is rounding.
    """
    result = Orthonormal([], [], [], [])
    squares = [dot(row, row) for row in rows]
    noise = DEPENDENT * total(squares) if squares else 0.0
    for row, square, none in zip(rows, squares, nothing or [ROUNDING] * len(rows), strict=True):
        left, shares = row, []
        for normal in result.normals:
            shares.append(dot(normal, left))
            if not is_zero(shares[-1]):
                left = less_share(left, shares[-1], normal)
        rest = dot(left, left)
        sound = less(DEPENDENT * (square + noise) + none, rest)
        inverse = select(sound, divide(1.0, sqrt(select(sound, rest, 1.0))), 0.0)
        result.normals.append({k: c * inverse for k, c in left.items()})
        result.lower.append(shares)
        result.inverse.append(inverse)
        result.sound.append(sound)
    return result


def placed(rows: Orthonormal, alpha: Scalars, y: Sparse) -> Sparse:
    """The point nearest to y with the coordinates α along the normals."""
    for normal, wanted in zip(reversed(rows.normals), reversed(alpha), strict=True):
        if normal:
            y = less_share(y, dot(normal, y) - wanted, normal)
    return y


def coordinates(rows: Orthonormal, b: Scalars) -> list[Scalar]:
    """α with L α = b in the independent rows, whatever the others ask; 0 for those."""
    return _substituted(rows, b)[0]


def least_squares(rows: Orthonormal, b: Scalars) -> list[Scalar]:
    """α with the least |L α − b|: the same unless the dependent rows contradict the independent ones.

    Dependent rows are X times the independent ones. If they miss their b by e, the independent rows get b + δ with
    the least |δ|² + |e − X δ|², so δ = Xᵀ(I + XXᵀ)⁻¹e. Where nothing contradicts, this adds rounding only.
    """
    alpha, missed = _substituted(rows, b)
    shares = [_of_independent(rows, i) for i in range(len(b))]
    if not any(shares):
        return alpha
    gram = [[dot(shares[i], shares[j]) for j in range(i + 1)] for i in range(len(b))]
    for i, row in enumerate(gram):
        row[i] = 1.0 + _ABOVE_ROUNDING * row[i]
    missed = [select(sound, 0.0, e) if x else 0.0 for sound, e, x in zip(rows.sound, missed, shares, strict=True)]
    push: Sparse = {}
    for factor, share in zip(solve(gram, missed), shares, strict=True):
        push = less_share(push, -factor, share)
    change, _ = _substituted(rows, [push.get(i, 0.0) for i in range(len(b))])
    return [a + c for a, c in zip(alpha, change, strict=True)]


def _substituted(rows: Orthonormal, b: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """L⁻¹b with 0 for dependent rows, and what the rows before leave of b."""
    alpha: list[Scalar] = []
    left: list[Scalar] = []
    for row, inverse, rest in zip(rows.lower, rows.inverse, b, strict=True):
        for share, known in zip(row, alpha, strict=True):
            if not is_zero(share) and not is_zero(known):
                rest = rest - share * known
        left.append(rest)
        alpha.append(rest * inverse)
    return alpha, left


def _of_independent(rows: Orthonormal, i: int) -> Sparse:
    """Row i of X: by which shares of the independent rows before it a dependent row is made; 0 for any other."""
    left = list(rows.lower[i])
    result: Sparse = {}
    for j in reversed(range(i)):
        if is_zero(left[j]):
            continue
        share = left[j] * rows.inverse[j]
        result[j] = select(rows.sound[i], 0.0, share)
        for k in range(j):
            if not is_zero(rows.lower[j][k]):
                left[k] = left[k] - share * rows.lower[j][k]
    return result
