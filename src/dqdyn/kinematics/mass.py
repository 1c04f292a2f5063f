"""Center of mass, its Jacobian, and the drift of the centroidal momentum, by sums over bodies and subtrees.

They are those of the moving bodies; what is fixed to the world counts only where nothing moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.quaternion import ZERO, Quaternion, combine, cross3
from dqdyn.algebra.scalar import Scalar, Scalars, divide, is_known_zero
from dqdyn.errors import ModelError
from dqdyn.kinematics.frames import Matrix
from dqdyn.kinematics.tree import WorldMotion, adjoints, backward
from dqdyn.model.model import Model


def center_of_mass(model: Model, q: Scalars) -> Quaternion:
    """Σ mᵢ cᵢ / Σ mᵢ in the world, in m."""
    return _weighted(model, _centers(model, adjoints(model, q)))


def center_of_mass_velocity(model: Model, q: Scalars, v: Scalars) -> Quaternion:
    """ċ in m/s."""
    motion = WorldMotion(model, q, v)
    centers = _centers(model, motion.adjoint)
    return _weighted(model, [point_velocity(motion.twist[i], c) for i, c in enumerate(centers)], constant=ZERO)


def center_of_mass_jacobian(model: Model, q: Scalars) -> Matrix:
    """J (3×nv) with ċ = J v: each axis moves the mass behind it."""
    motion = WorldMotion(model, q)
    shares, moments = _subtrees(model, _centers(model, motion.adjoint))
    result = [ZERO] * model.nv
    for i, columns in motion.columns.items():
        for k, s in columns:
            result[k] = result[k] + (s.dual * shares[i] + cross3(s.primary, moments[i]))
    return _rows(result)


def center_of_mass_jacobian_derivative(model: Model, q: Scalars, v: Scalars) -> Matrix:
    """J̇ (3×nv) along v, so that c̈ = J a + J̇ v."""
    motion = WorldMotion(model, q, v)
    centers = _centers(model, motion.adjoint)
    shares, moments = _subtrees(model, centers)
    _, moment_rates = _subtrees(model, [point_velocity(motion.twist[i], c) for i, c in enumerate(centers)])
    result = [ZERO] * model.nv
    for i, columns in motion.columns.items():
        for (k, s), (_, rate) in zip(columns, motion.rates[i], strict=True):
            turned = cross3(rate.primary, moments[i]) + cross3(s.primary, moment_rates[i])
            result[k] = result[k] + (rate.dual * shares[i] + turned)
    return _rows(result)


def centroidal_momentum_drift(model: Model, motion: WorldMotion, twist_rates: Mapping[int, DQ]) -> DQ:
    """Ȧ v as ṗ + εL̇, body by body, where ``twist_rates`` are those of the world twists without joint accelerations.

    With cᵢ the centers of mass of the bodies and c that of all, ṗ = Σ mᵢ c̈ᵢ and
    L̇ = Σ (cᵢ − c) × mᵢ c̈ᵢ + Iᵢ ω̇ᵢ + ωᵢ × Iᵢ ωᵢ.
    """
    centers = _centers(model, motion.adjoint)
    center, result = _weighted(model, centers), zero_twist()
    for i, (body, at) in enumerate(zip(model.bodies, centers, strict=True)):
        twist, ad, rows = motion.twist[i], motion.adjoint[i], body.inertia.rows
        omega, velocity = twist.primary, point_velocity(twist, at)
        force = (point_velocity(twist_rates[i], at) + cross3(omega, velocity)) * body.inertia.mass
        turned, turning = (ad.rotate(combine(rows, ad.rotate_back(w))) for w in (omega, twist_rates[i].primary))
        result = result + DQ.of(force, cross3(at - center, force) + turning + cross3(omega, turned))
    return result


def point_velocity(twist: DQ, point: Quaternion) -> Quaternion:
    """v + ω × p: velocity of a point fixed to a body with that world twist."""
    return twist.dual + cross3(twist.primary, point)


def _centers(model: Model, ad: dict[int, Adjoint]) -> list[Quaternion]:
    """Centers of mass of the bodies in the world."""
    return [ad[i].p + ad[i].rotate(body.inertia.center) for i, body in enumerate(model.bodies)]


def without_mass(model: Model) -> ModelError:
    """The error for a robot that has no center of mass."""
    text = f"{model.name!r} has no mass, so no center of mass: give its links inertias."
    return ModelError(text, model=model.name)


def _shares(model: Model) -> list[Scalar]:
    if is_known_zero(model.mass):
        raise without_mass(model)
    return [divide(body.inertia.mass, model.mass) for body in model.bodies]


def _weighted(model: Model, vectors: list[Quaternion], constant: Quaternion | None = None) -> Quaternion:
    if is_known_zero(model.mass) and model.fixed_inertia.mass:
        return model.fixed_inertia.center if constant is None else constant
    result = ZERO
    for share, vector in zip(_shares(model), vectors, strict=True):
        if not is_known_zero(share):
            result = result + vector * share
    return result


def _subtrees(model: Model, vectors: list[Quaternion]) -> tuple[list[Scalar], list[Quaternion]]:
    """Per subtree: its share of the mass, and the sum of vectors weighted by the shares."""
    if is_known_zero(model.mass) and model.fixed_inertia.mass:
        return [0.0] * len(vectors), [ZERO] * len(vectors)
    shares = _shares(model)
    own = [vector * share for vector, share in zip(vectors, shares, strict=True)]
    return backward(model, shares, lambda a, b: a + b), backward(model, own, lambda a, b: a + b)


def _rows(columns: Sequence[Quaternion]) -> Matrix:
    return [[c.vector[row] for c in columns] for row in range(3)]
