"""Derivatives of the inverse dynamics of a tree by jets, for joints that the analytic recursion does not hold for.

That recursion moves everything behind a joint as one rigid body along a constant axis. A joint kind whose subspace
depends on q, and which is not a chain of single axes either, has the recursion of inverse dynamics differentiated:
nv times the work, in every coordinate exact.
"""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.arguments import Matrix
from dqdyn.dynamics.fast.recursive import inverse_dynamics
from dqdyn.kinematics.configuration import configuration_rate
from dqdyn.model.model import Model


def differentiated(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]
) -> tuple[Matrix, Matrix, Matrix]:
    """∂τ/∂q (tangent), ∂τ/∂v, ∂τ/∂a of the bodies, each nv×nv by rows."""
    nq, nv = model.nq, model.nv

    def tau(x: Sequence[Scalar]) -> list[Scalar]:
        return inverse_dynamics(model, x[:nq], x[nq : nq + nv], x[nq + nv :])

    def along(q_rate: Sequence[Scalar], v_rate: Sequence[Scalar], a_rate: Sequence[Scalar]) -> list[Scalar]:
        return derivative(tau, [*q, *v, *a], [*q_rate, *v_rate, *a_rate])

    still, zero = [0.0] * nq, [0.0] * nv
    units = [[1.0 if i == k else 0.0 for i in range(nv)] for k in range(nv)]
    by_q = [along(configuration_rate(model, q, e), zero, zero) for e in units]
    by_v = [along(still, e, zero) for e in units]
    by_a = [along(still, zero, e) for e in units]
    d_dq, d_dv, d_da = ([[column[i] for column in columns] for i in range(nv)] for columns in (by_q, by_v, by_a))
    return d_dq, d_dv, d_da
