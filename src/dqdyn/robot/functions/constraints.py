"""Functions that only robots with constraints have: A v = b, A a = b, multipliers and projections."""

from __future__ import annotations

from typing import Any

from dqdyn.algebra.scalar import Scalar, Scalars, total
from dqdyn.dynamics import methods
from dqdyn.dynamics.deferred import Deferred
from dqdyn.model.model import Model
from dqdyn.robot.robot_function import RobotFunction

_rows_of_velocity = Deferred("constraints.assembled", "velocity")
_rows_of_acceleration = Deferred("constraints.assembled", "acceleration")
_mass_is_singular = Deferred("constraints.undetermined", "mass_is_singular")
_mass_matrix = Deferred("dynamics.fast.composite", "mass_matrix")


def _matrix(model: Model, q: Scalars, t: Scalar) -> Any:
    return _rows_of_velocity(model, q, t)[0]


def _speed(model: Model, q: Scalars, t: Scalar) -> Any:
    """b (m) of A v = b."""
    return _rows_of_velocity(model, q, t)[1]


def _bias(model: Model, q: Scalars, v: Scalars, t: Scalar) -> Any:
    return _rows_of_acceleration(model, q, v, t)[1]


def _multipliers(model: Model, q: Scalars, v: Scalars, tau: Scalars, t: Scalar) -> Any:
    singular = _mass_is_singular(model)
    model, wrenches = methods.pulled(model, q, None)
    solve = Deferred("constraints.methods.kkt", "forward_and_multipliers")
    return solve(model, q, v, tau, wrenches, t, _mass_matrix, singular)[1]


def _forces(model: Model, q: Scalars, v: Scalars, tau: Scalars, t: Scalar) -> list[Scalar]:
    multipliers, rows = _multipliers(model, q, v, tau, t), _matrix(model, q, t)
    if not multipliers:
        return [0.0] * model.nv
    return [total(row[k] * c for row, c in zip(rows, multipliers, strict=True)) for k in range(model.nv)]


def _projected_velocity(model: Model, q: Scalars, v: Scalars, t: Scalar) -> Any:
    """The admissible velocity nearest to v by kinetic energy."""
    return Deferred("constraints.methods.kkt", "projected_velocity")(model, q, v, t, _mass_is_singular(model))


def _step_to_position(model: Model, q: Scalars, t: Scalar) -> Any:
    """The shortest step (nv) that removes the residual."""
    if not any(c.holonomic for c in model.constraints):
        return [0.0] * model.nv
    return Deferred("constraints.methods.kkt", "step_to_position")(model, q, t, _mass_is_singular(model))


_of = RobotFunction.of
CONSTRAINED = RobotFunction.table(
    _of("constraint_matrix", "q t", "matrix", _matrix),
    _of("constraint_matrix_rate", "q v t", "matrix", Deferred("constraints.assembled", "matrix_rate")),
    _of("constraint_speed", "q t", "list", _speed),
    _of("constraint_bias", "q v t", "list", _bias),
    _of("constraint_residual", "q t", "list", Deferred("constraints.assembled", "residual")),
    _of("constraint_velocity", "q v t", "list", Deferred("constraints.assembled", "violation")),
    _of("constraint_multipliers", "q v tau t", "list", _multipliers),
    _of("constraint_forces", "q v tau t", "list", _forces),
    _of("projected_velocity", "q v t", "list", _projected_velocity),
    _of("step_to_position", "q t", "list", _step_to_position),
)
