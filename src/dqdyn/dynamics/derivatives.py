"""Derivatives of inverse and forward dynamics with respect to q (tangent), v, and a or τ: analytic and recursive.

Moving along an axis S carries all that hangs on its joint as one rigid body. So three sums over the subtree of a joint
are enough: its inertia, the force f that moves it, and the map 2B by which the velocity-dependent force changes. With P
= ξ_parent × S and R = ξ̇_parent × S + ξ_parent × P, for a joint i and a joint j on its path to the root:

    ∂τ_i/∂q_j = ⟨S_i, 2B_i P_j + I_i R_j⟩            ∂τ_j/∂q_i = ⟨S_j, 2B_i P_i + I_i R_i + S_i × f_i⟩
    ∂τ_i/∂v_j = ⟨S_i, 2B_i S_j + I_i (P_j + Ṡ_j)⟩    ∂τ_j/∂v_i = ⟨S_j, 2B_i S_i + I_i (P_i + Ṡ_i)⟩

(Singh, Russell and Wensing 2022, there with 6×6 matrices.) In our coordinates 2B acts on the angular part α alone:
2B(α + εβ) = 2 α × p + ε(N α), with the linear momentum p and N = 2(⟨h, u⟩ − u hᵀ − [ω]× Σ). Everything is
expressed in the frame of the root body, held still.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.functions import Adjoint, Columns, cross, zero_twist
from dqdyn.algebra.quaternion import ZERO, I, J, K, Quaternion, combine, cross3, dot3, pure
from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.composite import Composite
from dqdyn.dynamics.joint_forces import armature, damping
from dqdyn.dynamics.solve import factored, substitute
from dqdyn.kinematics.tree import apply, backward
from dqdyn.model.model import WORLD_BODY, Model
from dqdyn.model.split import split

Matrix = list[list[Scalar]]


@dataclass(frozen=True)
class Subtree:
    """Sums over a subtree: inertia, force f + ετ, linear momentum p, and the columns of N."""

    inertia: Composite
    force: DQ
    momentum: Quaternion
    n: Columns

    def __add__(self, other: Subtree) -> Subtree:
        a, b = self.n, other.n
        return Subtree(
            self.inertia + other.inertia,
            self.force + other.force,
            self.momentum + other.momentum,
            (a[0] + b[0], a[1] + b[1], a[2] + b[2]),
        )

    def changed(self, x: DQ) -> DQ:
        """2B x."""
        return DQ.of(cross3(x.primary, self.momentum) * 2.0, combine(self.n, x.primary))

    def changed_back(self, s: DQ) -> Quaternion:
        """The vector g with ⟨s, 2B x⟩ = ⟨g, P(x)⟩."""
        a, b, c = self.n
        turned = pure(dot3(a, s.primary), dot3(b, s.primary), dot3(c, s.primary))
        return turned + cross3(self.momentum, s.dual) * 2.0


@dataclass(frozen=True)
class Axis:
    """One velocity of a joint: its index, S, P, R and Ṡ + P."""

    k: int
    s: DQ
    p: DQ
    r: DQ
    turning: DQ


def inverse_dynamics_derivatives(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]
) -> tuple[Matrix, Matrix, Matrix]:
    """∂τ/∂q (tangent), ∂τ/∂v, ∂τ/∂a = M, each nv×nv by rows."""
    model = split(model)
    axes, subtrees = _sums(model, q, v, a)
    d_dq, d_dv, d_da = (_zeros(model.nv) for _ in range(3))
    for i in range(len(model.joints)):
        sub = subtrees[i]
        for own in axes[i]:
            back, momentum = sub.changed_back(own.s), sub.inertia.momentum(own.s)
            by_q = sub.changed(own.p) + sub.inertia.momentum(own.r) + cross(own.s, sub.force)
            by_v = sub.changed(own.s) + sub.inertia.momentum(own.turning)
            for j in model.path(i):
                for other in axes[j]:
                    row, column = own.k, other.k
                    m = _on(other.s, momentum)
                    _add(d_dq, row, column, dot3(back, other.p.primary) + _on(other.r, momentum))
                    _add(d_dv, row, column, dot3(back, other.s.primary) + _on(other.turning, momentum))
                    _add(d_da, row, column, m)
                    if j != i:  # the axes of one joint turn with each other, so the first formula holds both ways
                        _add(d_dq, column, row, _on(other.s, by_q))
                        _add(d_dv, column, row, _on(other.s, by_v))
                        _add(d_da, column, row, m)
    for k, (r, d) in enumerate(zip(armature(model), damping(model), strict=True)):
        d_da[k][k], d_dv[k][k] = d_da[k][k] + r, d_dv[k][k] + d
    return d_dq, d_dv, d_da


def forward_dynamics_derivatives(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]
) -> tuple[Matrix, Matrix, Matrix]:
    """∂a/∂q, ∂a/∂v, ∂a/∂τ = M⁻¹ at the acceleration a, from M da = dτ − ∂τ/∂q dq − ∂τ/∂v dv."""
    d_dq, d_dv, mass = inverse_dynamics_derivatives(model, q, v, a)
    lower, inverse = factored(mass)
    n = model.nv

    def solved(matrix: Matrix, sign: float) -> Matrix:
        columns = [substitute(lower, inverse, [matrix[i][j] * sign for i in range(n)]) for j in range(n)]
        return [[columns[j][i] for j in range(n)] for i in range(n)]

    identity = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    return solved(d_dq, -1.0), solved(d_dv, -1.0), solved(identity, 1.0)


def _sums(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]
) -> tuple[list[list[Axis]], list[Subtree]]:
    """Axes of the joints, and sums over their subtrees, in the frame of the root body."""
    seen: list[Adjoint] = []
    twist: dict[int, DQ] = {}
    rate: dict[int, DQ] = {}
    axes: list[list[Axis]] = []
    own: list[Subtree] = []
    for i, joint in enumerate(model.joints):
        if joint.parent == WORLD_BODY:
            seen.append(Adjoint.of((I, J, K)))
            down = joint.adjoint(q).rotate_back(pure(*model.gravity))
            parent_twist, parent_rate = zero_twist(), DQ.of(ZERO, -down)
        else:
            x = joint.transform(q)
            seen.append(seen[joint.parent] @ x.first @ x.second)
            parent_twist, parent_rate = twist[joint.parent], rate[joint.parent]
        columns = joint.columns([seen[i](s) for s in joint.motion.subspace(joint.coordinates(q))])
        moved = apply(columns, v)
        twist[i] = parent_twist + moved
        rate[i] = parent_rate + apply(columns, a) + cross(twist[i], moved)
        group = []
        for k, s in columns:
            p = cross(parent_twist, s)
            r = cross(parent_rate, s) + cross(parent_twist, p)
            # A single axis does not turn under itself, so there Ṡ = ξ × S is P.
            group.append(Axis(k, s, p, r, p + p if len(columns) == 1 else p + cross(twist[i], s)))
        axes.append(group)
        own.append(_body(Composite.of(model.bodies[i].inertia).seen_through(seen[i]), twist[i], rate[i]))
    return axes, backward(model, own, lambda x, y: x + y)


def _body(inertia: Composite, twist: DQ, rate: DQ) -> Subtree:
    h = inertia.momentum(twist)
    force = inertia.momentum(rate) + cross(twist, h)
    omega, u, first, t = twist.primary, twist.dual, inertia.first, inertia.tensor
    # Columns of Σ = ½ tr(T) − T, then of N.
    half = (t.xx + t.yy + t.zz) * 0.5
    sigma = pure(half - t.xx, -t.xy, -t.xz), pure(-t.xy, half - t.yy, -t.yz), pure(-t.xz, -t.yz, half - t.zz)
    along = dot3(first, u)
    columns = []
    for s, e, f in zip(sigma, (I, J, K), first.vector, strict=True):
        columns.append((e * along - u * f - cross3(omega, s)) * 2.0)
    return Subtree(inertia, force, h.primary, (columns[0], columns[1], columns[2]))


def _on(twist: DQ, wrench: DQ) -> Scalar:
    return dot3(twist.primary, wrench.dual) + dot3(twist.dual, wrench.primary)


def _zeros(n: int) -> Matrix:
    return [[0.0] * n for _ in range(n)]


def _add(matrix: Matrix, row: int, column: int, value: Scalar) -> None:
    matrix[row][column] = matrix[row][column] + value
