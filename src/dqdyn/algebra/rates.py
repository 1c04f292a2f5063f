"""Rates of poses and of what they move: ẋ = ½ξx and Silva's Lemma 2.1."""

from __future__ import annotations

from typing import Literal

from dqdyn.algebra.adjoint import Ad
from dqdyn.algebra.checks import require_unit
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.exponential import pow
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import Quaternion, cross3
from dqdyn.algebra.scalar import Scalar
from dqdyn.errors import Error


def pose_rate(twist: DQ, x: DQ, expressed: Literal["world", "body"] = "world") -> DQ:
    """ẋ = ½ ξ⁰ x = ½ x ξᵇ [Silva, eq. (4)] [Farias, eq. (29)] [Quiroz, eq. (A.19)].

    Of a rotation r it is ṙ = ½ ω⁰ r = ½ r ωᵇ [Quiroz, eq. (A.13)]. ``expressed`` is "world" for ξ⁰ or "body" for ξᵇ.
    """
    return (twist * x if _in_world(expressed) else x * twist) * 0.5


def twist_of_rate(x: DQ, rate: DQ, expressed: Literal["world", "body"] = "world") -> DQ:
    """ξ⁰ = 2ẋx*, ξᵇ = 2x*ẋ: the inverse of :func:`pose_rate`.

    ξᵇ = Ad(x*) ξ⁰ [Quiroz, eq. (A.21)] = ω + εṗ, both in the moving axes [Silva, eq. (6)] [Quiroz, eq. (A.24)].
    """
    return (rate * x.conj() if _in_world(expressed) else x.conj() * rate) * 2.0


def _in_world(expressed: str) -> bool:
    if expressed not in ("world", "body"):
        raise Error(f'A twist of a rate is expressed in "world" or "body"; found {expressed!r}.', found=expressed)
    return expressed == "world"


def world_twist(omega: Quaternion, velocity: Quaternion, position: Quaternion) -> DQ:
    """ω + ε(ṗ + p × ω): the twist in the reference frame [Silva, eq. (5)] [Quiroz, eq. (A.20)]."""
    return DQ.of(omega, velocity + cross3(position, omega))


def adjoint_rate(x: DQ, twist: DQ, y: DQ, y_rate: DQ) -> DQ:
    """d/dt (Ad(x) y) = Ad(x) ẏ + ξ × (Ad(x) y) for ẋ = ½ξx [Silva, eq. (9)] [Silva, lemma 2.1]."""
    return Ad(x, y_rate) + cross(twist, Ad(x, y))


def pow_rate(x: DQ, x_rate: DQ, exponent: Scalar) -> DQ:
    """The exact d/dt of x^{λ} for a pose moving with ẋ; λ may be any scalar."""
    require_unit(x, "pow_rate")
    parts = derivative(lambda c: pow(DQ.of8(c), exponent).components, x.components, x_rate.components)
    return DQ.of8(parts)
