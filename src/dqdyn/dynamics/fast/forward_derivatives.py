"""Derivatives of forward dynamics with respect to q (tangent), v and τ.

From M da = dτ − ∂τ/∂q dq − ∂τ/∂v dv and M⁻¹ = W D⁻¹ Wᵀ, where W has the sparsity of the tree
(:mod:`dqdyn.dynamics.fast.responses`),

    ∂a/∂q = −W Z,    Z = D⁻¹ Wᵀ ∂τ/∂q,        ∂a/∂τ = M⁻¹

and alike for v. An entry of W Z has one term for each axis on the path of its row that moves, or is moved by, the axis
of its column; these are fewer than in a product with M⁻¹, which is full.
"""

from __future__ import annotations

from dqdyn.algebra.quaternion import I, J, K, cross3, pure
from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.arguments import Matrix, Scalars, is_absent
from dqdyn.dynamics.fast.derivatives import inverse_dynamics_derivatives
from dqdyn.dynamics.fast.responses import half_solved, inverse_of, responses
from dqdyn.dynamics.fast.sparse_solve import inner
from dqdyn.dynamics.methods import from_root_pays
from dqdyn.model.model import WORLD_BODY, Model


def forward_dynamics_derivatives(model: Model, q: Scalars, v: Scalars, a: Scalars) -> tuple[Matrix, Matrix, Matrix]:
    """∂a/∂q, ∂a/∂v, ∂a/∂τ = M⁻¹ at the acceleration a, each nv×nv by rows."""
    w, inverse = responses(model, q)
    by_q, by_v, _, *added = linear_system(model, q, v, a)

    def solved(matrix: Matrix) -> Matrix:
        """−M⁻¹ times a matrix."""
        columns = [
            half_solved(w, inverse, [e if is_absent(e) else -e for e in column]) for column in zip(*matrix, strict=True)
        ]
        return [[inner(row, column) for column in columns] for row in w]

    d_dq = solved(by_q)
    for matrix in added:
        for i, row in enumerate(matrix):
            for j, entry in enumerate(row):
                if not is_absent(entry):
                    d_dq[i][j] = entry
    return d_dq, solved(by_v), inverse_of(w, inverse)


def linear_system(model: Model, q: Scalars, v: Scalars, a: Scalars) -> list[Matrix]:
    """∂τ/∂q, ∂τ/∂v and M, each nv×nv by rows; ∂a/∂q and ∂a/∂v are −M⁻¹ times the first two.

    If there are free bases, columns of ∂τ/∂q are zero, and a fourth matrix has theirs of ∂a/∂q.
    """
    by_q, by_v, mass = inverse_dynamics_derivatives(model, q, v, a, from_root_pays(model))
    placed = _of_free_bases(model, q)
    if not placed:
        return [by_q, by_v, mass]
    added: Matrix = [[0.0] * model.nv for _ in range(model.nv)]
    for j, column in placed.items():
        for row in by_q:
            row[j] = 0.0
        for i, entry in column.items():
            added[i][j] = entry
    return [by_q, by_v, mass, added]


def _of_free_bases(model: Model, q: Scalars) -> dict[int, dict[int, Scalar]]:
    """∂a/∂q of the axes of free bases, by column and row.

    A robot that floats moves the same wherever it is; if it is turned, its base falls into another direction of its
    own axes.
    """
    columns: dict[int, dict[int, Scalar]] = {}
    for joint in model.joints:
        if joint.kind == "free" and joint.parent == WORLD_BODY and not any((*joint.armature, *joint.stiffness)):
            down = joint.adjoint(q).rotate_back(pure(*model.gravity))
            at = joint.v.start
            for k, axis in enumerate((I, J, K)):
                columns[at + k] = {at + 3 + i: e for i, e in enumerate(cross3(down, axis).vector)}
                columns[at + 3 + k] = {}
    return columns
