"""How axes answer when others carry them: W and D with M⁻¹ = W D⁻¹ Wᵀ, with the sparsity of the tree.

W is unit lower triangular; W_ki is the acceleration of the axis k per unit of that of i, with all axes behind i free.
It is the inverse of L in M = Lᵀ D L. Articulated bodies give it without M, too: eliminating an axis with S from the
articulated body A behind it leaves U = A S and D = ⟨S, U⟩, and if what carries the axis accelerates by x, the axis
answers with −⟨U, x⟩/D. Followed to the root, past axes that answer themselves, this is its row of W.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dqdyn.algebra.adjoint import Factored
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.scalar import Scalar, divide, is_known_zero
from dqdyn.dynamics.arguments import Matrix, Scalars, is_absent
from dqdyn.dynamics.fast.articulated import Articulated
from dqdyn.dynamics.fast.sparse_solve import factored, inner, inverted
from dqdyn.dynamics.joint_forces import armature
from dqdyn.dynamics.methods import MASS_MATRIX, cheap_mass_matrix, depths, has_oblique_axes
from dqdyn.dynamics.wrenches import power
from dqdyn.kinematics.tree import closing
from dqdyn.model.model import WORLD_BODY, Model

Responses = tuple[Matrix, list[Scalar]]
"""W by rows up to the diagonal, and 1/D."""


def responses(model: Model, q: Scalars) -> Responses:
    """W and 1/D by the form that costs less."""
    return by_articulated_bodies(model, q) if bodies_pay(model) else by_mass_matrix(model, q)


def bodies_pay(model: Model) -> bool:
    """Whether articulated bodies cost less than factors of M; mimic joints couple branches, so there M is needed.

    Factors and their inverse take about 2 (a² + a) operations for an axis that a others carry; articulated bodies take
    12 a, and some for every body.
    """
    if any(joint.is_mimic for joint in model.joints):
        return False
    carrying = [a - 1 for a in depths(model)]
    by_body = 125 if has_oblique_axes(model) else 60
    return sum(2 * (a * a + a) - 12 * a for a in carrying) > by_body * len(model.joints)


def by_mass_matrix(model: Model, q: Scalars) -> Responses:
    """From M = Lᵀ D L."""
    lower, inverse = factored(MASS_MATRIX[cheap_mass_matrix(model)](model, q))
    return inverted(lower), inverse


@dataclass(frozen=True)
class Eliminated:
    """An axis: its index, S, U/D and 1/D."""

    k: int
    s: DQ
    u_over_d: DQ
    over: Scalar


def by_articulated_bodies(model: Model, q: Scalars) -> Responses:
    """From articulated bodies; no mimic joints."""
    relative = [joint.transform(q) for joint in model.joints]
    axes = _eliminated(model, q, relative)
    w: Matrix = [[0.0] * k + [1.0] for k in range(model.nv)]
    inverse: list[Scalar] = [0.0] * model.nv
    for i, own in enumerate(axes):
        for n, axis in enumerate(own):
            inverse[axis.k] = axis.over
            row, answer, j, waiting = w[axis.k], -axis.u_over_d, i, own[n + 1 :]
            while True:
                for other in waiting:
                    row[other.k] = power(other.s, answer)
                    answer = answer - other.u_over_d * row[other.k]
                if model.joints[j].parent == WORLD_BODY:
                    break
                answer, j = relative[j](answer), model.joints[j].parent
                waiting = axes[j]
    return w, inverse


def _eliminated(model: Model, q: Scalars, relative: list[Factored]) -> list[list[Eliminated]]:
    """The axes of each joint, the last one first, with what is left of their subtrees."""
    bodies = [Articulated.of(body.inertia) for body in model.bodies]
    rotor = armature(model)
    result: list[list[Eliminated]] = [[] for _ in model.joints]
    for i in (i for done in closing(model) for i in done):
        joint, body = model.joints[i], bodies[i]
        for k, s in reversed(joint.columns(joint.motion.subspace(joint.coordinates(q)))):
            u = body(s)
            over = divide(1.0, power(s, u) + rotor[k])
            result[i].append(Eliminated(k, s, u * over, over))
            body = body.without(u, over, s if is_known_zero(rotor[k]) else None)
        if joint.parent != WORLD_BODY:
            x = relative[i]
            bodies[joint.parent] = bodies[joint.parent] + body.seen_through(x.second).seen_through(x.first)
    return result


def half_solved(w: Matrix, inverse: Scalars, right: Scalars) -> list[Scalar]:
    """D⁻¹ Wᵀ b; zero where an axis moves nothing that b acts on."""
    n = len(inverse)
    x = [inner((w[k][i] for k in range(i, n)), right[i:]) for i in range(n)]
    return [a if is_absent(a) else a * d for a, d in zip(x, inverse, strict=True)]


def solved(model: Model, q: Scalars, right: Scalars) -> list[Scalar]:
    """M⁻¹ b."""
    w, inverse = responses(model, q)
    half = half_solved(w, inverse, right)
    return [inner(row, half) for row in w]


def inverse_mass_matrix(model: Model, q: Scalars) -> Matrix:
    """M⁻¹ (nv×nv), symmetric, with armature."""
    return inverse_of(*responses(model, q))


def inverse_of(w: Matrix, inverse: Scalars) -> Matrix:
    """M⁻¹ = W D⁻¹ Wᵀ: an entry has one term for each axis that moves both of its axes.

    A row of W D⁻¹ is made where it is used first: fewer numbers wait.
    """
    n = len(w)
    scaled: Matrix = [[]] * n
    result: Matrix = [[0.0] * n for _ in range(n)]
    for i, j in _by_tiles(n):
        if i == j:
            scaled[i] = [a if is_absent(a) else a * d for a, d in zip(w[i], inverse, strict=False)]
        result[i][j] = result[j][i] = inner(scaled[i], w[j])
    return result


def _by_tiles(n: int) -> Iterator[tuple[int, int]]:
    """(row, column) on and above the diagonal, column by column of some rows: they are in registers in compiled code.

    The first entry of a row is that on the diagonal.
    """
    height = 3
    for first in range(0, n, height):
        for j in range(first, n):
            yield from ((i, j) for i in range(first, min(first + height, j + 1)))
