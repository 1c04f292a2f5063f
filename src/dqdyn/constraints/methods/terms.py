"""What all methods of constrained forward dynamics start from: M a = Q + Aᵀλ and A a = b."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from dqdyn.algebra.scalar import Scalar, Scalars, total
from dqdyn.constraints.assembled import acceleration
from dqdyn.constraints.methods.sparse import sparse
from dqdyn.dynamics.arguments import Wrenches
from dqdyn.dynamics.fast.composite import mass_matrix
from dqdyn.dynamics.fast.recursive import inverse_dynamics
from dqdyn.dynamics.fast.sparse_solve import Matrix
from dqdyn.dynamics.joint_forces import armature, state_forces
from dqdyn.dynamics.methods import MassMatrix
from dqdyn.model.model import Model

DEPENDENT = 1e-12
"""A row depends on those before it where the square of what is left of it is below this part of its square.

A row is rounding, too, where its square is below the square of this part of the sum over all rows.
"""
ROUNDING = 1e-24
"""Square of a length in m, or an angle in rad, per unit of velocity, that is rounding however small all rows are.

A closure of frames that a joint already holds has rows that should be zero, and are so up to rounding of the levers.
"""
NEEDS_ROOT = "the Udwadia-Kalaba form needs the inverse square root of the mass matrix"
"""How errors for a singular M begin."""

Result = TypeVar("Result")
Terms = tuple[Matrix, list[Scalar], Matrix, list[Scalar]]
"""M (nv×nv), Q (nv), A (m×nv) and b (m); Q is all force that does not depend on the acceleration."""


def of_state(method: Callable[[Model, Terms, bool], Result]) -> Callable[..., Result]:
    """A method of constrained forward dynamics as a function of the state.

    ``method(model, terms, singular)`` becomes ``forward(model, q, v, tau, wrenches, t, form, singular)``: ``form`` is
    the mass matrix to take, ``singular`` says that it is.
    """

    @wraps(method)
    def forward(
        model: Model,
        q: Scalars,
        v: Scalars,
        tau: Scalars,
        wrenches: Wrenches = None,
        t: Scalar = 0.0,
        form: MassMatrix = mass_matrix,
        singular: bool = False,
    ) -> Result:
        bias = inverse_dynamics(model, q, v, [0.0] * model.nv, wrenches)
        force = [tk - b - f for tk, b, f in zip(tau, bias, state_forces(model, q, v), strict=True)]
        return method(model, (complete(model, q, form), force, *acceleration(model, q, v, t)), singular)

    return forward


def complete(model: Model, q: Scalars, form: MassMatrix = mass_matrix) -> Matrix:
    """M with armature."""
    matrix = form(model, q)
    for k, rotor in enumerate(armature(model)):
        if rotor:
            matrix[k][k] = matrix[k][k] + rotor
    return matrix


def rounding(a: Matrix, inverse: Scalars) -> list[Scalar]:
    """Per row of A the square of a row of rounding errors in its place, weighted by 1/D of M = LᵀDL."""
    return [ROUNDING * total([0.0, *(inverse[k] for k in sparse(row))]) for row in a]


def held_mass(model: Model) -> float:
    """A mass in kg for directions that the constraints hold, where M gives them none."""
    return max(model.mass, 1e-3)
