"""Kane's equations: laws of motion of the bodies, projected on their partial velocities [Silva, section 4.4].

Quasi-velocities u are our v, or any others with v = B(q) u, see :mod:`dqdyn.dynamics.formulations.speeds`; a B that
spans the velocities which constraints admit gives the reduced equations of the constrained robot [Parsa, eq. (46)].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.inertia_maps import L3
from dqdyn.algebra.quaternion import cross3
from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.arguments import Matrix, Scalars, Wrenches, is_absent
from dqdyn.dynamics.formulations.mass_centers import ByIndex, Center, acting, bilinear, centers, projected
from dqdyn.dynamics.formulations.speeds import Speeds, speed_matrix, velocities
from dqdyn.kinematics.tree import apply
from dqdyn.model.model import Model


def inverse_dynamics(
    model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None, speeds: Speeds | None = None
) -> list[Scalar]:
    """τ (nv): what the joints add to the active forces so that φ − φ̄ vanishes [Silva, eq. (54)] [Quiroz, eq. (5.30)].

    In matrix form [Parsa, eq. (30)] [Parsa, eq. (32)]. φ − φ̄ is also the gradient of Gauss's function, and that of
    Gibbs's and Appell's less the active forces [Silva, eq. (58)] [Quiroz, eq. (5.38)]. ``wrenches`` are external ones
    by body, in the frame of the body at its origin. With ``speeds``, v and a stand for u and u̇ (m), and the result (m)
    is Bᵀτ [Parsa, eq. (10)] [Parsa, eq. (11)] [Parsa, eq. (42)]. These are forces on the bodies: damping, friction and
    armature, which a robot's methods add, are left out.
    """
    size = len(v)
    if speeds is not None:
        v, a = velocities(speeds, model, q, v, a)
    bodies = centers(model, q, v)
    partial = _partial(bodies, None if speeds is None else speeds(q))
    inertial = generalized_inertia_forces(bodies, partial, v, a, size)
    active = generalized_active_forces(model, bodies, partial, wrenches, size)
    return [i - f for i, f in zip(inertial, active, strict=True)]


def partial_velocities(model: Model, q: Scalars, speeds: Speeds | None = None) -> list[ByIndex]:
    """∂ν/∂u = J B of every body, by index into u [Parsa, eq. (44)]; absent for a u that cannot move the body."""
    return _partial(centers(model, q), None if speeds is None else speed_matrix(speeds, model, q))


def mass_matrix(model: Model, q: Scalars, speeds: Speeds | None = None) -> Matrix:
    """BᵀMB (m×m), by which φ depends on u̇: Σ (∂ν/∂u)ᵀΨ ∂ν/∂u, without armature; M without ``speeds``."""
    b = None if speeds is None else speed_matrix(speeds, model, q)
    bodies = centers(model, q)
    moving = [replace(body, columns=columns) for body, columns in zip(bodies, _partial(bodies, b), strict=True)]
    return bilinear(moving, Center.momenta, model.nv if b is None else len(b[0]), symmetric=True)


def generalized_inertia_forces(
    bodies: Sequence[Center], partial: Sequence[ByIndex], v: Scalars, a: Scalars, size: int
) -> list[Scalar]:
    """φ = Σ (∂ν/∂u)ᵀκ [Silva, eq. (57)] [Quiroz, eq. (5.35)] [Parsa, eq. (43)]; Kane's own F* is −φ.

    It is M a + C v [Quiroz, eq. (5.36)] [Quiroz, eq. (5.37)]. Silva's text exchanges the names of φ and φ̄; the
    formulas are these.
    """
    return projected(partial, [law_of_motion(body, body.rate(v, a)) for body in bodies], size)


def generalized_active_forces(
    model: Model,
    bodies: Sequence[Center],
    partial: Sequence[ByIndex],
    wrenches: Wrenches,
    size: int,
) -> list[Scalar]:
    """φ̄ = Σ (∂ν/∂u)ᵀζ of gravity and external wrenches [Silva, eq. (57)] [Quiroz, eq. (5.35)] [Parsa, eq. (45)]."""
    return projected(partial, acting(model, bodies, wrenches), size)


def law_of_motion(body: Center, rate: DQ) -> DQ:
    """κ: Newton's and Euler's laws, the wrench that produces this motion [Silva, eq. (55)] [Quiroz, eq. (5.33)].

    It is m p̈ + ε(I ω̇ − I ω × ω) [Quiroz, eq. (5.31)] [Quiroz, eq. (5.32)], the same as Ψν̇ + S̄ν [Silva, eq. (56)]
    [Quiroz, eq. (5.34)] [Parsa, eq. (33)].
    """
    omega, inertia = body.twist.primary, body.inertia
    force = (rate.dual + cross3(omega, body.twist.dual)) * inertia.mass
    return DQ.of(force, L3(inertia.rows, rate.primary) - cross3(L3(inertia.rows, omega), omega))


def _partial(bodies: Sequence[Center], b: Matrix | None) -> list[ByIndex]:
    """J B of every body; an absent entry of B says that a u does not move it."""
    if b is None:
        return [body.columns for body in bodies]
    columns = list(enumerate(zip(*b, strict=True)))
    return [
        {
            r: apply(list(body.columns.items()), column)
            for r, column in columns
            if any(not is_absent(column[k]) for k in body.columns)
        }
        for body in bodies
    ]
