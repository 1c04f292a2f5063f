"""Motion of bodies by angular velocity and the acceleration of the origin, which the fast forms share.

Against twists and their rates [Silva, eq. (23)] the acceleration of the body's origin, D(ξ̇) + P(ξ) × D(ξ), takes the
place of the dual parts, and every term that is quadratic in ω goes through

    U = [ω̇]× + [ω]×[ω]×,

which gives accelerations of points as U p, the force as m p̈ + U m c, and, with the second moments Σ of the body
(half the trace minus the tensor), the moment about the origin as the skew part of U Σ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dqdyn.algebra.adjoint import Columns, Factored
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import ZERO, Quaternion, combine, cross3, pure
from dqdyn.dynamics.arguments import Scalars
from dqdyn.model.inertia import Inertia
from dqdyn.model.model import Model, TreeJoint


@dataclass(frozen=True)
class PointMotion:
    """Angular velocity and acceleration of a body, and the acceleration of its origin, all in the body's frame."""

    omega: Quaternion
    alpha: Quaternion
    acceleration: Quaternion
    u: Columns


def at_rest(model: Model) -> PointMotion:
    """The world, with gravity as an acceleration upwards."""
    gx, gy, gz = model.gravity
    return PointMotion(ZERO, ZERO, pure(-gx, -gy, -gz), (ZERO, ZERO, ZERO))


def turning(omega: Quaternion) -> PointMotion:
    """Rotation without acceleration, the source of the terms in ω²."""
    return PointMotion(omega, ZERO, ZERO, squares(omega, ZERO))


def moved(joint: TreeJoint, parent: PointMotion, q: Scalars, v: Scalars, a: Scalars) -> tuple[PointMotion, Factored]:
    """Motion of the joint's body from that of its parent, and Ad(x_parent,i)."""
    own, own_v, own_a = joint.coordinates(q), joint.rates(v), joint.rates(a)
    x = joint.transform(q)
    xi, xi_rate = joint.motion.twist(own, own_v), joint.motion.twist_rate(own, own_v, own_a)
    carried = x.rotate_back(parent.omega)
    omega = carried + xi.primary
    alpha = x.rotate_back(parent.alpha) + xi_rate.primary + cross3(carried, xi.primary)
    u = squares(omega, alpha)
    if joint.kind == "revolute":
        # A point of the axis accelerates with both bodies: from there on the lever is the body's own.
        acceleration = x.rotate_back(parent.acceleration + combine(parent.u, x.first.p)) + combine(u, x.second.p)
    else:
        # Acceleration of the joint's point on the parent, then what the joint adds to it.
        acceleration = x.rotate_back(parent.acceleration + combine(parent.u, x.p))
        acceleration = acceleration + xi_rate.dual + cross3(carried + omega, xi.dual)
    return PointMotion(omega, alpha, acceleration, u), x


def squares(omega: Quaternion, alpha: Quaternion) -> Columns:
    """Columns of [ω̇]× + [ω]×[ω]×."""
    xx, yy, zz = omega.x * omega.x, omega.y * omega.y, omega.z * omega.z
    xy, xz, yz = omega.x * omega.y, omega.x * omega.z, omega.y * omega.z
    return (
        pure(-(yy + zz), xy + alpha.z, xz - alpha.y),
        pure(xy - alpha.z, -(xx + zz), yz + alpha.x),
        pure(xz + alpha.y, yz - alpha.x, -(xx + yy)),
    )


def wrench_on(inertia: Inertia, motion: PointMotion) -> DQ:
    """f + ετ about the origin that moves the body."""
    first, second = inertia.first_moment, inertia.second_moments
    return wrench(inertia.mass, first, second, motion.acceleration, motion.omega, motion.u)


def wrench(
    mass: float, first: Quaternion, second: Sequence[Scalars], acceleration: Quaternion, omega: Quaternion, u: Columns
) -> DQ:
    """m p̈ + U m c, and the skew part of U Σ with m c × p̈; from the mass, m c and Σ."""
    force = acceleration * mass + combine(u, first)
    (a, b, c), (_, d, e), (_, _, f) = second
    # On the diagonal of U only differences count.
    xx, yy, zz = omega.x * omega.x, omega.y * omega.y, omega.z * omega.z
    u0, u1, u2 = u
    torque = pure(
        b * u0.z + d * u1.z + e * (zz - yy) - c * u0.y - f * u2.y,
        c * (xx - zz) + e * u1.x + f * u2.x - a * u0.z - b * u1.z,
        a * u0.y + b * (yy - xx) + c * u2.y - d * u1.x - e * u2.x,
    )
    return DQ.of(force, torque + cross3(first, acceleration))
