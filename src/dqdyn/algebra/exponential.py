"""Exponentials, logarithms and powers: with rotation and translation apart, and along a screw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dqdyn.algebra import removable
from dqdyn.algebra.checks import require_pure, require_unit
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import position
from dqdyn.algebra.quaternion import Quaternion, dot3, pure
from dqdyn.algebra.scalar import Scalar, less, select
from dqdyn.errors import Error, one_line

if TYPE_CHECKING:
    from dqdyn.algebra.values import Pose

X = TypeVar("X", DQ, "Pose")


def _exp4(a: Quaternion) -> Quaternion:
    s = dot3(a, a)
    f = removable.sinc_root(s)
    return Quaternion(removable.cos_root(s), f * a.x, f * a.y, f * a.z)


def _log4(r: Quaternion) -> Quaternion:
    s = dot3(r, r)
    f = removable.angle_over_sine(r.w, s)
    turn = removable.is_full_turn(r.w, s)
    return pure(f * r.x, f * r.y, select(turn, np.pi, f * r.z))


def exp(g: DQ) -> DQ:
    """P(exp g) + ε D(g) P(exp g): rotation and translation apart [Farias, eq. (25)] [Farias, eq. (26)].

    Inverse of :func:`log` [Quiroz, def. (A.22)]. Not the Lie exponential: see :func:`screw_exp`.
    """
    require_pure(g, "exp")
    r = _exp4(g.primary)
    return DQ.of(r, g.dual * r)


def log(x: DQ) -> DQ:
    """φn/2 + εp/2 of the pose x [Quiroz, def. (A.21)]; at a rotation of 2π the axis is k."""
    require_unit(x, "log")
    return DQ.of(_log4(x.primary), position(x) * 0.5)


def pow(x: DQ, exponent: Scalar) -> DQ:
    """x^{λ} = exp(λ log x): rotation and translation scaled apart [Quiroz, def. (A.23)]."""
    return exp(log(x) * exponent)


def screw_exp(g: DQ) -> DQ:
    """cos(θ̂/2) + s sin(θ̂/2) for g = s θ̂/2: the motion along a screw, the Lie exponential [Farias, eq. (27)].

    A constant twist ξ acts for the time t as ``screw_exp(ξ t / 2)``.
    """
    require_pure(g, "screw_exp")
    a, b = g.primary, g.dual
    s, ab = dot3(a, a), dot3(a, b)
    f = removable.sinc_root(s)
    dual_vector = b * f + a * (ab * removable.sinc_slope_root(s))
    return DQ.of(
        Quaternion(removable.cos_root(s), f * a.x, f * a.y, f * a.z),
        Quaternion(-f * ab, dual_vector.x, dual_vector.y, dual_vector.z),
    )


def screw_log(x: DQ) -> DQ:
    """s θ̂/2 of the pose x: inverse of :func:`screw_exp`, with the half-angle in [0, π].

    At a rotation of 2π the axis is along the translation, or k if that is zero.
    """
    require_unit(x, "screw_log")
    r, d = x.primary, x.dual
    s = dot3(r, r)
    f, k = removable.angle_over_sine(r.w, s), removable.log_slope(r.w, s)
    turn = removable.is_full_turn(r.w, s)
    axis = removable.unit_or((-d.x, -d.y, -d.z), (0.0, 0.0, 1.0))
    a = pure(*(select(turn, np.pi * n, f * c) for n, c in zip(axis, r.vector, strict=True)))
    kd = k * d.w
    b = pure(*(select(turn, -dc, f * dc + kd * rc) for dc, rc in zip(d.vector, r.vector, strict=True)))
    return DQ.of(a, b)


def screw_pow(x: DQ, exponent: Scalar) -> DQ:
    """The motion x followed for the share λ of its screw: screw_exp(λ screw_log x)."""
    return screw_exp(screw_log(x) * exponent)


def sclerp(x: X, y: X, t: Any) -> X:
    """Screw interpolation from pose x (t = 0) to pose y (t = 1), the shorter way round; ``Pose`` or ``DQ`` alike.

    t is a scalar, or a batch of numbers that fits those of the poses.
    """
    if not isinstance(x, DQ):
        if not hasattr(x, "sclerp"):
            shown = one_line(repr(x), 80)
            wanted = "sclerp(x, y, t) leads from pose x to pose y, each a Pose or DQ"
            raise Error(f"{wanted}; found x = {shown}: dq.as_pose(value) makes one.", found=x)
        return x.sclerp(y, t)
    if not isinstance(y, DQ):
        shown = one_line(repr(y), 80)
        raise Error(f"sclerp leads from a DQ to a DQ, or from a Pose to a Pose; found y = {shown}.", found=y)
    relative = x.conj() * y
    sign = select(less(relative.primary.w, 0.0), -1.0, 1.0)
    return x * screw_pow(relative * sign, t)
