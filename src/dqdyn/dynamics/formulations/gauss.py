"""Gauss's principle of least constraint [Silva, section 4] [Quiroz, section 5.2].

Among all accelerations that the joints allow, a robot takes the one nearest to that of its bodies without joints. The
minimum of the Gauss function gives M a + C v + g = τ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.inertia_maps import L3, inertia_rows
from dqdyn.algebra.quaternion import cross3
from dqdyn.algebra.scalar import Scalar, total
from dqdyn.dynamics.arguments import Matrix, Scalars, Wrenches
from dqdyn.dynamics.formulations.mass_centers import (
    Center,
    bilinear,
    centers,
    external,
    gradient_over_bodies,
    projected,
    weights,
)
from dqdyn.dynamics.wrenches import power
from dqdyn.model.model import Model


def gauss_function(model: Model, q: Scalars, v: Scalars, a: Scalars, tau: Scalars, wrenches: Wrenches = None) -> Scalar:
    """G = Σ ½(ν̇ − ā)ᵀΨ(ν̇ − ā) − τᵀa [Silva, eq. (31)] [Quiroz, eq. (5.1)], least for the motion under τ.

    ā is the acceleration of a body without joints, in gravity. The forces τ of the joints, and external wrenches, enter
    by their virtual power: that changes (31) by a constant in a, and needs no choice of how a joint holds two bodies.
    The square is written out as in [Silva, eq. (35)] [Quiroz, eq. (5.7)], with Ψā = ζ − S̄ν [Silva, eq. (40)]
    [Quiroz, eq. (5.12)]. Where its gradient with respect to a vanishes [Silva, eq. (36)] [Quiroz, eq. (5.8)],
    M a + C v = τ̄ [Silva, eq. (42)] [Quiroz, eq. (5.14)].
    """
    bodies = centers(model, q, v)
    given = projected((c.columns for c in bodies), external(bodies, wrenches), model.nv)
    power_given = (-((t + f) * ak) for t, f, ak in zip(tau, given, a, strict=True))
    free = unconstrained(model, bodies)
    return total([0.0, *(constraint(*pair, v, a) for pair in zip(bodies, free, strict=True)), *power_given])


def constraint(body: Center, free: tuple[DQ, DQ], v: Scalars, a: Scalars) -> Scalar:
    """½(ν̇ − ā)ᵀΨ(ν̇ − ā): what a body adds to Gauss's function; ``free`` are ā and Ψā, its motion without joints."""
    rate, (alone, impressed) = body.rate(v, a), free
    varying = 0.5 * power(rate, body.momentum(rate)) - power(rate, impressed)
    return varying + 0.5 * power(alone, impressed)


def unconstrained(model: Model, bodies: Sequence[Center]) -> list[tuple[DQ, DQ]]:
    """ā and Ψā of each body; the latter without dividing by Ψ."""
    pairs = zip(bodies, weights(model, bodies), strict=True)
    return [(unconstrained_rate(body, w), w - body.gyroscopic(body.twist)) for body, w in pairs]


def unconstrained_rate(center: Center, weight: DQ) -> DQ:
    """ā = ω̇ + ε(p̈ + ṗ × ω) of the body alone [Silva, eq. (34)] [Quiroz, eq. (5.5)].

    ω̇ is from Euler's law [Silva, eq. (39)] [Quiroz, eq. (5.11)], about the axes that have inertia; p̈ is gravity's.
    """
    omega, inertia = center.twist.primary, center.inertia
    torque = weight.dual + cross3(L3(inertia.rows, omega), omega)
    inverse = inertia_rows(np.linalg.pinv(np.array(inertia.tensor), hermitian=True).tolist())
    per_mass = weight.primary * (1.0 / inertia.mass if inertia.mass else 0.0)
    return DQ.of(L3(inverse, torque), per_mass + cross3(center.twist.dual, omega))


def mass_matrix(model: Model, q: Scalars) -> Matrix:
    """M = Σ JᵀΨJ (nv×nv) [Silva, eq. (43)] [Quiroz, eq. (5.15)]: the Hessian of the Gauss function; no armature."""
    return bilinear(centers(model, q), Center.momenta, model.nv, symmetric=True)


def coriolis_matrix(model: Model, q: Scalars, v: Scalars) -> Matrix:
    """C = Σ Jᵀ(S̄J + ΨJ̇) (nv×nv) [Silva, eq. (44)] [Quiroz, eq. (5.16)].

    Ṁ − 2C is skew-symmetric for every kind of joint [Silva, eq. (49)] [Quiroz, eq. (5.21)].
    """
    columns = lambda c: {k: c.gyroscopic(s) + c.momentum(c.rates[k]) for k, s in c.columns.items()}
    return bilinear(centers(model, q, v), columns, model.nv)


def gravity_forces(model: Model, q: Scalars) -> list[Scalar]:
    """g = −τ_g (nv), the forces that hold the robot against its weight [Silva, eq. (47)] [Quiroz, eq. (5.19)]."""
    bodies = centers(model, q)
    return [-f for f in projected((c.columns for c in bodies), weights(model, bodies), model.nv)]


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """τ (nv) for which :func:`gauss_function` is least at a, by running it on jets.

    There its gradient vanishes, so the joints give the gradient of the rest, Σ JᵀΨJ a + JᵀΨJ̇ v + Φ [Silva, eq. (37)]
    [Quiroz, eq. (5.9)], and external wrenches their part of it. Written out this is M a + C v + g [Silva, eq. (48)]
    [Quiroz, eq. (5.20)] [Quiroz, algorithm 5.1], the terms of which are functions of this module.

    ``wrenches`` are external ones by body, in the frame of the body at its origin.
    """
    bodies = centers(model, q, v)
    free = unconstrained(model, bodies)
    slope = gradient_over_bodies(lambda i, x: constraint(bodies[i], free[i], v, x), bodies, a)
    given = projected((c.columns for c in bodies), external(bodies, wrenches), model.nv)
    return [s - f for s, f in zip(slope, given, strict=True)]
