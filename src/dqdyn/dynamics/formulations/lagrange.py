"""Lagrange's equations with every derivative in closed form, by Parsa's theorems.

Parsa's Jacobians have angular rows in the axes of the body and translational rows in world axes. With them ∂ω/∂q =
J̇_ω + ω × J_ω and ∂v/∂q = J̇_v, so no mass matrix is differentiated.

Where v is not q̇ (spherical and 6-DOF joints: v is the body twist, q holds a quaternion), coordinates are dependent and
the equations are those of [Parsa, eq. (39)]: Bᵀ times Lagrange's in q, with q̇ = B(q) v. "∂T/∂q" then is the variation
of T for a constant δπ in δq = B δπ, under which v changes too, as δ(q̇) = (δq)˙ demands: the terms of Boltzmann and
Hamel. Theorem 2 gives it the same closed form as Theorem 1 does for v = q̇.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.functions import G
from dqdyn.algebra.quaternion import ZERO, cross3
from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.formulations.mass_centers import (
    ByIndex,
    Center,
    Matrix,
    bilinear,
    center_poses,
    center_twists,
    centers,
    external,
    power,
    projected,
)
from dqdyn.dynamics.gravity.fields import Field, Uniform
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.model import Model


def inverse_dynamics(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    wrenches: Mapping[int, DQ] | None = None,
    field: Field | None = None,
) -> list[Scalar]:
    """τ (nv) = d/dt ∂T/∂v − ∂T/∂q + ∂V/∂q − Σ Jᵀw [Parsa, eq. (12)] [Parsa, eq. (28)] [Parsa, eq. (29)].

    With τ it is φ = 0 [Parsa, eq. (3)].

    ``wrenches`` are external ones by body, in the frame of the body at its origin; ``field`` is a gravity other than
    the model's, see :mod:`dqdyn.dynamics.gravity`. These are forces on the bodies: damping, friction and armature,
    which a robot's methods add, are left out.
    """
    found = centers(model, q, v)
    bodies = [_in_parsa_axes(c) for c in found]
    inertial = zip(_momentum_rate(model, bodies, v, a), _energy_gradient(model, bodies), strict=True)
    held = _gravity_forces(model, found, field)
    given = projected((c.columns for c in found), external(found, wrenches), model.nv)
    return [p - t + g - f for (p, t), g, f in zip(inertial, held, given, strict=True)]


# --- energies and their derivatives -----------------------------------------------------------------------------------


def kinetic_energy(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> Scalar:
    """T = ½ Σ ⟨ω, I ω⟩ + m⟨v, v⟩ in J [Parsa, eq. (13)]; of the bodies, without rotors."""
    result: Scalar = 0.0
    for body, twist in zip(model.bodies, center_twists(model, q, v), strict=True):
        result = result + power(twist, G(body.inertia.mass, body.inertia.rows, twist)) * 0.5
    return result


def momentum(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """∂T/∂v = Σ JᵀM J v (nv) [Parsa, eq. (19)] [Parsa, eq. (20)]."""
    found = centers(model, q, v)
    return projected((c.columns for c in found), [c.momentum(c.twist) for c in found], model.nv)


def momentum_rate(model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]) -> list[Scalar]:
    """d/dt ∂T/∂v = Σ JᵀM d/dt(J v) + J̇ᵀM J v (nv) [Parsa, eq. (22)]."""
    return _momentum_rate(model, [_in_parsa_axes(c) for c in centers(model, q, v)], v, a)


def kinetic_energy_gradient(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """∂T/∂q = Σ (J̇ + W J)ᵀM J v (nv) [Parsa, eq. (23)] [Parsa, eq. (24)]; for joints with v ≠ q̇ see the module."""
    return _energy_gradient(model, [_in_parsa_axes(c) for c in centers(model, q, v)])


def potential_energy(model: Model, q: Sequence[Scalar], field: Field | None = None) -> Scalar:
    """V = −Σ m⟨c, g⟩ in J [Parsa, eq. (26)], zero at the height of the world origin, or that of another field."""
    chosen = _field(model, field)
    result: Scalar = 0.0
    for body, seen in zip(model.bodies, center_poses(model, q), strict=True):
        result = result + chosen.energy(body.inertia, seen)
    return result


def gravity_forces(model: Model, q: Sequence[Scalar], field: Field | None = None) -> list[Scalar]:
    """g = ∂V/∂q = −f_c (nv), the forces that hold the robot against gravity [Parsa, eq. (27)]."""
    return _gravity_forces(model, centers(model, q), field)


# --- M a + C v --------------------------------------------------------------------------------------------------------


def mass_matrix(model: Model, q: Sequence[Scalar]) -> Matrix:
    """M = Σ JᵀM J (nv×nv) [Parsa, eq. (35)]; without armature."""
    columns = lambda c: {k: c.momentum(s) for k, s in c.columns.items()}
    return bilinear([_in_parsa_axes(c) for c in centers(model, q)], columns, model.nv, symmetric=True)


def coriolis_matrix(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> Matrix:
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


def velocity_gradients(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[ByIndex]:
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


def _momentum_rate(model: Model, bodies: Sequence[Center], v: Sequence[Scalar], a: Sequence[Scalar]) -> list[Scalar]:
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
