"""Forward dynamics by articulated bodies: linear in the number of joints.

A joint with several axes is eliminated axis by axis, as a chain of joints at one place, so no matrix is inverted.
"""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.algebra.adjoint import Adjoint, Columns, Factored
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import ZERO, Quaternion, combine, cross3, dot3, pure
from dqdyn.algebra.scalar import Scalar, divide, is_known_zero
from dqdyn.algebra.tensor import Symmetric, legs, rotated
from dqdyn.dynamics.arguments import Scalars, Wrenches
from dqdyn.dynamics.fast.composite import Composite
from dqdyn.dynamics.fast.point_accelerations import PointMotion, at_rest, moved, turning, wrench_on
from dqdyn.dynamics.wrenches import power
from dqdyn.kinematics.tree import closing
from dqdyn.model.inertia import Inertia
from dqdyn.model.model import WORLD_BODY, Model


class Articulated:
    """A symmetric map from twists ω + εv to wrenches f + ετ: τ = A ω + B v, f = Bᵀω + C v."""

    __slots__ = ("a", "b", "c")

    def __init__(self, a: Symmetric, b: Columns, c: Symmetric) -> None:
        self.a, self.b, self.c = a, b, c

    @classmethod
    def of(cls, inertia: Inertia) -> Articulated:
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

    def without(self, u: DQ, over: Scalar, free: DQ | None = None) -> Articulated:
        """This minus u uᵀ/D, for ``over`` = 1/D: the inertia that is left when one axis is free.

        ``free`` is that axis where nothing else resists: then no wrench along it is left, and its zeros are exact.
        """
        f, t = u.primary, u.dual
        wf, wt = f * -over, t * -over
        b = t * wf.x, t * wf.y, t * wf.z
        left = self + Articulated(_outer(t, wt), b, _outer(f, wf))
        if free is None:
            return left
        turning, sliding = _along(free.primary), _along(free.dual)
        if turning is not None and _is_zero(free.dual):
            b0, b1, b2 = (_cleared(column, turning) for column in left.b)
            return Articulated(left.a.cleared(turning), (b0, b1, b2), left.c)
        if sliding is not None and _is_zero(free.primary):
            b0, b1, b2 = (ZERO if k == sliding else column for k, column in enumerate(left.b))
            return Articulated(left.a, (b0, b1, b2), left.c.cleared(sliding))
        return left  # a screw: force and torque along it balance, and neither of them vanishes

    def seen_through(self, x: Adjoint) -> Articulated:
        """The same in the parent's frame, for Ad(x_parent,child)."""
        before, after = legs(x)
        moved = self.moved(before)
        turned = Articulated(moved.a.rotated(x.columns), rotated(moved.b, x.columns), moved.c.rotated(x.columns))
        return turned.moved(after)

    def moved(self, p: Quaternion) -> Articulated:
        """The same with the body moved by p."""
        a, b, c = self.a, self.b, self.c
        c_columns = pure(c.xx, c.xy, c.xz), pure(c.xy, c.yy, c.yz), pure(c.xz, c.yz, c.zz)
        added = tuple(cross3(p, column) for column in c_columns)  # columns of [p]× C
        b_new = b[0] + added[0], b[1] + added[1], b[2] + added[2]
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
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    wrenches: Wrenches = None,
    armature: Sequence[float] | None = None,
) -> list[Scalar]:
    """The acceleration a (nv) under the generalized forces τ; no mimic joints.

    Motion is that of points: angular acceleration and acceleration of the origin, linear in a, with a ``drift`` and a
    ``bias`` that come from ω alone.
    """
    n = len(model.joints)
    motion = {WORLD_BODY: PointMotion(ZERO, ZERO, ZERO, (ZERO, ZERO, ZERO))}
    relative: list[Factored] = []
    bodies = [Articulated.of(body.inertia) for body in model.bodies]
    bias: list[DQ] = []
    eliminated: list[list[tuple[int, DQ, DQ, Scalar, Scalar]]] = [[] for _ in range(n)]
    drift: list[DQ] = []

    def eliminate(i: int) -> None:
        """Eliminate the axes of joint i, and add what is left of its subtree to the parent."""
        joint = model.joints[i]
        for k, s in reversed(joint.columns(joint.motion.subspace(joint.coordinates(q)))):
            u = bodies[i](s)
            d = power(s, u) + (armature[k] if armature else 0.0)
            over = divide(1.0, d)
            force = tau[k] - power(s, bias[i])
            eliminated[i].append((k, s, u, over, force))
            bodies[i] = bodies[i].without(u, over, s if armature is None or is_known_zero(armature[k]) else None)
            bias[i] = bias[i] + u * (over * force)
        if joint.parent != WORLD_BODY:
            x = relative[i]
            bodies[joint.parent] = bodies[joint.parent] + bodies[i].seen_through(x.second).seen_through(x.first)
            bias[joint.parent] = bias[joint.parent] + x(bias[i] + bodies[i](drift[i]))

    for i, (joint, done) in enumerate(zip(model.joints, closing(model), strict=True)):
        carried, x = moved(joint, motion[joint.parent], q, v, [0.0] * model.nv)
        relative.append(x)
        drift.append(DQ.of(carried.alpha, carried.acceleration))
        motion[i] = turning(carried.omega)
        wrench = wrench_on(model.bodies[i].inertia, motion[i])
        bias.append(wrench - wrenches[i] if wrenches and i in wrenches else wrench)
        for k in done:
            eliminate(k)
    acceleration: list[Scalar] = [0.0] * model.nv
    rate: dict[int, DQ] = {WORLD_BODY: DQ.of(ZERO, at_rest(model).acceleration)}
    for i, joint in enumerate(model.joints):
        own_rate = relative[i].back(rate[joint.parent]) + drift[i]
        for k, s, u, over, force in reversed(eliminated[i]):
            acceleration[k] = over * (force - power(own_rate, u))
            own_rate = own_rate + s * acceleration[k]
        rate[i] = own_rate
    return acceleration


def _along(a: Quaternion) -> int | None:
    """The coordinate axis on which a lies, for a constant unit vector; None for any other vector, zero or not."""
    known = [isinstance(e, float) for e in a.vector]
    size = [abs(e) for e in a.vector] if all(known) else []
    return size.index(1.0) if sorted(size) == [0.0, 0.0, 1.0] else None


def _is_zero(a: Quaternion) -> bool:
    """Whether a is zero in every state."""
    return all(isinstance(e, float) and e == 0.0 for e in a.vector)


def _cleared(a: Quaternion, axis: int) -> Quaternion:
    return pure(*(0.0 if k == axis else e for k, e in enumerate(a.vector)))


def _outer(a: Quaternion, b: Quaternion) -> Symmetric:
    """a bᵀ for parallel a and b."""
    return Symmetric(a.x * b.x, a.y * b.y, a.z * b.z, a.x * b.y, a.x * b.z, a.y * b.z)


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
