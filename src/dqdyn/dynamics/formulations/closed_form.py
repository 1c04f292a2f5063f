"""Inverse dynamics in closed form: τ = M(q) a + c(q, v) + g(q) − Jᵀ(q) F [Farias, section 5.3].

Each term follows from [Farias, table 1] by writing out the vectors. The paper's F_EF acts on what the robot holds and
enters with a plus; wrenches act on the robot here, as everywhere in this library.
"""

from __future__ import annotations

from collections.abc import Mapping

from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.matrix import DQMatrix
from dqdyn.algebra.parts import swap
from dqdyn.algebra.scalar import Scalar, total
from dqdyn.dynamics.arguments import Matrix, Scalars, Wrenches
from dqdyn.kinematics.center_frames import from_center, gravity_rate
from dqdyn.kinematics.center_matrices import CenterMatrices, scalars
from dqdyn.model.model import Model


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """τ (nv) that gives the acceleration a at the state (q, v) [Farias, eq. (63)] [Farias, eq. (68)].

    ``wrenches`` are external ones by body, in the frame of the body at its origin.
    """
    m = CenterMatrices(model, q)
    inertial = [total(e * ak for e, ak in zip(row, a, strict=True)) for row in _mass_matrix(m)]
    terms = [inertial, _coriolis_forces(m, v), _gravity_forces(m)]
    if wrenches:
        terms.append(m.on_axes(m.L.star(m.loads(wrenches))))
    return [total(parts) for parts in zip(*terms, strict=True)]


def mass_matrix(model: Model, q: Scalars) -> Matrix:
    """M = A_S ⊛ [L* G(L A)] (nv×nv), full; without armature [Farias, eq. (69)]."""
    return _mass_matrix(CenterMatrices(model, q))


def coriolis_forces(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """c = A_S ⊛ [L*(W ⊗ G(L A θ̇) + W ⊗ G(L W_BASE) + G(L C θ̇))] (nv) [Farias, eq. (70)].

    The star stands before the cross products, as in the line that it comes from [Farias, eq. (66)]. θ̇ is applied
    before L and G, which are linear [Farias, eq. (67)]: vectors instead of matrices.
    """
    return _coriolis_forces(CenterMatrices(model, q), v)


def gravity_forces(model: Model, q: Scalars) -> list[Scalar]:
    """g = A_S ⊛ [L* G(L Ẇ_BASE)] (nv): forces that hold the robot still [Farias, eq. (71)], where a dot got lost."""
    return _gravity_forces(CenterMatrices(model, q))


def wrench_forces(model: Model, q: Scalars, wrenches: Mapping[int, DQ]) -> list[Scalar]:
    """Jᵀ F = A_S ⊛ [L* F] (nv) of wrenches on bodies, each in its body's frame at its origin [Farias, eq. (65)].

    To hold against them the joints give the opposite.
    """
    m = CenterMatrices(model, q)
    return m.on_axes(m.L.star(-m.loads(wrenches)))


def jacobian_transpose(model: Model, q: Scalars, body: int) -> Matrix:
    """Jᵀ = A_S ⊛ L* of one body (nv×6) [Farias, eq. (72)]: times [f, τ] in its frame at its origin it gives forces.

    A_S ⊛ (L* F) is (L A)_S ⊛ F, since Ad moves from one side of a power to the other as its inverse.
    """
    m = CenterMatrices(model, q)
    inertia = model.bodies[body].inertia
    rows = [swap(from_center(inertia, column)) for column in (m.L @ m.A)[body].elements]
    return [[*row.primary.vector, *row.dual.vector] for row in rows]


def _mass_matrix(m: CenterMatrices) -> Matrix:
    momenta = m.L.star(m.G(m.L @ m.A))
    columns = [m.on_axes(momenta[:, k]) for k in range(m.model.nv)]
    return [list(row) for row in zip(*columns, strict=True)]


def _coriolis_forces(m: CenterMatrices, v: Scalars) -> list[Scalar]:
    moved, base = m.L @ (m.A @ scalars(v)), m.L @ m.at_roots(zero_twist())
    W = moved + base
    gyroscopic: DQMatrix = W.cross(m.G(moved)) + W.cross(m.G(base))
    return m.on_axes(m.L.star(gyroscopic + m.G(m.L @ (m.C(W, v) @ scalars(v)))))


def _gravity_forces(m: CenterMatrices) -> list[Scalar]:
    return m.on_axes(m.L.star(m.G(m.L @ m.at_roots(gravity_rate(m.model)))))
