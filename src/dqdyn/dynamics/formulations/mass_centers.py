"""Kinematics of the centers of mass: what Gauss, Gibbs-Appell, Kane and Lagrange build their equations from.

Each body has a frame at its center of mass with the axes of the body. There its inertia is Ψ = blkdiag(I, m), and laws
of motion have no transport terms. Twists ω + εv and wrenches f + ετ are those of that frame, in its axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.inertia_maps import L3, G
from dqdyn.algebra.jet import gradient
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import I, J, K, cross3, pure
from dqdyn.algebra.scalar import Scalar, total
from dqdyn.dynamics.arguments import Matrix, Scalars, Wrenches
from dqdyn.dynamics.wrenches import power
from dqdyn.kinematics.center_frames import to_center
from dqdyn.kinematics.tree import added, apply, forward
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.inertia import Inertia
from dqdyn.model.model import WORLD_BODY, Model, TreeJoint

ByIndex = dict[int, DQ]
"""A twist or wrench per index into v; an index that does not move the body is absent."""


@dataclass(frozen=True)
class Center:
    """The center of mass c of a body at a state: Ad(x_0c), its twist ν = J v, J and J̇ by columns."""

    inertia: Inertia
    seen: Adjoint
    twist: DQ
    columns: ByIndex
    rates: ByIndex

    def rate(self, v: Scalars, a: Scalars) -> DQ:
        """ν̇ = J a + J̇ v [Silva, eq. (33)] [Quiroz, eq. (5.3)]."""
        return apply(list(self.columns.items()), a) + apply(list(self.rates.items()), v)

    def momentum(self, twist: DQ) -> DQ:
        """Ψ ξ with Ψ = blkdiag(I, m): m v + ε I ω [Quiroz, eq. (5.6)]."""
        return G(self.inertia.mass, self.inertia.rows, twist)

    def momenta(self) -> ByIndex:
        """Ψ J by columns."""
        return {k: self.momentum(s) for k, s in self.columns.items()}

    def gyroscopic(self, twist: DQ) -> DQ:
        """S̄ ξ with S̄ = blkdiag(−S(I ω), m S(ω)) at the body's own ω [Silva, eq. (41)] [Quiroz, eq. (5.13)]."""
        omega = self.twist.primary
        spin = L3(self.inertia.rows, omega)
        return DQ.of(cross3(omega, twist.dual) * self.inertia.mass, -cross3(spin, twist.primary))


def centers(model: Model, q: Scalars, v: Scalars | None = None) -> list[Center]:
    """The centers of mass of all bodies: ν = J v [Silva, eq. (32)] [Quiroz, eq. (5.2)]; without v no rates.

    Columns are carried from body to body: d/dt (Ad(x*) s) = Ad(x*) ṡ − ξ × Ad(x*) s [Silva, eq. (9)].
    """
    relative = [joint.adjoint(q) for joint in model.joints]
    poses, twists = _chained(model, relative), _carried(model, relative, q, v)
    columns: dict[int, ByIndex] = {WORLD_BODY: {}}
    rates: dict[int, ByIndex] = {WORLD_BODY: {}}
    for i, joint in enumerate(model.joints):
        own, x, parent = joint.coordinates(q), relative[i], joint.parent
        carried = {k: x.back(s) for k, s in columns[parent].items()}
        columns[i] = added([*carried.items(), *joint.columns(joint.motion.subspace(own))])
        if v is not None:
            xi = _joint_twist(joint, q, v)
            moved = [(k, x.back(rates[parent][k]) - cross(xi, s)) for k, s in carried.items()]
            rates[i] = added([*moved, *joint.columns(joint.motion.subspace_rate(own, joint.rates(v)))])
    return [
        Center(
            body.inertia,
            _placed(poses[i], body.inertia),
            to_center(body.inertia, twists[i]),
            _moved(columns[i], body.inertia),
            _moved(rates.get(i, {}), body.inertia),
        )
        for i, body in enumerate(model.bodies)
    ]


def center_poses(model: Model, q: Scalars) -> list[Adjoint]:
    """Ad(x_0c) of all bodies."""
    poses = _chained(model, [joint.adjoint(q) for joint in model.joints])
    return [_placed(poses[i], body.inertia) for i, body in enumerate(model.bodies)]


# --- wrenches and generalized forces --------------------------------------------------------------------------------


def gradient_over_bodies(
    term: Callable[[int, list[Scalar]], Scalar], bodies: Sequence[Center], at: Scalars
) -> list[Scalar]:
    """∂/∂a Σ term(i, a) over the bodies, by jets: each term is differentiated by what moves its body, the rest is 0."""
    result: list[Scalar] = [0.0] * len(at)
    for i, body in enumerate(bodies):
        own = list(body.columns)

        def of_own(x: list[Scalar], i: int = i, own: list[int] = own) -> Scalar:
            a = list(at)
            for k, entry in zip(own, x, strict=True):
                a[k] = entry
            return term(i, a)

        for k, slope in zip(own, gradient(of_own, [at[k] for k in own]), strict=True):
            result[k] = result[k] + slope
    return result


def weights(model: Model, bodies: Sequence[Center]) -> list[DQ]:
    """The wrench of gravity on each body: Ad(r*) m g, no moment; or that of the robot's gravity field."""
    if isinstance(model.gravity, FieldGravity):
        return [model.gravity.field.wrench(c.inertia, c.seen) for c in bodies]
    g = pure(*model.gravity)
    return [DQ.of(c.seen.rotate_back(g) * c.inertia.mass) for c in bodies]


def external(bodies: Sequence[Center], wrenches: Wrenches) -> list[DQ]:
    """External wrenches, given at the origins of the bodies, brought to the centers of mass."""
    given = wrenches or {}
    return [to_center(c.inertia, given[i]) if i in given else zero_twist() for i, c in enumerate(bodies)]


def acting(model: Model, bodies: Sequence[Center], wrenches: Wrenches) -> list[DQ]:
    """Gravity and external wrenches on each body."""
    return [w + e for w, e in zip(weights(model, bodies), external(bodies, wrenches), strict=True)]


def projected(jacobians: Iterable[ByIndex], wrenches: Iterable[DQ], size: int) -> list[Scalar]:
    """Σ Jᵀζ: wrenches on the bodies as generalized forces [Silva, eq. (45)] [Quiroz, eq. (5.17)] [Parsa, eq. (4)].

    With w for ζ it is [Parsa, eq. (31)].
    """
    result: list[Scalar] = [0.0] * size
    for columns, wrench in zip(jacobians, wrenches, strict=True):
        for k, s in columns.items():
            result[k] = result[k] + power(s, wrench)
    return result


def bilinear(
    bodies: Iterable[Center], right: Callable[[Center], ByIndex], size: int, symmetric: bool = False
) -> Matrix:
    """Σ JᵀX for the wrenches X per unit of each velocity; of a symmetric result one half is computed."""
    result: Matrix = [[0.0] * size for _ in range(size)]
    for body in bodies:
        for k, wrench in right(body).items():
            for r, s in body.columns.items():
                if r <= k or not symmetric:
                    result[r][k] = result[r][k] + power(s, wrench)
    if symmetric:
        for r in range(size):
            for k in range(r):
                result[r][k] = result[k][r]
    return result


def row_times(row: Scalars, x: Scalars) -> Scalar:
    """Σ rowₖ xₖ."""
    return total(r * xk for r, xk in zip(row, x, strict=True))


# --- steps ------------------------------------------------------------------------------------------------------------


def _moved(columns: ByIndex, inertia: Inertia) -> ByIndex:
    return {k: to_center(inertia, s) for k, s in columns.items()}


def _placed(seen: Adjoint, inertia: Inertia) -> Adjoint:
    return Adjoint.of(seen.columns, seen.p + seen.rotate(inertia.center))


def _chained(model: Model, relative: Sequence[Adjoint]) -> dict[int, Adjoint]:
    return forward(model, Adjoint.of((I, J, K)), lambda joint, seen: seen @ relative[joint.index])


def _carried(model: Model, relative: Sequence[Adjoint], q: Scalars, v: Scalars | None) -> dict[int, DQ]:
    """Twists of the bodies in their frames; zero without v."""
    if v is None:
        return {i: zero_twist() for i in range(len(model.bodies))}
    return forward(
        model, zero_twist(), lambda joint, twist: relative[joint.index].back(twist) + _joint_twist(joint, q, v)
    )


def _joint_twist(joint: TreeJoint, q: Scalars, v: Scalars) -> DQ:
    return joint.motion.twist(joint.coordinates(q), joint.rates(v))
