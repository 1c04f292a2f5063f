"""The equation of motion in any coordinates, line by line [Bouyarmane, section III].

    M(q) q̈ + N(q, q̇) q̇ = weight + u + Σ J_t(a)ᵀ f + Aᵀλ,   A q̈ = b

This is the reference that the compiled forms are held to. Joints' own inertia (armature) is added to M and N as it is
everywhere in the library; damping, friction and springs belong to u here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add

from dqdyn.algebra.inertia_maps import L3
from dqdyn.algebra.quaternion import Quaternion, cross3, dot3, pure
from dqdyn.algebra.scalar import Scalar, Scalars, total
from dqdyn.coordinates.bodies import BodyJacobians, Columns, body_jacobians
from dqdyn.coordinates.minimal_form import Contact, body_point, gram, solve_singular, times
from dqdyn.coordinates.parameterisation import unit_vector
from dqdyn.coordinates.tree import Matrix, Sparse, TreeCoordinates
from dqdyn.dynamics.fast.sparse_solve import solve
from dqdyn.dynamics.joint_forces import armature, turning_coriolis
from dqdyn.model.model import WORLD_BODY


class EquationOfMotion:
    """M, N, weight and contacts at one state (q, q̇) of a robot in chosen coordinates."""

    def __init__(self, at: TreeCoordinates, q: Scalars, rate: Scalars) -> None:
        self.at, self.q, self.rate = at, list(q), list(rate)
        self.bodies = body_jacobians(at, q, rate)

    def mass_matrix(self) -> Matrix:
        """M = Σ J_tᵀ m J_t + J_rᵀ I J_r (n×n) [Bouyarmane, eq. (25)]; singular where coordinates are redundant.

        I is about the center of mass [Bouyarmane, eq. (21)], which is how this library keeps it.
        """
        result = self._sum(lambda k: ([t * k.center.inertia.mass for t in k.t], [_spin(k, r) for r in k.r]))
        E = self.at.velocity_columns(self.q)
        return _plus_joints(result, E, E, self._armature())

    def coriolis_matrix(self) -> Matrix:
        """N = Σ J_tᵀ m J̇_t + J_rᵀ I J̇_r − J_rᵀ (I J_r q̇) × J_r (n×n) [Bouyarmane, eq. (26)]; Ṁ − 2N is skew."""

        def forces(k: BodyJacobians) -> tuple[Columns, Columns]:
            spin = _spin(k, k.center.twist.primary)
            turning = [_spin(k, dr) - cross3(spin, r) for r, dr in zip(k.r, k.r_rate, strict=True)]
            return [t * k.center.inertia.mass for t in k.t_rate], turning

        E, E_rate = self.at.velocity_columns(self.q), self.at.velocity_rate_columns(self.q, self.rate)
        turning = turning_coriolis(self.at.model, self.at.velocity(self.q, self.rate))
        return _plus_joints(_plus_joints(self._sum(forces), E, E_rate, self._armature()), E, E, turning)

    def weight(self) -> list[Scalar]:
        """Σ J_tᵀ m g (n): for a free joint (θ, p) at the root this is M (0, g, 0) [Bouyarmane, eq. (24)]."""
        g = pure(*self.at.model.gravity)
        loads = [g * k.center.inertia.mass for k in self.bodies]
        return [total(dot3(k.t[i], load) for k, load in zip(self.bodies, loads, strict=True)) for i in range(self.at.n)]

    def contact_forces(self, contacts: Sequence[Contact], forces: Scalars) -> list[Scalar]:
        """Σ J_t(a)ᵀ f (n) of forces in world axes at points of frames [Bouyarmane, eq. (24)]."""
        result: list[Scalar] = [0.0] * self.at.n
        for c, (name, point) in enumerate(contacts):
            f = pure(*forces[3 * c : 3 * c + 3])
            for i, column in enumerate(self.point_jacobian(name, point)):
                result[i] = result[i] + dot3(column, f)
        return result

    def point_jacobian(self, frame: str, point: Sequence[float]) -> Columns:
        """J_t(a) (3×n) by columns of a point given in a frame; zero for frames of the world."""
        body = self.at.model.frames[frame].body
        if body == WORLD_BODY:
            return [pure(0.0, 0.0, 0.0)] * self.at.n
        return self.bodies[body].translation(body_point(self.at.model, frame, point))

    def imbalance(self, second: Scalars, u: Scalars) -> list[Scalar]:
        """M q̈ + N q̇ − weight − u (n): what the conditions have to carry; u holds all given forces, contacts too.

        In [Bouyarmane, eq. (33)] u lacks its minus.
        """
        inertial = times(self.mass_matrix(), second)
        coriolis = times(self.coriolis_matrix(), self.rate)
        return [m + c - w - f for m, c, w, f in zip(inertial, coriolis, self.weight(), u, strict=True)]

    def multiplier(self, second: Scalars, u: Scalars) -> list[Scalar]:
        """λ = (A Aᵀ)⁻¹ A · imbalance [Bouyarmane, eq. (33)]; for a quaternion A = qᵀSᵀS and A Aᵀ = 1."""
        A = self.at.constraint_matrix(self.q)
        return solve(gram(A), times(A, self.imbalance(second, u))) if A else []

    def projector(self) -> Matrix:
        """1 − Aᵀ(A Aᵀ)⁻¹A (n×n), which drops λ: :func:`condition_projector`."""
        return condition_projector(self.at, self.q)

    def projected_imbalance(self, second: Scalars, u: Scalars) -> list[Scalar]:
        """Zero for a true motion, without λ [Bouyarmane, eq. (35)]."""
        return times(self.projector(), self.imbalance(second, u))

    def forward(self, u: Scalars) -> tuple[list[Scalar], list[Scalar]]:
        """(q̈, λ) of [Bouyarmane, eq. (32)] and [Bouyarmane, eq. (30)] together, since M alone is singular.

        With a dual-quaternion base this is [Quiroz, section 5.4], where M⁻¹ of (5.47) does not exist.
        """
        right = [-e for e in self.imbalance([0.0] * self.at.n, u)]
        A, b = self.at.constraint_matrix(self.q), self.at.constraint_bias(self.q, self.rate)
        return solve_singular(self.at, self.mass_matrix(), right, A, b)

    def deviation(self, second: Scalars, free: Sequence[tuple[Quaternion, Quaternion]]) -> Scalar:
        """D = Σ ½(ẍ − ẍ̲)ᵀm(ẍ − ẍ̲) + ½(ω̇ − ω̲̇)ᵀI(ω̇ − ω̲̇) [Bouyarmane, eq. (22)].

        It is least for the true motion, where its gradient along the conditions vanishes [Bouyarmane, eq. (23)].
        ``free`` are (ẍ̲ in world axes, ω̲̇ in the body's) of the bodies as if they were not linked.
        """
        terms = []
        for k, (x, w) in zip(self.bodies, free, strict=True):
            dx = _apply(k.t, second) + _apply(k.t_rate, self.rate) - x
            dw = _apply(k.r, second) + _apply(k.r_rate, self.rate) - w
            terms.append(0.5 * (k.center.inertia.mass * dot3(dx, dx) + dot3(dw, _spin(k, dw))))
        return total(terms)

    def _armature(self) -> list[tuple[int, int, Scalar]]:
        return [(k, k, r) for k, r in enumerate(armature(self.at.model)) if r]

    def _sum(self, forces: Callable[[BodyJacobians], tuple[Columns, Columns]]) -> Matrix:
        """Σ J_tᵀ F + J_rᵀ T for forces F and torques T per unit of each coordinate."""
        n = self.at.n
        result: Matrix = [[0.0] * n for _ in range(n)]
        for k in self.bodies:
            F, T = forces(k)
            for i in range(n):
                for j in range(n):
                    result[i][j] = result[i][j] + (dot3(k.t[i], F[j]) + dot3(k.r[i], T[j]))
        return result


def condition_projector(at: TreeCoordinates, q: Scalars) -> Matrix:
    """1 − Aᵀ(A Aᵀ)⁻¹A (n×n), which drops λ [Bouyarmane, eq. (34)]; the print has it for a quaternion."""
    A, n = at.constraint_matrix(q), at.n
    identity: Matrix = [list(unit_vector(n, i)) for i in range(n)]
    if not A:
        return identity
    own = gram(A)
    shares = [solve(own, [row[j] for row in A]) for j in range(n)]
    return [
        [identity[i][j] - total(row[i] * s for row, s in zip(A, shares[j], strict=True)) for j in range(n)]
        for i in range(n)
    ]


def _spin(k: BodyJacobians, omega: Quaternion) -> Quaternion:
    return L3(k.center.inertia.rows, omega)


def _plus_joints(matrix: Matrix, left: Sparse, right: Sparse, own: Iterable[tuple[int, int, Scalar]]) -> Matrix:
    """Adds Eᵀ Y X, for Y by (row, column, entry)."""
    E, X = [dict(column) for column in left], [dict(column) for column in right]
    for row, column, y in own:
        for i in (i for i, e in enumerate(E) if row in e):
            for j in (j for j, x in enumerate(X) if column in x):
                matrix[i][j] = matrix[i][j] + E[i][row] * y * X[j][column]
    return matrix


def _apply(columns: Columns, x: Scalars) -> Quaternion:
    combined: Quaternion = reduce(add, (column * xk for column, xk in zip(columns, x, strict=True)))
    return combined
