"""Udwadia's and Kalaba's equation by a triangular root of M, straight-line, over any scalar.

The papers write q̈ = M⁻¹Q + M^(−1/2) D⁺ (b − A M⁻¹Q) with D = A M^(−1/2). Any root M = G Gᵀ does in the place of the
symmetric one: G = M^(1/2) U with an orthogonal U, so A G⁻ᵀ = D U, its generalized inverse is UᵀD⁺, and
G⁻ᵀUᵀ = M^(−1/2). Here G = Lᵀ D^(1/2) of the factors M = LᵀDL, which keep the zeros of the tree.
"""

from __future__ import annotations

from dqdyn.algebra.scalar import Scalar, Scalars, sqrt
from dqdyn.constraints.methods.orthogonal import least_squares, orthonormal, placed
from dqdyn.constraints.methods.sparse import Sparse, solve_lower, solve_transposed, sparse
from dqdyn.constraints.methods.terms import NEEDS_ROOT, Terms, of_state, rounding
from dqdyn.dynamics.fast.sparse_solve import Matrix, factored
from dqdyn.errors import ModelError
from dqdyn.model.model import Model


@of_state
def forward(model: Model, terms: Terms, singular: bool) -> list[Scalar]:
    """The acceleration (nv) that obeys the constraints; an error where M is ``singular``."""
    if singular:
        remedy = "use method='kkt' or 'kane'"
        raise ModelError(f"{NEEDS_ROOT}, which is singular for {model.name!r}: {remedy}.", robot=model.name)
    return acceleration(*terms)


def acceleration(mass: Matrix, force: Scalars, a: Matrix, b: Scalars) -> list[Scalar]:
    """q̈ = M⁻¹Q + M^(−1/2) D⁺ (b − A M⁻¹Q) [Quiroz, eq. (5.44)], with a₀ = M⁻¹Q [Quiroz, eq. (5.42)].

    It is also what multipliers give [Quiroz, eq. (B.9)].
    ``force`` is Q = τ̄ − C q̇, gravity included [Quiroz, eq. (5.43)]. The general form for any M > 0 is
    [Quiroz, eq. (5.40)]. Rows that depend on others change nothing; where rows contradict each other, |A q̈ − b| is
    least, as a generalized inverse has it.
    """
    lower, inverse = factored(mass)
    root = [sqrt(d) for d in inverse]

    def scaled(row: Sparse) -> Sparse:
        """G⁻¹ x."""
        return {k: c * root[k] for k, c in solve_transposed(lower, row).items()}

    free = scaled(dict(enumerate(force)))
    rows = orthonormal([scaled(sparse(row)) for row in a], rounding(a, inverse))
    z = placed(rows, least_squares(rows, b), free)
    return solve_lower(lower, [z[k] * root[k] for k in range(len(root))])
