"""Dynamics of robots in a gravity field: its wrenches join the external ones, and their gradient the derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.arguments import Matrix, Scalars, Wrenches
from dqdyn.dynamics.deferred import Deferred
from dqdyn.dynamics.formulations.mass_centers import row_times
from dqdyn.dynamics.gravity.fields import on_bodies
from dqdyn.kinematics.configuration import configuration_rate
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.model import Model

Form = Callable[..., tuple[Matrix, Matrix, Matrix]]
"""``form(model, q, v, a)``: derivatives with respect to q (tangent), v, and a or τ."""


def without_field(model: Model) -> Model:
    """The same robot without gravity, if it has a field."""
    return replace(model, gravity=(0.0, 0.0, 0.0)) if isinstance(model.gravity, FieldGravity) else model


def pulled(model: Model, q: Scalars, wrenches: Wrenches) -> tuple[Model, Wrenches]:
    """The robot without gravity, and the wrenches of its field on top of those given."""
    assert isinstance(model.gravity, FieldGravity)
    given = wrenches or {}
    pull = on_bodies(model, q, model.gravity.field)
    return without_field(model), {i: w + given[i] if i in given else w for i, w in pull.items()}


def force_gradient(model: Model, q: Scalars) -> Matrix:
    """∂/∂q (nv×nv, tangent) of the forces that hold the bodies at rest, by jets."""
    n, still = model.nv, [0.0] * model.nv
    of_bodies = Deferred("dynamics.fast.recursive", "inverse_dynamics")
    units = ([1.0 if i == k else 0.0 for i in range(n)] for k in range(n))

    def hold(x: Scalars) -> list[Scalar]:
        bare, wrenches = pulled(model, x, None)
        forces: list[Scalar] = of_bodies(bare, x, still, still, wrenches)  # springs are in the form for uniform gravity
        return forces

    columns = [derivative(hold, list(q), configuration_rate(model, q, unit)) for unit in units]
    return [list(row) for row in zip(*columns, strict=True)]


def inverse_derivatives(form: Form, model: Model, *state: Scalars) -> tuple[Matrix, Matrix, Matrix]:
    """Derivatives of inverse dynamics at the state (q, v, a), from a form for uniform gravity."""
    d_dq, d_dv, d_da = form(without_field(model), *state)
    return _sum(d_dq, force_gradient(model, state[0]), 1.0), d_dv, d_da


def forward_derivatives(form: Form, model: Model, *state: Scalars) -> tuple[Matrix, Matrix, Matrix]:
    """The same of forward dynamics: ∂a/∂q loses M⁻¹ times what the field adds to ∂τ/∂q."""
    d_dq, d_dv, d_dtau = form(without_field(model), *state)
    columns = [list(column) for column in zip(*force_gradient(model, state[0]), strict=True)]
    return _sum(d_dq, [[row_times(row, c) for c in columns] for row in d_dtau], -1.0), d_dv, d_dtau


def forward_derivative_system(form: Callable[..., list[Matrix]], model: Model, *state: Scalars) -> list[Matrix]:
    """The equations for derivatives of forward dynamics; the first matrix is ∂τ/∂q."""
    by_q, *others = form(without_field(model), *state)
    return [_sum(by_q, force_gradient(model, state[0]), 1.0), *others]


def _sum(a: Matrix, b: Matrix, scale: float) -> Matrix:
    return [[x + y * scale for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]
