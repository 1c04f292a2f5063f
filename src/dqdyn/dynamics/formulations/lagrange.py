"""Lagrange's equations with every derivative in closed form, by Parsa's theorems.

Parsa's Jacobians have angular rows in the axes of the body and translational rows in world axes. With them ∂ω/∂q =
J̇_ω + ω × J_ω and ∂v/∂q = J̇_v, so no mass matrix is differentiated.

Where v is not q̇ (spherical and 6-DOF joints: v is the body twist, q holds a quaternion), coordinates are dependent and
the equations are those of [Parsa, eq. (39)]: Bᵀ times Lagrange's in q, with q̇ = B(q) v. "∂T/∂q" then is the variation
of T for a constant δπ in δq = B δπ, under which v changes too, as δ(q̇) = (δq)˙ demands: the terms of Boltzmann and
Hamel. Theorem 2 gives it the same closed form as Theorem 1 does for v = q̇.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import ZERO, cross3
from dqdyn.algebra.scalar import Scalar, total
from dqdyn.dynamics.arguments import Matrix, Scalars, Wrenches
from dqdyn.dynamics.formulations.mass_centers import (
    ByIndex,
    Center,
    bilinear,
    center_poses,
    centers,
    external,
    projected,
)
from dqdyn.dynamics.gravity.fields import Field, Uniform
from dqdyn.dynamics.wrenches import power
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.model import Model


def inverse_dynamics(
    model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None, field: Field | None = None
) -> list[Scalar]:
    """τ (nv) = d/dt ∂T/∂v − ∂T/∂q + ∂V/∂q − Σ Jᵀw [Parsa, eq. (12)] [Parsa, eq. (28)] [Parsa, eq. (29)].

    With τ it is φ = 0 [Parsa, eq. (3)].

    ``wrenches`` are external ones by body, in the frame of the body at its origin; ``field`` is a gravity other than
    the model's, see :mod:`dqdyn.dynamics.gravity`. These are forces on the bodies: damping, friction and armature,
    which a robot's methods add, are left out.
    """
    bodies = centers(model, q, v)
    turned = [_in_parsa_axes(c) for c in bodies]
    inertial = zip(_momentum_rate(model, turned, v, a), _energy_gradient(model, turned), strict=True)
    held = _gravity_forces(model, bodies, field)
    given = projected((c.columns for c in bodies), external(bodies, wrenches), model.nv)
    return [p - t + g - f for (p, t), g, f in zip(inertial, held, given, strict=True)]


# --- energies and their derivatives -----------------------------------------------------------------------------------


def kinetic_energy(model: Model, q: Scalars, v: Scalars) -> Scalar:
    """T = ½ Σ ⟨ω, I ω⟩ + m⟨v, v⟩ in J [Parsa, eq. (13)]; of the bodies, without rotors."""
    return total([0.0, *(power(c.twist, c.momentum(c.twist)) * 0.5 for c in centers(model, q, v))])


def momentum(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """∂T/∂v = Σ JᵀM J v (nv) [Parsa, eq. (19)] [Parsa, eq. (20)]."""
    bodies = centers(model, q, v)
    return projected((c.columns for c in bodies), [c.momentum(c.twist) for c in bodies], model.nv)


def momentum_rate(model: Model, q: Scalars, v: Scalars, a: Scalars) -> list[Scalar]:
    """d/dt ∂T/∂v = Σ JᵀM d/dt(J v) + J̇ᵀM J v (nv) [Parsa, eq. (22)]."""
    return _momentum_rate(model, [_in_parsa_axes(c) for c in centers(model, q, v)], v, a)


def kinetic_energy_gradient(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """∂T/∂q = Σ (J̇ + W J)ᵀM J v (nv) [Parsa, eq. (23)] [Parsa, eq. (24)]; for joints with v ≠ q̇ see the module."""
    return _energy_gradient(model, [_in_parsa_axes(c) for c in centers(model, q, v)])


def potential_energy(model: Model, q: Scalars, field: Field | None = None) -> Scalar:
    """V = −Σ m⟨c, g⟩ in J [Parsa, eq. (26)], zero at the height of the world origin, or that of another field."""
    chosen = _field(model, field)
    pairs = zip(model.bodies, center_poses(model, q), strict=True)
    return total([0.0, *(chosen.energy(body.inertia, seen) for body, seen in pairs)])


def gravity_forces(model: Model, q: Scalars, field: Field | None = None) -> list[Scalar]:
    """g = ∂V/∂q = −f_c (nv), the forces that hold the robot against gravity [Parsa, eq. (27)]."""
    return _gravity_forces(model, centers(model, q), field)


# --- M a + C v --------------------------------------------------------------------------------------------------------


def mass_matrix(model: Model, q: Scalars) -> Matrix:
    """M = Σ JᵀM J (nv×nv) [Parsa, eq. (35)]; without armature."""
    return bilinear([_in_parsa_axes(c) for c in centers(model, q)], Center.momenta, model.nv, symmetric=True)


def coriolis_matrix(model: Model, q: Scalars, v: Scalars) -> Matrix:
    """C = Σ Jᵀ(M J̇ + W M J + M W J) (nv×nv) [Parsa, eq. (36)], with W = blkdiag([ω×], 0) [Parsa, eq. (25)].

    M a + C v = f [Parsa, eq. (38)], where C v is the h of [Parsa, eq. (34)]. The last term vanishes on v
    [Parsa, eq. (37)] and makes Ṁ − 2C skew-symmetric.
    """

    def columns(c: Center) -> ByIndex:
        omega, result = c.twist.primary, {}
        for k, s in c.columns.items():
            wmj = DQ.of(ZERO, cross3(omega, c.momentum(s).dual))
            mwj = c.momentum(DQ.of(cross3(omega, s.primary)))
            result[k] = c.momentum(c.rates[k]) + wmj + mwj
        return result

    return bilinear([_in_parsa_axes(c) for c in centers(model, q, v)], columns, model.nv)


# --- steps ------------------------------------------------------------------------------------------------------------


def velocity_gradients(model: Model, q: Scalars, v: Scalars) -> list[ByIndex]:
    """∂ω/∂q + ε ∂v/∂q of every body in Parsa's axes, by index into v [Parsa, theorem 1] [Parsa, theorem 2].

    Where v is not q̇ they are the projections Bᵀ ∂ω/∂q, Bᵀ ∂v/∂q [Parsa, eq. (41)].
    """
    return [_velocity_gradient(_in_parsa_axes(c)) for c in centers(model, q, v)]


def _velocity_gradient(c: Center) -> ByIndex:
    """J̇_ω + ω × J_ω [Parsa, eq. (17)] [Parsa, eq. (40)], and J̇_v [Parsa, eq. (18)].

    In world axes the sign of the product changes (A-6).
    """
    omega = c.twist.primary
    return {k: r + DQ.of(cross3(omega, c.columns[k].primary)) for k, r in c.rates.items()}


def _in_parsa_axes(c: Center) -> Center:
    """ω stays in the axes of the body, v turns into world axes [Parsa, eq. (16)] [Parsa, eq. (21)].

    The rate of R v is R(v̇ + ω × v): with it J̇ is that of [Parsa, eq. (14)] and [Parsa, eq. (15)].
    """
    omega, turn = c.twist.primary, c.seen.rotate
    columns = {k: DQ.of(s.primary, turn(s.dual)) for k, s in c.columns.items()}
    rates = {k: DQ.of(r.primary, turn(r.dual + cross3(omega, c.columns[k].dual))) for k, r in c.rates.items()}
    return replace(c, twist=DQ.of(omega, turn(c.twist.dual)), columns=columns, rates=rates)


def _momentum_rate(model: Model, bodies: Sequence[Center], v: Scalars, a: Scalars) -> list[Scalar]:
    forces = projected((c.columns for c in bodies), [c.momentum(c.rate(v, a)) for c in bodies], model.nv)
    turning = projected((c.rates for c in bodies), [c.momentum(c.twist) for c in bodies], model.nv)
    return [f + t for f, t in zip(forces, turning, strict=True)]


def _energy_gradient(model: Model, bodies: Sequence[Center]) -> list[Scalar]:
    return projected((_velocity_gradient(c) for c in bodies), [c.momentum(c.twist) for c in bodies], model.nv)


def _gravity_forces(model: Model, bodies: Sequence[Center], field: Field | None) -> list[Scalar]:
    chosen = _field(model, field)
    acting = [chosen.wrench(c.inertia, c.seen) for c in bodies]
    return [-f for f in projected((c.columns for c in bodies), acting, model.nv)]


def _field(model: Model, field: Field | None) -> Field:
    if field is not None:
        return field
    own = model.gravity
    return own.field if isinstance(own, FieldGravity) else Uniform(own)
