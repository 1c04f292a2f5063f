"""Forward dynamics by articulated bodies: linear in the number of joints.

A joint with several axes is eliminated axis by axis, as a chain of joints at one place, so no matrix is inverted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.functions import Adjoint, Columns, cross, zero_twist
from dqdyn.algebra.quaternion import ZERO, Quaternion, combine, cross3, dot3, pure
from dqdyn.algebra.scalar import Scalar, divide
from dqdyn.algebra.tensor import Symmetric
from dqdyn.dynamics.composite import Composite
from dqdyn.model.model import WORLD_BODY, Model


class Articulated:
    """A symmetric map from twists ω + εv to wrenches f + ετ: τ = A ω + B v, f = Bᵀω + C v."""

    __slots__ = ("a", "b", "c")

    def __init__(self, a: Symmetric, b: Columns, c: Symmetric) -> None:
        self.a, self.b, self.c = a, b, c

    @classmethod
    def of(cls, inertia: Any) -> Articulated:
        """A rigid body: A the tensor about the origin, B v = h × v, C the mass."""
        body = Composite.of(inertia)
        h, m = body.first, body.mass
        b = pure(0.0, h.z, -h.y), pure(-h.z, 0.0, h.x), pure(h.y, -h.x, 0.0)
        return cls(body.tensor, b, Symmetric(m, m, m, 0.0, 0.0, 0.0))

    def __add__(self, other: Articulated) -> Articulated:
        b = self.b[0] + other.b[0], self.b[1] + other.b[1], self.b[2] + other.b[2]
        return Articulated(self.a + other.a, b, self.c + other.c)

    def __call__(self, twist: DQ) -> DQ:
        omega, velocity = twist.primary, twist.dual
        b0, b1, b2 = self.b
        force = pure(dot3(b0, omega), dot3(b1, omega), dot3(b2, omega)) + self.c(velocity)
        return DQ.of(force, self.a(omega) + combine(self.b, velocity))

    def without(self, u: DQ, over: Scalar) -> Articulated:
        """This minus u uᵀ/D, for ``over`` = 1/D: what is felt when one axis gives way."""
        f, t = u.primary, u.dual
        wf, wt = f * -over, t * -over
        b = t * wf.x, t * wf.y, t * wf.z
        return self + Articulated(_outer(t, wt), b, _outer(f, wf))

    def seen_through(self, x: Adjoint) -> Articulated:
        """The same in the parent's frame, for Ad(x_parent,child)."""
        a, c = self.a.rotated(x.columns), self.c.rotated(x.columns)
        b = _rotated(self.b, x)
        p = x.p
        c_columns = pure(c.xx, c.xy, c.xz), pure(c.xy, c.yy, c.yz), pure(c.xz, c.yz, c.zz)
        moved = tuple(cross3(p, column) for column in c_columns)  # columns of [p]× C
        b_new = b[0] + moved[0], b[1] + moved[1], b[2] + moved[2]
        # A + [p]×Bᵀ − (B + [p]×C)[p]×: symmetric, so six entries are enough.
        left = _cross_transposed(p, b)
        right = _times_cross(b_new, p)
        extra = Symmetric(
            left[0].x - right[0].x,
            left[1].y - right[1].y,
            left[2].z - right[2].z,
            left[1].x - right[1].x,
            left[2].x - right[2].x,
            left[2].y - right[2].y,
        )
        return Articulated(a + extra, b_new, c)


def forward_dynamics(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    wrenches: Mapping[int, DQ] | None = None,
    armature: Sequence[float] | None = None,
) -> list[Scalar]:
    """The acceleration a (nv) under the generalized forces τ; no mimic joints."""
    gx, gy, gz = model.gravity
    n = len(model.joints)
    twist: dict[int, DQ] = {WORLD_BODY: zero_twist()}
    relative, drift, bodies, bias = [], [], [], []
    for i, joint in enumerate(model.joints):
        own, own_v = joint.coordinates(q), joint.rates(v)
        x = joint.transform(q)
        relative.append(x)
        joint_twist = joint.motion.twist(own, own_v)
        twist[i] = x.back(twist[joint.parent]) + joint_twist
        c = cross(twist[i], joint_twist)
        if not joint.motion.constant_subspace:
            c = c + joint.motion.twist_rate(own, own_v, [0.0] * joint.motion.nv)
        drift.append(c)
        body = Articulated.of(model.bodies[i].inertia)
        bodies.append(body)
        p = cross(twist[i], body(twist[i]))
        bias.append(p - wrenches[i] if wrenches and i in wrenches else p)
    eliminated: list[list[tuple[int, DQ, DQ, Scalar, Scalar]]] = [[] for _ in range(n)]
    for i in reversed(range(n)):
        joint = model.joints[i]
        for k, s in reversed(joint.columns(joint.motion.subspace(joint.coordinates(q)))):
            u = bodies[i](s)
            d = _on(s, u) + (armature[k] if armature else 0.0)
            over = divide(1.0, d)
            force = tau[k] - _on(s, bias[i])
            eliminated[i].append((k, s, u, over, force))
            bodies[i] = bodies[i].without(u, over)
            bias[i] = bias[i] + u * (over * force)
        if joint.parent != WORLD_BODY:
            bodies[joint.parent] = bodies[joint.parent] + bodies[i].seen_through(relative[i].second).seen_through(
                relative[i].first
            )
            bias[joint.parent] = bias[joint.parent] + relative[i](bias[i] + bodies[i](drift[i]))
    acceleration: list[Scalar] = [0.0] * model.nv
    rate: dict[int, DQ] = {WORLD_BODY: DQ.of(ZERO, pure(-gx, -gy, -gz))}
    for i, joint in enumerate(model.joints):
        own_rate = relative[i].back(rate[joint.parent]) + drift[i]
        for k, s, u, over, force in reversed(eliminated[i]):
            acceleration[k] = over * (force - _on(own_rate, u))
            own_rate = own_rate + s * acceleration[k]
        rate[i] = own_rate
    return acceleration


def _on(twist: DQ, wrench: DQ) -> Scalar:
    """Power of a wrench on a twist."""
    return dot3(twist.primary, wrench.dual) + dot3(twist.dual, wrench.primary)


def _outer(a: Quaternion, b: Quaternion) -> Symmetric:
    """a bᵀ for parallel a and b."""
    return Symmetric(a.x * b.x, a.y * b.y, a.z * b.z, a.x * b.y, a.x * b.z, a.y * b.z)


def _rotated(b: Columns, x: Adjoint) -> Columns:
    """R B Rᵀ."""
    half = x.rotate(b[0]), x.rotate(b[1]), x.rotate(b[2])
    r0, r1, r2 = x.columns
    return (
        combine(half, pure(r0.x, r1.x, r2.x)),
        combine(half, pure(r0.y, r1.y, r2.y)),
        combine(half, pure(r0.z, r1.z, r2.z)),
    )


def _cross_transposed(p: Quaternion, b: Columns) -> Columns:
    """Columns of [p]× Bᵀ: p crossed with the rows of B."""
    rows = pure(b[0].x, b[1].x, b[2].x), pure(b[0].y, b[1].y, b[2].y), pure(b[0].z, b[1].z, b[2].z)
    return cross3(p, rows[0]), cross3(p, rows[1]), cross3(p, rows[2])


def _times_cross(b: Columns, p: Quaternion) -> Columns:
    """Columns of B [p]×."""
    return (
        b[1] * p.z - b[2] * p.y,
        b[2] * p.x - b[0] * p.z,
        b[0] * p.y - b[1] * p.x,
    )
