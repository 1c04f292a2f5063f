"""The Coriolis matrix of Christoffel symbols, in closed form.

C is not unique. Silva's [Silva, eq. (44)] and Parsa's [Parsa, eq. (36)] differ by tr(I) J_ωᵀ[ω]×J_ω for each body,
since [ω]×I + I[ω]× = tr(I)[ω]× − [I ω]×. The mean of the two is the matrix of Christoffel symbols: the torque per unit
of velocity that Silva writes −I ω × s becomes Σ ω × s, with the second moments Σ = ½ tr(I) − I of the body.
"""

from __future__ import annotations

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.inertia_maps import L3
from dqdyn.algebra.quaternion import cross3
from dqdyn.dynamics.arguments import Matrix, Scalars
from dqdyn.dynamics.formulations.mass_centers import ByIndex, Center, bilinear, centers
from dqdyn.model.model import Model


def coriolis_matrix(model: Model, q: Scalars, v: Scalars) -> Matrix:
    """C (nv×nv) with C v = bias − g and Ṁ − 2C skew-symmetric; C x is linear in v, and C(q, v) x = C(q, x) v if v = q̇.

    The mean of Silva's matrix of Gauss's principle and Parsa's of Lagrange's equations.
    """
    return bilinear(centers(model, q, v), _columns, model.nv)


def _columns(c: Center) -> ByIndex:
    omega, tensor = c.twist.primary, c.inertia.tensor
    half = 0.5 * (tensor[0][0] + tensor[1][1] + tensor[2][2])
    second = omega * half - L3(c.inertia.rows, omega)
    result = {}
    for k, s in c.columns.items():
        turned = DQ.of(cross3(omega, s.dual) * c.inertia.mass, cross3(second, s.primary))
        result[k] = c.momentum(c.rates[k]) + turned
    return result
