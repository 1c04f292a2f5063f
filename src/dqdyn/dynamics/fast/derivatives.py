"""Derivatives of inverse dynamics with respect to q (tangent), v and a: analytic and recursive.

Moving along an axis S carries the subtree behind the joint as one rigid body. So three sums over that subtree are
enough: its inertia, the force f that moves it, and the map 2B by which the velocity-dependent force changes. With P
= ξ_parent × S and R = ξ̇_parent × S + ξ_parent × P, for a joint i and a joint j on its path to the root:

    ∂τ_i/∂q_j = ⟨S_i, 2B_i P_j + I_i R_j⟩            ∂τ_j/∂q_i = ⟨S_j, 2B_i P_i + I_i R_i + S_i × f_i⟩
    ∂τ_i/∂v_j = ⟨S_i, 2B_i S_j + I_i (P_j + Ṡ_j)⟩    ∂τ_j/∂v_i = ⟨S_j, 2B_i S_i + I_i (P_i + Ṡ_i)⟩

(Singh, Russell and Wensing 2022, there with 6×6 matrices.) B is that of :mod:`dqdyn.dynamics.fast.velocity_map`. R
follows from the accelerations of points of the parent, see :mod:`dqdyn.dynamics.fast.point_accelerations`.

All of this holds in any frames, see :mod:`dqdyn.dynamics.fast.body_frames`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import ZERO, Quaternion, combine, cross3, dot3, pure
from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.arguments import Matrix, Scalars
from dqdyn.dynamics.fast.body_frames import BodyFrames
from dqdyn.dynamics.fast.composite import Composite
from dqdyn.dynamics.fast.jet_derivatives import differentiated
from dqdyn.dynamics.fast.point_accelerations import squares, wrench
from dqdyn.dynamics.fast.velocity_map import VelocityMap
from dqdyn.dynamics.joint_forces import armature, damping, stiffness, turning_derivative
from dqdyn.dynamics.wrenches import power
from dqdyn.kinematics.tree import apply, closing
from dqdyn.model.model import WORLD_BODY, Model
from dqdyn.model.split import split


@dataclass(frozen=True)
class Subtree:
    """Sums over a subtree: inertia, force f + ετ, and the map 2B."""

    inertia: Composite
    force: DQ
    twice: VelocityMap

    def __add__(self, other: Subtree) -> Subtree:
        return Subtree(self.inertia + other.inertia, self.force + other.force, self.twice + other.twice)

    def seen_through(self, x: Adjoint) -> Subtree:
        """The same in the parent's frame."""
        return Subtree(self.inertia.seen_through(x), x(self.force), self.twice.seen_through(x))


@dataclass(frozen=True)
class Axis:
    """One velocity of a joint: its index, S, P, R and Ṡ + P."""

    k: int
    s: DQ
    p: DQ
    r: DQ
    turning: DQ


def inverse_dynamics_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, from_root: bool = True
) -> tuple[Matrix, Matrix, Matrix]:
    """∂τ/∂q (tangent), ∂τ/∂v, ∂τ/∂a = M, each nv×nv by rows."""
    model = split(model)
    constant = all(joint.motion.constant_subspace for joint in model.joints)
    d_dq, d_dv, d_da = _of_bodies(model, q, v, a, from_root) if constant else differentiated(model, q, v, a)
    for k, (r, d, s) in enumerate(zip(armature(model), damping(model), stiffness(model), strict=True)):
        d_da[k][k], d_dv[k][k], d_dq[k][k] = d_da[k][k] + r, d_dv[k][k] + d, d_dq[k][k] + s
    for row, column, change in turning_derivative(model, v):
        _add(d_dv, row, column, change)
    return d_dq, d_dv, d_da


def _of_bodies(model: Model, q: Scalars, v: Scalars, a: Scalars, from_root: bool) -> tuple[Matrix, Matrix, Matrix]:
    """The derivatives without what the joints themselves contribute."""
    d_dq, d_dv, d_da = (_zeros(model.nv) for _ in range(3))
    frames = BodyFrames(model, q, from_root)
    bodies = _Bodies(frames, v, a)
    for i in bodies.closed():
        for own, (back, momentum, by_q, by_v) in zip(bodies.axes[i], bodies.changes[i], strict=True):
            row = own.k
            j = i
            while True:
                for other in bodies.axes[j]:
                    column = other.k
                    m = power(other.s, momentum)
                    _add(d_dq, row, column, dot3(back, other.p.primary) + power(other.r, momentum))
                    _add(d_dv, row, column, dot3(back, other.s.primary) + power(other.turning, momentum))
                    _add(d_da, row, column, m)
                    if j != i:  # the axes of one joint turn with each other, so the first formula holds both ways
                        _add(d_dq, column, row, power(other.s, by_q))
                        _add(d_dv, column, row, power(other.s, by_v))
                        _add(d_da, column, row, m)
                if model.joints[j].parent == WORLD_BODY:
                    break
                back, momentum = frames.rotated_up(j, back), frames.up(j, momentum)
                by_q, by_v = frames.up(j, by_q), frames.up(j, by_v)
                j = model.joints[j].parent
    return d_dq, d_dv, d_da


def inverse_dynamics_derivatives_in_bodies(
    model: Model, q: Scalars, v: Scalars, a: Scalars
) -> tuple[Matrix, Matrix, Matrix]:
    """The same, computed in the frames of the bodies."""
    return inverse_dynamics_derivatives(model, q, v, a, from_root=False)


class _Bodies:
    """What the derivatives need of each body, in the order of the joints."""

    def __init__(self, frames: BodyFrames, v: Scalars, a: Scalars) -> None:
        self.frames, self.model, self.v, self.a = frames, frames.model, v, a
        self.columns: list[list[tuple[int, DQ]]] = []  # (k, S)
        self.turned: list[list[tuple[int, DQ]]] = []  # (k, P)
        self.twists: list[DQ] = []
        self.rates: list[DQ] = []
        self.parents: list[DQ] = []  # their twists
        self.parent_rates: list[DQ] = []
        self.motion: list[FrameMotion] = []
        self.axes: list[list[Axis]] = []
        self.inertias: list[Composite] = []
        self.sums: list[Subtree] = []
        self.changes: dict[int, list[tuple[Quaternion, DQ, DQ, DQ]]] = {}

    def closed(self) -> Iterator[int]:
        """Each joint as soon as the sums over its subtree are complete.

        In the frame of the root body each step is done for all bodies before the next one: bodies then have formulas
        in common, and compiled code treats several of them at a time.
        """
        joints = range(len(self.model.joints))
        out = (self._enter, self._turn, self._accelerate, self._derive, self._weigh, self._sum)
        if self.frames.from_root:
            for step in out:
                for i in joints:
                    step(i)
            for i in reversed(joints):
                self._close(i)
            for i in reversed(joints):
                self._change(i)
            yield from reversed(joints)
            return
        for i, done in zip(joints, closing(self.model), strict=True):
            for step in out:
                step(i)
            for k in done:
                self._change(k)
                yield k
                self._close(k)

    def _enter(self, i: int) -> None:
        """S and the twist."""
        joint, x = self.model.joints[i], self.frames.enter(self.model.joints[i])
        self.columns.append(joint.columns([x(s) for s in joint.motion.subspace(joint.coordinates(self.frames.q))]))
        parent = zero_twist() if joint.parent == WORLD_BODY else self.frames.down(i, self.twists[joint.parent])
        self.parents.append(parent)
        self.twists.append(parent + apply(self.columns[i], self.v))

    def _turn(self, i: int) -> None:
        """P."""
        self.turned.append([(k, cross(self.parents[i], s)) for k, s in self.columns[i]])

    def _accelerate(self, i: int) -> None:
        """The rate of the twist."""
        joint = self.model.joints[i]
        if joint.parent == WORLD_BODY:
            down = joint.adjoint(self.frames.q).rotate_back(pure(*self.model.gravity))
            parent = DQ.of(ZERO, -down)
        else:
            parent = self.frames.down(i, self.rates[joint.parent])
        self.parent_rates.append(parent)
        # Σ P v is ξ × Σ S v, for the motion of the joint itself does not turn under itself.
        self.rates.append(parent + apply(self.columns[i], self.a) + apply(self.turned[i], self.v))

    def _derive(self, i: int) -> None:
        """R and Ṡ + P."""
        above, columns = self.model.joints[i].parent, self.columns[i]
        self.motion.append(FrameMotion(self.twists[i], self.rates[i]))
        is_same_frame = above != WORLD_BODY and self.frames.relative[i] is None
        parent = self.motion[above] if is_same_frame else FrameMotion(self.parents[i], self.parent_rates[i])
        group = []
        for (k, s), (_, p) in zip(columns, self.turned[i], strict=True):
            # Nor does a single axis, so there Ṡ = ξ × S is P.
            turning = p + p if len(columns) == 1 else p + cross(self.twists[i], s)
            group.append(Axis(k, s, p, parent.change(s), turning))
        self.axes.append(group)

    def _weigh(self, i: int) -> None:
        """The inertia."""
        self.inertias.append(Composite.of(self.model.bodies[i].inertia).seen_through(self.frames.seen[i]))

    def _sum(self, i: int) -> None:
        """The sums of the body alone."""
        self.sums.append(self.motion[i].of_body(self.inertias[i]))

    def _close(self, i: int) -> None:
        """Add the sums of a subtree to those of its parent."""
        above = self.model.joints[i].parent
        if above != WORLD_BODY:
            self.sums[above] = self.sums[above] + self.frames.seen_from_parent(i, self.sums[i])

    def _change(self, i: int) -> None:
        """Momentum and changes of force that an axis causes in its subtree, and 2Bᵀ S."""
        sub = self.sums[i]
        self.changes[i] = []
        for own in self.axes[i]:
            back, momentum = sub.twice.transposed(own.s), sub.inertia.momentum(own.s)
            by_q = sub.twice(own.p) + sub.inertia.momentum(own.r) + cross(own.s, sub.force)
            by_v = sub.twice(own.s) + sub.inertia.momentum(own.turning)
            self.changes[i].append((back, momentum, by_q, by_v))


class FrameMotion:
    """Twist ω + εu and its rate, and what follows: 2ω, 2u, the acceleration of the origin, and U = [ω̇]× + [ω]×²."""

    def __init__(self, twist: DQ, rate: DQ) -> None:
        self.twist, self.rate = twist, rate
        omega, u = twist.primary, twist.dual
        self.twice_omega, self.twice_u = omega + omega, u + u
        self.acceleration = rate.dual + cross3(omega, u)
        self.u = squares(omega, rate.primary)

    def change(self, s: DQ) -> DQ:
        """R = ξ̇ × S + ξ × (ξ × S) = U P(S) + ε(U D(S) + p̈ × P(S) + 2 u × (ω × P(S)))."""
        axis = s.primary
        along = self.twice_omega * dot3(self.twist.dual, axis) - axis * dot3(self.twice_omega, self.twist.dual)
        return DQ.of(combine(self.u, axis), combine(self.u, s.dual) + cross3(self.acceleration, axis) + along)

    def of_body(self, inertia: Composite) -> Subtree:
        """The sums of one body."""
        twice = VelocityMap.of(inertia, DQ.of(self.twice_omega, self.twice_u))
        second = [column.vector for column in inertia.second_moments()]
        force = wrench(inertia.mass, inertia.first, second, self.acceleration, self.twist.primary, self.u)
        return Subtree(inertia, force, twice)


def _zeros(n: int) -> Matrix:
    return [[0.0] * n for _ in range(n)]


def _add(matrix: Matrix, row: int, column: int, value: Scalar) -> None:
    matrix[row][column] = matrix[row][column] + value
