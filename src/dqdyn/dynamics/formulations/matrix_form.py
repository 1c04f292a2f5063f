"""Inverse dynamics of a whole tree at once, in vectors and matrices of dual quaternions [Farias, table 1].

The vectors hold one dual quaternion per body, in its frame F_i at the center of mass. The paper treats serial arms;
here the matrices know the parents, see :mod:`dqdyn.kinematics.center_matrices`.
"""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra.dual import zero_twist
from dqdyn.algebra.matrix import DQMatrix
from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.arguments import Scalars, Wrenches
from dqdyn.kinematics.center_frames import gravity_rate
from dqdyn.kinematics.center_matrices import CenterMatrices, scalars
from dqdyn.model.model import Model


@dataclass(frozen=True)
class Vectors:
    """What [Farias, table 1] computes, for the velocities θ̇ and accelerations θ̈ (nv) of the joints.

    These two are [Farias, eq. (54)] and [Farias, eq. (55)]; the coordinates θ are [Farias, eq. (49)].
    """

    W: DQMatrix
    """Twists of the bodies [Farias, eq. (53)]."""
    W_rate: DQMatrix
    """Their rates, gravity included as an acceleration of the world [Farias, eq. (56)]."""
    F_R: DQMatrix
    """Wrenches that move the bodies so [Farias, eq. (51)]."""
    F: DQMatrix
    """Wrenches that the joints transmit [Farias, eq. (52)]."""
    tau: list[Scalar]
    """Forces of the joints (nv) [Farias, eq. (50)]."""


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """τ (nv) that gives the acceleration a at the state (q, v) [Farias, table 1].

    ``wrenches`` are external ones by body, in the frame of the body at its origin.
    """
    return vectors(model, q, v, a, wrenches).tau


def vectors(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> Vectors:
    """The five lines of [Farias, table 1]; in its second line C multiplies θ̇, not θ̈ as printed."""
    m = CenterMatrices(model, q)
    W_base, W_base_rate = m.at_roots(zero_twist()), m.at_roots(gravity_rate(model))

    W = m.L @ (m.A @ scalars(v) + W_base)
    W_rate = m.L @ (m.A @ scalars(a) + m.C(W, v) @ scalars(v) + W_base_rate)
    F_R = W.cross(m.G(W)) + m.G(W_rate)
    F = m.L.star(F_R + m.loads(wrenches))
    return Vectors(W, W_rate, F_R, F, m.on_axes(F))
