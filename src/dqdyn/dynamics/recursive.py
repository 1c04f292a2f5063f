"""The cheapest inverse dynamics that we know: Newton-Euler on accelerations of points, in the frames of the bodies.

Against the recursion of [Silva, section 3] it carries the acceleration of the body's origin, D(ξ̇) + P(ξ) × D(ξ)
[Silva, eq. (23)], instead of the dual parts of twist and rate, and writes every term that is quadratic in ω through

    U = [ω̇]× + [ω]×[ω]×,

which gives accelerations of points as U p, the force as m p̈ + U m c, and, with the second moments Σ of the body
(half the trace minus the tensor), the moment about the origin as the skew part of U Σ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.functions import Columns, Factored
from dqdyn.algebra.quaternion import ZERO, Quaternion, combine, cross3, dot3, pure
from dqdyn.algebra.scalar import Scalar
from dqdyn.model.inertia import Inertia
from dqdyn.model.model import WORLD_BODY, Model


@dataclass(frozen=True)
class PointMotion:
    """Angular velocity and acceleration of a body, and the acceleration of its origin, all in the body's frame."""

    omega: Quaternion
    alpha: Quaternion
    acceleration: Quaternion
    u: Columns


def inverse_dynamics(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    wrenches: Mapping[int, DQ] | None = None,
) -> list[Scalar]:
    """τ (nv) that gives the acceleration a at (q, v); external wrenches by body, at its origin, in its axes."""
    motion, relative = point_motions(model, q, v, a)
    total = []
    for i, body in enumerate(model.bodies):
        wrench = _wrench(body.inertia, motion[i])
        total.append(wrench - wrenches[i] if wrenches and i in wrenches else wrench)
    tau: list[Scalar] = [0.0] * model.nv
    for i in reversed(range(len(total))):
        joint = model.joints[i]
        for k, s in joint.columns(joint.motion.subspace(joint.coordinates(q))):
            tau[k] = tau[k] + (dot3(s.primary, total[i].dual) + dot3(s.dual, total[i].primary))
        if joint.parent != WORLD_BODY:
            total[joint.parent] = total[joint.parent] + relative[i](total[i])
    return tau


def point_motions(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]
) -> tuple[dict[int, PointMotion], list[Factored]]:
    """Motion of every body, gravity as an acceleration of the world, and the maps Ad(x_parent,i)."""
    gx, gy, gz = model.gravity
    motion = {WORLD_BODY: PointMotion(ZERO, ZERO, pure(-gx, -gy, -gz), (ZERO, ZERO, ZERO))}
    relative = []
    for i, joint in enumerate(model.joints):
        own, own_v, own_a = joint.coordinates(q), joint.rates(v), joint.rates(a)
        x = joint.transform(q)
        relative.append(x)
        parent = motion[joint.parent]
        xi, xi_rate = joint.motion.twist(own, own_v), joint.motion.twist_rate(own, own_v, own_a)
        carried = x.rotate_back(parent.omega)
        omega = carried + xi.primary
        alpha = x.rotate_back(parent.alpha) + xi_rate.primary + cross3(carried, xi.primary)
        # Acceleration of the joint's point on the parent, then what the joint adds to it.
        acceleration = x.rotate_back(parent.acceleration + combine(parent.u, x.p))
        acceleration = acceleration + xi_rate.dual + cross3(carried + omega, xi.dual)
        motion[i] = PointMotion(omega, alpha, acceleration, _u(omega, alpha))
    return motion, relative


def _u(omega: Quaternion, alpha: Quaternion) -> Columns:
    """Columns of [ω̇]× + [ω]×[ω]×."""
    xx, yy, zz = omega.x * omega.x, omega.y * omega.y, omega.z * omega.z
    xy, xz, yz = omega.x * omega.y, omega.x * omega.z, omega.y * omega.z
    return (
        pure(-(yy + zz), xy + alpha.z, xz - alpha.y),
        pure(xy - alpha.z, -(xx + zz), yz + alpha.x),
        pure(xz + alpha.y, yz - alpha.x, -(xx + yy)),
    )


def _wrench(inertia: Inertia, motion: PointMotion) -> DQ:
    """f + ετ about the origin that moves the body: m p̈ + U m c, and the skew part of U Σ with m c × p̈."""
    first = inertia.first_moment
    force = motion.acceleration * inertia.mass + combine(motion.u, first)
    u0, u1, u2 = motion.u
    s = inertia.second_moments

    def product(row: str, column: int) -> Scalar:
        """An entry of U Σ."""
        return getattr(u0, row) * s[0][column] + getattr(u1, row) * s[1][column] + getattr(u2, row) * s[2][column]

    torque = pure(
        product("z", 1) - product("y", 2), product("x", 2) - product("z", 0), product("y", 0) - product("x", 1)
    )
    return DQ.of(force, torque + cross3(first, motion.acceleration))
