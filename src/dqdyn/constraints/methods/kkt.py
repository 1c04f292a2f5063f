"""Constrained forward dynamics by multipliers: M a = Q + Aᵀλ and A a = b, straight-line, over any scalar.

With M = Lᵀ D L the multipliers solve S λ = b − A M⁻¹ Q with S = A M⁻¹ Aᵀ = YᵀD⁻¹Y, Y = L⁻ᵀAᵀ. Rows of A that depend on
others make S singular: its elimination skips them, which leaves their multipliers 0 and changes no acceleration.
"""

from __future__ import annotations

from typing import Any

from dqdyn.algebra.scalar import Scalar, Scalars, divide, less, select, total
from dqdyn.constraints.assembled import velocity
from dqdyn.constraints.methods.sparse import dot, is_zero, solve_lower, solve_transposed, sparse
from dqdyn.constraints.methods.terms import DEPENDENT, Terms, complete, held_mass, of_state, rounding
from dqdyn.dynamics.fast.sparse_solve import Matrix, factored
from dqdyn.model.model import Model


@of_state
def forward_and_multipliers(model: Model, terms: Terms, singular: bool) -> tuple[list[Scalar], list[Scalar]]:
    """The acceleration (nv) and the multipliers (m).

    It minimises Gauss's (a − a₀)ᵀM(a − a₀), a₀ the acceleration without constraints, subject to A a = b
    [Quiroz, eq. (5.39)] [Quiroz, eq. (5.41)]. Where M is ``singular`` and [M; A] has full rank, Aᵀ(A a − b) = 0 is
    added, which changes nothing.
    """
    matrix, right, a, b = terms
    if singular:
        matrix, right = augmented(matrix, right, a, b, held_mass(model))
    return solve(matrix, right, a, b)


def forward(*arguments: Any) -> list[Scalar]:
    """The acceleration (nv) that obeys the constraints; arguments as of :func:`forward_and_multipliers`."""
    return forward_and_multipliers(*arguments)[0]


def augmented(
    matrix: Matrix, right: Scalars, a: Matrix, b: Scalars, weight: float = 1.0
) -> tuple[Matrix, list[Scalar]]:
    """M + w AᵀA and Q + w Aᵀb: positive definite where [M; A] has full rank."""
    matrix, right = [list(row) for row in matrix], list(right)
    for row, bi in zip(a, b, strict=True):
        entries = sparse(row)
        for i, ci in entries.items():
            right[i] = right[i] + weight * (ci * bi)
            for j, cj in entries.items():
                matrix[i][j] = matrix[i][j] + weight * (ci * cj)
    return matrix, right


def solve(matrix: Matrix, right: Scalars, a: Matrix, b: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """a and λ of M a − Aᵀλ = Q [Quiroz, eq. (B.1)], A a = b; λ = (A M⁻¹Aᵀ)⁻¹(b − A M⁻¹Q) [Quiroz, eq. (B.3)]."""
    lower, inverse = factored(matrix)
    y = solve_transposed(lower, dict(enumerate(right)))
    columns = [solve_transposed(lower, sparse(row)) for row in a]
    weighted = [{k: c * inverse[k] for k, c in column.items()} for column in columns]
    m = len(a)
    schur: Matrix = [[dot(weighted[i], columns[j]) for j in range(i + 1)] for i in range(m)]
    right = [bi - dot(w, y) for bi, w in zip(b, weighted, strict=True)]
    lam = eliminate(schur, right, rounding(a, inverse))
    for column, multiplier in zip(columns, lam, strict=True):
        for k, c in column.items():
            y[k] = y[k] + c * multiplier
    return solve_lower(lower, [y[k] * inverse[k] for k in range(len(inverse))]), lam


def eliminate(schur: Matrix, right: Scalars, nothing: Scalars) -> list[Scalar]:
    """A solution of S λ = r for a symmetric S ≥ 0 (its lower half), with λ = 0 in rows that depend on earlier ones.

    S = L D Lᵀ; where a pivot vanishes against the entry that it came from, or this entry against the others or against
    its entry of ``nothing``, 1/D is set to 0.
    """
    m = len(schur)
    lower = [list(row) for row in schur]
    diagonal = [lower[k][k] for k in range(m)]
    noise = DEPENDENT * total(diagonal) if diagonal else 0.0
    inverse: list[Scalar] = [0.0] * m
    for k in range(m):
        pivot = lower[k][k]
        sound = less(DEPENDENT * (diagonal[k] + noise) + nothing[k], pivot)
        inverse[k] = select(sound, divide(1.0, select(sound, pivot, 1.0)), 0.0)
        shares = {i: lower[i][k] * inverse[k] for i in range(k + 1, m) if not is_zero(lower[i][k])}
        for i in shares:
            for j in range(k + 1, i + 1):
                if j in shares:
                    lower[i][j] = lower[i][j] - shares[i] * lower[j][k]
        for i, share in shares.items():
            lower[i][k] = share
    x = [c * d for c, d in zip(solve_lower(lower, right), inverse, strict=True)]
    return list(solve_transposed(lower, dict(enumerate(x))).values())


def projected_velocity(model: Model, q: Scalars, v: Scalars, t: Scalar = 0.0, singular: bool = False) -> list[Scalar]:
    """The velocity that A v = b admits and that is nearest to v by kinetic energy: M x − Aᵀλ = M v, A x = b."""
    return _nearest(model, q, v, *velocity(model, q, t), singular)


def step_to_position(model: Model, q: Scalars, t: Scalar = 0.0, singular: bool = False) -> list[Scalar]:
    """The shortest step (nv), by M, that takes away the residual e to first order: A x = −e."""
    rows: Matrix = []
    errors: list[Scalar] = []
    for c in model.constraints:
        residual = c.residual(model, q, t)
        if residual is not None:
            rows += c.velocity(model, q, t)[0]
            errors += [-e for e in residual]
    return _nearest(model, q, [0.0] * model.nv, rows, errors, singular)


def _nearest(model: Model, q: Scalars, v: Scalars, a: Matrix, b: Scalars, singular: bool) -> list[Scalar]:
    matrix = complete(model, q)
    right = [total(c * vk for c, vk in zip(row, v, strict=True)) for row in matrix]
    if singular:
        matrix, right = augmented(matrix, right, a, b, held_mass(model))
    return solve(matrix, right, a, b)[0]
