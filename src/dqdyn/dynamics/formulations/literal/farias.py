"""The steps of [Farias, algorithm 1] one by one and as printed, for :mod:`dqdyn.analysis.costs.farias`.

On counters they give what the steps cost, on numbers the forces of an arm. For a robot use
:mod:`dqdyn.dynamics.formulations.screw`, which is general and cheaper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dqdyn.algebra.adjoint import Columns
from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.hamilton import h_plus
from dqdyn.algebra.inertia_maps import G
from dqdyn.algebra.parts import swap
from dqdyn.algebra.products import cross, geodesic
from dqdyn.algebra.quaternion import ZERO, Quaternion, combine, pure
from dqdyn.algebra.scalar import Scalar, cos, sin

Maps = tuple[Columns, Columns]
"""A_P and A_D by the images of i, j, k."""


@dataclass(frozen=True)
class RevoluteLink:
    """A link of a serial arm: pose δ of its frame in the one before at home, joint axis and inertia in its frame."""

    home: DQ
    axis: DQ
    mass: Scalar
    inertia: Columns


def joint_pose(home: DQ, axis: DQ, angle: Scalar, home_angle: Scalar) -> DQ:
    """δ exp(a Δθ/2) with exp(a φ) = cos φ + a sin φ of a revolute joint [Farias, eq. (38)]."""
    half = (angle - home_angle) * 0.5
    s = sin(half)
    p, d = axis.primary, axis.dual
    turn = DQ.of(Quaternion(cos(half), p.x * s, p.y * s, p.z * s), pure(d.x * s, d.y * s, d.z * s))
    return home * turn


def adjoint_maps(x: DQ) -> Maps:
    """A_P and A_D of [Farias, eq. (34)] and [Farias, eq. (35)]: six products of quaternions and three doublings."""
    _, *turned = (image.primary for image in h_plus(x))
    primary = [_vector(image * x.primary.conj()) for image in turned]
    dual = [_vector((image * x.dual.conj()) * 2.0) for image in turned]
    return (primary[0], primary[1], primary[2]), (dual[0], dual[1], dual[2])


def inverse_maps(maps: Maps) -> Maps:
    """Those of x*: the same numbers transposed, so the way back costs no second construction."""
    return _transposed(maps[0]), _transposed(maps[1])


def adjoint(maps: Maps, y: DQ) -> DQ:
    """A_P y_P + ε(A_P y_D + A_D y_P) [Farias, eq. (36)]."""
    return DQ.of(combine(maps[0], y.primary), combine(maps[0], y.dual) + combine(maps[1], y.primary))


def twist(axis: DQ, rate: Scalar, maps: Maps, before: DQ) -> DQ:
    """[Farias, eq. (40)]."""
    return _scaled(axis, rate) + adjoint(maps, before)


def twist_rate(axis: DQ, acceleration: Scalar, maps: Maps, before: DQ, omega: DQ, rate: Scalar) -> DQ:
    """[Farias, eq. (44)]."""
    return _scaled(axis, acceleration) + adjoint(maps, before) + _scaled(cross(omega, axis), rate)


def resultant(mass: Scalar, inertia: Columns, omega: DQ, omega_rate: DQ) -> DQ:
    """[Farias, eq. (45)]."""
    return cross(omega, G(mass, inertia, omega)) + G(mass, inertia, omega_rate)


def transmitted(own: DQ, maps: Maps, behind: DQ) -> DQ:
    """[Farias, eq. (46)], solved for f_i with the sign of Algorithm 1."""
    return own + adjoint(maps, behind)


def force(wrench: DQ, axis: DQ) -> Scalar:
    """[Farias, eq. (48)]."""
    return geodesic(wrench, swap(axis))


def algorithm_1(
    links: Sequence[RevoluteLink],
    angles: Sequence[Sequence[Scalar]],
    gravity: Quaternion,
    tool: Maps,
    load: DQ,
) -> list[Scalar]:
    """τ of a serial arm with revolute joints, step by step as printed [Farias, algorithm 1].

    ``angles`` are θ, home θ, θ̇ and θ̈ of all joints; ``tool`` the maps of the constant pose of the end effector in the
    last frame, and ``load`` the wrench that it exerts, in its own frame.
    """
    omega, omega_rate = zero_twist(), DQ.of(ZERO, -gravity)
    maps, own = [], []
    for link, theta, theta_home, rate, acceleration in zip(links, *angles, strict=True):
        x = joint_pose(link.home, link.axis, theta, theta_home)
        maps.append(adjoint_maps(x))
        back = inverse_maps(maps[-1])
        omega = twist(link.axis, rate, back, omega)
        omega_rate = twist_rate(link.axis, acceleration, back, omega_rate, omega, rate)
        own.append(resultant(link.mass, link.inertia, omega, omega_rate))
    tau: list[Scalar] = []
    behind = load
    for link, f_R, towards in zip(reversed(links), reversed(own), [tool, *reversed(maps[1:])], strict=True):
        behind = transmitted(f_R, towards, behind)
        tau.append(force(behind, link.axis))
    return tau[::-1]


def _vector(a: Quaternion) -> Quaternion:
    return pure(*a.vector)


def _transposed(columns: Columns) -> Columns:
    a, b, c = columns
    return pure(a.x, b.x, c.x), pure(a.y, b.y, c.y), pure(a.z, b.z, c.z)


def _scaled(a: DQ, s: Scalar) -> DQ:
    """A pure dual quaternion times a scalar: six products, where a general one takes eight."""
    p, d = a.primary, a.dual
    return DQ.of(pure(p.x * s, p.y * s, p.z * s), pure(d.x * s, d.y * s, d.z * s))
