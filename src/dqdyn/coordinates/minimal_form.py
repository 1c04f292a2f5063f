"""Dynamics in chosen coordinates through the fast forms in minimal ones: what is compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import position
from dqdyn.algebra.quaternion import Quaternion, combine, cross3, pure, rotation_columns
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.constraints.methods.kkt import augmented
from dqdyn.constraints.methods.kkt import solve as solve_kkt
from dqdyn.constraints.methods.terms import held_mass
from dqdyn.coordinates.tree import Matrix, TreeCoordinates
from dqdyn.dynamics.fast.sparse_solve import solve
from dqdyn.dynamics.formulations.mass_centers import row_times
from dqdyn.kinematics.tree import adjoints
from dqdyn.model.model import WORLD_BODY, Model

Contact = tuple[str, tuple[float, float, float]]
"""A frame and a point in its axes, in m."""
Wrenches = dict[int, DQ]
Formulation = Callable[..., list[Scalar]]
"""``f(model, q, v, a or τ, wrenches by body)`` in minimal coordinates."""


def inverse_dynamics(
    at: TreeCoordinates,
    formulation: Formulation,
    on: Model,
    q: Scalars,
    rate: Scalars,
    second: Scalars,
    contacts: Sequence[Contact] = (),
    forces: Scalars = (),
) -> list[Scalar]:
    """Forces on q̇ (n) that give q̈: those that lie in the range of Eᵀ, so that the multiplier is zero.

    ``on`` is the model for the formulation: the tree's own, or a regrouped one with the same q and v.
    """
    own = at.minimal(q)
    wrenches = on_bodies(on, own, contacts, forces)
    return at.forces(q, formulation(on, own, at.velocity(q, rate), at.acceleration(q, rate, second), wrenches))


def forward_dynamics(
    at: TreeCoordinates,
    formulation: Formulation,
    on: Model,
    q: Scalars,
    rate: Scalars,
    tau: Scalars,
    contacts: Sequence[Contact] = (),
    forces: Scalars = (),
) -> tuple[list[Scalar], list[Scalar]]:
    """(q̈, λ) through minimal coordinates: the solution of the KKT system with neither M nor A factored.

    M q̈ + N q̇ lies in the range of Eᵀ, so λ is what holds against the part of τ outside of it: Aᵀλ = EᵀBᵀτ − τ.
    """
    own, v, net = at.minimal(q), at.velocity(q, rate), at.minimal_forces(q, tau)
    a = formulation(on, own, v, net, on_bodies(on, own, contacts, forces))
    return at.second_rate(q, rate, v, a), condition_multiplier(at, q, tau, net)


def forward_dynamics_by_kkt(
    at: TreeCoordinates,
    mass_matrix: Callable[[Scalars], Matrix],
    bias: Scalars,
    q: Scalars,
    rate: Scalars,
    tau: Scalars,
) -> tuple[list[Scalar], list[Scalar]]:
    """(q̈, λ) from the equation of motion and the conditions together, M being singular [Bouyarmane, eq. (31)].

    ``mass_matrix`` is that of the minimal q; ``bias`` (n) are the forces at q̈ = 0, less those of contacts.
    """
    M = at.quadratic(q, mass_matrix(at.minimal(q)))
    right = [t - h for t, h in zip(tau, bias, strict=True)]
    return solve_singular(at, M, right, at.constraint_matrix(q), at.constraint_bias(q, rate))


def solve_singular(
    at: TreeCoordinates, M: Matrix, right: Scalars, A: Matrix, b: Scalars
) -> tuple[list[Scalar], list[Scalar]]:
    """(q̈, λ) of M q̈ − Aᵀλ = right and A q̈ = b, where M is positive on the null space of A."""
    M, right = augmented(M, right, A, b, held_mass(at.model))
    return solve_kkt(M, right, A, b)


def on_bodies(model: Model, q: Scalars, contacts: Sequence[Contact], forces: Scalars) -> Wrenches:
    """Wrench per body, at its origin in its axes, of forces in world axes (three components each) at points."""
    result: Wrenches = {}
    for i, (name, point) in enumerate(contacts):
        frame = model.frames[name]
        if frame.body == WORLD_BODY:
            continue
        f = adjoints(model, q, model.path(frame.body))[frame.body].rotate_back(pure(*forces[3 * i : 3 * i + 3]))
        wrench = DQ.of(f, cross3(body_point(model, name, point), f))
        result[frame.body] = result[frame.body] + wrench if frame.body in result else wrench
    return result


def body_point(model: Model, name: str, point: Sequence[float]) -> Quaternion:
    """A point given in a frame, in the axes of the body that carries it."""
    placement = model.frames[name].placement
    return position(placement) + combine(rotation_columns(placement.primary), pure(*point))


def condition_multiplier(at: TreeCoordinates, q: Scalars, tau: Scalars, net: Scalars) -> list[Scalar]:
    """λ of the conditions under forces τ on q̇ with ``net`` = Bᵀτ: Aᵀλ = Eᵀ net − τ, joint by joint."""
    held = [f - t for f, t in zip(at.forces(q, net), tau, strict=True)]
    rows, result = at.constraint_matrix(q), []
    for part in at.parts:
        A = [row[part.q] for row in rows[part.conditions]]
        if A:
            result += solve(gram(A), times(A, held[part.q]))
    return result


def gram(A: Matrix) -> Matrix:
    """A Aᵀ."""
    return [times(A, row) for row in A]


def times(matrix: Matrix, x: Scalars) -> list[Scalar]:
    """Matrix times vector."""
    return [row_times(row, x) for row in matrix]
