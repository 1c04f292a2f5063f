"""Derivatives of inverse and forward dynamics with respect to q (tangent), v, and a or τ: analytic and recursive.

Moving along an axis S carries the subtree behind the joint as one rigid body. So three sums over that subtree are
enough: its inertia, the force f that moves it, and the map 2B by which the velocity-dependent force changes. With P
= ξ_parent × S and R = ξ̇_parent × S + ξ_parent × P, for a joint i and a joint j on its path to the root:

    ∂τ_i/∂q_j = ⟨S_i, 2B_i P_j + I_i R_j⟩            ∂τ_j/∂q_i = ⟨S_j, 2B_i P_i + I_i R_i + S_i × f_i⟩
    ∂τ_i/∂v_j = ⟨S_i, 2B_i S_j + I_i (P_j + Ṡ_j)⟩    ∂τ_j/∂v_i = ⟨S_j, 2B_i S_i + I_i (P_i + Ṡ_i)⟩

(Singh, Russell and Wensing 2022, there with 6×6 matrices.) In our coordinates 2B acts on the angular part α alone:
2B(α + εβ) = α × 2p + ε(N α), with the linear momentum p and N = ⟨h, 2u⟩ − 2u hᵀ − [2ω]× Σ. R follows from the
accelerations of points of the parent, see :mod:`dqdyn.dynamics.fast.point_accelerations`.

All of this holds in any frames. In the frame of the root body every axis meets every sum as it is, which is cheap for
long chains; in the frames of the bodies axes and inertias are sparse, but what meets an axis must be carried there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dqdyn.algebra.adjoint import Adjoint, Columns, Factored
from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import ZERO, I, J, K, Quaternion, combine, cross3, dot3, pure
from dqdyn.algebra.scalar import Scalar
from dqdyn.algebra.tensor import rotated
from dqdyn.dynamics.arguments import Matrix, Scalars
from dqdyn.dynamics.fast.composite import Composite
from dqdyn.dynamics.fast.jet_derivatives import differentiated
from dqdyn.dynamics.fast.point_accelerations import squares, wrench
from dqdyn.dynamics.fast.sparse_solve import factored, substitute
from dqdyn.dynamics.joint_forces import armature, damping, stiffness, turning_derivative
from dqdyn.dynamics.methods import VERY_LONG, longest_path
from dqdyn.dynamics.wrenches import power
from dqdyn.kinematics.tree import apply, closing
from dqdyn.model.model import WORLD_BODY, Model
from dqdyn.model.split import split

_UNMOVED = Adjoint.of((I, J, K))


@dataclass(frozen=True)
class Subtree:
    """Sums over a subtree: inertia, force f + ετ, twice the linear momentum, and the columns of N."""

    inertia: Composite
    force: DQ
    twice_p: Quaternion
    n: Columns

    def __add__(self, other: Subtree) -> Subtree:
        a, b = self.n, other.n
        return Subtree(
            self.inertia + other.inertia,
            self.force + other.force,
            self.twice_p + other.twice_p,
            (a[0] + b[0], a[1] + b[1], a[2] + b[2]),
        )

    def seen_through(self, x: Factored) -> Subtree:
        """The same in the parent's frame."""
        inertia, n, p = self.inertia, self.n, self.twice_p
        for step in (x.second, x.first):
            inertia, n, p = inertia.seen_through(step), rotated(n, step.columns), step.rotate(p)
            # A force α × 2p at the child's origin r has the moment r × (α × 2p) about the parent's.
            along = dot3(step.p, p)
            a, b, c = (column - p * r for column, r in zip(n, step.p.vector, strict=True))
            n = (a + I * along, b + J * along, c + K * along)
        return Subtree(inertia, x(self.force), p, n)

    def changed(self, x: DQ) -> DQ:
        """2B x."""
        return DQ.of(cross3(x.primary, self.twice_p), combine(self.n, x.primary))

    def changed_back(self, s: DQ) -> Quaternion:
        """The vector g with ⟨s, 2B x⟩ = ⟨g, P(x)⟩."""
        a, b, c = self.n
        turned = pure(dot3(a, s.primary), dot3(b, s.primary), dot3(c, s.primary))
        return turned + cross3(self.twice_p, s.dual)


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
    for i, axes, relative, sub in _subtrees(model, q, v, a, from_root):
        for own in axes[i]:
            row = own.k
            back, momentum = sub.changed_back(own.s), sub.inertia.momentum(own.s)
            by_q = sub.changed(own.p) + sub.inertia.momentum(own.r) + cross(own.s, sub.force)
            by_v = sub.changed(own.s) + sub.inertia.momentum(own.turning)
            j = i
            while True:
                for other in axes[j]:
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
                x = relative[j]
                back, momentum, by_q, by_v = x.rotate(back), x(momentum), x(by_q), x(by_v)
                j = model.joints[j].parent
    return d_dq, d_dv, d_da


def forward_dynamics_derivatives(model: Model, q: Scalars, v: Scalars, a: Scalars) -> tuple[Matrix, Matrix, Matrix]:
    """∂a/∂q, ∂a/∂v, ∂a/∂τ = M⁻¹ at the acceleration a, from M da = dτ − ∂τ/∂q dq − ∂τ/∂v dv."""
    d_dq, d_dv, mass = inverse_dynamics_derivatives(model, q, v, a, longest_path(model) >= VERY_LONG)
    lower, inverse = factored(mass)
    n = model.nv

    def solved(matrix: Matrix, sign: float) -> Matrix:
        columns = [substitute(lower, inverse, [matrix[i][j] * sign for i in range(n)]) for j in range(n)]
        return [[columns[j][i] for j in range(n)] for i in range(n)]

    identity = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    return solved(d_dq, -1.0), solved(d_dv, -1.0), solved(identity, 1.0)


def inverse_dynamics_derivatives_in_bodies(
    model: Model, q: Scalars, v: Scalars, a: Scalars
) -> tuple[Matrix, Matrix, Matrix]:
    """The same, computed in the frames of the bodies."""
    return inverse_dynamics_derivatives(model, q, v, a, from_root=False)


def _subtrees(
    model: Model, q: Scalars, v: Scalars, a: Scalars, from_root: bool
) -> Iterator[tuple[int, list[list[Axis]], list[Factored], Subtree]]:
    """Each joint with the sums over its subtree, as soon as that is complete; with axes and maps to parents so far."""
    seen: list[Adjoint] = []  # how the frame in which all is expressed sees the body
    relative: list[Factored] = []  # how the frame of the parent sees that of the body
    motion: list[FrameMotion] = []
    axes: list[list[Axis]] = []
    sums: dict[int, Subtree] = {}
    for (i, joint), done in zip(enumerate(model.joints), closing(model), strict=True):
        seen.append(_UNMOVED)
        relative.append(Factored(_UNMOVED, _UNMOVED))
        if joint.parent == WORLD_BODY:
            down = joint.adjoint(q).rotate_back(pure(*model.gravity))
            parent = FrameMotion(zero_twist(), DQ.of(ZERO, -down))
        else:
            parent, x = motion[joint.parent], joint.transform(q)
            if from_root:
                seen[i] = seen[joint.parent] @ x.first @ x.second
            else:
                relative[i] = x
                parent = FrameMotion(x.back(parent.twist), x.back(parent.rate))
        columns = joint.columns([seen[i](s) for s in joint.motion.subspace(joint.coordinates(q))])
        moved = apply(columns, v)
        twist = parent.twist + moved
        motion.append(FrameMotion(twist, parent.rate + apply(columns, a) + cross(twist, moved)))
        group = []
        for k, s in columns:
            p = cross(parent.twist, s)
            # A single axis does not turn under itself, so there Ṡ = ξ × S is P.
            group.append(Axis(k, s, p, parent.change(s), p + p if len(columns) == 1 else p + cross(twist, s)))
        axes.append(group)
        sums[i] = motion[i].of_body(Composite.of(model.bodies[i].inertia).seen_through(seen[i]))
        for k in done:
            sub = sums.pop(k)
            yield k, axes, relative, sub
            above = model.joints[k].parent
            if above != WORLD_BODY:
                sums[above] = sums[above] + sub.seen_through(relative[k])


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
        first, t = inertia.first, inertia.tensor
        half = (t.xx + t.yy + t.zz) * 0.5
        # Columns of Σ = ½ tr(T) − T.
        sigma = pure(half - t.xx, -t.xy, -t.xz), pure(-t.xy, half - t.yy, -t.yz), pure(-t.xz, -t.yz, half - t.zz)
        along = dot3(first, self.twice_u)
        n = [
            e * along - self.twice_u * f - cross3(self.twice_omega, s)
            for s, e, f in zip(sigma, (I, J, K), first.vector, strict=True)
        ]
        twice_p = self.twice_u * inertia.mass + cross3(self.twice_omega, first)
        force = wrench(inertia.mass, first, [s.vector for s in sigma], self.acceleration, self.twist.primary, self.u)
        return Subtree(inertia, force, twice_p, (n[0], n[1], n[2]))


def _zeros(n: int) -> Matrix:
    return [[0.0] * n for _ in range(n)]


def _add(matrix: Matrix, row: int, column: int, value: Scalar) -> None:
    matrix[row][column] = matrix[row][column] + value
