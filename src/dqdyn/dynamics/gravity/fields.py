"""Gravity fields: what a body's potential energy is and which wrench acts on it [Parsa, section 3.2].

A field is any object with ``energy`` and ``wrench``. They see the body through its inertia, whose axes are those of the
frame at the center of mass, and through Ad(x_0c) of that frame. The wrench is at the center of mass, in its axes.
Lagrange's equations take a field themselves; every formulation takes its wrenches, see :func:`on_bodies`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol, cast

import numpy as np

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.inertia_maps import L3
from dqdyn.algebra.jet import gradient
from dqdyn.algebra.quaternion import ZERO, Quaternion, cross3, dot3, pure
from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import Scalar, divide
from dqdyn.dynamics.arguments import Scalars
from dqdyn.dynamics.formulations.mass_centers import center_poses
from dqdyn.errors import Error
from dqdyn.kinematics.center_frames import from_center
from dqdyn.model.inertia import Inertia, Vector, as_vector
from dqdyn.model.model import Model


class Field(Protocol):
    """The interface of a gravity field; the wrench is minus the gradient of the energy along every motion."""

    def energy(self, inertia: Inertia, seen: Adjoint) -> Scalar:
        """Potential energy of the body in J."""

    def wrench(self, inertia: Inertia, seen: Adjoint) -> DQ:
        """f + ετ on the body, at its center of mass, in its axes."""


@dataclass(frozen=True)
class Uniform:
    """The same acceleration g in m/s² everywhere, world axes; the energy is zero at the height of the world origin."""

    acceleration: Vector

    def __post_init__(self) -> None:
        object.__setattr__(self, "acceleration", _three(self.acceleration, "acceleration of a uniform field", "m/s²"))

    def energy(self, inertia: Inertia, seen: Adjoint) -> Scalar:
        """−m⟨c, g⟩ [Parsa, eq. (26)]."""
        return dot3(seen.p, pure(*self.acceleration)) * -inertia.mass

    def wrench(self, inertia: Inertia, seen: Adjoint) -> DQ:
        """Ad(r*) m g."""
        return DQ.of(seen.rotate_back(pure(*self.acceleration) * inertia.mass))


@dataclass(frozen=True)
class Central:
    """The field of a point mass or ball: μ = G M in m³/s², center in the world in m; zero at infinity.

    With ``gradient``, what the extent of a body adds to second order (MacCullagh): the gravity-gradient torque, and the
    change of force and energy that goes with it. Without, each body counts as a point at its center of mass.
    """

    mu: float
    center: Vector = (0.0, 0.0, 0.0)
    gradient: bool = True

    def __post_init__(self) -> None:
        if not (isinstance(self.mu, Real) and math.isfinite(self.mu) and self.mu > 0.0):
            raise Error(f"A central field needs a positive μ in m³/s²; found {self.mu!r}.", mu=self.mu)
        object.__setattr__(self, "center", _three(self.center, "center of a central field", "m"))

    def energy(self, inertia: Inertia, seen: Adjoint) -> Scalar:
        """−μ m / r − ½ μ (tr I − 3⟨n, I n⟩) / r³ with n the unit vector from the center to the body."""
        over, n = self._direction(seen)
        energy = over * (-self.mu * inertia.mass)
        if not self.gradient:
            return energy
        extent = _trace(inertia) - 3.0 * dot3(n, L3(inertia.rows, n))
        return energy - (0.5 * self.mu) * extent * (over * over * over)

    def wrench(self, inertia: Inertia, seen: Adjoint) -> DQ:
        """−μ m n / r², and with the extent of the body the torque 3μ n × I n / r³ and the force that belongs to it."""
        over, n = self._direction(seen)
        square = over * over
        force = n * (square * (-self.mu * inertia.mass))
        if not self.gradient:
            return DQ.of(force)
        turned = L3(inertia.rows, n)
        extent = n * (_trace(inertia) - 5.0 * dot3(n, turned)) + turned * 2.0
        force = force - extent * ((1.5 * self.mu) * (square * square))
        return DQ.of(force, cross3(n, turned) * ((3.0 * self.mu) * (square * over)))

    def _direction(self, seen: Adjoint) -> tuple[Scalar, Quaternion]:
        """1/r and n in the axes of the body."""
        arm = seen.p - pure(*self.center)
        over = divide(1.0, arm.norm())
        return over, seen.rotate_back(arm * over)


@dataclass(frozen=True)
class Potential:
    """A field by its potential per unit mass φ(p) in m²/s², a function over scalars of the world position [x, y, z].

    The acceleration of a body is −∇φ at its center of mass, by jets; it has no torque.
    """

    per_mass: Callable[[list[Scalar]], Scalar]

    def __post_init__(self) -> None:
        if not callable(self.per_mass):
            raise Error(
                f"A potential field needs a function φ([x, y, z]) in m²/s²; found {self.per_mass!r}.",
                per_mass=self.per_mass,
            )

    def energy(self, inertia: Inertia, seen: Adjoint) -> Scalar:
        """m φ(c)."""
        return self.per_mass(list(seen.p.vector)) * inertia.mass

    def wrench(self, inertia: Inertia, seen: Adjoint) -> DQ:
        """−m Ad(r*) ∇φ(c)."""
        slope = pure(*gradient(self.per_mass, seen.p.vector))
        return DQ.of(seen.rotate_back(slope) * -inertia.mass, ZERO)


def as_field(value: object) -> Field:
    """The value if it is a gravity field, an object with the methods energy and wrench, else an error."""
    if isinstance(value, type) or not all(callable(getattr(value, name, None)) for name in ("energy", "wrench")):
        raise Error(f"a gravity field has the methods energy and wrench, as gravity.Central(mu); found {value!r}.")
    return cast("Field", value)


def on_bodies(model: Model, q: Scalars, field: Field) -> dict[int, DQ]:
    """The field's wrench on every body, at the body's origin in its axes, as every formulation takes external ones.

    The model must then have no gravity of its own.
    """
    pairs = enumerate(zip(model.bodies, center_poses(model, q), strict=True))
    return {i: from_center(body.inertia, field.wrench(body.inertia, seen)) for i, (body, seen) in pairs}


def _three(value: Any, what: str, unit: str) -> Vector:
    try:
        array = real_array(value, what)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise Error(f"The {what} is three finite numbers in {unit}, in world axes; found {value!r}.", found=value)
    return as_vector(array)


def _trace(inertia: Inertia) -> float:
    return inertia.tensor[0][0] + inertia.tensor[1][1] + inertia.tensor[2][2]
