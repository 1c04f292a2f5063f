"""Derivatives of constrained forward dynamics by jets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.kinematics.configuration import configuration_rate
from dqdyn.model.model import Model

Matrix = list[list[Scalar]]


def forward_derivatives(
    model: Model, forward: Callable[..., Any], q: Scalars, v: Scalars, tau: Scalars
) -> tuple[Matrix, Matrix, Matrix]:
    """∂a/∂q (tangent), ∂a/∂v, ∂a/∂τ, one jet per direction."""
    n = model.nv
    units = [[1.0 if i == k else 0.0 for i in range(n)] for k in range(n)]
    d_dq = [
        derivative(lambda x: forward(model, x, v, tau), list(q), configuration_rate(model, q, unit)) for unit in units
    ]
    d_dv = [derivative(lambda x: forward(model, q, x, tau), list(v), unit) for unit in units]
    d_dtau = [derivative(lambda x: forward(model, q, v, x), list(tau), unit) for unit in units]
    by_q, by_v, by_tau = ([list(row) for row in zip(*columns, strict=True)] for columns in (d_dq, d_dv, d_dtau))
    return by_q, by_v, by_tau
