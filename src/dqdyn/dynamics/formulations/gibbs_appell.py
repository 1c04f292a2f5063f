"""Gibbs-Appell equations: generalized forces as the gradient of the energy of acceleration [Silva, section 4.4]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.scalar import Scalar, total
from dqdyn.dynamics.formulations.mass_centers import (
    Center,
    centers,
    external,
    gradient_over_bodies,
    power,
    projected,
    weights,
)
from dqdyn.model.model import Model


def gibbs_appell_function(model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]) -> Scalar:
    """S = Σ ½ν̇ᵀΨν̇ + ν̇ᵀS̄ν [Silva, eq. (51)] [Quiroz, eq. (5.24)], up to a term that does not depend on a."""
    return total([0.0, *(acceleration_energy(body, v, a) for body in centers(model, q, v))])


def acceleration_energy(body: Center, v: Sequence[Scalar], a: Sequence[Scalar]) -> Scalar:
    """The part of S that a body has."""
    rate = body.rate(v, a)
    return 0.5 * power(rate, body.momentum(rate)) + power(rate, body.gyroscopic(body.twist))


def inverse_dynamics(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    wrenches: Mapping[int, DQ] | None = None,
) -> list[Scalar]:
    """τ (nv) = ∂S/∂a − Σ (∂ν/∂v)ᵀζ over the wrenches on the bodies [Silva, eq. (50)] [Quiroz, eq. (5.22)].

    ∂S/∂a = M a + C v [Silva, eq. (52)] [Quiroz, eq. (5.26)] by running S on jets; ∂ν/∂v is the Jacobian
    [Silva, eq. (53)] [Quiroz, eq. (5.27)]. With τ̄ for the wrenches it reads ∂S/∂a = τ̄ [Quiroz, eq. (5.25)], that is
    M a + C v = τ̄ [Quiroz, eq. (5.29)]. Quasi-velocities are our v. ``wrenches`` are external ones by body, in the
    frame of the body at its origin.
    """
    found = centers(model, q, v)
    inertial = gradient_over_bodies(lambda i, x: acceleration_energy(found[i], v, x), found, a)
    acting = [w + e for w, e in zip(weights(model, found), external(found, wrenches), strict=True)]
    given = projected((c.columns for c in found), acting, model.nv)
    return [s - f for s, f in zip(inertial, given, strict=True)]
