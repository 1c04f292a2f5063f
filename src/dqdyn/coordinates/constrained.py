"""A robot's own constraints in chosen coordinates: loops, contacts, rolling, beside the conditions of the coordinates.

With v = E(q) q̇ the robot's rows A v = b read A E q̇ = b, and A v̇ = b reads A E q̈ = b − A Ė q̇. The equation of motion is

    M q̈ + N q̇ = weight + u + Cᵀλ + (A E)ᵀμ,   C q̈ = c,   A E q̈ = b − A Ė q̇

with the conditions C of the coordinates. The two kinds never depend on each other, for C B = 0 and E B = 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dqdyn.algebra.scalar import Scalar, Scalars, total
from dqdyn.constraints import assembled
from dqdyn.constraints.constraint import Rows
from dqdyn.constraints.methods.kkt import augmented
from dqdyn.constraints.methods.kkt import solve as solve_kkt
from dqdyn.constraints.methods.terms import held_mass
from dqdyn.constraints.undetermined import mass_is_singular
from dqdyn.coordinates.minimal_form import Contact, condition_multiplier, on_bodies, times
from dqdyn.coordinates.tree import Matrix, TreeCoordinates
from dqdyn.model.model import Model


def velocity_rows(at: TreeCoordinates, q: Scalars, t: Scalar = 0.0) -> Rows:
    """A E (m×n) and b (m) of A E q̇ = b."""
    A, b = assembled.velocity(at.model, at.minimal(q), t)
    return _on_rates(at, q, A), b


def acceleration_rows(at: TreeCoordinates, q: Scalars, rate: Scalars, t: Scalar = 0.0) -> Rows:
    """A E (m×n) and b − A Ė q̇ (m) of the rows in q̈, with the stabilisation that the robot has."""
    A, b = assembled.acceleration(at.model, at.minimal(q), at.velocity(q, rate), t)
    turning = times(A, at.acceleration(q, rate, [0.0] * at.n))
    return _on_rates(at, q, A), [bi - c for bi, c in zip(b, turning, strict=True)]


def residual(at: TreeCoordinates, q: Scalars, t: Scalar = 0.0) -> list[Scalar]:
    """What the robot's holonomic constraints ask to vanish at q, in m or rad."""
    return assembled.residual(at.model, at.minimal(q), t)


def violation(at: TreeCoordinates, q: Scalars, rate: Scalars, t: Scalar = 0.0) -> list[Scalar]:
    """A E q̇ − b (m), which must vanish too."""
    return assembled.violation(at.model, at.minimal(q), at.velocity(q, rate), t)


def forward_dynamics(
    at: TreeCoordinates,
    formulation: Callable[..., tuple[list[Scalar], list[Scalar]]],
    on: Model,
    q: Scalars,
    rate: Scalars,
    tau: Scalars,
    contacts: Sequence[Contact] = (),
    forces: Scalars = (),
    t: Scalar = 0.0,
) -> list[Scalar]:
    """[q̈, λ, μ] through the robot's own v: ``formulation`` gives the acceleration and μ of its constraints.

    λ holds against the part of τ outside the range of Eᵀ, as without constraints: theirs, (A E)ᵀμ, is inside.
    """
    own, v, net = at.minimal(q), at.velocity(q, rate), at.minimal_forces(q, tau)
    a, mu = formulation(on, own, v, net, on_bodies(on, own, contacts, forces), t)
    return [*at.second_rate(q, rate, v, a), *condition_multiplier(at, q, tau, net), *mu]


def forward_dynamics_by_kkt(
    at: TreeCoordinates,
    mass_matrix: Callable[[Scalars], Matrix],
    bias: Scalars,
    q: Scalars,
    rate: Scalars,
    tau: Scalars,
    t: Scalar = 0.0,
) -> list[Scalar]:
    """[q̈, λ, μ] from the equation of motion, the conditions and the constraints in one system.

    M, of rank nv, is made regular by the conditions, and by the constraints as well where the robot's own is singular.
    """
    M = at.quadratic(q, mass_matrix(at.minimal(q)))
    right = [f - h for f, h in zip(tau, bias, strict=True)]
    C, c = at.constraint_matrix(q), at.constraint_bias(q, rate)
    A, b = acceleration_rows(at, q, rate, t)
    M, right = augmented(M, right, C, c, held_mass(at.model))
    if mass_is_singular(at.model):
        M, right = augmented(M, right, A, b, held_mass(at.model))
    second, multipliers = solve_kkt(M, right, [*C, *A], [*c, *b])
    return [*second, *multipliers]


def _on_rates(at: TreeCoordinates, q: Scalars, A: Matrix) -> Matrix:
    """A E, by the entries of E that are not zero by structure."""
    E = at.velocity_columns(q)
    return [[total(row[k] * e for k, e in column) for column in E] for row in A]
